"""Read retrieved documents: strings, dicts, items, and the classes of retrieval libraries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import isfinite
from typing import Any, NamedTuple, cast

from pycupel.errors import CupelError, InvalidArgumentError
from pycupel.fields import field, filled, is_mapping
from pycupel.kernels.order import descending
from pycupel.model import ContextItem, ContextKind, ContextSource
from pycupel.model.checks import argument_of, as_float, wrong_type
from pycupel.scorers.fields import hint_range, rescaled
from pycupel.scorers.fusing import finite_hints, fused_hints, scales_note
from pycupel.text import describe, number_text

_TEXTS = ("page_content", "content", "text")
_KEYS = ("key", "uri", "id")
_PAIR = 2
# What a dict has besides its content if it is a document, and if it is an item as JSON writes it; it may be both.
_OF_DOCUMENTS = frozenset({"page_content", "text", "score", "retriever"})
_OF_ITEMS = frozenset(
    {"tokens", "pinned", "priority", "tags"}
    | {"futureRelevanceHint", "future_relevance_hint", "originalTokens", "original_tokens"}
)


@dataclass(frozen=True, slots=True)
class DocumentItem:
    """A document as an item, with its index in the caller's list. All versions of one document have the same key."""

    index: int
    item: ContextItem
    key: str


class _Document(NamedTuple):
    text: str
    key: Any = None
    score: float | None = None
    timestamp: datetime | None = None
    kind: Any = ContextKind.DOCUMENT
    metadata: Mapping[str, Any] = {}


def as_item(document: Any, where: str, count: Callable[[str], int]) -> ContextItem:
    """Read one document as an item, with its score as it is. `where` is what errors call it, such as `items[3]`.

    A document may be a string, a dict with a text and optionally `kind`, `score`, `timestamp`, `key`, `retriever` and
    the fields of an item, LangChain's or Haystack's `Document`, LlamaIndex's `NodeWithScore`, an MCP resource, or an
    item as JSON writes it.
    """
    if type(document) is dict and not _OF_ITEMS.isdisjoint(cast(Any, document)):
        return _with_fields(cast(Any, document), where, count)
    return _item(_read(document, where), where, count)


def is_document(row: Mapping[str, Any]) -> bool:
    """Whether a dict that may be an item is a document. A message is not, although a part of one may have a text."""
    return not _OF_DOCUMENTS.isdisjoint(row) and "role" not in row


def _with_fields(row: dict[str, Any], where: str, count: Callable[[str], int]) -> ContextItem:
    """Read a dict with fields of an item: an item, or a document that has its tokens or is pinned, for example."""
    from pycupel.wire import from_dict  # noqa: PLC0415 - most documents have no such fields

    tokens = row.get("tokens")
    if is_document(row) or not isinstance(row.get("content"), str):
        document = _item(_read(row, where), where, count if tokens is None else lambda _: tokens)
        own = {key: row[key] for key in _OF_ITEMS.intersection(row)}
        fields = {**own, "content": document.content, "tokens": document.tokens}
    else:
        document = None
        fields = {**row, "tokens": count(row["content"]) if tokens is None else tokens}
    try:
        item = from_dict(ContextItem, fields)
    except CupelError as error:
        error.where = where
        raise
    if document is None:
        return item
    hint = document.future_relevance_hint
    names = ("pinned", "priority", "tags", "original_tokens")
    given = {name: getattr(item, name) for name in names}
    return replace(document, **given, future_relevance_hint=item.future_relevance_hint if hint is None else hint)


def read_documents(documents: Sequence[Any], count: Callable[[str], int]) -> tuple[list[DocumentItem], tuple[str, ...]]:
    """Read the documents, best score first; without scores, in the caller's order. Also return a note on the scores.

    Scores become hints between 0 and 1: unchanged if all are in that range, else scaled to it; those of retrievers
    with different scales by their ranks.
    """
    read: list[DocumentItem] = []
    for i, document in enumerate(documents):
        where = f"documents[{i}]"
        if isinstance(document, ContextItem):
            if document.tokens < 0:
                tokens = number_text(document.tokens)
                message = f"{where} has {tokens} tokens; a token count cannot be negative"
                raise InvalidArgumentError(message, argument="documents", value=document.tokens)
            item, text, key = document, document.content, document.metadata.get("key")
        else:
            found = _read(document, where)
            item, text, key = _item(found, where, count), found.text, found.key
        read.append(DocumentItem(i, item, f"text {text}" if key is None else f"key {key}"))
    items = [each.item for each in read]
    scores = finite_hints(items)
    fused = fused_hints(items, scores)
    hints: Sequence[float | None] = rescaled(scores, *hint_range(scores)) if fused is None else fused
    for i, each in enumerate(read):
        # An item keeps its hint, unless it cannot be compared with the others.
        if scores[i] is not None and hints[i] != scores[i] and (fused is not None or documents[i] is not each.item):
            read[i] = replace(each, item=replace(each.item, future_relevance_hint=hints[i]))
    note = None if fused is None else scales_note(items)
    return [read[i] for i in descending([hint or 0.0 for hint in hints])], () if note is None else (note,)


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


