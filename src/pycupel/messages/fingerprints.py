"""Fingerprints: whether a history starts with another one, and whether the same can be said about both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from marshal import dumps
from typing import Any

from pycupel.messages.fields import as_json, as_plain, is_list, is_mapping
from pycupel.messages.units import Unit

__all__ = ["as_bytes", "fingerprint", "shape_of"]

# It marks what the provider should cache, is moved from call to call, and is not part of what is said.
_CACHE_CONTROL = "cache_control"
# Later formats write the same value differently, depending on where else it is used.
_FORMAT = 2


def as_bytes(messages: Sequence[Any]) -> list[bytes]:
    """Each message as bytes, which are the same for equal messages, also in another process."""
    written = list(map(_written, messages))
    if _CACHE_CONTROL.encode() in b"".join(written):
        return [
            _written(_without_cache_control(message)) if _CACHE_CONTROL.encode() in each else each
            for message, each in zip(messages, written, strict=True)
        ]
    return written


def _written(message: Any) -> bytes:
    try:
        return dumps(message, _FORMAT)
    except ValueError:
        # An object of a library, or a dict with one inside.
        return as_json(_without_cache_control(message)).encode("utf-8", "surrogatepass")


def _without_cache_control(value: Any) -> Any:
    if isinstance(value, (str, bytes, int, float, type(None))):
        return value
    if is_list(value):
        return [_without_cache_control(each) for each in value]
    plain = value if is_mapping(value) else as_plain(value)
    if isinstance(plain, Mapping):
        return {name: _without_cache_control(each) for name, each in plain.items() if name != _CACHE_CONTROL}
    return plain


def fingerprint(written: Sequence[bytes], *facts: Any) -> str:
    """A fingerprint of messages and of plain facts about them."""
    return sha256(b"".join([*written, dumps(facts, _FORMAT)])).hexdigest()


def shape_of(units: Sequence[Unit], end: int) -> str:
    """A fingerprint of which messages before `end` belong together, and which of them are broken.

    That may change with what follows: a call that is open at first may be answered, or be left without an answer.
    """
    owners = [0] * end
    for unit in units:
        first = unit.indices[0]
        if first >= end:
            break
        owner = first if unit.problem is None else ~first
        for n in unit.indices:
            if n < end:
                owners[n] = owner
    return fingerprint((), owners)
