"""`Policy`: how to select, as a value without a budget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, Field, dataclass, fields, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Final, Literal, Self, cast

from pycupel.errors import PipelineConfigError
from pycupel.model import OverflowStrategy
from pycupel.model.budget import ModelLimits, checked_models
from pycupel.model.checks import checked_bool, checked_choice, checked_str, wrong_type
from pycupel.placers import ChronologicalPlacer, placer_for
from pycupel.protocols import (
    Placer,
    Scorer,
    Shortener,
    Slicer,
    checked_placer,
    checked_scorer,
    checked_shortener,
    checked_slicer,
)
from pycupel.scorers._traits import bind_query
from pycupel.slicers import GreedySlice
from pycupel.text import shortened
from pycupel.values import FrozenDict, hold, is_equal, sealed

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


@sealed
@dataclass(frozen=True, slots=True, repr=False)
class Policy:
    """How to select: a comparable value that can be saved to a file. A `Pipeline` is a policy that can run.

    Raises:
        TypeError: an argument has the wrong type.
        PipelineConfigError: the options are incompatible.
        InvalidArgumentError: a limit of a model is wrong.
    """

    scorer: Scorer
    """Ranks the items."""

    slicer: Slicer = GreedySlice()
    """Decides which items are selected, by their scores, tokens and the budget."""

    placer: Placer = ChronologicalPlacer()
    """Orders the selection."""

    _: KW_ONLY
    deduplication: bool | Literal["normalized"] = True
    """Whether only the best of several items with the same content is kept.

    Contents are compared character by character; with `"normalized"`, those of documents without regard to case and
    white space. Pinned items are not compared, unless `dedupe_against_pinned` is set.
    """

    overflow_strategy: OverflowField = cast("OverflowField", OverflowStrategy.THROW)  # noqa: RUF009 - a constant
    """What happens if pinned and selected items together exceed the target: raise, drop the lowest scores, or accept.
    """

    dedupe_against_pinned: bool = False
    """Whether an item is dropped if a pinned one has the same content."""

    shorten: Shortener | None = None
    """Makes shorter versions of the items, for the selection to choose from; None to select only whole items.

    It replaces `GreedySlice` or `KnapsackSlice`, also inside quotas.
    """

    name: str | None = None
    """A display name."""

    description: str | None = None
    """What the policy is for."""

    models: Mapping[str, ModelLimits] = _NO_MODELS
    """The limits of models by name, for calls with this policy; they go before known and registered ones."""

    def __post_init__(self) -> None:
        checked_scorer("scorer", self.scorer)
        checked_slicer("slicer", self.slicer)
        checked_placer("placer", self.placer)
        if isinstance(self.deduplication, str) and self.deduplication != NORMALIZED:
            raise wrong_type("deduplication", 'a bool or "normalized"', self.deduplication)
        if self.deduplication != NORMALIZED:
            hold(self, deduplication=checked_bool("deduplication", self.deduplication))
        hold(
            self,
            dedupe_against_pinned=checked_bool("dedupe_against_pinned", self.dedupe_against_pinned),
            overflow_strategy=checked_choice(
                "overflow_strategy", self.overflow_strategy, OverflowStrategy, PipelineConfigError
            ),
        )
        if self.dedupe_against_pinned and not self.deduplication:
            raise PipelineConfigError(
                "dedupe_against_pinned needs deduplication=True", argument="dedupe_against_pinned"
            )
        if self.shorten is not None:
            checked_shortener("shorten", self.shorten)
            choosing_versions(self.slicer)
        for field in ("name", "description"):
            if getattr(self, field) is not None:
                checked_str(field, getattr(self, field))
        if self.models is not _NO_MODELS:
            hold(self, models=checked_models("models", self.models))

    def for_query(self, query: str) -> Self:
        """Bind the policy to one question, which is passed to every scorer that takes one.

        `query=` does this for a single call. Returns the policy itself if no scorer takes a question.

        Args:
            query: What the selection should be relevant to, in plain words.

        Raises:
            TypeError: the query is not a str.
        """
        scorer, count = bind_query(self.scorer, query)
        return replace(self, scorer=scorer, placer=placer_for(self.placer, query)) if count else self

    def __repr__(self) -> str:
        # Options at their defaults are left out, except for the strategies.
        options = {each.name: getattr(self, each.name) for each in fields(self) if self._shows(each)}
        shown = [f"{name}={shortened(option, _REPR_WIDTH)}" for name, option in options.items()]
        return f"{type(self).__name__}({', '.join(shown)})"

    def _shows(self, field: Field[Any]) -> bool:
        is_strategy = field.name in ("slicer", "placer")
        return field.repr and (is_strategy or not is_equal(getattr(self, field.name), field.default))


def choosing_versions(slicer: Slicer) -> Slicer:
    """Return the slicer that a shortener needs in place of a slicer.

    Raises:
        PipelineConfigError: there is none.
    """
    # Most programs shorten nothing, and this imports every slicer.
    from pycupel.pipeline.shorten import with_versions  # noqa: PLC0415

    choosing: Slicer = with_versions(slicer)
    return choosing


def as_policy(policy: Any, name: str = "policy") -> Policy:
    """Return a policy or pipeline as it is, or the preset of that name. `name` is what an error calls the argument.

    Raises:
        TypeError: it is neither.
        InvalidArgumentError: there is no such preset.
    """
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