def _read(document: Any, where: str) -> _Document:
    if isinstance(document, str):
        return _Document(document)
    node = field(document, "node")
    if node is not None and callable(getattr(node, "get_content", None)):
        # LlamaIndex: the score is beside the text.
        score = _number(field(document, "score"), where)
        return _Document(node.get_content(), field(node, "node_id"), score, metadata=_metadata(node))
    notes = field(document, "annotations")
    # MCP: a resource may be embedded in what a tool returns.
    resource = filled(document, "resource")
    if resource is not None:
        own = filled(resource, "annotations")
        document, notes = resource, notes if own is None else own
    text = next((field(document, name) for name in _TEXTS if isinstance(field(document, name), str)), None)
    if text is None:
        raise _without_text(document, where)
    score = field(document, "score")
    kind = filled(document, "kind")
    timestamp = filled(document, "timestamp")
    if timestamp is None:
        timestamp = filled(notes, "lastModified", "last_modified")
    return _Document(
        text,
        next((key for name in _KEYS if (key := _key(field(document, name), where))), None),
        _number(field(notes, "priority") if score is None else score, where),
        _as_time(timestamp, where),
        ContextKind.DOCUMENT if kind is None else kind,
        _metadata(document),
    )


def _without_text(document: Any, where: str) -> InvalidArgumentError:
    message = f"{where} has no text: page_content, content or text must be a string, in {describe(document)}"
    if isinstance(document, tuple | list) and len(document) == _PAIR:  # pyright: ignore[reportUnknownArgumentType]
        # Only the caller knows whether the number is a score or a distance.
        message = (
            f"{where} is a pair of a document and something else; put a score into a hint: pass a dict with text and "
            "score, or a ContextItem with future_relevance_hint; turn a distance round, with "
            "rescale_hints(items, lower_is_better=True)"
        )
    return InvalidArgumentError(message, argument=argument_of(where), value=cast(Any, document))


def _metadata(document: Any) -> dict[str, Any]:
    """Return what a document says about itself, as far as that can be written, with its retriever and source."""
    found = filled(document, "metadata", "meta")
    given: Mapping[Any, Any] = found if is_mapping(found) else {}
    metadata = {key: each for key, each in given.items() if isinstance(key, str) and _is_plain(each)}
    # What a dict has beside its text: the first for scores of several retrievers, the second for quotas.
    for name in ("retriever", "source"):
        value = field(document, name)
        if value is not None and _is_plain(value):
            metadata.setdefault(name, value)
    return metadata


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int) or (isinstance(value, float) and isfinite(value))


def _key(value: Any, where: str) -> str:
    """Convert an id to a text; empty if there is none."""
    try:
        return "" if value is None else str(value).strip()
    except Exception as error:
        message = f"{where} has an id that cannot be converted to a string: {describe(value)}"
        raise InvalidArgumentError(message, argument=argument_of(where), value=value) from error


def _number(value: Any, where: str) -> float | None:
    """Read a score; None for NaN, which some retrievers return for what they could not compare."""
    number = None if value is None else as_float(f"the score of {where}", value)
    return number if number is not None and isfinite(number) else None


def _as_time(value: Any, where: str) -> datetime | None:
    if value is None or isinstance(value, datetime):
        return value
    name, expected = f"the timestamp of {where}", "a datetime or an ISO 8601 string"
    if not isinstance(value, str):
        raise wrong_type(name, expected, value)
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        raise InvalidArgumentError(f"{name} must be {expected}, not {value!r}", argument=argument_of(where)) from None


def _item(document: _Document, where: str, count: Callable[[str], int]) -> ContextItem:
    metadata = document.metadata if document.key is None else {**document.metadata, "key": document.key}
    try:
        return ContextItem(
            document.text or "(empty)",
            count(document.text),
            kind=document.kind,
            source=ContextSource.RAG,
            timestamp=document.timestamp,
            future_relevance_hint=document.score,
            metadata=metadata,
        )
    except TypeError as error:
        error.args = (f"{where}: {error}",)
        raise
    except CupelError as error:
        error.where = where
        raise
