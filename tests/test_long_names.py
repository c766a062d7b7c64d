"""What is said stays short: names, keys, ids and types are verbatim up to 200 characters, then cut and escaped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pycupel import (
    ChronologicalPlacer,
    ContextBudget,
    ContextItem,
    CountQuotaEntry,
    CountQuotaSlice,
    FramedPlacer,
    GreedySlice,
    KindScorer,
    MetadataKeyScorer,
    MinScoreSlice,
    Pipeline,
    Policy,
    QuotaEntry,
    QuotaSlice,
    RecencyScorer,
    ReflexiveScorer,
    ScoredItem,
    SimilarityScorer,
    TagScorer,
    wire,
)
from pycupel.analytics import ItemStatus, PolicySensitivityDiffEntry, policy_sensitivity, sweep_budgets
from pycupel.diagnostics import (
    Deduplicated,
    ExcludedItem,
    NegativeTokens,
    OverflowEvent,
    PipelineStage,
    StageTraceSnapshot,
)
from pycupel.errors import CupelError
from pycupel.model import ContextKind
from pycupel.policies import PolicyRegistry, parse_policy, policy_from_dict, policy_to_dict, preset
from pycupel.protocols import SliceOutcome
from pycupel.registry import SCORERS
from pycupel.text import clip, escaped, one_line
from pycupel.tokens import get_counter
from pycupel.tokens.models import window_of

LONG = "n" * 1_000_000
KIND = "k" * 1_000
NOTHING = Policy(RecencyScorer(), MinScoreSlice(GreedySlice(), 2))
ITEMS = tuple(ContextItem(f"{i} {LONG}", 1) for i in range(100))


def policy(**scorer: Any) -> Policy:
    return policy_from_dict({"scorers": [scorer]})


REFUSED: dict[str, Callable[[], object]] = {
    "undated": lambda: RecencyScorer(undated=LONG),  # type: ignore[arg-type]
    "rescale": lambda: ReflexiveScorer(rescale=LONG),  # type: ignore[arg-type]
    "cap_order": lambda: CountQuotaSlice([], cap_order=LONG),  # type: ignore[arg-type]
    "placer": lambda: ChronologicalPlacer(undated=LONG),  # type: ignore[arg-type]
    "preset": lambda: preset(LONG),
    "format": lambda: parse_policy("{}", LONG),  # type: ignore[arg-type]
    "tag": lambda: TagScorer({LONG: -1}),
    "tags": lambda: TagScorer({LONG: 1, LONG.upper(): 2}, case_insensitive=True),
    "kind": lambda: KindScorer({KIND: -1}),
    "intent": lambda: PolicyRegistry().get_policy(LONG),
    "registered": lambda: SCORERS.register(LONG, 5),
    "blank name": lambda: SCORERS.register("-" * len(LONG), RecencyScorer),
    "registry": lambda: SCORERS[LONG],
    "type": lambda: policy(type=LONG),
    "option": lambda: policy(type="tag", tagWeights={LONG: -1}),
    "unregistered": lambda: policy_to_dict(Policy(type(LONG, (), {"score": lambda *_: 0.0})())),
    "instance": lambda: Policy(type(LONG, (), {})()),
    "class": lambda: Policy(type(LONG, (), {})),  # type: ignore[arg-type]
    "overflow": lambda: Policy(RecencyScorer(), overflow_strategy=LONG),  # type: ignore[arg-type]
    "unknown field": lambda: wire.from_dict(ContextItem, {"content": "x", "tokens": 1, LONG: 1}, strict=True),
    "metadata": lambda: wire.to_dict(ContextItem("x", 1, metadata={LONG: {1, 2}})),
    "reason": lambda: wire.from_dict(NegativeTokens, {"reason": LONG}),
    "time": lambda: wire.from_dict(ContextItem, {"content": "x", "tokens": 1, "timestamp": LONG}),
    "slot": lambda: ContextBudget(1, reserved_slots={KIND: -1}),
    "slots": lambda: ContextBudget(1, reserved_slots={KIND: 1, KIND.upper(): 2}),
    "quota": lambda: QuotaEntry(KIND, 50, 10),
    "framed": lambda: FramedPlacer(first=[KIND], last=[KIND]),
    "scarce": lambda: CountQuotaSlice([CountQuotaEntry(KIND, cap_count=1, require_count=1)], scarcity="throw").slice(
        [ScoredItem(ContextItem("a", 1), 1.0)], ContextBudget(1)
    ),
    "counter": lambda: get_counter(LONG),
    "model": lambda: window_of(LONG),
}


@pytest.mark.parametrize("name", REFUSED)
def test_messages_are_short(name: str) -> None:
    with pytest.raises((CupelError, TypeError, KeyError)) as caught:
        REFUSED[name]()
    text = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", [])])
    assert len(text) < 1_500
    assert any(sign * 50 in text.lower() for sign in "nk-")


@pytest.mark.parametrize(
    "value",
    [
        TagScorer({LONG: 1}),
        MetadataKeyScorer(LONG, LONG, 2.0),
        KindScorer({KIND: 1}),
        ContextKind(KIND),
        ContextItem(LONG, 1, kind=KIND, tags=[LONG], metadata={LONG: LONG}),
        Policy(RecencyScorer(), name=LONG, description=LONG),
        CountQuotaSlice([CountQuotaEntry(KIND, cap_count=1)]),
        Deduplicated(LONG),
        SimilarityScorer(dict.fromkeys, LONG),  # type: ignore[arg-type]
        OverflowEvent(5, ITEMS, ContextBudget(1)),
        StageTraceSnapshot(
            PipelineStage.SLICE, 9, 9, 0.5, tuple(ExcludedItem(i, 0.0, Deduplicated(LONG)) for i in ITEMS)
        ),
        SliceOutcome([*ITEMS]),
        sweep_budgets("chat", ITEMS, [5_000])[0],
        policy_sensitivity(
            ITEMS, 50, {"all": "chat", "none": Policy(RecencyScorer(), MinScoreSlice(GreedySlice(), 2))}
        ),
        PolicySensitivityDiffEntry(LONG, (("variant", ItemStatus.INCLUDED),) * 1_000),
    ],
    ids=lambda value: type(value).__name__,
)
def test_reprs_are_short(value: object) -> None:
    assert len(repr(value)) < 1_000


def test_what_a_report_says_is_short() -> None:
    items = [ContextItem("a", 5, metadata={LONG: LONG}, tags=[LONG]), ContextItem("b", 5, kind=KIND)]
    for scorer in (MetadataKeyScorer(LONG, LONG, 2.0), TagScorer({LONG: 1})):
        report = Pipeline(scorer, QuotaSlice([QuotaEntry(KIND, 10)])).dry_run(items, 7)
        for text in (repr(report), str(report), report.to_text(), *report.notes, *map(repr, report.events)):
            assert len(text) < 3_000
        assert len(str(report.why(items[0]))) < 1_000


def test_names_are_verbatim_up_to_200_characters_then_cut() -> None:
    assert clip("x" * 200) == one_line("x" * 200) == "x" * 200
    assert clip("x" * 201) == one_line("x" * 201) == "x" * 200 + "..."
    assert escaped("a\nb\x1b[31m\u2028") == r"a\nb\x1b[31m\u2028"
    assert one_line("a\tb é") == r"a\tb é"
