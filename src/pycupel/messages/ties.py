"""Follow dependencies between units, by index."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable

__all__ = ["with_needs"]


def with_needs(start: Iterable[int], needs: Callable[[int], Iterable[int]], done: Container[int] = ()) -> list[int]:
    """The indices in `start` with everything they need, directly or indirectly, except what is already `done`.

    `needs` gives the indices that an index needs.
    """
    found = list(dict.fromkeys(start))
    seen = set(found)
    for index in found:
        # The list grows while it is walked, until nothing is missing.
        for need in needs(index):
            if need not in seen and need not in done:
                seen.add(need)
                found.append(need)
    return found
