"""An invented session of a coding agent, as a transcript and as chat messages.

It is sized and ordered like real sessions: files are read twice, tests run again, and one log is by far the largest.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

__all__ = ["messages", "transcript"]

# The system prompt and the definitions of the tools: the provider counts them, but no transcript shows them.
_HIDDEN_TOKENS = 9_400
# What the provider adds to each call.
_CALL_TOKENS = 88
_START = datetime(2026, 10, 14, 9, 0, tzinfo=UTC)
_MODEL = "claude-sonnet-4-5-20250929"


class _Step(NamedTuple):
    """A user message; or text of the agent before a call, the call, and its result."""

    text: str
    tool: str = ""
    arguments: dict[str, str] = {}  # noqa: RUF012 - never changed
    result: str = ""


def _module(path: str, names: list[str], lines: int) -> str:
    """Write a file as the agent's tool shows it, with numbered lines."""
    body = [f'"""{path}: part of the checkout service."""', "", "from __future__ import annotations", ""]
    for number in range(lines):
        name = names[number % len(names)]
        body += [
            f"def {name}_{number}(order: Order, client: Client) -> Receipt:"
            if number >= len(names)
            else f"def {name}():",
            f'    """Step {number} of {name.replace("_", " ")}."""',
            f"    log.debug('{name}', extra={{'order': order.id, 'step': {number}}})",
            f"    return client.send(order.charge_key, attempt={number}, timeout=settings.payments.timeout_seconds)",
            "",
        ]
    return "\n".join(f"{number:5}\t{line}" for number, line in enumerate(body, 1))


def _log(lines: int) -> str:
    kinds = ("ERROR checkout.payments FerropayTimeout", "WARN  checkout.retry second attempt", "INFO  gateway upstream")
    return "\n".join(
        f"08:{number // 60 % 60:02}:{number % 60:02} {kinds[number % 3]} order=LF-{40_000 + 37 * number} "
        f"charge=ch_{number * 7919 % 99_991:05} waited_ms={9_900 + number % 240} host=checkout-{number % 4}"
        for number in range(lines)
    )


def _tests(failing: str, passed: int) -> str:
    listed = "\n".join(f"tests/test_checkout_flow.py::test_case_{number} PASSED" for number in range(passed))
    if not failing:
        return f"{listed}\n{passed} passed in 14.21s"
    return (
        f"{listed}\ntests/test_checkout_flow.py::{failing} FAILED\n\nE   FerropayDuplicateCharge: 409 for "
        f"ch_51907, key differs from the first attempt\nsrc/checkout/payments/retry.py:41: in charge_with_retry\n"
        f"1 failed, {passed} passed in 15.02s"
    )


_RETRY = _module("src/checkout/payments/retry.py", ["charge_with_retry", "backoff_seconds", "draw_key"], 26)
_FIXED = _module("src/checkout/payments/retry.py", ["charge_with_retry", "backoff_seconds", "stored_key"], 27)
_RUN = {"command": "pytest tests/test_checkout_flow.py -vv"}

