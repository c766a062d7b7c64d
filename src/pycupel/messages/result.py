"""The result of a selection: what was kept, dropped, cut and shortened."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeAlias

from pycupel.diagnostics import ExclusionReason, IncludedItem, SelectionReport
from pycupel.diagnostics.report import considered_tokens, report_over
from pycupel.errors import InvalidArgumentError
from pycupel.messages.counting import Usage, usage_of
from pycupel.messages.cuts import Replay
from pycupel.messages.documents import Choice, Documents
from pycupel.messages.history import COMPACTED
from pycupel.messages.memory import NOTHING, Memory, Point
from pycupel.messages.options import ResolvedProviderName
from pycupel.messages.overlay import Overlay
from pycupel.messages.room import SMALL_CUT_DIVISOR, Room
from pycupel.model import ContextBudget
from pycupel.model.checks import checked_float
from pycupel.model.item import make_version
from pycupel.values import draft_of, sealed

Summary: TypeAlias = str | dict[str, Any]
"""What stands for dropped messages: a text, or a compaction block of the provider."""

SHORTENED = "Shortened"
"""The reason in a report for units selected with shorter results."""


if TYPE_CHECKING:
    # Python has defaults for them from 3.13 on; type checkers know them anyway.
    from typing_extensions import TypeVar

    M = TypeVar("M", default=Any)
else:
    from typing import TypeVar

    M = TypeVar("M")


@sealed
@dataclass(frozen=True, slots=True)
class Dropped:
    """A message or document that was left out."""

    index: int
    """Its index in the caller's list."""

    reason: ExclusionReason
    """Why it was left out."""


@sealed
@dataclass(frozen=True, slots=True)
class ShortenedMessage:
    """A message that was selected with shorter results."""

    index: int
    """Its index in the caller's list."""

    original_tokens: int
    """Its tokens in the caller's list."""

    tokens: int
    """Its tokens in the selection."""


@sealed
@dataclass(frozen=True, slots=True)
class Cut:
    """What a cut costs: the provider reads everything after the first change again, at a higher price."""

    removed: int
    """The tokens that the cut removed."""

    rewritten: int
    """The tokens after the first change, which are not in the provider's prompt cache."""

    def pays_after(self, write: float = 1.25, read: float = 0.1) -> int:
        """Return the number of calls after which the cut pays for itself.

        Each call saves the price of reading the removed tokens from the cache. The rewritten tokens cost, once, the
        difference between writing and reading.

        Args:
            write: The price of a token written to the cache, relative to an uncached token.
            read: The price of a token read from the cache.

        Raises:
            InvalidArgumentError: `read` is not above 0 or nothing was removed, so the cut would never pay; or a price
                is not finite.
        """
        write, read = (
            checked_float(name, price, InvalidArgumentError) for name, price in (("write", write), ("read", read))
        )
        if self.removed <= 0:
            raise InvalidArgumentError(
                "a cut that removed nothing never pays for itself", argument="removed", value=self.removed
            )
        if read <= 0:
            raise InvalidArgumentError(
                f"read must be above 0, not {read:g}: if reading is free, a cut never pays",
                argument="read",
                value=read,
            )
        return max(0, ceil(self.rewritten * (write - read) / (self.removed * read)))


# The results of `select_messages`.


