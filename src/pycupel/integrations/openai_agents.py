"""OpenAI Agents SDK: what a model sees of a run's items.

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
from pycupel.messages.shapes import read_messages
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

_PROVIDER = "responses"


class CupelInputFilter:
    """Lets the model see what fits of the items. The run's result and its session keep all of them.

    Instructions count, the definitions of tools do not: leave room for them. If the server keeps the conversation
    (`conversation_id`, `previous_response_id`), there is nothing to drop here, and nothing is.

    Args:
        budget: The limits, or a number of tokens, as for `select_messages`.
        options: See `HookOptions`; a `pin` is asked about each item.
    """

    def __init__(self, budget: ContextBudget | int, **options: Unpack[HookOptions]) -> None:
        self._selector = HistorySelector(budget, _PROVIDER, options)

    def __call__(self, data: CallModelData[Any]) -> ModelInputData:
        items, instructions = data.model_data.input, data.model_data.instructions
        if _is_answer(items):
            return data.model_data
        kept = self._selector.select(items, system=instructions)
        selected = [item for item, pieces in zip(items, kept, strict=True) if pieces]
        return ModelInputData(input=selected, instructions=instructions)


def _is_answer(items: Sequence[Any]) -> bool:
    """Whether there are results of tools, and nothing that a model said: then the calls are on the server."""
    views = read_messages(items, _PROVIDER)
    return any(view.results for view in views) and not any(view.role == "assistant" for view in views)
