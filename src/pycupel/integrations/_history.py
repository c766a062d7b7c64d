"""Common parts of the hooks for chat histories: their options, and how they select."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from threading import Lock
from typing import Any, ClassVar, Literal, NamedTuple, TypedDict, Unpack, get_args

from pycupel.diagnostics.collector import called_by, observe_messages, unobserved
from pycupel.documents import read_documents
from pycupel.fields import field, filled, is_mapping
from pycupel.messages import Dropped, MessageSelection, Shorten, ShortenedMessage, select_messages
from pycupel.messages.counting import resolve_counter
from pycupel.messages.detect import resolve_provider
from pycupel.messages.options import UNSET, ProviderName, ResolvedProviderName, TooLarge, UnitName, own_or_default
from pycupel.messages.overlay import with_result_texts
from pycupel.messages.providers import PROVIDERS
from pycupel.messages.providers._writing import (
    MessagePart,
    Written,
    openai_part,
    shorter_results,
    system_of,
    text,
    written_for,
)
from pycupel.messages.room import limits_left
from pycupel.messages.tool_results import recall_or_say, recall_tool
from pycupel.model import ContextBudget
from pycupel.model.checks import checked_callable, checked_name, suggestion
from pycupel.pipeline import Policy, PresetName
from pycupel.pipeline.policy import as_policy
from pycupel.protocols import Shortener
from pycupel.selecting import ContextResult, select
from pycupel.tokens import CounterLike, get_counter
from pycupel.tokens.models import BudgetLike

OnResult = Callable[[ContextResult], object]


def select_documents(
    documents: Sequence[Any],
    budget: ContextBudget | int,
    policy: Policy | PresetName,
    counter: CounterLike,
    on_selection: OnResult | None = None,
) -> list[Any]:
    """Select the documents that fit, in the order of the policy's placer; they are the caller's own objects.

    Args:
        documents: What was retrieved, in the retriever's order.
        budget: The limits, or a number of tokens.
        policy: Ranks and orders the documents: a policy, a pipeline, or the name of a preset.
        counter: Counts tokens: a function from str to int, or a name for `pycupel.tokens.get_counter`.
        on_selection: Called with each result, which has its report.
    """
    counts = get_counter(counter)
    hits, notes = read_documents(documents, counts)
    if all(hit.item.future_relevance_hint is None for hit in hits):
        # Without scores, the retriever's order is their rank.
        hints = [1.0 - rank / len(hits) for rank in range(len(hits))]
        items = [replace(hit.item, future_relevance_hint=hint) for hit, hint in zip(hits, hints, strict=True)]
        hits = [replace(hit, item=item) for hit, item in zip(hits, items, strict=True)]
    limits = limits_left(ContextBudget.of(budget), counts.margin_percent)
    result = select([hit.item for hit in hits], limits, policy, explain=on_selection is not None)
    if on_selection is not None:
        on_selection(replace(result, notes=(*notes, *result.notes)) if notes else result)
    originals = {id(hit.item): documents[hit.index] for hit in hits}
    return [originals[id(item)] for item in result.items]


# For pydantic, which otherwise ignores a misspelled field.
NO_OTHER_FIELDS: Any = {"extra": "forbid"}


class DocumentHook:
    """The start of a hook for documents that a framework makes with pydantic. The framework's own class comes after it.

    The fields are the arguments of `select_documents`.
    """

    model_config = NO_OTHER_FIELDS

    budget: Any
    policy: Any = "rag"
    counter: Any = "auto"
    on_selection: OnResult | None = None

    def model_post_init(self, context: Any, /) -> None:  # noqa: ARG002
        """Fail here if an option is wrong, not in the first call."""
        select_documents((), self.budget, self.policy, self.counter)

    def _selected(self, documents: Sequence[Any]) -> list[Any]:
        return select_documents(documents, self.budget, self.policy, self.counter, self.on_selection)


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
    """A model, as far as a framework's object shows it: the provider whose rules apply, and its name, if any."""

    provider: ResolvedProviderName | None = None
    name: str | None = None


