"""`pycupel trim`: write the part of a chat history that fits, in the shape of the input."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pycupel.cli.exits import FINE, InputError
from pycupel.cli.inputs import Conversation, name_of, naming, read_conversations
from pycupel.cli.options import (
    SHORTENED,
    add_budget,
    add_counter,
    add_input,
    add_policy,
    add_provider,
    add_query,
    budget_of,
    history_policy_of,
    parse_amount,
)
from pycupel.cli.output import Screen
from pycupel.cli.parsers import Parser
from pycupel.errors import UnitTooLargeError
from pycupel.messages import MessageSelection, select_messages
from pycupel.model.budget import ModelLimits

EXAMPLE = "pycupel demo messages | pycupel trim - -b 1500"


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the verb."""
    add_input(parser, "messages or a request: JSON or JSON lines; - for stdin")
    add_budget(parser)
    add_policy(parser, f", with `{SHORTENED}` to shorten old results")
    add_query(parser)
    add_provider(parser)
    add_counter(parser, "token counter")


def run(options: Any, screen: Screen) -> int:
    """Write what to send."""
    # A share may be of the window of the model in the file, but a mistake need not wait for it.
    parse_amount(options.budget)
    policy = history_policy_of(options.policy)
    conversation, *others = read_conversations(options.file, options.max_line)
    if others:
        raise InputError(f"{name_of(options.file)}: has {len(others) + 1:,} requests, but trim takes one")
    with naming(options.file):
        selection = _trimmed(conversation, policy, options)
    screen.json_lines(conversation.documents(selection.messages))
    for note in (*_budget_notes(conversation, policy, options), *selection.notes):
        screen.note(f"note: {note}")
    screen.note(
        f"{len(selection.messages):,} of {len(conversation.messages):,} messages, "
        f"{selection.usage.prompt:,} tokens for {selection.provider}, counted by {selection.counter}"
    )
    return FINE


def _budget_notes(conversation: Conversation, policy: Any, options: Any) -> Iterator[str]:
    model, reply = conversation.beside["model"], conversation.reply_tokens
    budget, share = (budget_of(options, model, policy=policy, reply=tokens) for tokens in (reply, 0))
    if budget < share:
        yield f"the budget is {budget:,} tokens, not {share:,}, because the request asks for a reply of up to {reply:,}"


def _trimmed(conversation: Conversation, policy: Any, options: Any) -> MessageSelection:
    beside = conversation.beside
    if options.model is not None:
        beside["model"] = options.model
    try:
        selection: MessageSelection = select_messages(
            conversation.messages,
            budget_of(options, beside["model"], policy=policy, reply=conversation.reply_tokens),
            provider=options.provider,
            policy=_with_window(policy, beside["model"], options.window),
            query=options.query,
            counter=options.counter,
            **beside,
        )
    except UnitTooLargeError as error:
        # The verb has no option for this argument of `select_messages`.
        error.__notes__ = [note for note in getattr(error, "__notes__", ()) if "too_large=" not in note]
        raise
    return selection


def _with_window(policy: Any, model: str | None, window: int | None) -> Any:
    """Return the policy with the window that was given, which replaces what is known about the model."""
    if model is None or not window:
        return policy
    from dataclasses import replace  # noqa: PLC0415 - most calls give no window

    return replace(policy, models={**policy.models, model: ModelLimits(window, window, None)})
