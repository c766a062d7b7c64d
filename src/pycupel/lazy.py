"""Names of a package that are imported when they are first used, so that importing the package costs little.

A package lists these names for type checkers and editors as well, in an `if TYPE_CHECKING` block, because they cannot
follow a table. Its `__getattr__` is in the `else` branch: to them it would promise that any name exists.
"""

from __future__ import annotations

import sys

# What type checkers take for `typing.TYPE_CHECKING`, whose import would cost more than everything here.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

__all__ = ["load_when_used"]


def load_when_used(package: str, names: Mapping[str, str], modules: str = "") -> Callable[[str], Any]:
    """The `__getattr__` of a package.

    Args:
        package: The package's `__name__`.
        names: For each module the names to load from it, separated by blanks. A leading dot means a module of the
            package.
        modules: The modules of the package that are attributes themselves, separated by blanks.
    """
    homes = {name: home for home, listed in names.items() for name in listed.split()}
    homes |= dict.fromkeys(modules.split(), "")

    def load(name: str) -> Any:
        from importlib import import_module  # noqa: PLC0415 - as above

        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=sys.modules[package])
        if not homes[name]:
            return import_module(f"{package}.{name}")
        value = getattr(import_module(homes[name], package), name)
        setattr(sys.modules[package], name, value)
        return value

    return load
