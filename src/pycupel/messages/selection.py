"""`select_messages`: trim a chat history to what fits, so that the provider accepts it and its prompt cache holds."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, overload

from pycupel.messages.options import DEFAULT_KEEP, Pin, ProviderName, Summarize, TooLarge, UnitName
from pycupel.messages.request import Request
from pycupel.messages.result import ExplainedSelection, MessageSelection
from pycupel.messages.run import run
from pycupel.model.checks import suggestion
from pycupel.pipeline import Policy, PresetName
from pycupel.protocols import Shortener
from pycupel.tokens.counters import CounterLike
from pycupel.tokens.limits import BudgetLike

if TYPE_CHECKING:

    class _Options(TypedDict, total=False):
        """The options of `select_messages`, except `explain`, which determines the return type."""

        provider: ProviderName
        model: str | None
        policy: Policy | PresetName
        query: str | None
        unit: UnitName
        counter: CounterLike
        pin: Pin | None
        previous: MessageSelection | None
        documents: Iterable[Any] | None
        system: Any
        tools: Iterable[Any] | None
        stable: bool
        shorten: Literal["results"] | Shortener | None
        keep: int
        exclude: Collection[str]
        summarize: Summarize | None
        summary_tokens: int | None
        too_large: TooLarge | None

    class _AllOptions(_Options, total=False):
        explain: bool

    class _ExplainedOptions(_Options):
        explain: Literal[True]


@overload
def select_messages(
    messages: Iterable[Any], budget: BudgetLike, **options: Unpack[_ExplainedOptions]
) -> ExplainedSelection: ...
@overload
def select_messages(
    messages: Iterable[Any],
    budget: BudgetLike,
    *,
    provider: ProviderName = "auto",
    model: str | None = None,
    policy: Policy | PresetName = "chat",
    query: str | None = None,
    unit: UnitName = "auto",
    counter: CounterLike = "auto",
    pin: Pin | None = None,
    previous: MessageSelection | None = None,
    documents: Iterable[Any] | None = None,
    system: Any = None,
    tools: Iterable[Any] | None = None,
    stable: bool = True,
    shorten: Literal["results"] | Shortener | None = None,
    keep: int = DEFAULT_KEEP,
    exclude: Collection[str] = (),
    summarize: Summarize | None = None,
    summary_tokens: int | None = None,
    too_large: TooLarge | None = None,
    explain: bool = False,
) -> MessageSelection: ...
def select_messages(
    messages: Iterable[Any],
    budget: BudgetLike,
    *,
    provider: ProviderName = "auto",
    model: str | None = None,
    policy: Policy | PresetName = "chat",
    query: str | None = None,
    unit: UnitName = "auto",
    counter: CounterLike = "auto",
    pin: Pin | None = None,
    previous: MessageSelection | None = None,
    documents: Iterable[Any] | None = None,
    system: Any = None,
    tools: Iterable[Any] | None = None,
    stable: bool = True,
    shorten: Literal["results"] | Shortener | None = None,
    keep: int = DEFAULT_KEEP,
    exclude: Collection[str] = (),
    summarize: Summarize | None = None,
    summary_tokens: int | None = None,
    too_large: TooLarge | None = None,
    explain: bool = False,
) -> MessageSelection:
    """Select from a chat history what fits into a budget, so that the provider accepts it.

    A tool call, its results and its reasoning stay together, with the user message that they are about. The system
    prompt, the last user message, open exchanges and the newest one of the turn always stay. The order does not change.

    Nothing is dropped until the history exceeds `max_tokens - output_reserve`. Then it is cut further than necessary,
    so that the following calls only append to it. The cuts depend only on the history and the arguments: they are
    replayed, as if the history had been selected before every call of the model.

    Args:
        messages: The history: dicts or the SDK's objects, which are only read.
        budget: The limits; or a number of tokens, where a history that exceeds it is cut to what must stay plus 65 % of
            the remaining tokens; or a share of what the model takes as input, such as "75%".
        provider: openai, responses, anthropic, gemini or mistral; auto detects it.
        model: The model's name, as `pycupel.tokens.get_counter` takes it. It decides how tokens are counted, and whose
            rules apply if the messages fit several providers. If it is known, its limits apply beside the budget.
        policy: How to rank the history: a policy, a pipeline, or the name of a preset.
        query: What the documents should be relevant to; by default the last user message. It does not rank the
            history, because the cut would move with every question.
        unit: "auto" drops exchanges and messages one by one, "turn" whole turns.
        counter: Counts tokens: a function from str to int, or what `pycupel.tokens.get_counter` takes. With "auto",
            the model or else the provider decides: exact if possible, else an estimate with a margin.
        pin: More messages that must stay: their indices, or a function that returns True for messages to keep.
        previous: The selection from the last call with this history and these arguments. It only saves time.
        documents: Retrieved texts that share the budget; see `documents` of the result. If given, even as an empty
            list, their share of the budget stays reserved, unless `stable` is False.
        system: The system prompt that is sent beside the messages: a text, blocks, or Gemini's `system_instruction`.
        tools: The definitions of tools that are sent beside the messages, in the provider's shape or MCP's.
        stable: Whether the start of the prompt should stay the same from call to call. If not, the window is filled.
        shorten: "results" shortens tool results to key lines, then to stubs, before they are dropped; or pass your own
            shortener. None uses the policy's, if it has one.
        keep: How many of the newest results stay whole while they fit.
        exclude: The names of tools whose results are never shortened.
        summarize: Called with the messages that were dropped since the last summary, and that summary or None. Returns
            a text, which is sent after the system prompt. If it fails or the text is too long, a note says so.
        summary_tokens: The tokens reserved for the summary message; by default 5 % of the window with `summarize`.
        too_large: "drop" drops an old exchange or message that is larger than the budget; "error" raises; "shorten"
            drops it, and shortens tool results that must stay but do not fit. None means "shorten" if results are
            shortened anyway, else "drop".
        explain: Whether the result should have a report.

    Returns:
        The selection; its `messages` are what to send. With `explain=True`, its `report` is not None.

    Raises:
        TypeError: an argument has the wrong type.
        InvalidBudgetError: the budget is negative.
        UnitTooLargeError: what must stay does not fit; or something else does not, and `too_large` is "error".
        MessageShapeError: a message has a shape that the provider does not know.
        ProviderAmbiguousError: the provider is "auto" and cannot be determined.
        InvalidArgumentError: an option has an invalid value, or the provider would reject every message.
    """
    request = Request(
        messages,
        budget,
        provider=provider,
        model=model,
        policy=policy,
        query=query,
        unit=unit,
        counter=counter,
        pin=pin,
        previous=previous,
        documents=documents,
        system=system,
        tools=tools,
        stable=stable,
        shorten=shorten,
        keep=keep,
        exclude=exclude,
        summarize=summarize,
        summary_tokens=summary_tokens,
        too_large=too_large,
        explain=explain,
    )
    selection, summary = run(request)
    return selection if summary is None else summary.answer(selection)


@overload
async def aselect_messages(
    messages: Iterable[Any], budget: BudgetLike, **options: Unpack[_ExplainedOptions]
) -> ExplainedSelection: ...
@overload
async def aselect_messages(
    messages: Iterable[Any], budget: BudgetLike, **options: Unpack[_AllOptions]
) -> MessageSelection: ...
async def aselect_messages(messages: Iterable[Any], budget: BudgetLike, **options: Any) -> MessageSelection:
    """Like `select_messages`, but `summarize` may be a coroutine function.

    Args:
        messages: The history: dicts or the SDK's objects, which are only read.
        budget: The budget, as in `select_messages`.
        **options: The options of `select_messages`.

    Returns:
        The selection, as `select_messages` returns it.

    Raises:
        TypeError: an argument has the wrong type, or there is no such option.
        CupelError: what `select_messages` raises.
    """
    defaults = select_messages.__kwdefaults__ or {}
    for name in sorted(options.keys() - defaults.keys()):
        near = suggestion(name, defaults)
        raise TypeError(f"aselect_messages() got an unexpected keyword argument {name!r}{near}")
    selection, summary = run(Request(messages, budget, **{**defaults, **options}))
    return selection if summary is None else await summary.answer_async(selection)
