"""An agent of Pydantic AI with structured output: its history keeps every message, and the model is sent what fits.

Run ``pip install 'pycupel[pydantic-ai]'`` and ``python examples/pydantic_ai_agent.py``. The model is a function that
needs no key: it looks one order up after the other, and answers. With a real one, ``FunctionModel(answer)`` would be
``"anthropic:claude-haiku-4-5"``.
"""

# pyright: basic, reportMissingImports=false

import asyncio
import sys
from typing import Any

try:
    from pydantic import BaseModel
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart, ToolReturnPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel
except ImportError:
    sys.exit("this example needs Pydantic AI: pip install 'pycupel[pydantic-ai]'")

from pycupel.integrations.pydantic_ai import CupelHistory
from pycupel.messages import MessageSelection

WINDOW = 3_000
ORDERS = 15


class Refund(BaseModel):
    """What the agent decides."""

    order: int
    reason: str


def look_up(order: int) -> dict[str, Any]:
    """Look an order up."""
    events = [{"step": step, "carrier": f"c{step % 3}", "status": "ok"} for step in range(25)]
    events[12]["status"] = "lost in transit" if order == ORDERS - 2 else "ok"
    return {"order": order, "events": events}


def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """What the model answers: a call for each order, and then the output."""
    results = [part for each in messages for part in each.parts if isinstance(part, ToolReturnPart)]
    # The prompt may have lost old orders, so the id of the last call says how far it is.
    done = int(results[-1].tool_call_id) + 1 if results else 0
    if done < ORDERS:
        return ModelResponse([ToolCallPart("look_up", {"order": done}, str(done))])
    lost = next(part.tool_call_id for part in results if "lost in transit" in str(part.content))
    return ModelResponse([ToolCallPart(info.output_tools[0].name, {"order": int(lost), "reason": "lost in transit"})])


def report(selection: MessageSelection[Any]) -> None:
    """Print what a call to the model was given."""
    print(
        f"{len(selection.messages):2} of {selection.history_length:2} messages, {selection.total_tokens:5,} tokens, "
        f"{selection.stable_prefix_tokens:5,} of them as in the last call, {len(selection.shortened)} shortened"
    )


def main() -> None:
    """Let the agent work, and print what it was given, what it decided and what is stored."""
    history = CupelHistory(WINDOW, counter="estimator", on_selection=report)
    agent = Agent(FunctionModel(answer), output_type=Refund, tools=[look_up], capabilities=[history])
    result = asyncio.run(agent.run("Which of the last orders must be refunded?"))
    print(repr(result.output))
    print(f"{len(result.all_messages())} messages are stored, all of them whole")


if __name__ == "__main__":
    main()
