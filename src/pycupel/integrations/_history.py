"""Common parts of the hooks for chat histories: their options, and how they select."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from threading import Lock
from typing import Any, Literal, NamedTuple, TypedDict, get_args

from pycupel.diagnostics import ExclusionReason
from pycupel.diagnostics.observers import called_by, unobserved
from pycupel.documents import DocumentItem, read_documents
from pycupel.fields import field, filled, is_mapping
from pycupel.messages import Dropped, MessageSelection, Shorten, ShortenedMessage, select_messages
from pycupel.messages.counting import resolve_counter
from pycupel.messages.detect import resolve_provider
from pycupel.messages.options import ProviderName, ResolvedProviderName, TooLarge, UnitName
from pycupel.messages.overlay import with_result_texts
from pycupel.messages.providers._writing import (
    Call,
    MessagePart,
    Role,
    Written,
    shorter_results,
    system_of,
    text,
    written_for,
)
from pycupel.messages.room import limits_of
from pycupel.model import ContextBudget
from pycupel.model.checks import checked_callable, checked_name, suggestion
from pycupel.pipeline import Policy, PresetName
from pycupel.protocols import Shortener
from pycupel.selecting import ContextResult, select
from pycupel.tokens import CounterLike, get_counter
from pycupel.tokens.limits import BudgetLike

OnResult = Callable[[ContextResult], object]


def select_documents(
    documents: Sequence[Any],
    budget: ContextBudget | int,
    policy: Policy | PresetName,
    counter: CounterLike,
    on_selection: OnResult | None = None,
) -> list[Any]:
    """Select the documents that fit, in the order of the policy's placer; they are the caller's own objects.

    `on_selection` is called with the result and its report.
    """
    counts = get_counter(counter)
    read, notes = read_documents(documents, counts)
    hits = _ranked(read)
    limits = limits_of(ContextBudget.of(budget), counts.margin_percent)
    result = select([hit.item for hit in hits], limits, policy, explain=on_selection is not None)
    if on_selection is not None:
        on_selection(replace(result, notes=(*notes, *result.notes)) if notes else result)
    originals = {id(hit.item): documents[hit.index] for hit in hits}
    return [originals[id(item)] for item in result.items]


def _ranked(hits: list[DocumentItem]) -> list[DocumentItem]:
    """Rank the hits by the retriever's order if they have no scores."""
    if any(hit.item.future_relevance_hint is not None for hit in hits):
        return hits
    return [
        replace(hit, item=replace(hit.item, future_relevance_hint=1.0 - rank / len(hits)))
        for rank, hit in enumerate(hits)
    ]


# Find the provider whose rules apply to a framework's model, and the model's name.


# Parts of the names of classes, systems and kinds of models. All others use OpenAI's format.
_MARKS: tuple[tuple[str, ResolvedProviderName], ...] = (
    ("anthropic", "anthropic"),
    ("claude", "anthropic"),
    ("google", "gemini"),
    ("gemini", "gemini"),
    ("vertex", "gemini"),
    ("mistral", "mistral"),
    ("openai", "openai"),
)
_NAME_FIELDS = ("model_name", "model", "model_id")


class ModelInUse(NamedTuple):
    """A model, as far as a framework's object shows it."""

    provider: ResolvedProviderName | None = None
    """The provider whose rules apply; None if it is unknown."""

    name: str | None = None
    """Its name, known or not; None if it has none."""


UNKNOWN_MODEL = ModelInUse()


def model_in_use(kinds: Iterable[object], name: object) -> ModelInUse:
    """Identify a model by these names.

    Args:
        kinds: Names of its class, its system, or its kind, the most specific first.
        name: Its own name. Claude's rules apply wherever it runs; other models follow those of their server.
    """
    called = name if isinstance(name, str) and name else None
    if called is not None and "claude" in called.lower():
        return ModelInUse("anthropic", called)
    for kind in kinds:
        text = str(kind).lower()
        for mark, provider in _MARKS:
            if mark in text:
                return ModelInUse(provider, called)
    return ModelInUse(None, called)


