"""Import the names of a package on first use, so that importing the package is cheap.

Type checkers and editors cannot read the table of names, so a package also imports them in an `if TYPE_CHECKING` block.
Its `__getattr__` is in the `else` branch, because checkers take it as a promise that any name exists.
"""

from __future__ import annotations

import sys

# Type checkers treat this as `typing.TYPE_CHECKING`, whose import would cost more than everything here.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def load_when_used(
    package: str, names: Mapping[str, str], modules: str = ""
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make the `__getattr__` of a package, and its `__dir__`, which lists the public names, loaded or not.

    Args:
        package: The package's `__name__`.
        names: For each module, the names to load from it, separated by spaces. A leading dot means a module of the
            package.
        modules: The modules of the package that are attributes themselves, separated by spaces.
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

    def list_names() -> list[str]:
        return sorted({*sys.modules[package].__all__, *modules.split()})

    return load, list_names


def public_names(names: Mapping[str, str], *others: str) -> list[str]:
    """Make the `__all__` of a package from the same table: constants, then classes, then functions."""
    listed = [*" ".join(names.values()).split(), *others]
    return sorted(listed, key=lambda name: (not name.isupper(), not name[0].isupper(), name))