_UNKNOWN_MODEL = ModelInUse()


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


def method_of(attribute: str, name: str) -> Any:
    """Make a method that calls the one of a wrapped model."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        # Not every model says whether it takes tools; `bool()` is False.
        return getattr(getattr(self, attribute), name, bool)(*args, **kwargs)

    return method


_MEDIA = {"image": "image_url", "audio": "input_audio"}
# The kinds of blocks that are files, as some frameworks name them.
MEDIA = frozenset({"image", "audio", "video", "document"})


def media_block(media_type: str | None) -> dict[str, Any]:
    """Make a block that costs as much as an image, a recording or another file of this type, as in "image/png"."""
    return {"type": _MEDIA.get((media_type or "").partition("/")[0], "file")}


def response_tools(schema: Any) -> list[dict[str, Any]]:
    """Return the schema of the response, a class or JSON, as a tool, which costs as much; nothing if there is none."""
    if hasattr(schema, "model_json_schema"):
        schema = schema.model_json_schema()
    return [{"name": "response", "parameters": schema}] if is_mapping(schema) else []


def response_schema(request: Any) -> Any:
    """Return the schema of the response that a request's arguments ask for: a class, or JSON; None if there is none."""
    given = filled(request, "response_format", "text_format", "output_format")
    given = given or field(filled(request, "text", "output_config"), "format")
    if not is_mapping(given):
        return given
    schema = filled(given, "json_schema", "schema", "response_schema")
    # Some take it as it is. Otherwise only the kind of the response is named.
    return given if schema is None and "properties" in given else schema


# For how many conversations a hook remembers what it kept last, to say how much of the prompt is the same.
_CONVERSATIONS = 64
# One for all hooks, because one of its own could not be copied or pickled with a hook.
_LOCK = Lock()
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

    shorten: Literal["results", "none"] | Shortener | Shorten | None
    """How to shorten old tool results before they are dropped: "results", the default, your own shortener, or
    `Shorten(...)`; None drops them whole.
    """

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
    """A request to a model.

    Attributes:
        messages: The library's own messages.
        parts: The content of each message, results first. A message with nothing to drop has no entries, and stays.
        model: The model in use.
        system: The system prompt that is sent beside the messages.
        tools: The definitions of tools.
        pinned: The indices of messages that must stay.
        exclude: The names of more tools whose results are never shortened.
        conversation: The library's id of the thread or session, if it has one.
        items: The messages themselves, if they have the shape of Responses. OpenAI's models get them as they are.
        with_texts: Copies a message with other texts for some results, by their number.
    """

    messages: Sequence[Any]
    parts: Sequence[Sequence[MessagePart]]
    model: ModelInUse = _UNKNOWN_MODEL
    system: str = ""
    tools: Sequence[Any] = ()
    pinned: Iterable[int] = ()
    exclude: Collection[str] = ()
    conversation: str | None = None
    items: Sequence[Any] | None = None
    with_texts: Callable[[Any, Mapping[int, str]], Any] = with_result_texts


class Selected(NamedTuple):
    """The library's message, or a copy with shorter results, and the numbers of the parts of its content that stay."""

    message: Any
    numbers: list[int]


class Entries(NamedTuple):
    """How the messages of a library hold results, texts and calls: in a list of entries.

    Attributes:
        of: Returns the entries of a message.
        copied: Copies a message with other entries.
        with_text: Copies a result with a shorter text.
        pieces: Returns what is kept or dropped on its own, results first, each with the indices of its entries.
    """

    of: Callable[[Any], Sequence[Any]]
    copied: Callable[[Any, list[Any]], Any]
    with_text: Callable[[Any, str], Any]
    pieces: Callable[[Any], list[tuple[list[int], MessagePart]]]

    def with_texts(self, message: Any, texts: Mapping[int, str]) -> Any:
        """Copy a message with shorter results, by their number."""
        entries = list(self.of(message))
        for number, (indices, _) in enumerate(self.pieces(message)):
            if number in texts:
                entries[indices[0]] = self.with_text(entries[indices[0]], texts[number])
        return self.copied(message, entries)