def model_called(name: str | None, kinds: Iterable[object] = ()) -> ModelInUse:
    """Identify a model whose name may begin with its server and provider, as in `openrouter/anthropic/claude-...`."""
    server, _, own_name = (name or "").rpartition("/")
    return model_in_use([server, *kinds], own_name)


def class_names(model: Any) -> list[str]:
    """Return the names of the model's class and its base classes."""
    return [each.__name__ for each in type(model).__mro__]


def model_name_of(model: Any) -> str | None:
    """Return the model's own name, from the first of the attributes that usually have it."""
    found = (getattr(model, name, None) for name in _NAME_FIELDS)
    return next((each for each in found if isinstance(each, str)), None)


_MEDIA = {"image": "image_url", "audio": "input_audio"}


def media_block(media_type: str | None) -> dict[str, Any]:
    """Make a block that costs as much as an image, a recording or another file of this type, as in "image/png"."""
    return {"type": _MEDIA.get((media_type or "").partition("/")[0], "file")}


def response_tools(schema: Any) -> list[dict[str, Any]]:
    """Return the schema of the response, a class or JSON, as a tool, which costs as much; nothing if there is none."""
    if hasattr(schema, "model_json_schema"):
        schema = schema.model_json_schema()
    return [{"name": "response", "parameters": schema}] if is_mapping(schema) else []


# For how many conversations a hook remembers what it kept last, to say how much of the prompt is the same.
_CONVERSATIONS = 64
_SOME_MODEL = "gpt-4o"


class HookOptions(TypedDict, total=False):
    """The options of every history hook, besides its budget: some of `select_messages`, and `on_selection`."""

    provider: ProviderName
    """The provider whose rules apply. By default, that of the model in use."""

    model: str
    """The model's name, for counting tokens. By default, that of the model in use."""

    policy: Policy | PresetName
    """How to rank the history: a policy, a pipeline, or the name of a preset."""

    unit: UnitName
    """"auto" drops exchanges and messages one by one, "turn" whole turns."""

    counter: CounterLike
    """Counts tokens: a function from str to int, or a name for `pycupel.tokens.get_counter`."""

    pin: Callable[[Any], bool]
    """Called with each of the library's own messages; returns whether it must stay."""

    shorten: Literal["results"] | Shortener | Shorten | None
    """"results" shortens tool results before they are dropped; or your own shortener."""

    keep: int
    """How many of the newest results stay whole while they fit."""

    exclude: Collection[str]
    """The names of tools whose results are never shortened."""

    too_large: TooLarge
    """What to do with what is larger than the budget: by default, "results" that must stay are shortened.

    In hooks, "shorten" means the same: what the user wrote is the library's, and stays as it is.
    """

    explain: bool
    """Whether selections should have a report."""

    on_selection: Callable[[MessageSelection], object]
    """Called with each selection, for a log or a test. Its messages and indices are the library's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request to a model."""

    messages: Sequence[Any]
    """The library's own messages."""

    parts: Sequence[Sequence[MessagePart]]
    """The content of each message, results first. A message with nothing to drop has no entries, and stays."""

    model: ModelInUse = UNKNOWN_MODEL
    """The model in use."""

    system: str = ""
    """The system prompt that is sent beside the messages."""

    tools: Sequence[Any] = ()
    """The definitions of tools."""

    pinned: Iterable[int] = ()
    """The indices of messages that must stay."""

    exclude: Collection[str] = ()
    """The names of more tools whose results are never shortened."""

    conversation: str | None = None
    """The library's id of the thread or session, if it has one."""

    items: Sequence[Any] | None = None
    """The messages themselves, if they have the shape of Responses. OpenAI's models get them as they are."""

    with_texts: Callable[[Any, Mapping[int, str]], Any] = with_result_texts
    """Copies a message with other texts for some results, by their number."""


class Selected(NamedTuple):
    """The kept part of a message."""

    message: Any
    """The library's message, or a copy with shorter results."""

    numbers: list[int]
    """The numbers of the parts of its content that are kept."""


