"""Stage 3, Deduplicate: keep only the best of several items with the same content.

With `deduplication="normalized"`, documents also count as the same if only their case and white space differ.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from itertools import chain

from pycupel.model import ContextItem, ContextKind

_DOCUMENT = ContextKind.DOCUMENT.key
# How many letters are compared first, and among how many characters they are looked for.
_LETTERS, _WINDOW = 12, 24


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


def merge_documents(
    items: Sequence[ContextItem],
    scores: Sequence[float],
    kept: Sequence[int],
    dropped: list[int],
    pinned: Sequence[ContextItem] = (),
) -> tuple[Sequence[int], list[int], dict[str, str]]:
    """Drop from what `deduplicate_items` keeps the documents that differ from a better one only in case or white space.

    Returns which items stay, which do not, and for each content dropped here the one that was kept instead.
    """
    instead: dict[str, str] = {}
    # As `compares_normalized` does it, without a call for each item.
    documents = [i for i in kept if items[i].kind.key == _DOCUMENT]
    if pinned:
        taken = {normalized(item.content): item.content for item in pinned if compares_normalized(item)}
        for i in documents:
            content = taken.get(normalized(items[i].content))
            if content is not None:
                instead[items[i].content] = content
        documents = [i for i in documents if items[i].content not in instead]
    for group in _copies(items, documents):
        best = group[0]
        for i in group:
            if beats(scores[i], scores[best]):
                best = i
        instead |= {items[i].content: items[best].content for i in group if i != best}
    if not instead:
        return kept, dropped, instead
    # The contents of what was kept so far are all different; only a document is dropped for its normalized content.
    lost = [i for i in kept if items[i].content in instead]
    return sorted({*kept}.difference(lost)), sorted(dropped + lost), instead


def compares_normalized(item: ContextItem) -> bool:
    """Whether copies of an item are found by its normalized content. Messages are repeated for a reason."""
    return item.kind.key == _DOCUMENT


def normalized(content: str) -> str:
    """Return a content without differences in case and white space."""
    return " ".join(content.split()).casefold()


def _copies(items: Sequence[ContextItem], documents: Sequence[int]) -> Iterable[list[int]]:
    """Group the documents with equal normalized contents; those without a copy are left out.

    Normalizing every content would take longer than the other stages, so only those are that share their first and last
    letters.
    """
    if len(documents) < 2:
        return ()
    heads = ["".join(items[i].content[:_WINDOW].split()).casefold()[:_LETTERS] for i in documents]
    if min(map(len, heads)) < _LETTERS:
        # A window may hold fewer letters than its text, because of the white space between them.
        heads = [
            head if len(head) == _LETTERS else "".join(items[i].content.split()).casefold()[:_LETTERS]
            for i, head in zip(documents, heads, strict=True)
        ]
    times = Counter(heads)
    if len(times) == len(heads):
        return ()
    # The chunks of one page may all begin with its title, but they end differently.
    by_edges: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for i, head in zip(documents, heads, strict=True):
        if times[head] > 1:
            tail = "".join(items[i].content[-_WINDOW:].split()).casefold()
            if len(tail) < _LETTERS:
                tail = "".join(items[i].content.split()).casefold()
            by_edges[head, tail[-_LETTERS:]].append(i)
    by_content: defaultdict[str, list[int]] = defaultdict(list)
    for i in chain.from_iterable(group for group in by_edges.values() if len(group) > 1):
        by_content[normalized(items[i].content)].append(i)
    return [group for group in by_content.values() if len(group) > 1]


def beats(challenger: float, holder: float) -> bool:
    """Whether a score is strictly greater; any number beats NaN (DD-02)."""
    return challenger > holder or (holder != holder and challenger == challenger)  # noqa: PLR0124
