"""The options that verbs share, and what their values mean."""

from __future__ import annotations

import os
import re
from typing import Any

from pycupel.cli.exits import InputError
from pycupel.cli.parsers import Parser
from pycupel.compressed import MAX_LINE

SHORTENED = "+shorten"
"""After the name of a policy for chat histories: results become shorter before they are dropped."""

_ITEMS = "items: a JSON array or JSON lines"
_POLICY = "a preset (`pycupel policy list`) or a policy file"
_POLICY_FILE = re.compile(r"\.(json|toml|ya?ml)$", re.IGNORECASE)


def add_selection(
    parser: Parser, *, file: str = _ITEMS, budget: str = "", needs_budget: bool = True, policies: bool = False
) -> None:
    """Add `FILE`, how to read its items, `--budget`, `--policy` or several of them, and `--query`."""
    add_input(parser, f"{file}; - for stdin")
    parser.add_argument("--strict", action="store_true", help="reject unknown keys instead of warning")
    add_counter(parser, "counter for items without a token count")
    add_budget(parser, required=needs_budget, text=budget)
    if policies:
        add_several_policies(parser, "; give at least two")
    else:
        add_policy(parser)
    add_query(parser)


def add_input(parser: Parser, text: str, *, several: str = "") -> None:
    """Add `FILE`, or several files with that name for each, and `--max-line`."""
    if several:
        parser.add_argument("files", nargs="+", metavar=several, help=text)
    else:
        parser.add_argument("file", metavar="FILE", help=text)
    most = f"longest line to read, in bytes; default: {MAX_LINE // 2**20} MiB"
    parser.add_argument("--max-line", type=int, default=MAX_LINE, metavar="N", help=most)


def add_counter(parser: Parser, purpose: str) -> None:
    """Add `--counter`."""
    parser.add_argument("--counter", default="auto", metavar="NAME", help=f"{purpose}: auto, estimator, a model")


def add_budget(parser: Parser, *, required: bool = True, text: str = "") -> None:
    """Add `--budget`, and the options that a share of a window needs."""
    text = text or "tokens, or a share of what the model takes like 50%%"
    parser.add_argument("-b", "--budget", required=required, metavar="N|N%", help=text)
    parser.add_argument("--window", type=int, metavar="N", help="the model's window, for a budget in percent")
    parser.add_argument("--model", metavar="NAME", help="the model whose limits to use")


def add_policy(parser: Parser, more: str = "") -> None:
    """Add `--policy`, with `more` in its help."""
    parser.add_argument("-p", "--policy", default="chat", metavar="NAME|FILE", help=f"{_POLICY}{more}; default: chat")


def add_several_policies(parser: Parser, more: str) -> None:
    """Add `--policy`, which may be given several times; the help ends with `more`."""
    parser.add_argument("-p", "--policy", action="append", metavar="NAME|FILE", help=f"{_POLICY}{more}")


def add_query(parser: Parser) -> None:
    """Add `--query`."""
    parser.add_argument("-q", "--query", metavar="TEXT", help="the question that the selection should answer")


def add_provider(parser: Parser) -> None:
    """Add `--provider`."""
    parser.add_argument(
        "--provider",
        default="auto",
        metavar="NAME",
        help="openai, responses, anthropic, gemini or mistral; default: detected",
    )


def add_json(parser: Parser) -> None:
    """Add `--json`."""
    parser.add_argument("--json", action="store_true", help="JSON instead of a table")


# --- values


def budget_of(options: Any, model: str | None = None, *, policy: Any = None, reply: int = 0) -> int:
    """Return the budget in tokens; a share is one of this model's input limit, unless the options name another.

    A share also leaves room in the window for a reply of so many tokens. The policy may have models of its own.
    """
    return percent_or_tokens(options.budget, options, model, policy=policy, reply=reply)


def percent_or_tokens(given: str, options: Any, model: str | None = None, *, policy: Any = None, reply: int = 0) -> int:
    """Return a number of tokens, given as such or as a share of what the model takes beside the reply."""
    number, is_share = parse_amount(given)
    if not is_share:
        return int(number)
    window, most = _limits(options, options.model or model, policy)
    try:
        share = int(most * number / 100)
    except OverflowError:
        raise InputError("the window is too large for a budget in percent") from None
    if reply and reply >= window:
        raise InputError(
            f"the request asks for a reply of up to {reply:,} tokens, which leaves nothing of the window of "
            f"{window:,}; lower that, or pass a budget in tokens"
        )
    return min(share, window - reply)


def parse_amount(given: str) -> tuple[float, bool]:
    """Read a number of tokens or a percentage; return the number, and whether it is a percentage."""
    text = given.strip()
    try:
        number = float(text[:-1]) if text.endswith("%") else int(text.replace(",", ""))
    except ValueError:
        thousands = re.fullmatch(r"(\d+)k", text, re.IGNORECASE)
        meant = f"; did you mean {thousands[1]}000?" if thousands else ""
        raise InputError(f"the budget must be a number of tokens or a share like 50%, not {given!r}{meant}") from None
    if not text.endswith("%"):
        return _checked("budget", int(number)), False
    if not 0 < number <= 100:
        raise InputError(f"a share of the window must be above 0% and at most 100%, not {given}")
    return number, True


def _checked(name: str, tokens: int) -> int:
    if tokens < 0:
        raise InputError(f"the {name} must be 0 or more, not {tokens}")
    return tokens


def _limits(options: Any, model: str | None, policy: Any) -> tuple[int, int]:
    """Return the window and the most input."""
    if options.window is not None:
        window = _checked("window", options.window)
        return window, window
    if model is None:
        raise InputError("a budget in percent needs --window N or --model NAME")
    from pycupel.tokens.limits import known_limits  # noqa: PLC0415

    return known_limits(model, {} if policy is None else policy.models)[:2]


def bound(policy: Any, query: str | None) -> Any:
    """Bind the policy to the query, if there is one."""
    return policy if query is None else policy.for_query(query)


def policy_of(given: str) -> Any:
    """Load the policy in a file, or return the preset of that name."""
    if _POLICY_FILE.search(given):
        from pycupel.policies import load_policy  # noqa: PLC0415

        return load_policy(given)
    from pycupel.errors import InvalidArgumentError  # noqa: PLC0415
    from pycupel.policies.presets import preset  # noqa: PLC0415

    try:
        return preset(given)
    except InvalidArgumentError as error:
        if os.path.isfile(given):  # noqa: PTH113 - `pathlib` takes too long to import
            error.add_note("The name of a policy file must end with .json, .toml, .yaml or .yml.")
        raise


def history_policy_of(given: str) -> Any:
    """Return a policy for chat histories; with `+shorten` after its name, it shortens results before it drops them."""
    policy = policy_of(given.removesuffix(SHORTENED))
    if not given.endswith(SHORTENED):
        return policy
    from dataclasses import replace  # noqa: PLC0415 - most verbs never need it

    from pycupel.shorten import KeyLines  # noqa: PLC0415

    return replace(policy, shorten=KeyLines())
