"""Select the context for the next step of a coding agent, and print the reasons: the same as ``pycupel demo``.

The code is in ``src/pycupel/cli/demo.py``. The session is invented: an engineer and an agent investigate a failing
checkout service, and have gathered far more text than the model should read.
"""

from pycupel.cli import main

if __name__ == "__main__":
    main(["demo"])