# As the frameworks name them; whoever has another name is the user.
_ROLES: dict[Any, Any] = {
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("assistant", "ai", "model", "chatbot"), "assistant"),
    **dict.fromkeys(("tool", "function"), "tool"),
}


def role_named(name: Any) -> Role:
    """Return who speaks in messages of this role."""
    role: Role = _ROLES.get(name, "user")
    return role


def openai_call(call: Any) -> Call:
    """Read a call of OpenAI's shape."""
    # A custom tool has an input in place of arguments.
    called = filled(call, "function", "custom")
    return Call(field(call, "id"), field(called, "name") or "", filled(called, "arguments", "input") or {})


def openai_part(message: Any) -> MessagePart:
    """Read a message of OpenAI's shape, whoever it is sent to: a dict, or an object that a library returned."""
    shape: Any = message if is_mapping(message) else message.model_dump(exclude_none=True)
    content = shape.get("content") or ()
    blocks: list[Any] = [text(content)] if isinstance(content, str) else list(content)
    calls = list(map(openai_call, shape.get("tool_calls") or ()))
    role = role_named(shape.get("role"))
    # Claude's thinking, as LiteLLM returns it.
    thinking = shape.get("thinking_blocks") or () if role == "assistant" else ()
    return MessagePart(role, [*thinking, *blocks], calls, shape.get("tool_call_id"), shape.get("name") or "")


class Entries(NamedTuple):
    """How the messages of a library hold results, texts and calls: in a list of entries.

    Each result is kept or dropped on its own, and so is the rest of a message.
    """

    of: Callable[[Any], Sequence[Any]]
    """Returns the entries of a message."""

    result: Callable[[Any], MessagePart | None]
    """Returns the content of a result; None for any other entry."""

    rest: Callable[[Any, Sequence[Any]], MessagePart]
    """Returns the content of a message's other entries."""

    copied: Callable[[Any, list[Any]], Any]
    """Copies a message with other entries."""

    with_text: Callable[[Any, str], Any]
    """Copies a result with a shorter text."""

    def pieces(self, message: Any) -> list[tuple[list[int], MessagePart]]:
        """Return what is kept or dropped on its own, results first, each with the indices of its entries."""
        entries = self.of(message)
        results = [([n], part) for n, each in enumerate(entries) if (part := self.result(each)) is not None]
        found = {n for indices, _ in results for n in indices}
        others = [n for n in range(len(entries)) if n not in found]
        if others or not results:
            results.append((others, self.rest(message, [entries[n] for n in others])))
        return results

    def with_texts(self, message: Any, texts: Mapping[int, str]) -> Any:
        """Copy a message with shorter results, by their number."""
        entries = list(self.of(message))
        for number, (indices, _) in enumerate(self.pieces(message)):
            if number in texts:
                entries[indices[0]] = self.with_text(entries[indices[0]], texts[number])
        return self.copied(message, entries)


