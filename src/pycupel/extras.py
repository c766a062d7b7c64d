"""Import an optional package, or raise with its pip command."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pycupel.errors import MissingExtraError


def load_extra(module: str, *, extra: str, package: str, purpose: str) -> Any:
    """Import a module of an optional package.

    Args:
        module: The module to import.
        extra: The extra of pycupel that installs the package.
        package: The package's name on PyPI.
        purpose: What needs the package, for the error.

    Raises:
        MissingExtraError: the package is not installed. Errors inside an installed package are raised as they are.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise missing_extra(error, module, extra=extra, package=package, purpose=purpose) from error


def missing_extra(
    error: ModuleNotFoundError, module: str, *, extra: str, package: str, purpose: str
) -> ModuleNotFoundError | MissingExtraError:
    """Return a `MissingExtraError` if the package itself is missing, otherwise the error as it is."""
    missing = error.name or ""
    if missing and (module == missing or module.startswith(f"{missing}.")):
        return MissingExtraError(purpose, package, extra)
    return error
