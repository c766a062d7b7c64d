"""Shared by the hooks for chat histories: what they can be told, and how they select."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, TypedDict, get_args

from pycupel.diagnostics import ExclusionReason
from pycupel.integrations._models import UNKNOWN_MODEL, ModelInUse
from pycupel.integrations._said import Said, Written, system_of, text, written_for
from pycupel.messages import Dropped, MessageSelection, select_messages
from pycupel.messages.options import BudgetLike, ProviderName, TooLarge, UnitName, checked_name
from pycupel.pipeline import Policy, PresetName
from pycupel.tokens import CounterLike

__all__ = ["HistorySelector", "HookOptions", "Request"]

# How many conversations a hook keeps a selection of, which makes the next one cheaper and changes nothing else.
_CONVERSATIONS = 64
_SOME_MODEL = "gpt-4o"


class HookOptions(TypedDict, total=False):
    """The options of every hook for histories, besides its budget: those of `select_messages`, and `on_selection`.

    Attributes:
        provider: Whose rules the messages have to obey. By default, that of the model in use.
        model: The model's name, by which tokens are counted. By default, that of the model in use.
        policy: What ranks the history: a policy, a pipeline, or the name of a preset.
        unit: "auto" drops exchanges and messages one by one, "turn" whole turns.
        counter: Counts tokens: a function from str to int, or what `pycupel.tokens.get_counter` takes.
        pin: Called with each of the library's own messages; says whether it must stay.
        too_large: What happens to an old unit that is larger than the budget: "drop" or "error".
        explain: Whether selections should have a report.
        on_selection: Called with each selection, for a log or a test. Its indices are those of the library's messages.
    """

    provider: ProviderName
    model: str
    policy: Policy | PresetName
    unit: UnitName
    counter: CounterLike
    pin: Callable[[Any], bool]
    too_large: TooLarge
    explain: bool
    on_selection: Callable[[MessageSelection], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a model is about to be sent.

    Attributes:
        messages: The library's own messages.
        said: What each of them says. One that says nothing that can be dropped has no entries, and stays.
        model: The model in use.
        system: The system prompt that is sent beside the messages.
        tools: The definitions of tools.
        keep: The indices of messages that must stay.
        conversation: The library's id of the thread or session, if it has one.
        items: The messages themselves, if they have the shape of Responses. OpenAI's models get them as they are.
    """

    messages: Sequence[Any]
    said: Sequence[Sequence[Said]]
    model: ModelInUse = UNKNOWN_MODEL
    system: str = ""
    tools: Sequence[Any] = ()
    keep: Iterable[int] = ()
    conversation: str | None = None
    items: Sequence[Any] | None = None


class HistorySelector:
    """Selects for a hook, which may serve many conversations, also at the same time in several threads."""

    def __init__(self, budget: BudgetLike, options: HookOptions) -> None:
        self._options: dict[str, Any] = {"budget": budget, **options}
        names: tuple[ProviderName, ...] = get_args(ProviderName)
        self._provider: ProviderName = checked_name("provider", self._options.pop("provider", "auto"), names)
        self._pin: Callable[[Any], bool] | None = self._options.pop("pin", None)
        self._on_selection: Callable[[MessageSelection], object] | None = self._options.pop("on_selection", None)
        self._selections: dict[str, MessageSelection] = {}
        self._lock = Lock()
        # Fails here if an option is wrong, not when the model is first called. A share needs some model's window.
        some_model: dict[str, Any] = {"model": _SOME_MODEL} if isinstance(budget, str) else {}
        select_messages((), **some_model | self._options)

    def select(self, request: Request) -> list[list[int]]:
        """Which of the things that each message says should be sent, by their numbers."""
        said = [each for message in request.said for each in message]
        places = [(n, number) for n, message in enumerate(request.said) for number in range(len(message))]
        provider = self._provider_for(request, said)
        written = _written(provider, request, said)
        stay = {*request.keep, *(n for n, each in enumerate(request.messages) if self._pin and self._pin(each))}
        prompt = [text(request.system)] if request.system else []
        given: dict[str, Any] = {
            "provider": provider,
            "model": request.model.name,
            "system": [*prompt, *system_of(said, provider)] or None,
            "tools": request.tools,
            "pin": [n for n, each in enumerate(written) if any(places[m][0] in stay for m in each.origins)],
            "previous": self._selections.get(request.conversation or ""),
        }
        selection: MessageSelection = select_messages([each.shape for each in written], **given | self._options)
        self._remember(request.conversation, selection)
        reasons = {m: each.reason for each in selection.dropped for m in written[each.index].origins}
        kept: list[list[int]] = [[] for _ in request.messages]
        for m, (n, number) in enumerate(places):
            if m not in reasons:
                kept[n].append(number)
        if self._on_selection is not None:
            dropped = {places[m][0]: reason for m, reason in reasons.items() if not kept[places[m][0]]}
            self._on_selection(_in_terms_of(request.messages, selection, dropped))
        return kept

    def _provider_for(self, request: Request, said: Iterable[Said]) -> ProviderName:
        """Whose rules hold. Messages of a framework are those of Chat Completions, unless they are items."""
        provider = self._provider
        if provider == "auto":
            # What OpenAI's models have thought comes sealed, too, but only in items.
            is_claude = request.items is None and any(map(_is_signed, said))
            provider = request.model.provider or ("anthropic" if is_claude else "openai")
        if provider in ("openai", "responses"):
            return "openai" if request.items is None else "responses"
        return provider

    def _remember(self, conversation: str | None, selection: MessageSelection) -> None:
        """Keeps what makes the next selection of the conversation cheaper: its indices, and no messages."""
        if not conversation:
            return
        with self._lock:
            self._selections.pop(conversation, None)
            self._selections[conversation] = replace(selection, messages=[], source=(), report=None)
            if len(self._selections) > _CONVERSATIONS:
                del self._selections[next(iter(self._selections))]


def _written(provider: ProviderName, request: Request, said: Sequence[Said]) -> list[Written]:
    """The messages as the provider gets them."""
    if provider == "responses":
        return [Written(item, [n]) for n, item in enumerate(request.items or ())]
    return written_for(provider, said)


def _is_signed(said: Said) -> bool:
    """Whether the assistant's thoughts are Anthropic's, which alone come with a signature of their own."""
    return said.role == "assistant" and any(
        block.get("type") == "redacted_thinking" or (block.get("type") == "thinking" and block.get("signature"))
        for block in said.blocks
    )


def _in_terms_of(
    messages: Sequence[Any], selection: MessageSelection, dropped: Mapping[int, ExclusionReason]
) -> MessageSelection:
    """The selection in terms of the library's messages. A message of which something was kept was not dropped."""
    kept = tuple(n for n in range(len(messages)) if n not in dropped)
    reasons = tuple(Dropped(n, dropped[n]) for n in sorted(dropped))
    selected = [messages[n] for n in kept]
    return replace(selection, messages=selected, kept=kept, dropped=reasons, source=tuple(messages))
