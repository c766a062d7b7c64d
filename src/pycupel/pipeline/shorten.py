"""Between Sort and Slice: let the shortener make versions of the competing items, and check its results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING, Any

from pycupel.errors import PipelineConfigError, ShortenerContractError
from pycupel.model import ContextBudget, ContextItem
from pycupel.model.item import stated_units
from pycupel.protocols import ShortenContext, Shortener, Slicer
from pycupel.scorers._base import query_of, scores_relevance
from pycupel.slicers import (
    CountConstrainedKnapsackSlice,
    CountQuotaSlice,
    GreedySlice,
    KnapsackSlice,
    MinScoreSlice,
    QuotaSlice,
)
from pycupel.slicers.knapsack import ItemVersions, VersionSlice
from pycupel.text import describe, number_text, shortened

if TYPE_CHECKING:
    from pycupel.pipeline.record import Ranking


def with_versions(slicer: Any, versions: VersionSlice | None = None) -> Any:
    """Replace every greedy or knapsack slicer in a slicer by a choice among versions, or among none."""
    cls: type[Any] = slicer.__class__
    choice = VersionSlice({}) if versions is None else versions
    if cls in (GreedySlice, KnapsackSlice):
        return choice
    if cls in (QuotaSlice, CountQuotaSlice, MinScoreSlice):
        return replace(slicer, inner=with_versions(slicer.inner, choice))
    if cls is CountConstrainedKnapsackSlice:
        return CountQuotaSlice(slicer.entries, choice, slicer.scarcity, cap_order="score")
    message = f"shorten works only with GreedySlice or KnapsackSlice (also nested), not with {cls.__name__}"
    raise PipelineConfigError(message, argument="shorten")


def version_slicer(slicer: Slicer, shortener: Shortener, ranking: Ranking, budget: ContextBudget) -> Slicer:
    """Return a slicer that chooses among the versions of the competing items. None are made if everything fits."""
    target = budget.effective(ranking.classified.pinned_tokens).target_tokens
    fits = sum([item.tokens for item in ranking.items]) <= target
    by_id = {} if fits else versions_of(shortener, ranking)
    by_score = scores_relevance(ranking.run.strategies.scorer, ranking.items)
    choosing: Slicer = with_versions(slicer, VersionSlice(by_id, by_score=by_score))
    return choosing


def versions_of(shortener: Shortener, ranking: Ranking) -> dict[int, ItemVersions]:
    """Make shorter versions of each competing item, by its id."""
    competing = set(map(id, ranking.items))
    items = [item for item in ranking.classified.scoreable if id(item) in competing]
    kept_texts = [item.content for item in ranking.pinned]
    context = ShortenContext(items, kept_texts, query=query_of(ranking.run.strategies.scorer))
    return {id(item): item_versions(shortener, item, context) for item in items}


def item_versions(shortener: Any, item: ContextItem, context: ShortenContext) -> ItemVersions:
    """Make and check the shorter versions of one item, each with its units."""
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
    # Where the shortener states no units, a share of the whole.
    stated = [(stated_units(version), version.tokens / item.tokens) for version in shorter]
    units = [whole * share if units is None else units for units, share in stated]
    if not all(map(isfinite, (whole, *units))):
        raise ShortenerContractError(f"{name} stated units that are not finite for {about()}")
    return ItemVersions(shorter, units, whole)


def units_of_whole(shortener: Any, item: ContextItem, context: ShortenContext) -> float:
    """Return the units of a whole item: what the shortener states, or 1."""
    return float(shortener.units(item, context)) if callable(getattr(shortener, "units", None)) else 1.0
