"""The hot functions take and return plain values, so that native code could take their place."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from types import BuiltinFunctionType, FrameType, FunctionType
from typing import Any

from pycupel import ContextItem, select
from pycupel.kernels import order, scores, words
from pycupel.scorers import clear_caches
from pycupel.tokens import estimate

# Values of the standard library, and the kernels' own records of them: no item, no strategy.
SCALARS = (str, bytes, int, float, bool, type(None), datetime)
PLAIN = (*SCALARS, list, tuple, dict, Counter, range, words.Analysis, words.Corpus, estimate.Features)
SCORING: tuple[Callable[..., Any], ...] = (scores.rank_shares, scores.weighted_sum)
CHOOSING: tuple[Callable[..., Any], ...] = (order.descending, order.by_density, order.fill)
ASKING: tuple[Callable[..., Any], ...] = (words.analysis_of, words.bm25)
COUNTING: tuple[Callable[..., Any], ...] = (estimate.find_features,)


def strange(value: Any) -> Iterator[type]:
    """The classes of what is not plain in a value."""
    if type(value) not in PLAIN and not isinstance(value, (FunctionType, BuiltinFunctionType)):
        yield type(value)
    elif isinstance(value, dict):
        for pair in value.items():
            yield from strange(pair)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from strange(each)


def crossing(job: Callable[[], object], functions: tuple[Callable[..., Any], ...]) -> dict[str, set[type]]:
    """What passes in and out of these functions during a job that is not plain, by their names."""
    watched: dict[Any, str] = {function.__code__: function.__name__ for function in functions}
    found: dict[str, set[type]] = {}

    def watch(frame: FrameType, event: str, value: Any) -> None:
        name = watched.get(frame.f_code)
        if name is not None and event in ("call", "return"):
            passed = [*frame.f_locals.values()] if event == "call" else [value]
            found.setdefault(name, set()).update(each for one in passed for each in strange(one))

    sys.setprofile(watch)
    try:
        job()
    finally:
        sys.setprofile(None)
    return found


def items() -> list[ContextItem]:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    return [
        ContextItem(f"text {n} of many words", 5 + n, priority=n % 3, timestamp=start.replace(day=n + 1))
        for n in range(20)
    ]


def test_the_usual_scorers_and_slicers_pass_plain_values() -> None:
    offered = items()
    found = crossing(lambda: select(offered, 120), (*SCORING, *CHOOSING))
    assert found == {function.__name__: set() for function in (*SCORING, *CHOOSING)}


def test_a_question_is_asked_in_plain_values() -> None:
    offered = items()
    clear_caches()
    found = crossing(lambda: select(offered, 120, "rag", query="many words"), ASKING)
    assert found == {function.__name__: set() for function in ASKING}


def test_the_estimator_passes_plain_values() -> None:
    assert crossing(lambda: estimate.estimate_tokens("some text"), COUNTING) == {"find_features": set()}


def test_what_is_not_plain_is_seen() -> None:
    offered = items()
    assert crossing(lambda: order.indices_by_identity(offered), (order.indices_by_identity,)) == {
        "indices_by_identity": {ContextItem}
    }
