"""The fields of selections, for `pycupel.wire`: a selection that was stored can be passed as `previous`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from pycupel.codecs.base import Codec
from pycupel.codecs.containers import list_of, map_of
from pycupel.codecs.records import Field, Record
from pycupel.codecs.scalars import INTEGER, JSON, TEXT, choice
from pycupel.diagnostics import ExclusionReason, SelectionReport
from pycupel.messages.providers import PROVIDERS
from pycupel.messages.result import (
    Checkpoint,
    Cut,
    Dropped,
    ExplainedSelection,
    MessageSelection,
    ResultText,
    ShortenedMessage,
)
from pycupel.messages.usage import Usage
from pycupel.wire import reports
from pycupel.wire.items import BUDGET

__all__ = ["CODECS"]

_DROPPED = Record(Dropped, [Field("index", INTEGER), Field("reason", reports.CODECS[ExclusionReason])])
_CUT = Record(Cut, [Field("removed", INTEGER), Field("rewritten", INTEGER)])
_SHORTENED = Record(
    ShortenedMessage, [Field("index", INTEGER), Field("original_tokens", INTEGER), Field("tokens", INTEGER)]
)
_TEXT = Record(ResultText, [Field("message", INTEGER), Field("number", INTEGER), Field("text", TEXT)])
_CHECKPOINT = Record(
    Checkpoint,
    [Field("end", INTEGER), Field("gone", list_of(INTEGER)), Field("shape", TEXT), Field("texts", list_of(_TEXT), ())],
)

_USAGE = Record(
    Usage,
    [
        *(Field(name, INTEGER) for name in ("window", "system", "tools")),
        Field("history", map_of(TEXT, INTEGER)),
        *(Field(name, INTEGER) for name in ("documents", "reply", "free")),
    ],
)

_FIELDS = [
    Field("messages", list_of(JSON, build=list)),
    Field("total_tokens", INTEGER),
    Field("dropped", list_of(_DROPPED)),
    Field("documents", list_of(JSON, build=list), []),
    Field("dropped_documents", list_of(_DROPPED), ()),
    Field("kept", list_of(INTEGER)),
    Field("stable_prefix_tokens", INTEGER),
    Field("budget", BUDGET),
    Field("counter", TEXT),
    Field("provider", choice(PROVIDERS)),
    Field("usage", _USAGE),
    Field("notes", list_of(TEXT), ()),
    Field("cut", _CUT, None),
    Field("summary", TEXT, None),
    Field("shortened", list_of(_SHORTENED), ()),
    Field("fingerprint", TEXT),
    Field("checkpoints", list_of(_CHECKPOINT), ()),
]


def _built(cls: type[MessageSelection], **fields: Any) -> MessageSelection:
    absent: dict[str, Any] = {"report": None, "documents": [], "dropped_documents": ()}
    return cls(**(absent | fields))


CODECS: Mapping[type[Any], Codec] = {
    MessageSelection: Record(partial(_built, MessageSelection), _FIELDS),
    ExplainedSelection: Record(
        partial(_built, ExplainedSelection), [*_FIELDS, Field("report", reports.CODECS[SelectionReport])]
    ),
    Dropped: _DROPPED,
    Cut: _CUT,
    Checkpoint: _CHECKPOINT,
    ResultText: _TEXT,
    ShortenedMessage: _SHORTENED,
    Usage: _USAGE,
}
"""The codec of each public class of a selection."""
