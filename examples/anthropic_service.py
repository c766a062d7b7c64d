"""A service without state for Anthropic's messages: each request brings the history, and the model is sent what fits.

Run ``pip install pycupel fastapi httpx2`` and ``python examples/anthropic_service.py``. FastAPI's test client stands
for the users, and a function for the model; with the real one, ``answer`` would be
``client.messages.create(model=..., system=SYSTEM, messages=..., max_tokens=...)``.
"""

# pyright: basic, reportMissingImports=false

import sys
from typing import Any

try:
    from fastapi import FastAPI, HTTPException
    from fastapi.testclient import TestClient
except (ImportError, RuntimeError):
    sys.exit("this example needs FastAPI and its test client: pip install fastapi httpx2")

from pycupel.messages import lint_messages, select_messages

WINDOW = 2_000
SYSTEM = "You help customers of a bicycle shop. Look up what you do not know."
service = FastAPI()


def answer(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the model answers: it looks up what it is asked, and then says what it found."""
    content = messages[-1]["content"]
    if isinstance(content, str):
        return [
            {"type": "tool_use", "id": f"toolu_{content.split()[-1]}", "name": "look_up", "input": {"text": content}}
        ]
    return [{"type": "text", "text": f"I found this: {content[0]['content'].splitlines()[0]}"}]


@service.post("/messages")
def reply(request: dict[str, Any]) -> dict[str, Any]:
    """Trim the history, and ask the model. Nothing is kept between two requests but digests and counts."""
    history = request["messages"]
    if findings := lint_messages(history, "anthropic"):
        raise HTTPException(422, [each.message for each in findings])
    selection = select_messages(history, WINDOW, provider="anthropic", system=SYSTEM, counter="estimator")
    content = answer(selection.messages)
    return {"content": content, "messages": len(selection.messages), "tokens": selection.total_tokens}


def main() -> None:
    """Let a customer ask twelve questions, and print what each request sent to the model."""
    client = TestClient(service)
    history: list[dict[str, Any]] = []
    for number in range(12):
        history.append({"role": "user", "content": f"What do you know about model {number}"})
        for _ in range(2):
            got = client.post("/messages", json={"messages": history}).json()
            print(f"{len(history):2} messages came, {got['messages']:2} were sent, {got['tokens']:5,} tokens")
            history.append({"role": "assistant", "content": got["content"]})
            if got["content"][0]["type"] == "tool_use":
                lines = "\n".join(f"model {number}, part {n}: in stock in hall {n * number % 9}" for n in range(40))
                result = {"type": "tool_result", "tool_use_id": got["content"][0]["id"], "content": lines}
                history.append({"role": "user", "content": [result]})
    print(history[-1]["content"][0]["text"])
    refused = client.post("/messages", json={"messages": history[2:]})
    print(refused.status_code, refused.json()["detail"][0])


if __name__ == "__main__":
    main()