@sealed
@dataclass(frozen=True, slots=True, repr=False)
class MessageSelection(Generic[M]):
    """The result of `select_messages`, of the type of your messages. It holds lists, so it is not hashable."""

    messages: list[M]
    """The selected messages, in the same order: your own objects, except those in `shortened`, which are copies of the
    same type, and the message of a summary, which is a dict.
    """

    total_tokens: int
    """Their tokens, documents included."""

    dropped: tuple[Dropped, ...]
    """The other messages, each with its reason."""

    documents: list[Any]
    """The selected documents: your own objects, with the best at both ends."""

    dropped_documents: tuple[Dropped, ...]
    """The other documents, each with its reason."""

    kept: tuple[int, ...]
    """The indices of the selected messages in the caller's list."""

    stable_prefix_tokens: int
    """The tokens of the prefix that `messages` shares with the previous selection; 0 without `previous`."""

    report: SelectionReport | None
    """Every unit and document with its score and reason; None without `explain=True`."""

    budget: ContextBudget
    """What is left for messages and documents, after the estimate's margin and after the system prompt and the tools
    that are sent beside the messages.
    """

    counter: str
    """The name and version of the token counter."""

    provider: ResolvedProviderName
    """The provider whose rules were applied."""

    usage: Usage
    """Where the window goes: system prompt, tools, history by kind, documents, reply, and free tokens."""

    notes: tuple[str, ...] = ()
    """Advisory notes, such as that no message has the field a scorer reads."""

    cut: Cut | None = None
    """What the cut in this call removed, and what that costs; None if nothing was cut."""

    summary: Summary | None = None
    """What `summarize` last returned for dropped messages: a text, or a compaction block.

    Its message follows the system prompt in `messages`, and has no entry in `kept`.
    """

    summarized: tuple[int, ...] = ()
    """The indices of the messages that are in it."""

    summary_failed: bool = False
    """Whether `summarize` failed for messages that are in no summary: it is asked again at the next cut."""

    shortened: tuple[ShortenedMessage, ...] = ()
    """The selected messages that are copies with shorter results."""

    source: tuple[M, ...] = field(default=(), compare=False)
    """The caller's whole history. It is not compared."""

    memory: Memory = field(default=NOTHING, compare=False)
    """What a later selection of the same history may use. It is not compared, and only partly stored."""

    __hash__: ClassVar[None] = None  # type: ignore[assignment]  # pyright: ignore[reportIncompatibleMethodOverride]

    @property
    def fingerprint(self) -> str:
        """Identifies the history and the arguments of a selection that is stored; empty if a strategy has no name."""
        return self.memory.fingerprint

    @property
    def points(self) -> tuple[Point, ...]:
        """Where a later selection may continue."""
        return self.memory.points

    @property
    def history_length(self) -> int:
        """The number of messages in the caller's list."""
        return len(self.kept) + len(self.dropped)

    @property
    def fill(self) -> float:
        """How full the prompt is, from 0 to 1: its tokens over the most that may be sent, after the margin."""
        prompt = self.usage.prompt
        most = max(0, self.budget.unreserved_capacity) + prompt - self.total_tokens
        return min(1.0, prompt / most) if most > 0 else 1.0

    def recall(self, id: str, *, lines: str | None = None, match: str | None = None) -> str:  # noqa: A002 - as in `recall`
        """Return the original text of a result that was shortened, as `pycupel.messages.recall` does.

        At most a quarter of the window is returned; a last line then says what is left, and how to ask for it.

        Args:
            id: What stands in place of the result.
            lines: Only these lines, from 1 on: "200-260", "200-" or "200".
            match: Only the lines that contain this word.

        Raises:
            TypeError: an argument has the wrong type.
            InvalidArgumentError: there is no such result, `lines` is no range of lines, or the selection was stored,
                so that it does not have the messages.
        """
        from pycupel.messages.tool_results import recall_within  # noqa: PLC0415 - few callers shorten results

        count = self.memory.count
        if count is None:
            raise InvalidArgumentError(
                "a selection that was stored does not have the messages; use pycupel.messages.recall(messages, id)",
                argument="id",
                value=id,
            )
        return recall_within(self.usage.window, count, self.source, id, self.provider, lines, match)

    def _repr_html_(self) -> str:
        from pycupel.render.html import selection_html  # noqa: PLC0415 - for notebooks only

        return selection_html(self)

    def __repr__(self) -> str:
        documents = ""
        if self.documents or self.dropped_documents:
            total = len(self.documents) + len(self.dropped_documents)
            documents = f", {len(self.documents)} of {total} documents"
        return (
            f"<{type(self).__name__}: {len(self.messages)} of {self.history_length} messages{documents}, "
            f"{self.total_tokens} tokens for {self.provider}, counted by {self.counter}>"
        )


class ExplainedSelection(MessageSelection[M]):
    """The result of `select_messages` with `explain=True`: its `report` is never None."""

    __slots__ = ()

    report: SelectionReport
    """Every unit and document with its score and reason."""


# Put a selection together.