class HistorySelector:
    """Selects for a hook, which may serve many conversations, even at the same time in several threads."""

    def __init__(self, budget: BudgetLike, options: HookOptions, *, hook: str = "history") -> None:
        self._hook = hook
        for name in sorted(options.keys() - HookOptions.__optional_keys__):
            near = suggestion(name, HookOptions.__optional_keys__)
            raise TypeError(f"unknown option {name!r} of a history hook{near}")
        for name in ("pin", "on_selection"):
            function = options.get(name)
            if function is not None:
                checked_callable(name, "a function", function)
        self._options: dict[str, Any] = {"budget": budget, **options}
        names: tuple[ProviderName, ...] = get_args(ProviderName)
        self._provider: ProviderName = checked_name("provider", self._options.pop("provider", "auto"), names)
        self._pin: Callable[[Any], bool] | None = self._options.pop("pin", None)
        self._on_selection: Callable[[MessageSelection], object] | None = self._options.pop("on_selection", None)
        # The index and the tokens of each message that was last kept in a conversation.
        self._sizes: dict[str, Sequence[tuple[int, int]]] = {}
        self._lock = Lock()
        # Fail here if an option is wrong, not when the model is first called. A share needs some model's window.
        some_model: dict[str, Any] = {"model": _SOME_MODEL} if isinstance(budget, str) else {}
        with unobserved():
            select_messages((), **some_model | self._options)
        if self._options.get("too_large") == "shorten":
            self._options["too_large"] = "results"
        self._exclude: tuple[str, ...] = tuple(self._options.pop("exclude", ()))

    def select(self, request: Request) -> list[Selected]:
        """Return the kept part of each message."""
        parts = [each for message in request.parts for each in message]
        # Of each part: the index of its message, and its number in the message.
        indices = [(n, number) for n, message in enumerate(request.parts) for number in range(len(message))]
        provider = self._provider_for(request, parts)
        written = _written(provider, request, parts)
        stay = {*request.pinned, *(n for n, each in enumerate(request.messages) if self._pin and self._pin(each))}
        prompt = [text(request.system)] if request.system else []
        options: dict[str, Any] = {
            "provider": provider,
            "model": request.model.name,
            "system": [*prompt, *system_of(parts, provider)] or None,
            "tools": request.tools,
            "pin": [n for n, each in enumerate(written) if any(indices[m][0] in stay for m in each.origins)],
            "exclude": (*self._exclude, *request.exclude),
            **self._options,
        }
        with called_by(self._hook):
            selection: MessageSelection = select_messages([each.shape for each in written], **options)
        stable = self._stable_prefix(request.conversation, selection)
        selection = replace(selection, stable_prefix_tokens=stable)
        changes = list(_changes(selection, written, parts))
        reasons = {m: each.reason for each in selection.dropped for m in written[each.index].origins}
        selected = _selected(request, indices, changes, reasons)
        if self._on_selection is not None:
            dropped = {indices[m][0]: reason for m, reason in reasons.items() if not selected[indices[m][0]].numbers}
            own = _for_library(request.messages, selected, selection, dropped)
            # A part with several results is counted once.
            shapes = {m: (indices[m][0], *both) for m, _, _, *both in changes}
            self._on_selection(replace(own, shortened=_shortened(shapes.values(), options)))
        return selected

    def send_openai(self, messages: Sequence[Any], **request: Any) -> list[Any]:
        """Return what to send of messages of OpenAI's shape, whoever they are sent to."""
        return self.send_whole(messages, [[openai_part(each)] for each in messages], **request)

    def send_whole(self, messages: Sequence[Any], parts: Sequence[Sequence[MessagePart]], **request: Any) -> list[Any]:
        """Return what to send of messages that stay if any of their parts does."""
        given = Request(messages=messages, parts=parts, **request)
        return [message for message, numbers in self.select(given) if numbers]

    def send(self, messages: Sequence[Any], entries: Entries, **request: Any) -> list[Any]:
        """Return what to send of messages with several entries.

        Args:
            messages: The library's own messages.
            entries: How these hold their content.
            **request: More fields of the `Request`.
        """
        pieces = list(map(entries.pieces, messages))
        parts = [[part for _, part in each] for each in pieces]
        given = Request(messages=messages, parts=parts, with_texts=entries.with_texts, **request)
        sent: list[Any] = []
        for (message, numbers), own in zip(self.select(given), pieces, strict=True):
            if len(numbers) == len(own):
                sent.append(message)
            elif numbers:
                stay = sorted(n for number in numbers for n in own[number][0])
                sent.append(entries.copied(message, [entries.of(message)[n] for n in stay]))
        return sent

    def _provider_for(self, request: Request, parts: Iterable[MessagePart]) -> ResolvedProviderName:
        """Return whose rules apply. A framework's messages are those of Chat Completions, unless they are items."""
        provider = self._provider
        if provider == "auto":
            # OpenAI's reasoning is encrypted, too, but occurs only in items.
            is_claude = request.items is None and any(map(_is_signed, parts))
            provider = request.model.provider or ("anthropic" if is_claude else "openai")
        if provider in ("openai", "responses"):
            return "openai" if request.items is None else "responses"
        return provider

    def _stable_prefix(self, conversation: str | None, selection: MessageSelection) -> int:
        """Return the tokens of the prefix that the last selection of the conversation had, too."""
        if not conversation:
            return 0
        tokens = [view.tokens for view in selection.memory.views]
        for each in selection.shortened:
            tokens[each.index] = each.tokens
        now = [(n, tokens[n]) for n in selection.kept]
        with self._lock:
            then = self._sizes.pop(conversation, ())
            self._sizes[conversation] = now
            if len(self._sizes) > _CONVERSATIONS:
                del self._sizes[next(iter(self._sizes))]
        same = takewhile(lambda pair: pair[0] == pair[1], zip(now, then, strict=False))
        return sum([size for (_, size), _ in same])


