"""Other libraries' ways to trim a history, for `benchmarks.compare`: one row of `PEERS` for each.

A dialect writes messages of OpenAI's shape as a library has them, and reads what it would send. A trimmer gets the
whole history before each call of the model. What an agent stores instead of the history (`keeps`) replaces it.
Libraries are imported where they are used, because none of them has to be there.
"""

# The libraries may be missing when types are checked.
# ruff: noqa: PLC0415
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

from pycupel.messages import select_messages

Message = dict[str, Any]
Trim = Callable[[list[Any]], list[Any]]

# What every peer that summarises gets from its model: a real one keeps some of what is needed, and takes seconds.
SUMMARY = "The user and the assistant worked on the tasks above, step by step; the details are in the files."


def quarter(text: str) -> int:
    """A token for four characters, as most of these libraries estimate."""
    return len(text) // 4


def cost(message: Message) -> int:
    """The tokens of a message: four characters each, and four more for the message."""
    calls = "".join(
        call["function"]["name"] + call["function"]["arguments"] for call in message.get("tool_calls") or ()
    )
    return quarter((message.get("content") or "") + calls) + 4


def tokens(messages: Sequence[Message]) -> int:
    return sum(map(cost, messages))


class Dialect(NamedTuple):
    """How a library writes messages, and how to read them; whether the system prompt is sent beside them."""

    write: Callable[[list[Message]], list[Any]] = list
    read: Callable[[list[Any]], list[Message]] = list
    is_system_beside: bool = False


class Peer(NamedTuple):
    """A way to trim: the package and its arguments, its dialect, and a trimmer for a window and a whole session."""

    name: str
    package: str
    dialect: Callable[[], Dialect]
    start: Callable[[int, list[Message]], Trim]
    keeps: bool = False


def call(identity: str | None, name: str, arguments: Any) -> Message:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": text}}


def _runs(messages: list[Message]) -> Iterator[list[Message]]:
    """Results that follow each other are one message in most libraries."""
    run: list[Message] = []
    for message in messages:
        if run and not message["role"] == run[-1]["role"] == "tool":
            yield run
            run = []
        run.append(message)
    if run:
        yield run


# --- LangChain


def langchain(*, is_system_beside: bool = False) -> Dialect:
    from langchain_core.messages import convert_to_messages, convert_to_openai_messages

    return Dialect(convert_to_messages, convert_to_openai_messages, is_system_beside)


def trim_messages(window: int, _: object, **options: Any) -> Trim:
    from langchain_core.messages import trim_messages
    from langchain_core.messages.utils import count_tokens_approximately

    return lambda messages: trim_messages(
        messages, max_tokens=window, token_counter=count_tokens_approximately, **options
    )


def _no_model() -> Any:
    from langchain_core.language_models import FakeListChatModel

    return FakeListChatModel(responses=[SUMMARY])


