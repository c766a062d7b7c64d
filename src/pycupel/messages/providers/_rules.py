"""Rules about the order of messages that more than one provider has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pycupel.messages.providers._base import WARNING, Finding, MessageView

__all__ = ["PREFIX", "ends_with_assistant", "first_not_user", "system_neighbours"]

# The mark of an assistant message that the model is asked to continue.
PREFIX = "prefix"


def system_neighbours(roles: Sequence[str]) -> Iterator[tuple[int, int | None, int | None]]:
    """The index of each system role, with the nearest indices before and after it that have another role."""
    before: int | None = None
    run: list[int] = []
    for n, role in enumerate(roles):
        if role == "system":
            run.append(n)
            continue
        yield from ((each, before, n) for each in run)
        run.clear()
        before = n
    yield from ((each, before, None) for each in run)


def first_not_user(views: Sequence[MessageView]) -> Iterator[Finding]:
    """Assistant messages before the first user message, one with results of its own calls aside."""
    for view in views:
        if view.opens_turn:
            return
        if view.role == "assistant":
            yield Finding(
                view.index,
                "first-not-user",
                "the assistant speaks before the first user message",
                "Start the history with a user message.",
            )


def ends_with_assistant(views: Sequence[MessageView]) -> Iterator[Finding]:
    """Not an error, because a user message may still be appended, and some models continue what they are given."""
    if views and views[-1].role == "assistant" and not views[-1].calls and PREFIX not in views[-1].marks:
        yield Finding(
            views[-1].index,
            "ends-with-assistant",
            "the history ends with an assistant message, which only some models continue",
            "Append a user message before you send the history.",
            WARNING,
        )