def assemble(
    overlay: Overlay,
    room: Room,
    replay: Replay,
    documents: Documents,
    choice: Choice,
    *,
    memory: Memory,
    previous: MessageSelection | None,
    notes: Iterable[str],
) -> MessageSelection:
    """Return the selection, without its summary.

    Args:
        overlay: The history, with shorter results.
        room: How many tokens there were.
        replay: Its cuts.
        documents: The documents.
        choice: The kept units and documents.
        memory: What the next selection may use.
        previous: The previous selection, if it is of this history.
        notes: Further notes, the first ones.
    """
    history = overlay.history
    kept = sorted([n for i in choice.units for n in history.units[i].indices])
    tokens_of = {each.index: each.item.tokens for each in documents.newest}
    document_tokens = sum([tokens_of[i] for i in choice.documents])
    views = [overlay.views[n] for n in kept]
    shortened = tuple([ShortenedMessage(n, history.tokens[n], overlay.tokens[n]) for n in kept if n in overlay.texts])
    report = choice.report
    if report is not None and shortened:
        report = _with_shorter_results(report, overlay, shortened)
    kind = MessageSelection if report is None else ExplainedSelection
    return kind(
        messages=[overlay.message(n) for n in kept],
        total_tokens=sum([overlay.tokens[n] for n in kept]) + document_tokens,
        dropped=_dropped((history.units[i].indices, reason) for i, reason in choice.reasons.items()),
        documents=[documents.given[i] for i in choice.documents],
        dropped_documents=_dropped(((i,), reason) for i, reason in choice.document_reasons.items()),
        kept=tuple(kept),
        stable_prefix_tokens=0 if previous is None else _stable_prefix(overlay.tokens, kept, shortened, previous),
        report=report,
        budget=room.reported_budget(replay.offer.must_tokens, is_cut=bool(replay.dropped or replay.saved)),
        counter=str(memory.count),
        provider=history.provider.name,
        usage=usage_of(room.budget, room.extras, views, document_tokens),
        notes=(*notes, *choice.notes, *_notes(overlay, room, replay, choice, kept)),
        cut=_cut(overlay, replay, kept),
        shortened=shortened,
        source=tuple(overlay.messages),
        memory=memory,
    )


def _notes(overlay: Overlay, room: Room, replay: Replay, choice: Choice, kept: Sequence[int]) -> Iterator[str]:
    """Say what a caller might not notice."""
    history, provider = overlay.history, overlay.history.provider
    broken = [i for i, problem in history.broken.items() if problem != COMPACTED]
    if broken:
        # It was left out although there is room for it.
        count = sum(len(history.units[i].indices) for i in broken)
        what, them = ("1 message was", "it") if count == 1 else (f"{count} messages were", "them")
        problem = history.broken[min(broken)]
        yield f"{what} left out because {provider.name} would reject {them}; {problem}"
    reminders = [i for _, role, i in history.appearances if role == "reminder" and i in choice.reasons]
    if reminders:
        last = f"messages[{history.firsts[reminders[-1]]}]"
        what = (
            f"1 later system message was dropped, at {last}"
            if len(reminders) == 1
            else f"{len(reminders)} later system messages were dropped, the last at {last}"
        )
        yield f"{what}; only the newest is always kept, so pin any others you need"
    is_cut = replay.gone or replay.dropped
    if is_cut and room.share and sum([history.sizes[i] for i in history.whole]) <= room.window:
        yield (
            f"the history was cut to keep up to {room.share:.0%} of the tokens free for documents; without documents=, "
            "all of it would fit"
        )
    yield from _small_cut(overlay, room, replay, kept)
    now = [n for n in kept if n in replay.saved and n not in replay.fitted]
    if now:
        saved = sum([replay.saved[n] for n in now])
        what = "the results of 1 message were" if len(now) == 1 else f"the results of {len(now):,} messages were"
        yield f"{what} shortened, which saves {saved:,} tokens; shorten=None drops them instead"
    if replay.fitted:
        n = replay.fitted[-1]
        before, after = history.tokens[n], overlay.tokens[n]
        others = len(replay.fitted) - 1
        also = f", and so {'was 1 other' if others == 1 else f'were {others} others'}" if others else ""
        yield (
            f"messages[{n}] was shortened from {before:,} to {after:,} tokens{also}, because what must stay did "
            "not fit into the budget"
        )
    for rule in provider.request_rules:
        # About the request as a whole; nothing is dropped because of it.
        finding = next(rule.findings([room.extras.view, *(overlay.views[n] for n in kept)]), None)
        if finding is not None:
            rejected = f"{provider.name} would reject the request" if finding.severity == "error" else None
            yield f"{rejected or f'messages[{finding.index}]'}: {finding.message}. {finding.remedy}"


