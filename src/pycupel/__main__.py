"""`python -m pycupel`: the command line."""

from __future__ import annotations

from pycupel.cli import main

raise SystemExit(main())