def summarization(window: int, _: object) -> Trim:
    from langchain.agents.middleware import SummarizationMiddleware

    middleware = SummarizationMiddleware(_no_model(), trigger=("tokens", window), keep=("tokens", window // 2))

    def trim(messages: list[Any]) -> list[Any]:
        update: Any = middleware.before_model({"messages": messages}, None)
        return [each for each in update["messages"] if each.type != "remove"] if update else messages

    return trim


def context_editing(window: int, _: object) -> Trim:
    from langchain.agents.middleware import ClearToolUsesEdit, ContextEditingMiddleware
    from langchain.agents.middleware.types import ModelRequest

    middleware = ContextEditingMiddleware(edits=[ClearToolUsesEdit(trigger=window)])
    model = _no_model()

    def trim(messages: list[Any]) -> list[Any]:
        sent: list[Any] = []
        middleware.wrap_model_call(
            ModelRequest(model=model, messages=messages), lambda each: sent.extend(each.messages)
        )
        return sent

    return trim


# --- Pydantic AI


def pydantic_ai() -> Dialect:
    from pydantic_ai import messages as m

    def write(messages: list[Message]) -> Iterator[Any]:
        for first, *more in _runs(messages):
            if first["role"] == "tool":
                yield m.ModelRequest(
                    [m.ToolReturnPart("tool", each["content"], each["tool_call_id"]) for each in (first, *more)]
                )
            elif first["role"] == "user":
                yield m.ModelRequest([m.UserPromptPart(first["content"])])
            else:
                calls = [
                    m.ToolCallPart(each["function"]["name"], each["function"]["arguments"], each["id"])
                    for each in first.get("tool_calls") or ()
                ]
                yield m.ModelResponse([*([m.TextPart(first["content"])] if first["content"] else ()), *calls])

    def read(messages: list[Any]) -> Iterator[Message]:
        for message in messages:
            if message.kind == "response":
                calls = [call(p.tool_call_id, p.tool_name, p.args) for p in message.parts if p.part_kind == "tool-call"]
                text = "".join(p.content for p in message.parts if p.part_kind == "text")
                yield {"role": "assistant", "content": text, **({"tool_calls": calls} if calls else {})}
                continue
            for part in message.parts:
                if part.part_kind == "tool-return":
                    yield {"role": "tool", "tool_call_id": part.tool_call_id, "content": part.content}
                else:
                    yield {"role": "user", "content": part.content}

    return Dialect(lambda each: list(write(each)), lambda each: list(read(each)), is_system_beside=True)


def harness(window: int, _: object) -> Trim:
    from pydantic_ai.models.test import TestModel
    from pydantic_ai_harness import compaction

    tiers = [
        compaction.ClearToolResults(max_tokens=window),
        compaction.SlidingWindowCompaction(max_tokens=window, keep_tokens=window // 2),
    ]
    strategy = compaction.TieredCompaction(tiers, target_tokens=window)
    model, loop = TestModel(), asyncio.new_event_loop()
    return lambda messages: loop.run_until_complete(compaction.compact_now(strategy, messages, model=model))


# --- LlamaIndex


def llama_index() -> Dialect:
    from llama_index.core.llms import ChatMessage

    def write(messages: list[Message]) -> list[Any]:
        return [ChatMessage(each["content"] or "", role=each["role"], additional_kwargs=each) for each in messages]

    return Dialect(write, lambda messages: [each.additional_kwargs for each in messages], is_system_beside=True)


def chat_memory_buffer(window: int, _: object) -> Trim:
    from llama_index.core.memory import ChatMemoryBuffer

    buffer = ChatMemoryBuffer.from_defaults(token_limit=window, tokenizer_fn=lambda text: [*range(len(text) // 4)])
    known = 0

    def trim(messages: list[Any]) -> list[Any]:
        nonlocal known
        for message in messages[known:]:
            buffer.put(message)
        known = len(messages)
        return buffer.get()

    return trim


# --- LiteLLM


def litellm_trim(window: int, session: list[Message]) -> Trim:
    import litellm

    # It counts with a tokenizer of its own.
    its_window = window * litellm.token_counter(model="", messages=session) // tokens(session)
    return lambda messages: litellm.utils.trim_messages(messages, max_tokens=its_window)


# --- Microsoft Agent Framework


def agent_framework() -> Dialect:
    from agent_framework import Content, Message as Theirs

    def write(messages: list[Message]) -> Iterator[Any]:
        for first, *more in _runs(messages):
            if first["role"] == "tool":
                results = [
                    Content.from_function_result(each["tool_call_id"], result=each["content"])
                    for each in (first, *more)
                ]
                yield Theirs("tool", results)
                continue
            calls = [
                Content.from_function_call(
                    each["id"], each["function"]["name"], arguments=each["function"]["arguments"]
                )
                for each in first.get("tool_calls") or ()
            ]
            yield Theirs(first["role"], [*([first["content"]] if first["content"] else ()), *calls])

    def read(messages: list[Any]) -> Iterator[Message]:
        for message in messages:
            calls = [call(c.call_id, c.name, c.arguments) for c in message.contents if c.type == "function_call"]
            results = [c for c in message.contents if c.type == "function_result"]
            for each in results:
                yield {"role": "tool", "tool_call_id": each.call_id, "content": str(each.result)}
            if not results:
                yield {"role": message.role, "content": message.text, **({"tool_calls": calls} if calls else {})}

    return Dialect(lambda each: list(write(each)), lambda each: list(read(each)))


def context_window(window: int, _: object) -> Trim:
    from agent_framework import ContextWindowCompactionStrategy, apply_compaction

    strategy: Any = ContextWindowCompactionStrategy(max_context_window_tokens=window, max_output_tokens=0)
    loop = asyncio.new_event_loop()
    return lambda messages: loop.run_until_complete(apply_compaction(messages, strategy=strategy))


# --- Strands


def strands() -> Dialect:
    def write(messages: list[Message]) -> Iterator[Any]:
        for first, *more in _runs(messages):
            if first["role"] == "tool":
                results = [
                    {"toolUseId": each["tool_call_id"], "content": [{"text": each["content"]}], "status": "success"}
                    for each in (first, *more)
                ]
                yield {"role": "user", "content": [{"toolResult": each} for each in results]}
                continue
            uses = [
                {"toolUseId": c["id"], "name": c["function"]["name"], "input": json.loads(c["function"]["arguments"])}
                for c in first.get("tool_calls") or ()
            ]
            text = [{"text": first["content"]}] if first["content"] else []
            yield {"role": first["role"], "content": [*text, *({"toolUse": each} for each in uses)]}

    def read(messages: list[Any]) -> Iterator[Message]:
        for message in messages:
            results = [each["toolResult"] for each in message["content"] if "toolResult" in each]
            for each in results:
                text = "".join(block["text"] for block in each["content"])
                yield {"role": "tool", "tool_call_id": each["toolUseId"], "content": text}
            if not results:
                uses = [each["toolUse"] for each in message["content"] if "toolUse" in each]
                calls = [call(each["toolUseId"], each["name"], each["input"]) for each in uses]
                text = "".join(each.get("text", "") for each in message["content"])
                yield {"role": message["role"], "content": text, **({"tool_calls": calls} if calls else {})}

    return Dialect(lambda each: list(write(each)), lambda each: list(read(each)), is_system_beside=True)


class Strands:
    """The manager counts messages; `overflow` is what the agent does when the provider refuses a prompt."""

    def __init__(self, _: int, __: object) -> None:
        from strands.agent.conversation_manager import SlidingWindowConversationManager

        self.manager = SlidingWindowConversationManager(per_turn=True)

    def __call__(self, messages: list[Any]) -> list[Any]:
        agent: Any = SimpleNamespace(messages=messages)
        self.manager.apply_management(agent)
        return messages

    def overflow(self, messages: list[Any]) -> list[Any]:
        from strands.types.exceptions import ContextWindowOverflowException

        agent: Any = SimpleNamespace(messages=messages)
        self.manager.reduce_context(agent, e=ContextWindowOverflowException())
        return messages


# --- by hand, and ours


def loop_by_hand(window: int, _: object) -> Trim:
    def trim(messages: list[Any]) -> list[Any]:
        kept = list(messages)
        size = tokens(kept)
        while size > window:
            size -= cost(kept.pop(1))
        return kept

    return trim


def pycupel(window: int, _: object, **options: Any) -> Trim:
    return lambda messages: select_messages(messages, window, provider="openai", counter=quarter, **options).messages


LAST: dict[str, Any] = {
    "strategy": "last", "include_system": True, "start_on": "human", "end_on": ("human", "tool")
}  # fmt: skip
PEERS = [
    Peer("`select_messages(...)`", "pycupel", Dialect, pycupel),
    Peer("the same, `stable=False`", "pycupel", Dialect, lambda w, s: pycupel(w, s, stable=False)),
    Peer("`select_messages(..., shorten=None)`", "pycupel", Dialect, lambda w, s: pycupel(w, s, shorten=None)),
    Peer("`trim_messages`, bare", "langchain-core", langchain, trim_messages),
    Peer("`trim_messages`, as documented", "langchain-core", langchain, lambda w, s: trim_messages(w, s, **LAST)),
    Peer("`SummarizationMiddleware`", "langchain", lambda: langchain(is_system_beside=True), summarization, keeps=True),
    Peer("`ContextEditingMiddleware`", "langchain", lambda: langchain(is_system_beside=True), context_editing),
    Peer("`TieredCompaction`", "pydantic-ai-harness", pydantic_ai, harness, keeps=True),
    Peer("`ChatMemoryBuffer`", "llama-index-core", llama_index, chat_memory_buffer),
    Peer("`trim_messages`", "litellm", Dialect, litellm_trim),
    Peer("`ContextWindowCompactionStrategy`", "agent-framework-core", agent_framework, context_window),
    Peer("`SlidingWindowConversationManager`", "strands-agents", strands, Strands),
    Peer("`while too_long: history.pop(1)`", "", Dialect, loop_by_hand),
]
