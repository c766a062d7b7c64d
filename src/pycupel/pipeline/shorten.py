"""Between Sort and Slice: let the shortener make versions of the competing items, and check its results."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

from pycupel.errors import ShortenerContractError
from pycupel.model import ContextItem
from pycupel.model.item import stated_units
from pycupel.pipeline.record import Ranking
from pycupel.protocols import ShortenContext, Shortener
from pycupel.scorers._traits import query_of
from pycupel.slicers._versions import ItemVersions
from pycupel.text import describe, number_text, shortened


def versions_of(shortener: Shortener, ranking: Ranking) -> dict[int, ItemVersions]:
    """Make shorter versions of each competing item, by its id."""
    competing = set(map(id, ranking.items))
    items = [item for item in ranking.classified.scoreable if id(item) in competing]
    kept_texts = [item.content for item in ranking.pinned]
    context = ShortenContext(items, kept_texts, query=query_of(ranking.run.strategies.scorer))
    return {id(item): item_versions(shortener, item, context) for item in items}


def item_versions(shortener: Any, item: ContextItem, context: ShortenContext) -> ItemVersions:
    """Make and check the shorter versions of one item, each with its units.

    Raises:
        ShortenerContractError: the shortener raises, or returns something other than shorter versions; or units are
            not finite.
    """
    # `select` wraps the shortener if some items come with versions of their own.
    name = getattr(shortener, "shortener_name", type(shortener).__name__)

    def about() -> str:
        return f"the item {describe(item.content)} of {number_text(item.tokens)} tokens"

    try:
        returned: Any = shortener.shorten(item, context)
        whole = units_of_whole(shortener, item, context)
    except Exception as error:
        # Its text may quote the whole content.
        raise ShortenerContractError(f"{name} raised {shortened(error)} for {about()}") from error
    if not isinstance(returned, Sequence) or isinstance(returned, str):
        raise ShortenerContractError(
            f"{name}.shorten must return a sequence of items for {about()}, not {describe(returned)}; "
            "an empty one means that it cannot be shortened"
        )
    shorter: list[ContextItem] = []
    versions: Sequence[Any] = returned  # pyright: ignore[reportUnknownVariableType] - from outside
    for version in versions:
        if not isinstance(version, ContextItem):
            raise ShortenerContractError(f"{name}.shorten must return items for {about()}, not {describe(version)}")
        if not 0 <= version.tokens < item.tokens:
            raise ShortenerContractError(
                f"{name}.shorten returned a version of {number_text(version.tokens)} tokens for {about()}; "
                "it must have fewer"
            )
        shorter.append(version)
    units = [_units(version, item, whole) for version in shorter]
    if not all(map(isfinite, (whole, *units))):
        raise ShortenerContractError(f"{name} stated units that are not finite for {about()}")
    return ItemVersions(shorter, units, whole)


def units_of_whole(shortener: Any, item: ContextItem, context: ShortenContext) -> float:
    """Return the units of a whole item: what the shortener states, or 1."""
    return float(shortener.units(item, context)) if callable(getattr(shortener, "units", None)) else 1.0


def _units(version: ContextItem, item: ContextItem, whole: float) -> float:
    """Return the units that the shortener states, or a share of the whole."""
    units = stated_units(version)
    return whole * (version.tokens / item.tokens) if units is None else units
