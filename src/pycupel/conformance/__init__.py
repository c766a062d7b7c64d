"""Run conformance vectors, the upstream suite's or your own: `python -m pycupel.conformance DIRECTORY`.

`docs/vectors.md` describes their format.
"""

from __future__ import annotations

from pycupel.conformance.check import SPECIFICATION, SuiteResult, VectorResult, run_suite

__all__ = ["SPECIFICATION", "SuiteResult", "VectorResult", "run_suite"]
