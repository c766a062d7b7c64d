"""OpenAI Agents SDK: trim the items of a run that are sent to the model.

    result = await Runner.run(agent, items, run_config=RunConfig(call_model_input_filter=CupelInputFilter(8_000)))

The run's result and its session keep every item.
"""

# The library may be missing when types are checked.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Unpack

from pycupel.extras import missing_library
from pycupel.integrations._history import (
    HistorySelector,
    HookOptions,
    ModelInUse,
    class_names,
    model_called,
    model_name_of,
)
from pycupel.messages.parts import MessageView
from pycupel.messages.providers._writing import Call, MessagePart, text, thought
from pycupel.messages.providers.responses import RESPONSES
from pycupel.tokens.limits import BudgetLike

try:
    from agents import Agent, AgentOutputSchema, AgentOutputSchemaBase
    from agents.run import CallModelData, ModelInputData
except ModuleNotFoundError as error:
    raise missing_library(error, "openai-agents") from error

__all__ = ["CupelInputFilter"]

_TEXTS = frozenset({"input_text", "output_text", "summary_text", "reasoning_text"})
# Calls without a name, whose outputs must not be changed.
_FIXED = ("apply_patch_call", "computer_call", "local_shell_call", "shell_call", "tool_search_call")


class CupelInputFilter:
    """Trims the items sent to the model. The run's result and its session keep all of them.

    Instructions, function tools, handoffs and the schema of the output count; the tools of MCP servers do not: leave
    room for them. The rules are those of the agent's model, unless `provider` is given. If the server keeps the
    conversation (`conversation_id`, `previous_response_id`), nothing is dropped.

    Args:
        budget: The limits, or a number of tokens, as for `select_messages`.
        options: See `HookOptions`; `pin` is called with each item.
    """

    def __init__(self, budget: BudgetLike, **options: Unpack[HookOptions]) -> None:
        self._selector = HistorySelector(budget, options, hook="openai-agents")

    def __call__(self, data: CallModelData[Any]) -> ModelInputData:
        """Return the input with the trimmed items."""
        items, instructions = data.model_data.input, data.model_data.instructions
        views = RESPONSES.read(items)
        if _is_answer(views):
            return data.model_data
        sent = self._selector.send_whole(
            items,
            [[_part_of(item, view)] for item, view in zip(items, views, strict=True)],
            model=_model(data.agent.model),
            system=instructions or "",
            tools=list(_tools(data.agent)),
            exclude=_FIXED,
            items=items,
        )
        return ModelInputData(input=sent, instructions=instructions)


def _is_answer(views: Sequence[MessageView]) -> bool:
    """Whether there are tool results without any output of a model: then the calls are on the server."""
    return any(view.results for view in views) and not any(view.role == "assistant" for view in views)


def _model(model: Any) -> ModelInUse:
    return model_called(model if isinstance(model, str) else model_name_of(model), class_names(model))


def _tools(agent: Agent[Any]) -> Iterator[dict[str, Any]]:
    for tool in agent.tools:
        schema = getattr(tool, "params_json_schema", {})
        yield {"name": tool.name, "description": getattr(tool, "description", ""), "parameters": schema}
    for handoff in agent.handoffs:
        if isinstance(handoff, Agent):
            yield {"name": f"transfer_to_{handoff.name}", "description": handoff.handoff_description}
        else:
            schema = handoff.input_json_schema
            yield {"name": handoff.tool_name, "description": handoff.tool_description, "parameters": schema}
    output = agent.output_type
    if output is not None:
        given = output if isinstance(output, AgentOutputSchemaBase) else AgentOutputSchema(output)
        if not given.is_plain_text():
            yield {"name": given.name(), "schema": given.json_schema()}


def _part_of(item: Any, view: MessageView) -> MessagePart:
    """Return the content of an item, for other providers."""
    if view.calls:
        call_id, name = view.calls[0], item.get("name") or item.get("type")
        return MessagePart("assistant", calls=[Call(call_id, name, item.get("arguments") or item.get("action") or {})])
    if view.results:
        return MessagePart("tool", list(_blocks(item.get("output") or "")), answers=view.results[0])
    if view.reasoning:
        return MessagePart("assistant", list(_thoughts(item)))
    return MessagePart(view.role, list(_blocks(item.get("content") or "")))  # type: ignore[arg-type]


def _thoughts(item: Any) -> Iterator[dict[str, Any]]:
    """Return the thinking as the model gave it, if the SDK kept it; else its readable part."""
    blocks = (item.get("provider_data") or {}).get("thinking_blocks")
    if blocks:
        yield from blocks
    else:
        content = "\n".join(str(part.get("text", "")) for part in item.get("content") or item.get("summary") or ())
        yield thought(content, item.get("encrypted_content"))


def _blocks(content: Any) -> Iterator[dict[str, Any]]:
    for part in [text(content)] if isinstance(content, str) else content:
        yield text(part.get("text", "")) if part.get("type") in _TEXTS else part
