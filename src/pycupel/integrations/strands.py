"""Strands Agents: trim the messages sent to a model.

    agent = Agent(model=CupelModel(BedrockModel(), 8_000), tools=tools)

`agent.messages` keeps every message, if no conversation manager drops some: pass a `NullConversationManager`.
"""

# The library may be missing when types are checked.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Iterator, Sequence
from typing import Any, Unpack

from pycupel.extras import missing_library
from pycupel.fields import as_json
from pycupel.integrations._history import (
    Entries,
    HistorySelector,
    HookOptions,
    ModelInUse,
    class_names,
    media_block,
    model_called,
)
from pycupel.messages.providers._writing import Call, MessagePart, text, thought
from pycupel.tokens.limits import BudgetLike

try:
    from strands.models import Model
except ModuleNotFoundError as error:
    raise missing_library(error, "strands") from error

__all__ = ["CupelModel"]

_MEDIA = frozenset({"image", "audio", "video", "document"})


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

    def __init__(self, wrapped: Model, budget: BudgetLike, **options: Unpack[HookOptions]) -> None:
        self.wrapped = wrapped
        self._selector = HistorySelector(budget, options, hook="strands")

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

    def update_config(self, **model_config: Any) -> None:
        """Change the model's settings."""
        self.wrapped.update_config(**model_config)

    def get_config(self) -> Any:
        """Return the model's settings."""
        return self.wrapped.get_config()

    async def count_tokens(self, *args: Any, **kwargs: Any) -> int:
        """Count as the model does."""
        return await self.wrapped.count_tokens(*args, **kwargs)

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


def _model(model: Model) -> ModelInUse:
    config = model.get_config()
    name = config.get("model_id") if isinstance(config, dict) else None
    found = model_called(name, class_names(model))
    # Converse has Anthropic's rules: results in the message after the calls, and turns that alternate.
    is_converse = found.provider is None and "BedrockModel" in class_names(model)
    return found._replace(provider="anthropic") if is_converse else found


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
            elif kind == "reasoningContent":
                yield _thought(value)
            elif kind in _MEDIA:
                yield media_block(kind)
            elif kind not in ("toolUse", "cachePoint"):
                yield text(as_json(value))


def _thought(value: Any) -> dict[str, Any]:
    if "redactedContent" in value:
        return {"type": "redacted_thinking", "data": str(value["redactedContent"])}
    said = value.get("reasoningText") or {}
    return thought(said.get("text") or "", said.get("signature"))


def _with_text(block: Any, shorter: str) -> Any:
    return {**block, "toolResult": {**block["toolResult"], "content": [{"text": shorter}]}}


_ENTRIES = Entries(
    of=lambda message: message["content"],
    result=_result,
    rest=_rest,
    copied=lambda message, content: {**message, "content": content},
    with_text=_with_text,
)
