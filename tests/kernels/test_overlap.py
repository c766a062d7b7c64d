"""How many rows share a label with each row."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from pycupel.kernels import scores
from pycupel.kernels.scores import overlap_counts

Rows = list[tuple[str, ...]]


def counted(rows: Rows, canonical: Callable[[str], str] = str) -> list[int]:
    """The literal definition: every row against every row."""
    named = [{canonical(label) for label in labels} for labels in rows]
    return [sum(not one.isdisjoint(other) for other in named) for one in named]


@pytest.mark.parametrize(
    ("rows", "counts"),
    [
        pytest.param([], [], id="no rows"),
        pytest.param([()], [0], id="no labels"),
        pytest.param([("a",)], [1], id="a row shares with itself"),
        pytest.param([("a",), ("a",)], [2, 2], id="two rows with one label"),
        pytest.param([("a",), ("b",), ()], [1, 1, 0], id="nothing in common"),
        pytest.param([("a", "b"), ("b", "c"), ("c",)], [2, 3, 2], id="a chain"),
        pytest.param([("a", "b")] * 3, [3, 3, 3], id="two labels in common count once"),
        pytest.param([("a", "a"), ("a",)], [2, 2], id="a repeated label counts once"),
        pytest.param([("a",)] * 5 + [("a", "z")] + [("z",)], [6] * 5 + [7, 2], id="a common and a rare label"),
    ],
)
def test_rows_with_a_common_label_are_counted(rows: Rows, counts: list[int]) -> None:
    """FREQUENCY-SCORE without self-exclusion."""
    assert overlap_counts(rows, str) == counts


def test_labels_are_the_same_if_their_canonical_form_is() -> None:
    """FS-02: the caller decides what folds."""
    rows: Rows = [("A",), ("a",), ("a", "A"), ("b",)]
    assert overlap_counts(rows, str.lower) == [3, 3, 3, 1]
    assert overlap_counts(rows, str) == [2, 2, 3, 1]


def test_labels_may_be_anything_hashable() -> None:
    """A label is only ever looked up."""
    assert overlap_counts([(1, 2), (3,), (-2,)], abs) == [2, 1, 2]


@pytest.mark.parametrize("rows", [64, 65, 200, 255, 256, 257, 319, 320, 640])
@pytest.mark.parametrize("step", [-1, 0, 1, 2])
def test_it_does_not_matter_whether_a_label_is_rare(rows: int, step: int) -> None:
    """PY-09: a label on just few enough rows for a list, or on just too many."""
    few = max(rows // 64 + step, 1)
    labels: Rows = [("common",) if row % 2 else () for row in range(rows)]
    for row in range(few):
        labels[row * 3] += ("edge",)
        labels[row * 5 + 1] += ("EDGE", "alone")
    assert overlap_counts(labels, str.lower) == counted(labels, str.lower)


@pytest.mark.parametrize("bits_log2", [0, 8, 12])
def test_it_does_not_matter_how_much_memory_masks_may_take(bits_log2: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """PY-09: with less room for masks, more labels are lists."""
    monkeypatch.setattr(scores, "_MASK_BITS_LOG2", bits_log2)
    dice = random.Random(bits_log2)
    rows: Rows = [tuple(str(int(dice.paretovariate(0.6))) for _ in range(dice.randrange(6))) for _ in range(300)]
    assert overlap_counts(rows, str) == counted(rows)


def test_spellings_of_one_label_on_different_rows_are_one_label() -> None:
    """DM-03: rows of several spellings are not in order; a mask does not depend on it."""
    rows: Rows = [("b",), ("A",), ("a", "b"), ("A",), ("a",), (), ("B", "b")]
    assert overlap_counts(rows * 20, str.lower) == counted(rows * 20, str.lower)
