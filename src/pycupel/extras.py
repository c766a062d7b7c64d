"""The door to optional packages: whoever needs one asks here, and gets it or the line to install it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pycupel.errors import MissingExtraError

__all__ = ["load_extra", "missing_extra"]


def load_extra(module: str, *, extra: str, package: str, purpose: str) -> Any:
    """The module of an optional package.

    Raises:
        MissingExtraError: the package is not installed. What goes wrong inside an installed one is its own error.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise missing_extra(error, module, extra=extra, package=package, purpose=purpose) from error


def missing_extra(
    error: ModuleNotFoundError, module: str, *, extra: str, package: str, purpose: str
) -> ModuleNotFoundError | MissingExtraError:
    """The error to raise instead, unless it is about something else than the package's own modules."""
    missing = error.name or ""
    if missing and (module == missing or module.startswith(f"{missing}.")):
        return MissingExtraError(purpose, package, extra)
    return error