def _small_cut(overlay: Overlay, room: Room, replay: Replay, kept: Sequence[int]) -> Iterator[str]:
    """Say what leaves so little to cut that the next cut is near. Without room to grow, every cut is small."""
    cut, extras = _cut(overlay, replay, kept), room.extras
    window = room.window + room.summary + extras.tokens
    if cut is None or not room.leaves_room or cut.removed * SMALL_CUT_DIVISOR >= window:
        return
    history = overlay.history
    sizes = {
        "the system prompt": extras.system,
        "the tools": extras.tools,
        "what is pinned of the documents": room.held,
    }
    for i in sorted(replay.offer.pinned):
        indices = history.units[i].indices
        first, last = indices[0], indices[-1]
        sizes[f"messages[{first}]" if first == last else f"messages[{first}:{last + 1}]"] = overlay.sizes[i]
    largest = max(sizes, key=sizes.__getitem__)
    yield (
        f"the cut removed only {cut.removed:,} tokens of a window of {window:,}, so the next one is near; the "
        f"largest thing that must stay is {largest}, with {sizes[largest]:,} tokens"
    )


_DroppedDraft: Any = draft_of(Dropped)


def _dropped(reasons: Iterable[tuple[Sequence[int], ExclusionReason]]) -> tuple[Dropped, ...]:
    """Make the entry of each dropped message or document, in order."""
    dropped: list[Dropped] = []
    # There may be thousands, and a draft takes a third of the constructor's time.
    for index, reason in sorted([(n, reason) for indices, reason in reasons for n in indices], key=itemgetter(0)):
        draft = _DroppedDraft()
        draft.index = index
        draft.reason = reason
        draft.__class__ = Dropped
        dropped.append(draft)
    return tuple(dropped)


def _stable_prefix(
    tokens: Sequence[int], kept: Sequence[int], shortened: Sequence[ShortenedMessage], previous: MessageSelection
) -> int:
    # A shortened message counts as changed.
    changed = {each.index for each in {*shortened}.symmetric_difference(previous.shortened)}
    stable = 0
    for now, then in zip(kept, previous.kept, strict=False):
        if now != then or now in changed:
            break
        stable += tokens[now]
    return stable


def _cut(overlay: Overlay, replay: Replay, kept: Sequence[int]) -> Cut | None:
    removed = overlay.tokens_of(replay.dropped) + sum(replay.saved.values())
    if not removed:
        return None
    # Dropped messages are gone, and shortened ones are new.
    first = min([*(overlay.history.firsts[i] for i in replay.dropped), *replay.saved])
    return Cut(removed, sum([overlay.tokens[n] for n in kept if n >= first]))


def _with_shorter_results(
    report: SelectionReport, overlay: Overlay, shortened: Iterable[ShortenedMessage]
) -> SelectionReport:
    """Mark the units with shorter results in the report, as versions of the original units."""
    saved = {each.index: each.original_tokens - each.tokens for each in shortened}
    included: list[IncludedItem] = []
    for each in report.included:
        indices: Sequence[int] = each.item.metadata.get("pycupel.unit", ())
        less = sum([saved.get(n, 0) for n in indices])
        if less:
            whole = replace(each.item, tokens=each.item.tokens + less)
            [text] = overlay.texts_of([indices])
            version = make_version(whole, text, each.item.tokens, "shorter results")
            included.append(IncludedItem(version, each.score, SHORTENED))
        else:
            included.append(each)
    considered = considered_tokens([*included, *report.excluded])
    return report_over(report, included=tuple(included), total_tokens_considered=considered)
