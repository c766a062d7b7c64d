"""Runs conformance vectors, the upstream suite's as well as our own: `python -m pycupel.conformance DIRECTORY`.

The format is described in `docs/vectors.md`.
"""

from __future__ import annotations

from pycupel.conformance.suite import SPECIFICATION, SuiteResult, VectorResult, run_suite

__all__ = ["SPECIFICATION", "SuiteResult", "VectorResult", "run_suite"]
