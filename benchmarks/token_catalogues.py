"""Texts in the languages of the world: the translations in a machine's gettext catalogues.

A catalogue whose file name has an even SHA-256 is for fitting, any other is held out. The same program has the same
file name in all languages, so what is held out comes from other programs. Symbolic links are left out: they would give
one catalogue two names, one on each side.
"""

from __future__ import annotations

import hashlib
import re
import struct
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from benchmarks.token_corpus import Source

__all__ = ["LOCALES", "catalogues", "languages"]

LOCALES = Path("/usr/share/locale")

_MAGIC = 0x950412DE
_HEADER = 20
_CHARSET = re.compile(rb"charset=([\w-]+)")


def languages(root: Path, *, even: bool) -> list[Source]:
    """One source for each language: all its catalogues of one side."""
    texts: dict[str, list[str]] = defaultdict(list)
    for source in catalogues(root, even=even):
        texts[source.kind].append(source.text)
    return [Source(language, language, "\n".join(parts)) for language, parts in sorted(texts.items())]


def catalogues(root: Path, *, even: bool) -> list[Source]:
    """One source for each catalogue of one side; its kind is the language."""
    found: list[Source] = []
    for path in sorted(root.glob("*/LC_MESSAGES/*.mo")):
        if _is_even(path.name) == even and not path.is_symlink():
            text = "\n".join(_translations(path.read_bytes()))
            found += [Source(path.parent.parent.name, path.name, text)] if text else []
    return found


def _is_even(name: str) -> bool:
    return hashlib.sha256(name.encode()).digest()[-1] % 2 == 0


def _translations(data: bytes) -> Iterator[str]:
    """All but the first, which is about the catalogue and names its encoding. What cannot be decoded is left out."""
    if len(data) < _HEADER:
        return
    order = "<" if struct.unpack("<I", data[:4])[0] == _MAGIC else ">"
    number, _, offset = struct.unpack(f"{order}3I", data[8:_HEADER])
    entries = struct.iter_unpack(f"{order}2I", data[offset : offset + 8 * number])
    first, *others = [data[start : start + length] for length, start in entries] or [b""]
    charset = _CHARSET.search(first)
    encoding = charset[1].decode() if charset else "utf-8"
    for translation in others:
        # The forms of a plural are separated by zero bytes.
        for form in translation.split(b"\0"):
            try:
                yield form.decode(encoding)
            except (UnicodeDecodeError, LookupError):
                continue
