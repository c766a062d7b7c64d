"""`Policy`: how to select, as a value without a budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Final, Literal, Self, cast

from pycupel.errors import PipelineConfigError
from pycupel.model import OverflowStrategy
from pycupel.model.budget import ModelLimits, checked_models
from pycupel.model.checks import BOOLEAN, STRING, checked_bool, one_of, or_none, rule, wrong_type
from pycupel.placers import ChronologicalPlacer, placer_for
from pycupel.protocols import (
    NoShortener,
    Placer,
    Scorer,
    Shortener,
    Slicer,
    checked_placer,
    checked_scorer,
    checked_shortener,
    checked_slicer,
)
from pycupel.scorers._base import bind_query
from pycupel.slicers import GreedySlice
from pycupel.text import shortened
from pycupel.values import FrozenDict, check_fields, is_equal, sealed

PresetName = Literal["chat", "code-review", "rag", "document-qa", "tool-use", "long-running", "debugging"]
"""The names of the presets for type checkers. At run time, other spellings are accepted, too."""


NORMALIZED: Final = "normalized"

LOAD_POLICY = "pycupel.policies.load_policy(path) reads a policy from a file."

_NO_MODELS: Mapping[str, ModelLimits] = FrozenDict()
# The most characters of a field in the repr of a policy.
_REPR_WIDTH = 60


if TYPE_CHECKING:

    class OverflowField:
        """A field that accepts a literal and holds an enum member, declared as a descriptor for type checkers."""

        def __get__(self, policy: object, cls: object = None) -> OverflowStrategy: ...

        def __set__(
            self, policy: object, value: OverflowStrategy | Literal["throw", "truncate", "proceed"]
        ) -> None: ...

else:
    OverflowField = OverflowStrategy


def overflow_field() -> OverflowField:
    """Declare the field `overflow_strategy`."""
    declared: Any = field(default=OverflowStrategy.THROW, metadata=one_of(OverflowStrategy))
    return cast("OverflowField", declared)


def _checked_deduplication(name: str, value: Any) -> bool | Literal["normalized"]:
    if not isinstance(value, str):
        return checked_bool(name, value)
    if value != NORMALIZED:
        raise wrong_type(name, 'a bool or "normalized"', value)
    return NORMALIZED


@sealed
@dataclass(frozen=True, slots=True, repr=False)
class Policy:
    """How to select: a comparable value that can be saved to a file. A `Pipeline` is a policy that can run."""

    scorer: Scorer = field(metadata=rule(checked_scorer))
    """Ranks the items."""

    slicer: Slicer = field(default=GreedySlice(), metadata=rule(checked_slicer))
    """Decides which items are selected, by their scores, tokens and the budget."""

    placer: Placer = field(default=ChronologicalPlacer(), metadata=rule(checked_placer))
    """Orders the selection."""

    _: KW_ONLY
    deduplication: bool | Literal["normalized"] = field(default=True, metadata=rule(_checked_deduplication))
    """Whether only the best of several items with the same content is kept.

    Contents are compared character by character; with `"normalized"`, those of documents without regard to case and
    white space. Pinned items are not compared, unless `dedupe_against_pinned` is set.
    """

    overflow_strategy: OverflowField = overflow_field()  # noqa: RUF009 - makes a field
    """What happens if pinned and selected items together exceed the target: raise, drop the lowest scores, or accept.
    """

    dedupe_against_pinned: bool = field(default=False, metadata=BOOLEAN)
    """Whether an item is dropped if a pinned one has the same content."""

    shorten: Shortener | Literal["none"] | None = field(default=None, metadata=or_none(rule(checked_shortener)))
    """Makes shorter versions of the items, for the selection to choose from. With "none" or None, items stay whole.

    It replaces `GreedySlice` or `KnapsackSlice`, also inside quotas. In chat histories, None leaves it to
    `select_messages`, which shortens tool results; "none" only drops.
    """

    name: str | None = field(default=None, metadata=or_none(STRING))
    """A display name."""

    description: str | None = field(default=None, metadata=or_none(STRING))
    """What the policy is for."""

    models: Mapping[str, ModelLimits] = field(default=_NO_MODELS, metadata=rule(checked_models))
    """The limits of models by name, for calls with this policy; they go before known and registered ones."""

    def __post_init__(self) -> None:
        check_fields(self, PipelineConfigError)
        if self.dedupe_against_pinned and not self.deduplication:
            message = "dedupe_against_pinned needs deduplication=True"
            raise PipelineConfigError(message, argument="dedupe_against_pinned")
        if self.shortener is not None:
            choosing_versions(self.slicer)

    @property
    def shortener(self) -> Shortener | None:
        """What makes versions of items; None if they stay whole."""
        shortener = cast("Shortener | None", self.shorten)
        return None if isinstance(shortener, NoShortener) else shortener

    def for_query(self, query: str) -> Self:
        """Bind the policy to one question, which is passed to every scorer that takes one.

        `query=` does this for a single call. Returns the policy itself if no scorer takes a question.
        """
        scorer, count = bind_query(self.scorer, query)
        return replace(self, scorer=scorer, placer=placer_for(self.placer, query)) if count else self

    def __repr__(self) -> str:
        # Options at their defaults are left out, except for the strategies.
        shown = [
            f"{each.name}={shortened(getattr(self, each.name), _REPR_WIDTH)}"
            for each in fields(self)
            if each.repr and (each.name in ("slicer", "placer") or not is_equal(getattr(self, each.name), each.default))
        ]
        return f"{type(self).__name__}({', '.join(shown)})"


# After the name of a policy for chat histories: whether its results are only dropped, or shortened as by default.
SUFFIXES: Mapping[str, Literal["none"] | None] = {"+drop": "none", "+shorten": None}


def history_policy(name: str, load: Callable[[str], Policy]) -> Policy:
    """Load the policy of this name, perhaps with a suffix that says how it shortens."""
    for suffix, shorten in SUFFIXES.items():
        if name.endswith(suffix):
            return replace(load(name.removesuffix(suffix)), shorten=shorten)
    return load(name)


def choosing_versions(slicer: Slicer) -> Slicer:
    """Return the slicer that a shortener needs in place of a slicer."""
    # Most programs shorten nothing, and this imports every slicer.
    from pycupel.pipeline.shorten import with_versions  # noqa: PLC0415

    choosing: Slicer = with_versions(slicer)
    return choosing


def as_policy(policy: Any, name: str = "policy") -> Policy:
    """Return a policy or pipeline as it is, or the preset of that name. `name` is what an error calls the argument."""
    if isinstance(policy, Policy):
        return policy
    if isinstance(policy, str):
        # Imported late, because presets import every strategy.
        from pycupel.policies.presets import PRESETS, known_preset  # noqa: PLC0415

        return PRESETS[known_preset(policy, name)]
    error = wrong_type(name, "a Policy, a Pipeline or the name of a preset", policy)
    if isinstance(policy, PathLike):
        error.add_note(LOAD_POLICY)
    elif isinstance(policy, dict):
        error.add_note("pycupel.policies.policy_from_dict(data) makes a policy from a dict.")
    elif isinstance(policy, Scorer) and not isinstance(policy, type):
        error.add_note("pycupel.Policy(scorer) makes a policy from a scorer.")
    raise error
