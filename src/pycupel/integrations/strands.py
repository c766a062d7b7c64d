"""Strands Agents: trim the messages sent to a model.

    agent = Agent(model=CupelModel(BedrockModel(), 8_000), tools=tools)

`agent.messages` keeps every message, if no conversation manager drops some: pass a `NullConversationManager`.
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Iterator, Sequence
from operator import itemgetter
from typing import Any, Unpack

from pycupel.extras import missing_library
from pycupel.fields import as_json
from pycupel.integrations import _history as hooks
from pycupel.messages.providers._writing import Call, MessagePart, text, thought
from pycupel.model.checks import wrong_type
from pycupel.tokens.models import BudgetLike

try:
    from strands.models import Model
except ModuleNotFoundError as error:
    raise missing_library(error, "strands") from error

__all__ = ["CupelModel"]


class CupelModel(Model):
    """Trims the messages sent to a model, at every call. The agent's own messages stay as they are.

    The system prompt, the tools and the schema of structured output count. The rules are those of the model, unless
    `provider` is given. If the model's server keeps the conversation, nothing is dropped. Everything else about the
    model is its own: settings, limits, and how it counts tokens.

    Args:
        wrapped: The model to call.
        budget: The limits, or a number of tokens, as for `select_messages`.
        options: See `HookOptions`; `pin` is called with each message.
    """

    def __init__(self, wrapped: Model, budget: BudgetLike, **options: Unpack[hooks.HookOptions]) -> None:
        if not isinstance(wrapped, Model):
            raise wrong_type("wrapped", "a Model", wrapped)
        self.wrapped = wrapped
        self._selector = hooks.HistorySelector(budget, options, hook="strands")

    def __getattr__(self, name: str) -> Any:
        """Return what the model has beside the methods of every model."""
        if name == "wrapped":
            # Copies ask before they have it.
            raise AttributeError(name)
        return getattr(self.wrapped, name)

    @property
    def stateful(self) -> bool:
        """Whether the model's server keeps the conversation."""
        return self.wrapped.stateful

    @property
    def _supports_structured_output(self) -> bool:  # type: ignore[override]  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.wrapped._supports_structured_output  # noqa: SLF001

    update_config = hooks.method_of("wrapped", "update_config")
    get_config = hooks.method_of("wrapped", "get_config")
    count_tokens = hooks.method_of("wrapped", "count_tokens")

    def stream(
        self,
        messages: Any,
        tool_specs: Any = None,
        system_prompt: str | None = None,
        *,
        system_prompt_content: Any = None,
        agent_metadata: Any = None,
        **kwargs: Any,
    ) -> AsyncIterable[Any]:
        """Call the model with the trimmed messages."""
        system = [system_prompt] if system_prompt else [each.get("text") or "" for each in system_prompt_content or ()]
        conversation = getattr(agent_metadata, "session_id", None)
        sent = self._sent(messages, "\n".join(system), [*(tool_specs or ())], conversation)
        kwargs |= {"system_prompt_content": system_prompt_content, "agent_metadata": agent_metadata}
        return self.wrapped.stream(sent, tool_specs, system_prompt, **kwargs)

    def structured_output(
        self, output_model: Any, prompt: Any, system_prompt: str | None = None, **kwargs: Any
    ) -> AsyncGenerator[dict[str, Any], None]:
        """Call the model with the trimmed messages."""
        schema = {"name": output_model.__name__, "inputSchema": output_model.model_json_schema()}
        sent = self._sent(prompt, system_prompt or "", [schema], None)
        return self.wrapped.structured_output(output_model, sent, system_prompt, **kwargs)

    def _sent(self, messages: Any, system: str, tools: list[Any], conversation: str | None) -> list[Any]:
        if self.stateful:
            return messages
        model = _model(self.wrapped)
        return self._selector.send(
            messages, _ENTRIES, model=model, system=system, tools=tools, conversation=conversation
        )


def _model(model: Model) -> hooks.ModelInUse:
    config = model.get_config()
    name = config.get("model_id") if isinstance(config, dict) else None
    kinds = hooks.class_names(model)
    # Bedrock has rules of its own for all models that it serves, Claude's among them; elsewhere Claude has its own.
    return hooks.ModelInUse("converse", name) if "BedrockModel" in kinds else hooks.model_called(name, kinds)


def _result(block: Any) -> MessagePart | None:
    result = block.get("toolResult")
    if result is None:
        return None
    failed = result.get("status") == "error"
    return MessagePart("tool", list(_blocks(result["content"])), answers=result["toolUseId"], failed=failed)


def _rest(message: Any, content: Sequence[Any]) -> MessagePart:
    uses = [each["toolUse"] for each in content if "toolUse" in each]
    calls = [Call(each["toolUseId"], each["name"], each.get("input") or {}) for each in uses]
    return MessagePart(message["role"], list(_blocks(content)), calls)


def _blocks(content: Sequence[Any]) -> Iterator[dict[str, Any]]:
    for block in content:
        for kind, value in block.items():
            if kind == "text":
                yield text(value)
            elif kind == "reasoningContent" and "redactedContent" in value:
                yield {"type": "redacted_thinking", "data": str(value["redactedContent"])}
            elif kind == "reasoningContent":
                said = value.get("reasoningText") or {}
                yield thought(said.get("text") or "", said.get("signature"))
            elif kind in hooks.MEDIA:
                yield hooks.media_block(kind)
            elif kind not in ("toolUse", "cachePoint"):
                yield text(as_json(value))


_ENTRIES = hooks.Entries(
    of=itemgetter("content"),
    pieces=hooks.results_and_rest(itemgetter("content"), _result, _rest),
    copied=lambda message, content: {**message, "content": content},
    with_text=lambda block, short: {**block, "toolResult": {**block["toolResult"], "content": [{"text": short}]}},
)
