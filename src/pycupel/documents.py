"""Read retrieved documents: strings, dicts, items, and the classes of retrieval libraries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import isfinite
from typing import Any, NamedTuple

from pycupel.errors import CupelError, InvalidArgumentError
from pycupel.fields import field, filled
from pycupel.kernels.order import descending
from pycupel.model import ContextItem, ContextKind, ContextSource
from pycupel.model.checks import as_float, wrong_type
from pycupel.text import describe, number_text
from pycupel.values import sealed

_TEXTS = ("page_content", "content", "text")
_ANY_TEXT = f"{', '.join(_TEXTS[:-1])} or {_TEXTS[-1]}"
_KEYS = ("key", "uri", "id")
# Scores may be distances, so a pair of a document and a number is not read.
_PAIR_HINT = (
    "For a document with its score, pass a dict with text and score, or a ContextItem with future_relevance_hint; the "
    "best must have the highest score, so turn distances around."
)


@sealed
@dataclass(frozen=True, slots=True)
class DocumentItem:
    """A document as an item."""

    index: int
    """Its index in the caller's list."""

    item: ContextItem
    """The item."""

    key: str
    """The same for all versions of one document."""


class _Document(NamedTuple):
    text: str
    key: Any = None
    score: float | None = None
    timestamp: datetime | None = None
    kind: Any = ContextKind.DOCUMENT


def read_documents(documents: Sequence[Any], count: Callable[[str], int]) -> list[DocumentItem]:
    """Read the documents, best score first; without scores, in the caller's order.

    A document may be a string, a dict with a text and optionally `kind`, `score`, `timestamp` and `key`, LangChain's or
    Haystack's `Document`, LlamaIndex's `NodeWithScore`, an MCP resource, or an item.

    Raises:
        InvalidArgumentError: one of them has no text.
    """
    read = [_read(each, i) for i, each in enumerate(documents)]
    hints = _hints([each.score for each in read])
    items = [_as_item(i, documents[i], read[i], hint, count) for i, hint in enumerate(hints)]
    return [items[i] for i in descending([hint or 0.0 for hint in hints])]


def newest_of_each(
    documents: Sequence[DocumentItem],
) -> tuple[list[DocumentItem], list[tuple[DocumentItem, DocumentItem]]]:
    """Return the newest version of each document, and the older ones, each with its replacement.

    Without timestamps, the later one in the caller's list is the newer. Documents without a key are versions of one
    document if their texts are equal.
    """
    newest: dict[str, DocumentItem] = {}
    for each in documents:
        if each.key not in newest or _time(newest[each.key]) < _time(each):
            newest[each.key] = each
    kept = [each for each in documents if newest[each.key] is each]
    return kept, [(each, newest[each.key]) for each in documents if newest[each.key] is not each]


def _time(document: DocumentItem) -> tuple[float, int]:
    timestamp = document.item.timestamp
    return (timestamp.timestamp() if timestamp is not None else float("-inf"), document.index)


def _read(document: Any, index: int) -> _Document:
    if isinstance(document, str):
        return _Document(document)
    if isinstance(document, ContextItem):
        return _read_item(document, index)
    node = field(document, "node")
    if node is not None and callable(getattr(node, "get_content", None)):
        # LlamaIndex: the score is beside the text.
        return _Document(node.get_content(), field(node, "node_id"), _number(field(document, "score"), index))
    notes = field(document, "annotations")
    # MCP: a resource may be embedded in what a tool returns.
    resource = filled(document, "resource")
    if resource is not None:
        own = filled(resource, "annotations")
        document, notes = resource, notes if own is None else own
    text = next((field(document, name) for name in _TEXTS if isinstance(field(document, name), str)), None)
    if text is None:
        raise InvalidArgumentError(
            f"documents[{index}] has no text: {_ANY_TEXT} must be a string, in {describe(document)}",
            argument="documents",
            value=document,
            hint=_PAIR_HINT if isinstance(document, tuple) else None,
        )
    score = field(document, "score")
    kind = filled(document, "kind")
    timestamp = filled(document, "timestamp")
    if timestamp is None:
        timestamp = filled(notes, "lastModified", "last_modified")
    return _Document(
        text,
        next((key for name in _KEYS if (key := _key(field(document, name), index))), None),
        _number(field(notes, "priority") if score is None else score, index),
        _as_time(timestamp, index),
        ContextKind.DOCUMENT if kind is None else kind,
    )


def _key(value: Any, index: int) -> str:
    """Convert an id to a text; empty if there is none."""
    try:
        return "" if value is None else str(value).strip()
    except Exception as error:
        raise InvalidArgumentError(
            f"documents[{index}] has an id that cannot be converted to a string: {describe(value)}",
            argument="documents",
            value=value,
        ) from error


def _read_item(item: ContextItem, index: int) -> _Document:
    if item.tokens < 0:
        raise InvalidArgumentError(
            f"documents[{index}] has {number_text(item.tokens)} tokens; a token count cannot be negative",
            argument="documents",
            value=item.tokens,
        )
    return _Document(item.content, item.metadata.get("key"), _number(item.future_relevance_hint, index))


def _number(value: Any, index: int) -> float | None:
    """Read a score; None for NaN, which some retrievers return for what they could not compare."""
    number = None if value is None else as_float(f"the score of documents[{index}]", value)
    return number if number is not None and isfinite(number) else None


def _as_time(value: Any, index: int) -> datetime | None:
    if value is None or isinstance(value, datetime):
        return value
    name, expected = f"the timestamp of documents[{index}]", "a datetime or an ISO 8601 string"
    if not isinstance(value, str):
        raise wrong_type(name, expected, value)
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        raise InvalidArgumentError(f"{name} must be {expected}, not {value!r}", argument="documents") from None


def _hints(scores: Sequence[float | None]) -> list[float | None]:
    """Turn scores into hints between 0 and 1: unchanged if all are in that range, else scaled to it."""
    known = [score for score in scores if score is not None]
    low, high = min(known, default=0.0), max(known, default=1.0)
    if low >= 0.0 and high <= 1.0:
        return list(scores)
    # Half of each, because the difference of two large scores may be infinite.
    span = (high / 2 - low / 2) or 1.0
    return [None if score is None else (score / 2 - low / 2) / span for score in scores]


def _as_item(i: int, given: Any, read: _Document, hint: float | None, count: Callable[[str], int]) -> DocumentItem:
    try:
        item = given if isinstance(given, ContextItem) else _item(read, hint, count)
    except CupelError as error:
        error.where = f"documents[{i}]"
        raise
    return DocumentItem(i, item, f"key {read.key}" if read.key is not None else f"text {read.text}")


def _item(document: _Document, hint: float | None, count: Callable[[str], int]) -> ContextItem:
    return ContextItem(
        document.text or "(empty)",
        count(document.text),
        kind=document.kind,
        source=ContextSource.RAG,
        timestamp=document.timestamp,
        future_relevance_hint=hint,
        metadata={} if document.key is None else {"key": document.key},
    )
