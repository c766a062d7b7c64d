"""An agent with tools in a small window: calls stay with their results, and the prompt's start stays the same.

Run ``python examples/agent_loop.py``. The model is a function that reads one file after the other, so that it needs no
key; with the real one, ``ask`` would be ``client.chat.completions.create(model=..., messages=..., tools=TOOLS)``.
"""

import json
from itertools import count
from typing import Any

from pycupel.messages import MessageSelection, lint_messages, select_messages

WINDOW = 6_000
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "read_file",
            "description": "Read a file of the project.",
            "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
        },
    }
]
FILES = ["retry.py", "queue.py", "worker.py", "payments.py", "ledger.py", "api.py", "models.py", "settings.py"] * 2


def read_file(path: str) -> str:
    """A made-up source file, long enough to matter."""
    lines = [f"{path}:{n}: result = step_{n}(payload, timeout={n % 7})" for n in range(60)]
    lines[31] = f"{path}:31: raise TimeoutError('gave up after 3 attempts')"
    return "\n".join(lines)


def ask(messages: list[dict[str, Any]], step: int) -> dict[str, Any]:
    """What the model answers: a call for each file, and then a text."""
    if lint_messages(messages, "openai"):
        raise ValueError("a provider would reject this")
    if step == len(FILES):
        return {"role": "assistant", "content": "payments.py gives up after 3 attempts: raise the limit there."}
    function = {"name": "read_file", "arguments": json.dumps({"path": FILES[step]})}
    call = {"id": f"call_{step}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def main() -> None:
    """Let the agent work, and print what each call to the model was given."""
    # The whole history stays here. Only what is sent is trimmed.
    history: list[dict[str, Any]] = [
        {"role": "system", "content": "You find the cause of failures. Read files with the tool."},
        {"role": "user", "content": "Payments fail twice a day. Why?"},
    ]
    selection: MessageSelection[dict[str, Any]] | None = None
    for step in count():
        selection = select_messages(history, WINDOW, tools=TOOLS, previous=selection)
        print(
            f"call {step + 1:2}: {len(selection.messages):2} of {len(history):2} messages, "
            f"{selection.total_tokens:5,} tokens, {selection.stable_prefix_tokens or 0:5,} of them as in the last "
            f"call, {len(selection.shortened)} shortened"
        )
        reply = ask(selection.messages, step)
        history.append(reply)
        if "tool_calls" not in reply:
            break
        for call in reply["tool_calls"]:
            path = json.loads(call["function"]["arguments"])["path"]
            history.append({"role": "tool", "tool_call_id": call["id"], "content": read_file(path)})
    print(history[-1]["content"])


if __name__ == "__main__":
    main()
