"""`python -m pycupel.conformance DIRECTORY [--suite NAME]`: what `pycupel conformance` does.

The exit code is 0 only if at least one vector ran and all of them passed.
"""

from __future__ import annotations

import sys

from pycupel.cli import main

if __name__ == "__main__":
    sys.exit(main(["conformance", *sys.argv[1:]]))
