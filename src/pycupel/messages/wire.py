"""The fields of selections, for `pycupel.wire`: a selection that was stored can be passed as `previous`."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from json import dumps
from typing import Any

from pycupel.codecs.base import FLAG, INTEGER, JSON, TEXT, Codec, Context, adapted, check_depth, choice, list_of
from pycupel.codecs.records import Field, Record, derive_fields
from pycupel.diagnostics import SelectionReport
from pycupel.errors import DocumentError
from pycupel.fields import as_plain, is_mapping
from pycupel.messages.counting import Usage
from pycupel.messages.memory import Memory, Point
from pycupel.messages.overlay import ResultText
from pycupel.messages.providers import PROVIDERS
from pycupel.messages.result import Cut, Dropped, ExplainedSelection, MessageSelection, ShortenedMessage
from pycupel.text import describe
from pycupel.wire import BUDGET, CODECS, TYPES

# In an order in which each holds only those before it.
_PARTS: list[type[Any]] = [Dropped, Cut, ShortenedMessage, ResultText, Point, Usage]
_TYPES = dict(TYPES)
for _part in _PARTS:
    _TYPES[_part] = Record(_part, derive_fields(_part, _TYPES))


def _write_message(value: Any) -> Any:
    """Convert a message or document to what JSON can hold. An object of a library becomes a dict."""
    try:
        plain = _plain(value)
    except Exception as error:
        raise DocumentError(f"cannot be written as JSON: {describe(value)}") from error
    check_depth(plain)
    return plain


def _read_message(value: Any, context: Context) -> Any:
    check_depth(value)
    return JSON.read(value, context)


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        # Gemini's objects hold bytes where its JSON has base64.
        return b64encode(value).decode()
    if isinstance(value, list):
        return list(map(_plain, value))  # pyright: ignore[reportUnknownArgumentType] - from outside
    # A tuple is rejected later, because it would come back as a list.
    if value is None or isinstance(value, (str, int, float, tuple)):
        return value  # pyright: ignore[reportUnknownVariableType] - from outside
    plain = value if is_mapping(value) else as_plain(value)
    return {name: _plain(each) for name, each in plain.items()} if is_mapping(plain) else value


def _read_summary(value: Any) -> Any:
    if not isinstance(value, (str, dict)):
        raise DocumentError(f"must be a text or a block, not {describe(value)}")
    return value  # pyright: ignore[reportUnknownVariableType] - from outside


_MESSAGE = adapted(Codec(JSON.schema, _read_message, JSON.write), write=_write_message)

_FIELDS = [
    Field("messages", list_of(_MESSAGE, build=list)),
    Field("total_tokens", INTEGER),
    Field("dropped", list_of(_TYPES[Dropped])),
    Field("documents", list_of(_MESSAGE, build=list), []),
    Field("dropped_documents", list_of(_TYPES[Dropped]), ()),
    Field("kept", list_of(INTEGER)),
    Field("stable_prefix_tokens", INTEGER),
    Field("budget", BUDGET),
    Field("counter", TEXT),
    Field("provider", choice(PROVIDERS)),
    Field("usage", _TYPES[Usage]),
    Field("notes", list_of(TEXT), ()),
    Field("cut", _TYPES[Cut], None),
    Field("summary", adapted(_MESSAGE, read=_read_summary), None),
    Field("summarized", list_of(INTEGER), ()),
    Field("summary_failed", FLAG, False),
    Field("shortened", list_of(_TYPES[ShortenedMessage]), ()),
    Field("fingerprint", TEXT),
    Field("points", list_of(_TYPES[Point]), ()),
]


_REPORT = CODECS[SelectionReport]


def _built(**fields: Any) -> MessageSelection:
    absent: dict[str, Any] = {"report": None, "documents": [], "dropped_documents": ()}
    memory = Memory(fields.pop("fingerprint"), fields.pop("points", ()))
    given: dict[str, Any] = absent | fields | {"memory": memory}
    selection = MessageSelection(**given) if given["report"] is None else ExplainedSelection(**given)
    _check_indices(selection)
    return selection


def _check_indices(selection: MessageSelection) -> None:
    """Refuse indices that no history can have. Whether this one has them is checked when they are used."""
    kept, size = {*selection.kept}, selection.history_length
    dropped = {*range(size)} - kept
    for path, indices, possible in (
        ("kept", selection.kept, {*range(size)}),
        ("dropped", [each.index for each in selection.dropped], dropped),
        ("summarized", selection.summarized, {*range(size)}),
        ("shortened", [each.index for each in selection.shortened], kept),
        ("points", [*dict.fromkeys(each.end for each in selection.points)], {*range(size + 1)}),
        *((f"points[{n}].gone", each.gone, dropped) for n, each in enumerate(selection.points)),
    ):
        if [*indices] != sorted({*indices} & possible):
            raise DocumentError("must be in ascending order, and fit the messages that were kept", path=path)
    # The message of a summary has no index, and some providers merge it with the next one.
    if not 0 <= len(selection.messages) - len(kept) <= (selection.summary is not None):
        raise DocumentError(f"has {len(selection.messages)} entries, but kept has {len(kept)}", path="messages")


class _Selection(Record):
    """A record with a checksum of what a later selection uses. It shows damage, not malice: anybody can compute it."""

    def _write(self, value: Any, context: Context) -> dict[str, Any]:
        return {**super()._write(value, context), "checksum": _checksum(value)}

    def _read(self, value: Any, context: Context) -> Any:
        selection = super()._read(value, context)
        # Without points and summary, nothing of it is used.
        is_used = selection.points or selection.summary is not None or selection.summary_failed
        if is_used and value.get("checksum") != _checksum(selection):
            # It is recognised by nothing, so it is ignored when it is passed as `previous`.
            return replace(selection, memory=Memory("", ()))
        return selection


_USED = {"kept", "dropped", "shortened", "summary", "summarized", "summary_failed", "fingerprint", "points"}


def _checksum(selection: MessageSelection) -> str:
    parts = [(field.codec, getattr(selection, field.name)) for field in _FIELDS if field.name in _USED]
    written = [None if part is None else codec.write(part, Context(allow_nan=True)) for codec, part in parts]
    return sha256(dumps(written, sort_keys=True).encode()).hexdigest()


MESSAGE_CODECS: Mapping[type[Any], Codec] = {
    MessageSelection: _Selection(_built, [*_FIELDS, Field("report", _REPORT, None)], other_keys=["checksum"]),
    ExplainedSelection: _Selection(_built, [*_FIELDS, Field("report", _REPORT)], other_keys=["checksum"]),
    **{cls: _TYPES[cls] for cls in _PARTS},
}
"""The codec of each public class of a selection."""
