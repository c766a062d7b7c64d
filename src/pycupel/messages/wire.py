"""The fields of selections, for `pycupel.wire`: a selection that was stored can be passed as `previous`."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from typing import Any

from pycupel.codecs.base import INTEGER, JSON, TEXT, Codec, adapted, choice, list_of
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
from pycupel.wire import documents as reports
from pycupel.wire.documents import BUDGET

# In an order in which each holds only those before it.
_PARTS: list[type[Any]] = [Dropped, Cut, ShortenedMessage, ResultText, Point, Usage]
_TYPES = dict(reports.TYPES)
for _part in _PARTS:
    _TYPES[_part] = Record(_part, derive_fields(_part, _TYPES))


def _write_message(value: Any) -> Any:
    """Convert a message or document to what JSON can hold. An object of a library becomes a dict."""
    try:
        return _plain(value)
    except Exception as error:
        raise DocumentError(f"cannot be written as JSON: {describe(value)}") from error


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


_MESSAGE = adapted(JSON, write=_write_message)

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
    Field("summary", TEXT, None),
    Field("shortened", list_of(_TYPES[ShortenedMessage]), ()),
    Field("fingerprint", TEXT),
    Field("points", list_of(_TYPES[Point]), ()),
]


_REPORT = reports.CODECS[SelectionReport]


def _built(**fields: Any) -> MessageSelection:
    absent: dict[str, Any] = {"report": None, "documents": [], "dropped_documents": ()}
    memory = Memory(fields.pop("fingerprint"), fields.pop("points", ()))
    given: dict[str, Any] = absent | fields | {"memory": memory}
    return MessageSelection(**given) if given["report"] is None else ExplainedSelection(**given)


MESSAGE_CODECS: Mapping[type[Any], Codec] = {
    MessageSelection: Record(_built, [*_FIELDS, Field("report", _REPORT, None)]),
    ExplainedSelection: Record(_built, [*_FIELDS, Field("report", _REPORT)]),
    **{cls: _TYPES[cls] for cls in _PARTS},
}
"""The codec of each public class of a selection."""
