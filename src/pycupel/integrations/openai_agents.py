"""OpenAI Agents SDK: trims the items of a run that are sent to the model.

    result = await Runner.run(agent, items, run_config=RunConfig(call_model_input_filter=CupelInputFilter(8_000)))

The run's result and its session keep every item.
"""

# The library may be missing where types are checked.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from pycupel.extras import missing_extra
from pycupel.integrations._memory import HistorySelector, HookOptions
from pycupel.messages.providers.responses import RESPONSES
from pycupel.model import ContextBudget

try:
    from agents.run import CallModelData, ModelInputData
except ModuleNotFoundError as error:
    raise missing_extra(
        error,
        "agents.run",
        extra="openai-agents",
        package="openai-agents",
        purpose="pycupel.integrations.openai_agents",
    ) from error

__all__ = ["CupelInputFilter"]


class CupelInputFilter:
    """Trims the items sent to the model. The run's result and its session keep all of them.

    Instructions count, the definitions of tools do not: leave room for them. If the server keeps the conversation
    (`conversation_id`, `previous_response_id`), nothing is dropped.

    Args:
        budget: The limits, or a number of tokens, as for `select_messages`.
        options: See `HookOptions`; `pin` is called with each item.
    """

    def __init__(self, budget: ContextBudget | int, **options: Unpack[HookOptions]) -> None:
        self._selector = HistorySelector(budget, RESPONSES.name, options)

    def __call__(self, data: CallModelData[Any]) -> ModelInputData:
        """The input with the trimmed items."""
        items, instructions = data.model_data.input, data.model_data.instructions
        if _is_answer(items):
            return data.model_data
        kept = self._selector.select(items, system=instructions)
        selected = [item for item, pieces in zip(items, kept, strict=True) if pieces]
        return ModelInputData(input=selected, instructions=instructions)


def _is_answer(items: Sequence[Any]) -> bool:
    """Whether there are tool results without any output of a model: then the calls are on the server."""
    views = RESPONSES.read(items)
    return any(view.results for view in views) and not any(view.role == "assistant" for view in views)
