"""Stage 2, Score: what neither the vectors `score-*` nor `tests/scorers/test_batch.py` show."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from pycupel import ContextBudget, ContextItem, Pipeline
from tests.strategies import RawHintScorer

BUDGET = ContextBudget(100)


@pytest.mark.proves("S-SC-04")
def test_every_float_is_a_score_and_is_reported_as_it_is() -> None:
    """SC-03: no error for NaN and infinities."""
    hints = [math.nan, math.inf, -math.inf, -2.5]
    items = [ContextItem(str(hint), 10, future_relevance_hint=hint) for hint in hints]
    report = Pipeline(RawHintScorer()).dry_run(items, BUDGET)
    assert {item.content: str(score) for item, score, _ in report.included} == {str(hint): str(hint) for hint in hints}


def test_an_exception_in_a_scorer_comes_out_as_it_is() -> None:
    """Stage 2, Score: errors that are the user's own stay recognisable."""

    class Broken:
        def score(self, item: ContextItem, all_items: Sequence[ContextItem], /) -> float:
            raise LookupError(item.content)

    with pytest.raises(LookupError, match=r"^a$"):
        Pipeline(Broken()).run([ContextItem("a", 10)], BUDGET)
