"""Objects that stand in for those of a provider's library."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

__all__ = ["as_object"]

# These are dicts in the libraries, too.
_JSON = frozenset({"arguments", "args", "input", "response", "action", "operation", "tools"})


def as_object(value: Any) -> Any:
    if isinstance(value, list):
        return [as_object(each) for each in value]
    if not isinstance(value, dict):
        return value
    return SimpleNamespace(**{name: each if name in _JSON else as_object(each) for name, each in value.items()})
