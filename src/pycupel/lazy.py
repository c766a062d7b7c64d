"""Import the names of a package on first use, so that importing the package is cheap.

Which names there are stands in the package's stub, `__init__.pyi`, and nowhere else: type checkers and editors read it
in place of the package, and `load_when_used` reads it when the package is imported.
"""

from __future__ import annotations

import sys

# Type checkers treat this as `typing.TYPE_CHECKING`, whose import would cost more than everything here.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def load_when_used(package: str, *others: str) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Make the `__all__`, `__getattr__` and `__dir__` of a package.

    Args:
        package: The package's `__name__`.
        others: Public names that the package has itself.
    """
    module = sys.modules[package]
    homes = _read_stub(module)
    names = [*(name for name, home in homes.items() if home != package), *others]
    # Constants, then classes, then functions: the order that ruff keeps in a list that is written out.
    names.sort(key=lambda name: (not name.isupper(), not name[0].isupper(), name))

    def load(name: str) -> Any:
        from importlib import import_module  # noqa: PLC0415 - not needed to import the package

        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=module)
        if homes[name] == package:
            return import_module(f"{package}.{name}")
        value = getattr(import_module(homes[name]), name)
        setattr(module, name, value)
        return value

    return names, load, lambda: sorted({*names, *homes})


def _read_stub(module: Any) -> dict[str, str]:
    """Return for each name that a stub imports the module that it comes from; for modules, that is the package.

    A stub has lines such as `from pycupel.model.kind import ContextKind as ContextKind`; long ones are broken after the
    bracket, with a name to a line.
    """
    # By its loader, because a package may be in an archive.
    text = module.__spec__.loader.get_data(module.__spec__.origin.rpartition(".")[0] + ".pyi").decode()
    homes: dict[str, str] = {}
    home = ""
    for line in text.splitlines():
        statement, imports, names = line.rpartition(" import ")
        if imports:
            home = statement.removeprefix("from ")
        if imports or line.startswith(" "):
            for name in names.strip("( ").split(","):
                homes[name.rpartition(" ")[2]] = home
    homes.pop("", None)
    return homes
