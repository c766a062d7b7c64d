"""Read retrieved documents, and choose among them beside the history."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from pycupel.diagnostics import Deduplicated, ExcludedItem, ExclusionReason, Filtered, SelectionReport
from pycupel.diagnostics.report import considered_tokens, report_over
from pycupel.errors import CupelError, InvalidArgumentError
from pycupel.kernels.order import descending, u_shaped
from pycupel.messages.cuts import Replayed
from pycupel.messages.fields import field, filled
from pycupel.messages.history import History, items_at
from pycupel.messages.slicing import BesideSlice, inner_slicer, scorer_for
from pycupel.model import ContextBudget, ContextItem, ContextKind, ContextSource
from pycupel.model.checks import as_float, wrong_type
from pycupel.pipeline import Pipeline, Selection
from pycupel.pipeline.notes import ranking_notes
from pycupel.text import describe, number_text
from pycupel.values import sealed

if TYPE_CHECKING:
    from pycupel.messages.run import Request


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


# Choose which documents fit beside the kept units, and say why the others are dropped.


class Choice(NamedTuple):
    """The kept units and documents, by index, and why the others are dropped."""

    units: Sequence[int]
    """The indices of the kept units."""

    documents: Sequence[int]
    """The indices of the kept documents, in order."""

    reasons: Mapping[int, ExclusionReason]
    """Why each other unit is dropped."""

    document_reasons: Mapping[int, ExclusionReason]
    """Why each other document is dropped."""

    notes: tuple[str, ...] = ()
    """Advisory notes."""

    report: SelectionReport | None = None
    """The report, if it was asked for."""


def choose(request: Request, history: History, replayed: Replayed) -> Choice:
    """Select documents beside the units that the replay kept, and collect the reasons.

    Args:
        request: The documents, and how to choose among them.
        history: The history with its current tokens.
        replayed: The result of the replay.
    """
    hits, query, policy = request.hits, request.query, request.policy
    offered, pinned = replayed.candidates.units, replayed.candidates.pinned
    kept = [i for i in offered if i not in replayed.dropped]
    # Broken units, and those that earlier cuts dropped, are no candidates.
    unseen: dict[int, ExclusionReason] = {i: Filtered(problem) for i, problem in history.broken.items()}
    unseen |= sorted(replayed.before.gone.items())
    reasons = {**unseen, **replayed.dropped}
    older: dict[int, ExclusionReason] = {old.index: Deduplicated(new.item.content) for old, new in request.replaced}
    is_ranked = hits or replayed.dropped or request.explain
    if not is_ranked and query is None:
        return Choice(kept, (), reasons, older)
    scorer, query_notes = scorer_for(policy.scorer, [hit.item for hit in hits], query, _last_question(history))
    if not is_ranked:
        return Choice(kept, (), reasons, older, query_notes)
    items = items_at(history, reversed(offered), pinned, named=request.explain)
    unit_of = dict(zip(map(id, items.values()), items, strict=True))
    document_of = {id(hit.item): hit.index for hit in hits}
    inner = inner_slicer(policy.slicer) if hits else None
    slicer = BesideSlice(inner, unit_of, frozenset(kept))
    # Messages are repeated on purpose, so they are not deduplicated.
    pipeline = Pipeline(scorer, slicer, deduplication=False)
    ranking = pipeline.rank([*items.values(), *(hit.item for hit in hits)])
    run = pipeline.select(ranking, ContextBudget(request.plan.window))
    document_reasons = dict(older)
    for excluded in run.reasons:
        if id(excluded.item) in document_of:
            document_reasons[document_of[id(excluded.item)]] = excluded.reason
    # No notes on fields without units: documents alone keep the order of retrieval. The items are not in result order.
    notes = ranking_notes(ranking, fields=any(id(item) in unit_of for item in ranking.items))
    report = None
    if request.explain:
        unseen_items = items_at(history, unseen, named=True)
        left_out = [(unseen_items[i], reason) for i, reason in unseen.items()]
        left_out += [(old.item, older[old.index]) for old, _ in request.replaced]
        seen = {key: reasons[unit] for key, unit in unit_of.items() if unit in replayed.dropped}
        report = _completed(report_over(run.report, notes=notes), seen, left_out)
    return Choice(kept, _in_u_shape(hits, run), reasons, document_reasons, (*notes, *query_notes), report)


def _last_question(history: History) -> str:
    asked = [i for i, unit in enumerate(history.units) if unit.role == "user"]
    return history.text_of(asked[-1]) if asked else ""


def _in_u_shape(hits: Sequence[DocumentItem], run: Selection) -> list[int]:
    """Order the selected documents, by index, with the best at both ends."""
    if not hits:
        return []
    scores = dict(zip(map(id, run.items), run.scores, strict=True))
    selected = [hit for hit in hits if id(hit.item) in scores]
    order = u_shaped(descending([scores[id(hit.item)] for hit in selected]))
    return [selected[i].index for i in order]


def _completed(
    report: SelectionReport,
    reasons: Mapping[int, ExclusionReason],
    unseen: Sequence[tuple[ContextItem, ExclusionReason]],
) -> SelectionReport:
    """Add the reasons of the cut to the report, by item identity, and the items that the pipeline never saw."""
    if not (reasons or unseen):
        return report
    excluded = [
        ExcludedItem(each.item, each.score, reasons.get(id(each.item), each.reason)) for each in report.excluded
    ]
    excluded += [ExcludedItem(item, 0.0, reason) for item, reason in unseen]
    return report_over(
        report,
        excluded=tuple(excluded[i] for i in descending([each.score for each in excluded])),
        total_candidates=len(report.included) + len(excluded),
        total_tokens_considered=considered_tokens([*report.included, *excluded]),
    )
