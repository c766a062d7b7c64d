"""Stage 3, Deduplicate: keep only the best of several items with the same content."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pycupel.model import ContextItem


def deduplicate_items(
    items: Sequence[ContextItem], scores: Sequence[float], *, enabled: bool, taken: Collection[str] = ()
) -> tuple[Sequence[int], list[int]]:
    """Find the items with equal contents, compared character by character: return which stay, and which do not.

    The highest score stays, or the first of equal scores. Items whose content is in `taken` never stay. Items are
    indices, both times ascending.
    """
    everything = range(len(items))
    if not enabled:
        return everything, []
    best: dict[str, int] = {}
    dropped: list[int] = []
    best_so_far = best.setdefault
    for i, item in enumerate(items):
        winner = best_so_far(item.content, i)
        # For a new content, `setdefault` returns the very int that it was given, and comparing identities is fastest.
        if winner is not i:
            if beats(scores[i], scores[winner]):
                best[item.content] = i
                dropped.append(winner)
            else:
                dropped.append(i)
    if taken:
        # What stays of a pinned content is the pinned item, however good the others are.
        dropped += [best.pop(content) for content in best.keys() & taken]
    return (sorted(best.values()), sorted(dropped)) if dropped else (everything, [])


def beats(challenger: float, holder: float) -> bool:
    """Whether a score is strictly greater; any number beats NaN (DD-02)."""
    return challenger > holder or (holder != holder and challenger == challenger)  # noqa: PLR0124