def results_and_rest(
    of: Callable[[Any], Sequence[Any]],
    result: Callable[[Any], MessagePart | None],
    rest: Callable[[Any, Sequence[Any]], MessagePart],
) -> Callable[[Any], list[tuple[list[int], MessagePart]]]:
    """Return the `pieces` of messages whose results are found by `result`; the other entries are one piece."""

    def pieces(message: Any) -> list[tuple[list[int], MessagePart]]:
        entries = of(message)
        found = [([n], part) for n, each in enumerate(entries) if (part := result(each)) is not None]
        others = sorted({*range(len(entries))}.difference(*(indices for indices, _ in found)))
        if others or not found:
            found.append((others, rest(message, [entries[n] for n in others])))
        return found

    return pieces


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
        # Fail here if an option is wrong, not when the model is first called. A share needs some model's window.
        some_model: dict[str, Any] = {"model": _SOME_MODEL} if isinstance(budget, str) else {}
        with unobserved():
            self._window = select_messages((), **some_model | self._options).usage.window
        if self._options.get("too_large") == "shorten":
            self._options["too_large"] = "results"
        shorten = options.get("shorten")
        self.recall_tool = shorten.recall_tool if isinstance(shorten, Shorten) else ""

    def select(self, request: Request) -> list[Selected]:
        """Return the kept part of each message."""
        parts = [each for message in request.parts for each in message]
        # Of each part: the index of its message, and its number in the message.
        indices = [(n, number) for n, message in enumerate(request.parts) for number in range(len(message))]
        provider, written = self._written(request, parts)
        options = self._options_for(request, parts, provider)
        stay = {*request.pinned, *(n for n, each in enumerate(request.messages) if self._pin and self._pin(each))}
        pinned = [n for n, each in enumerate(written) if any(indices[m][0] in stay for m in each.origins)]
        selection = self._observed([each.shape for each in written], options | {"pin": pinned}, request.conversation)
        reasons = {m: each.reason for each in selection.dropped for m in written[each.index].origins}
        sent = dict(zip(selection.kept, selection.messages, strict=True))
        texts: dict[int, dict[int, str]] = {}
        # Of each part with shorter results: its message, and what the provider gets of it without and with them.
        shapes: dict[int, tuple[int, Any, Any]] = {}
        for each in selection.shortened:
            before, copy = written[each.index], sent[each.index]
            for m, number, shorter in shorter_results(before, copy, parts):
                n, first = indices[m]
                texts.setdefault(n, {})[first + number] = shorter
                shapes[m] = n, before.part(m, before.shape), before.part(m, copy)
        selected = [
            Selected(request.with_texts(message, texts[n]) if n in texts else message, [])
            for n, message in enumerate(request.messages)
        ]
        for m, (n, number) in enumerate(indices):
            if m not in reasons:
                selected[n].numbers.append(number)
        if self._on_selection is not None:
            # A message that was partly kept was not dropped.
            dropped = {indices[m][0]: reason for m, reason in reasons.items() if not selected[indices[m][0]].numbers}
            kept = tuple(n for n in range(len(selected)) if n not in dropped)
            own = replace(
                selection,
                messages=[selected[n].message for n in kept],
                kept=kept,
                dropped=tuple(Dropped(n, dropped[n]) for n in sorted(dropped)),
                source=tuple(request.messages),
                shortened=_shortened(shapes.values(), options),
            )
            self._on_selection(own)
        return selected

    def _options_for(
        self, request: Request, parts: Sequence[MessagePart], provider: ResolvedProviderName
    ) -> dict[str, Any]:
        prompt = [text(request.system)] if request.system else []
        options: dict[str, Any] = {
            "provider": provider,
            "model": request.model.name,
            "system": [*prompt, *system_of(parts, provider)] or None,
            "tools": request.tools,
            **self._options,
        }
        if request.exclude:
            policy = as_policy(options.get("policy", "chat"))
            given = own_or_default(options.get("shorten", UNSET), policy)
            how = given if isinstance(given, Shorten) else Shorten(given)
            options["shorten"] = replace(how, exclude=(*how.exclude, *request.exclude))
        return options

    def _observed(self, messages: Sequence[Any], options: dict[str, Any], conversation: str | None) -> MessageSelection:
        # Observed here, because what stayed the same is known only here.
        with called_by(self._hook), observe_messages(options["model"]) as observed:
            with unobserved():
                selection: MessageSelection = select_messages(messages, **options)
            # A tool that gives results back does not know the model, and must leave room for the rest.
            self._window = selection.usage.window
            stable = self._stable_prefix(conversation, selection)
            return observed.done(replace(selection, stable_prefix_tokens=stable))

    def send_as_given(
        self,
        messages: Sequence[Any],
        provider: ResolvedProviderName,
        *,
        model: ModelInUse,
        system: Any,
        tools: Sequence[Any],
        conversation: str | None,
    ) -> list[Any]:
        """Return what to send of messages that have the shape of the provider already."""
        options = {"provider": provider, "model": model.name, "system": system, "tools": tools}
        selection = self._observed(messages, {"pin": self._pin or (), **options, **self._options}, conversation)
        if self._on_selection is not None:
            self._on_selection(selection)
        return list(selection.messages)

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

    def recall(self, arguments: Mapping[str, Any], parts: Sequence[MessagePart], **request: Any) -> str:
        """Answer a call of the tool that gives results back, with more fields of the `Request` as it was selected."""
        given = Request(messages=(), parts=(), **request)
        provider, written = self._written(given, parts)
        count = resolve_counter(self._options.get("counter", "auto"), PROVIDERS[provider], given.model.name)
        return recall_or_say(self._window, count, [each.shape for each in written], provider, arguments)

    def _written(
        self, request: Request, parts: Sequence[MessagePart]
    ) -> tuple[ResolvedProviderName, Sequence[Written]]:
        """Return whose rules apply, and the messages that this provider gets. Items are as it gets them already."""
        provider = self._provider_for(request, parts)
        if provider == "responses":
            return provider, [Written(item, [n]) for n, item in enumerate(request.items or ())]
        return provider, written_for(provider, parts)

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
        with _LOCK:
            then = self._sizes.pop(conversation, ())
            self._sizes[conversation] = now
            if len(self._sizes) > _CONVERSATIONS:
                del self._sizes[next(iter(self._sizes))]
        same = takewhile(lambda pair: pair[0] == pair[1], zip(now, then, strict=False))
        return sum([size for (_, size), _ in same])


class HistoryHook:
    """The start of a hook whose only arguments are these. A framework's own class comes after it.

    Args:
        budget: The limits, or a number of tokens, or a share of what the model takes, as for `select_messages`.
        options: See `HookOptions`.
    """

    _framework: ClassVar[str]

    def __init__(self, budget: BudgetLike, **options: Unpack[HookOptions]) -> None:
        super().__init__()
        self._selector = HistorySelector(budget, options, hook=self._framework)

    def _recall_definition(self) -> dict[str, Any] | None:
        """Return the name, the description and the parameters of the tool that gives results back, if asked for."""
        name = self._selector.recall_tool
        definition: dict[str, Any] | None = recall_tool("openai", name)["function"] if name else None
        return definition


def _is_signed(part: MessagePart) -> bool:
    """Whether the assistant's thinking is Anthropic's, the only kind with its own signature."""
    return part.role == "assistant" and any(
        block.get("type") == "redacted_thinking" or (block.get("type") == "thinking" and block.get("signature"))
        for block in part.blocks
    )


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
