"""Rules about the order of messages that more than one provider has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pycupel.messages.providers._base import WARNING, Finding, MessageView

__all__ = ["PREFIX", "ends_with_assistant", "first_not_user", "system_neighbours"]

# The mark of an assistant message which the model is to continue.
PREFIX = "prefix"


def system_neighbours(roles: Sequence[str]) -> Iterator[tuple[int, int | None, int | None]]:
    """The place of each system message, with the nearest places before and behind it that are none."""
    before: int | None = None
    run: list[int] = []
    for place, role in enumerate(roles):
        if role == "system":
            run.append(place)
            continue
        yield from ((each, before, place) for each in run)
        run.clear()
        before = place
    yield from ((each, before, None) for each in run)


def first_not_user(views: Sequence[MessageView]) -> Iterator[Finding]:
    """Everything that the assistant says before the first user message that is not about its own calls."""
    for view in views:
        if view.opens_turn and not view.results:
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
