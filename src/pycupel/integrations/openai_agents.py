"""OpenAI Agents SDK: trim the items of a run that are sent to the model.

result = await Runner.run(agent, items, run_config=RunConfig(call_model_input_filter=CupelInputFilter(8_000)))
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from typing import Any

from pycupel.errors import InvalidArgumentError
from pycupel.extras import missing_library
from pycupel.integrations import _history as hooks
from pycupel.messages.parts import MessageView
from pycupel.messages.providers._writing import Call, MessagePart, text, thought
from pycupel.messages.providers.responses import RESPONSES

try:
    from agents import Agent, AgentOutputSchema, AgentOutputSchemaBase, FunctionTool
    from agents.run import CallModelData, ModelInputData
    from agents.tool_context import ToolContext
except ModuleNotFoundError as error:
    raise missing_library(error, "openai-agents") from error

__all__ = ["CupelInputFilter"]

# All items of the last request. A tool is told only the input of its run, but it runs in the context of the request.
_ITEMS: ContextVar[list[Any] | None] = ContextVar("items", default=None)
_TEXTS = frozenset({"input_text", "output_text", "summary_text", "reasoning_text"})
# Calls without a name, whose outputs must not be changed.
_FIXED = ("apply_patch_call", "computer_call", "local_shell_call", "shell_call", "tool_search_call")


class CupelInputFilter(hooks.HistoryHook):
    """Trims the items sent to the model. The run's result and its session keep all of them.

    Instructions, function tools, handoffs and the schema of the output count; the tools of MCP servers do not: leave
    room for them. The rules are those of the agent's model, unless `provider` is given. If the server keeps the
    conversation (`conversation_id`, `previous_response_id`), nothing is dropped. With `shorten=Shorten(recall=True)`,
    put `recall_tool` into the agent's tools.
    """

    _framework = "openai-agents"

    def __call__(self, data: CallModelData[Any]) -> ModelInputData:
        """Return the input with the trimmed items."""
        items, instructions = data.model_data.input, data.model_data.instructions
        views = RESPONSES.read(items)
        if _is_answer(views):
            return data.model_data
        _ITEMS.set(items)
        sent = self._selector.send_whole(
            items,
            [[part] for part in map(_part_of, items, views)],
            model=_model_of(data.agent),
            system=instructions or "",
            tools=list(_tools(data.agent)),
            exclude=_FIXED,
            items=items,
        )
        return ModelInputData(input=sent, instructions=instructions)

    @property
    def recall_tool(self) -> FunctionTool:
        """The tool that gives shortened results back, for `Agent(tools=...)`.

        Raises:
            InvalidArgumentError: results name nothing to ask for, because `shorten` is not `Shorten(recall=True)`.
        """
        definition = self._recall_definition()
        if definition is None:
            raise InvalidArgumentError("there is nothing to recall; pass shorten=Shorten(recall=True)")
        name, description, parameters = definition.values()
        return FunctionTool(name, description, parameters, self._recall, strict_json_schema=False)

    async def _recall(self, context: ToolContext[Any], arguments: str) -> str:
        try:
            given = dict(json.loads(arguments))
        except (TypeError, ValueError):
            return "the arguments must be a JSON object with an id"
        items = _ITEMS.get() or []
        if items[: len(context.turn_input)] != context.turn_input:
            # They are another run's, and this one has had no request.
            items = context.turn_input
        parts = list(map(_part_of, items, RESPONSES.read(items)))
        return self._selector.recall(given, parts, model=_model_of(context.agent), items=items)


def _model_of(agent: Any) -> hooks.ModelInUse:
    model = agent.model
    name = model if isinstance(model, str) else hooks.model_name_of(model)
    return hooks.model_called(name, hooks.class_names(model))


def _is_answer(views: Sequence[MessageView]) -> bool:
    """Whether there are tool results without any output of a model: then the calls are on the server."""
    return any(view.results for view in views) and not any(view.role == "assistant" for view in views)


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
