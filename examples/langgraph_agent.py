"""An agent of LangChain on LangGraph: a checkpoint keeps every message, and the model is sent what fits.

Run ``pip install 'pycupel[langchain]'`` and ``python examples/langgraph_agent.py``. The model is a class that needs no
key: it reads one log after the other, asks for one that was shortened, and answers. With a real one, ``model`` would be
``init_chat_model("anthropic:claude-haiku-4-5")``.
"""

# pyright: basic, reportMissingImports=false

import sys
from typing import Any

try:
    from langchain.agents import create_agent
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
    from langchain_core.outputs import ChatGeneration, ChatResult
    from langchain_core.tools import tool
    from langgraph.checkpoint.memory import InMemorySaver
except ImportError:
    sys.exit("this example needs LangChain: pip install 'pycupel[langchain]'")

from pycupel.integrations.langchain import CupelMiddleware
from pycupel.messages import MessageSelection, Shorten

WINDOW = 4_000
DAYS = 12


@tool
def read_log(day: int) -> str:
    """Read the log of a day."""
    lines = [
        f"{hour:02}:{minute:02} day {day}: job {hour * 4 + minute} done" for hour in range(24) for minute in (0, 30)
    ]
    lines[17] = f"08:30 day {day}: error E{day}: disk {day} is full"
    return "\n".join(lines)


class ScriptedModel(BaseChatModel):
    """Reads the logs of all days, then the first again, of which only a part is left, and answers."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **options: Any) -> Any:  # noqa: ARG002 - as LangChain calls it
        """Take any tools."""
        return self

    def _generate(self, messages: list[BaseMessage], *arguments: Any, **options: Any) -> ChatResult:  # noqa: ARG002
        asked = next(len(messages) - n for n, each in enumerate(reversed(messages), 1) if each.type == "human")
        # The prompt may have lost old days, so the last call says how far it is.
        called = [call for each in messages[asked:] if isinstance(each, AIMessage) for call in each.tool_calls]
        done = int(called[-1]["id"].removeprefix("call_")) + 1 if called else 0
        if done < DAYS:
            reply = AIMessage("", tool_calls=[{"name": "read_log", "args": {"day": done}, "id": f"call_{done}"}])
        elif done == DAYS:
            wanted = {"id": "call_0", "match": "error"}
            reply = AIMessage("", tool_calls=[{"name": "recall_result", "args": wanted, "id": f"call_{done}"}])
        else:
            reply = AIMessage(f"It began on day 0, at {messages[-1].text.partition(': ')[2]}.")
        return ChatResult(generations=[ChatGeneration(message=reply)])


def report(selection: MessageSelection[Any]) -> None:
    """Print what a call to the model was given."""
    print(
        f"{len(selection.messages):2} of {selection.history_length:2} messages, {selection.total_tokens:5,} tokens, "
        f"{selection.stable_prefix_tokens:5,} of them as in the last call, {len(selection.shortened)} shortened"
    )


def main() -> None:
    """Let the agent work, and print what it was given and what is stored."""
    # With recall, the agent also gets a tool that gives shortened results back.
    middleware = CupelMiddleware(WINDOW, shorten=Shorten(recall=True), counter="estimator", on_selection=report)
    agent: Any = create_agent(ScriptedModel(), [read_log], middleware=[middleware], checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "logs"}}
    state = agent.invoke(
        {"messages": [HumanMessage("When did the disks fill up?")]}, {**thread, "recursion_limit": 100}
    )
    print(state["messages"][-1].text)
    print(f"{len(agent.get_state(thread).values['messages'])} messages are stored, all of them whole")


if __name__ == "__main__":
    main()