def _written(provider: ResolvedProviderName, request: Request, parts: Sequence[MessagePart]) -> list[Written]:
    """Return the messages as the provider gets them."""
    if provider == "responses":
        return [Written(item, [n]) for n, item in enumerate(request.items or ())]
    return written_for(provider, parts)


def _changes(
    selection: MessageSelection, written: Sequence[Written], parts: Sequence[MessagePart]
) -> Iterator[tuple[int, int, str, Any, Any]]:
    """Return the shortened results: their part, their number in it, their text, and the messages before and after."""
    sent = dict(zip(selection.kept, selection.messages, strict=True))
    for each in selection.shortened:
        before, copy = written[each.index], sent[each.index]
        for m, number, shorter in shorter_results(before, copy, parts):
            yield m, number, shorter, before.part(m, before.shape), before.part(m, copy)


def _selected(
    request: Request,
    indices: Sequence[tuple[int, int]],
    changes: Iterable[tuple[int, int, str, Any, Any]],
    dropped: Collection[int],
) -> list[Selected]:
    """Return each message with its shorter results, and the numbers of its parts that were not dropped."""
    texts: dict[int, dict[int, str]] = {}
    for m, number, shorter, *_ in changes:
        n, first = indices[m]
        texts.setdefault(n, {})[first + number] = shorter
    selected = [
        Selected(request.with_texts(message, texts[n]) if n in texts else message, [])
        for n, message in enumerate(request.messages)
    ]
    for m, (n, number) in enumerate(indices):
        if m not in dropped:
            selected[n].numbers.append(number)
    return selected


def _is_signed(part: MessagePart) -> bool:
    """Whether the assistant's thinking is Anthropic's, the only kind with its own signature."""
    return part.role == "assistant" and any(
        block.get("type") == "redacted_thinking" or (block.get("type") == "thinking" and block.get("signature"))
        for block in part.blocks
    )


def _for_library(
    messages: Sequence[Any],
    selected: Sequence[Selected],
    selection: MessageSelection,
    dropped: Mapping[int, ExclusionReason],
) -> MessageSelection:
    """Translate the selection to the library's messages. A message that was partly kept was not dropped."""
    kept = tuple(n for n in range(len(messages)) if n not in dropped)
    reasons = tuple(Dropped(n, dropped[n]) for n in sorted(dropped))
    sent = [selected[n].message for n in kept]
    return replace(selection, messages=sent, kept=kept, dropped=reasons, source=tuple(messages))


def _shortened(changes: Iterable[tuple[int, Any, Any]], options: Mapping[str, Any]) -> tuple[ShortenedMessage, ...]:
    """Count the shortened messages of the library, from the provider's messages before and after."""
    provider = resolve_provider((), options["provider"], options["model"])
    count = resolve_counter(options.get("counter", "auto"), provider, options["model"])
    sizes: dict[int, tuple[int, int]] = {}
    for n, before, after in changes:
        old, new = (provider.read([shape], count)[0].tokens for shape in (before, after))
        original, tokens = sizes.get(n, (0, 0))
        sizes[n] = original + old, tokens + new
    return tuple(ShortenedMessage(n, *sizes[n]) for n in sorted(sizes))