_STEPS = [
    _Step("Checkout answers 502 for 6 % of the orders since release 4.18.0. Find out why, and fix it."),
    _Step("I will reproduce it first.", "Bash", _RUN, _tests("test_payment_timeout_is_retried", 46)),
    _Step(
        "Reproduced. Now the payment code.",
        "Bash",
        {"command": "ls -R src/checkout"},
        "\n".join(f"src/checkout/{part}.py" for part in ("api", "cart", "orders", "payments/retry", "payments/client")),
    ),
    _Step("", "Read", {"file_path": "src/checkout/payments/retry.py"}, _RETRY),
    _Step(
        "",
        "Read",
        {"file_path": "src/checkout/payments/client.py"},
        _module("src/checkout/payments/client.py", ["post_charge", "parse_receipt", "raise_for_state"], 34),
    ),
    _Step("What does production say?", "Bash", {"command": "query_logs service=checkout since=24h"}, _log(260)),
    _Step(
        "",
        "Grep",
        {"pattern": "uuid4", "path": "src"},
        "src/checkout/payments/retry.py:41: key = str(uuid4())  # a new one for each attempt\n"
        "src/checkout/sessions.py:12: token = uuid4().hex",
    ),
    _Step(
        "",
        "Read",
        {"file_path": "docs/ferropay.md"},
        "# Ferropay\n" + "\n".join(f"{n}. POST /charges: rule {n} about Idempotency-Key." for n in range(60)),
    ),
    _Step(
        "The key is drawn inside the retry loop, so the second attempt is a second charge. Ferropay answers 409, and "
        "we answer 502."
    ),
    _Step("That makes sense. But why only 6 %?"),
    _Step(
        "", "Bash", {"command": "grep -n -A3 payments settings.toml"}, "[payments]\ntimeout_seconds = 10\nattempts = 2"
    ),
    _Step("", "Read", {"file_path": "src/checkout/payments/retry.py"}, _RETRY),
    _Step(
        "",
        "Read",
        {"file_path": "tests/fakes/ferropay.py"},
        _module("tests/fakes/ferropay.py", ["fake_charge", "random_delay", "as_duplicate"], 22),
    ),
    _Step("Only attempts that wait longer than `timeout_seconds` are repeated: 6 % do. I will use a stored key."),
    _Step("Do that. No new table, please: a column on orders."),
    _Step(
        "",
        "Edit",
        {"file_path": "src/checkout/payments/retry.py", "new_string": "key = order.charge_key or stored_key(order)"},
        "The file src/checkout/payments/retry.py has been updated.",
    ),
    _Step("", "Bash", {"command": "ls db/migrations"}, "\n".join(f"{n:04}_step.sql" for n in range(1, 88))),
    _Step(
        "",
        "Write",
        {"file_path": "db/migrations/0088_charge_key.sql", "content": "ALTER TABLE orders ADD COLUMN charge_key TEXT;"},
        "File created: db/migrations/0088_charge_key.sql",
    ),
    _Step("", "Bash", _RUN, _tests("test_receipt_is_written_once", 47)),
    _Step(
        "One more, in the receipts.",
        "Read",
        {"file_path": "tests/schema.py"},
        _module("tests/schema.py", ["create_orders", "create_receipts", "drop_everything"], 18),
    ),
    _Step(
        "",
        "Edit",
        {"file_path": "tests/schema.py", "new_string": "orders.charge_key TEXT"},
        "The file tests/schema.py has been updated.",
    ),
    _Step("", "Bash", _RUN, _tests("", 48)),
    _Step("All 48 pass now."),
    _Step("Please also cover a restart between two attempts."),
    _Step("", "Read", {"file_path": "src/checkout/payments/retry.py"}, _FIXED),
    _Step(
        "",
        "Write",
        {
            "file_path": "tests/test_restart.py",
            "content": "def test_restart_keeps_the_key(fake_charge):\n    assert stored_key(order) == 'ch_51907'",
        },
        "File created: tests/test_restart.py",
    ),
    _Step("", "Bash", {"command": "pytest -q"}, "." * 412 + "\n412 passed in 88.40s"),
    _Step(
        "Done: the key is derived once and stored in orders.charge_key, FerropayDuplicateCharge no longer occurs, and "
        "test_restart_keeps_the_key covers the restart."
    ),
]


def _turns() -> Iterator[tuple[str, _Step]]:
    """Return the steps with their roles: what follows a result without a call is the agent's answer."""
    follows_result = False
    for step in _STEPS:
        yield "assistant" if step.tool or follows_result else "user", step
        follows_result = bool(step.tool)


def transcript() -> Iterator[dict[str, Any]]:
    """Return the session as Claude Code would log it: a row for each message."""
    sent, cached = _HIDDEN_TOKENS, 0
    number = 0
    for index, (role, step) in enumerate(_turns()):
        content: list[dict[str, Any]] = [{"type": "text", "text": step.text}] if step.text else []
        call = {"type": "tool_use", "id": f"toolu_{index:02}", "name": step.tool, "input": step.arguments}
        content += [call] if step.tool else []
        size = len(json.dumps(content)) // 4 + (_CALL_TOKENS if step.tool else 0)
        usage = {
            "input_tokens": 4,
            "cache_read_input_tokens": cached,
            "cache_creation_input_tokens": sent - cached,
            "output_tokens": size,
        }
        message: dict[str, Any] = {"role": role, "content": content}
        if role == "assistant":
            message |= {"id": f"msg_{index:02}", "model": _MODEL, "usage": usage}
            cached = sent
        yield _row(number, role, message)
        number += 1
        sent += size
        if step.tool:
            result = {"type": "tool_result", "tool_use_id": call["id"], "content": step.result}
            yield _row(number, "user", {"role": "user", "content": [result]})
            number += 1
            sent += len(step.result) * 2 // 5


def _row(number: int, role: str, message: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": role,
        "uuid": f"row-{number}",
        "parentUuid": f"row-{number - 1}" if number else None,
        "sessionId": "sample",
        "timestamp": (_START + timedelta(seconds=20 * number)).isoformat(),
        "message": message,
    }


def messages() -> list[dict[str, Any]]:
    """Return the conversation in OpenAI's shape."""
    found: list[dict[str, Any]] = [
        {"role": "system", "content": "You are the coding agent of Larkfield, a garden shop."}
    ]
    for index, (role, step) in enumerate(_turns()):
        message: dict[str, Any] = {"role": role, "content": step.text}
        found.append(message)
        if step.tool:
            function = {"name": step.tool, "arguments": json.dumps(step.arguments)}
            message["tool_calls"] = [{"id": f"call_{index:02}", "type": "function", "function": function}]
            found.append({"role": "tool", "tool_call_id": f"call_{index:02}", "content": step.result})
    return found
