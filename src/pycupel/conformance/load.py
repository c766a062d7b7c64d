"""Reading vectors, which may be written in TOML 1.1."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

__all__ = ["Table", "read_vector"]

Table = dict[str, Any]

# Strings and comments are matched first, so that nothing in them is taken for a time. A time without seconds is TOML
# 1.1 (CV-01).
_TOKEN = re.compile(
    r'"""(?:\\[\s\S]|[^\\])*?"""|\'\'\'[\s\S]*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|#[^\n]*'
    r"|(?P<time>\d\d\d\d-\d\d-\d\d[Tt ]\d\d:\d\d)(?=[Zz+\-\s,\]}#]|$)"
)


def read_vector(path: Path) -> Table:
    return tomllib.loads(add_seconds(path.read_text(encoding="utf-8")))


def add_seconds(text: str) -> str:
    """The same document with the seconds that TOML 1.0 asks for."""
    return _TOKEN.sub(lambda token: f"{token['time']}:00" if token["time"] else token[0], text)
