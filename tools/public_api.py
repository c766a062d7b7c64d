"""`python -m tools.public_api`: compare the public names with those of the last release, which `public_api.json` holds.

griffe reads the sources. A name or a parameter that is gone, or a new parameter that must be given, breaks code that
uses it: that needs a new major version, before which it is deprecated for a minor one (docs/versioning.md). `--write`
stores what there is, as a step of a release. Before 1.0.0, differences are only listed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pycupel
from tools.site import public_modules

STORED = Path(__file__).with_suffix(".json")
# How each parameter is written: what has a default may be left out.
Names = dict[str, list[str] | None]


def names() -> Names:
    """Each public name with its parameters; None for what is not called. The members of classes are among them."""
    # Only the environment of the site has it.
    import griffe  # noqa: PLC0415  # pyright: ignore[reportMissingImports]

    package: Any = griffe.load("pycupel", search_paths=[str(Path(__file__).parents[1] / "src")], allow_inspection=False)
    found: Names = {}
    for path, module in public_modules():
        for name in module.__all__:
            home = getattr(getattr(module, name), "__module__", path)
            known = home.split(".")[1:] if str(home).startswith("pycupel") else path.split(".")[1:]
            try:
                thing = package[".".join([*known, name])] if known or name in package.members else None
            except KeyError:
                # An alias of a type, or a constant that has no home of its own.
                thing = None
            found[f"{path}.{name}"] = _parameters(thing)
            if thing is not None and thing.is_class:
                found |= {f"{path}.{name}.{member}": parameters for member, parameters in _members(thing)}
    return dict(sorted(found.items()))


def _parameters(thing: Any) -> list[str] | None:
    if thing is None or not (thing.is_function or thing.is_class):
        return None
    # griffe makes an empty `__init__` for a dataclass that has its own `__new__`.
    is_new = thing.is_class and "__new__" in thing.members and len(thing.parameters) < 2
    made = thing.members["__new__"] if is_new else thing
    given = [each for each in made.parameters if each.name not in ("self", "cls")]
    return [
        f"{each.name}=" if each.default is not None or "variadic" in str(each.kind) else each.name for each in given
    ]


def _members(thing: Any) -> Iterator[tuple[str, list[str] | None]]:
    for name, member in thing.members.items():
        if not name.startswith("_") and not member.is_alias:
            yield name, _parameters(member)


def breaking(before: Names, now: Names) -> list[str]:
    """What breaks code that was written for the names before."""
    found = [f"{name} is gone" for name in before if name not in now]
    for name in before.keys() & now.keys():
        old, new = (before[name] or []), (now[name] or [])
        known = {each.rstrip("=") for each in new}
        found += [f"{name}: the parameter {each.rstrip('=')} is gone" for each in old if each.rstrip("=") not in known]
        found += [f"{name}: {each} must be given" for each in new if not each.endswith("=") and each not in old]
    return sorted(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="store the public names of this version")
    now = names()
    if parser.parse_args().write:
        stored = {"version": pycupel.__version__, "names": now}
        STORED.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
        sys.stdout.write(f"stored {len(now):,} names of {pycupel.__version__}\n")
        return
    stored = json.loads(STORED.read_text(encoding="utf-8"))
    found = breaking(stored["names"], now)
    lines = [*found, f"{len(found)} breaking changes since {stored['version']}, {len(now):,} public names"]
    sys.stdout.writelines(f"{line}\n" for line in lines)
    if found and stored["version"].split(".")[0] == pycupel.__version__.split(".")[0] != "0":
        sys.exit(1)


if __name__ == "__main__":
    main()
