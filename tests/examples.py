"""How many examples Hypothesis tries."""

from __future__ import annotations

import os
from typing import Any

from hypothesis import settings

__all__ = ["SHARE", "examples"]

SHARE = float(os.environ.get("EXAMPLES", "1"))
"""The share of the examples to try: `EXAMPLES=10` for a thorough run."""


def examples(count: int, **options: Any) -> settings:
    """Try about this many examples, however long each takes."""
    return settings(max_examples=max(1, round(SHARE * count)), deadline=None, **options)
