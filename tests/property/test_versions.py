"""The multiple-choice knapsack, against brute force, against its bound, and on instances that are hard."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from pycupel.kernels import versions, versions as core
from tests.examples import examples
from tests.kernels.test_versions import Instance, check, hard


@st.composite
def instances(draw: st.DrawFn) -> Instance:
    weights = draw(st.lists(st.lists(st.integers(0, 12), max_size=3), max_size=5))
    kind = draw(st.sampled_from(["free", "proportional", "with a constant", "equal"]))
    values = [
        [
            {"free": draw(st.integers(0, 12)), "proportional": w, "with a constant": w + 3, "equal": 4}[kind]
            for w in sizes
        ]
        for sizes in weights
    ]
    required = draw(st.none() | st.integers(0, len(weights) - 1)) if weights else None
    return Instance(weights, values, draw(st.integers(0, 30)), required)


@given(instances())
@examples(400)
def test_brute_force_agrees(instance: Instance) -> None:
    choice = instance.solved()
    check(instance, choice)
    assert choice.value == choice.bound == instance.best_value()


@given(instances())
@examples(200)
def test_brute_force_agrees_with_the_table(instance: Instance) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(core, "_FREE_STATES", 0)
        patch.setattr(core, "_CELLS_PER_STATE", 10**9)
        choice = instance.solved()
    check(instance, choice)
    assert choice.value == choice.bound == instance.best_value()


@given(instances())
@examples(200)
def test_a_search_that_has_to_stop_knows_its_bound(instance: Instance) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(versions, "EXACT_ITEMS", 0)
        patch.setattr(core, "_STATES_OF_MANY", 2)
        choice = instance.solved()
    check(instance, choice)
    assert choice.value <= instance.best_value() <= choice.bound


@pytest.mark.parametrize("kind", ["unrelated", "with a constant", "proportional", "even", "equal"])
def test_two_hundred_items_are_solved(kind: str) -> None:
    instance = hard(kind, 200)
    choice = instance.solved()
    check(instance, choice)
    assert choice.value == choice.bound


@pytest.mark.parametrize("kind", ["unrelated", "with a constant", "proportional", "even", "equal"])
def test_of_more_items_nearly_everything_is_proved(kind: str) -> None:
    instance = hard(kind, 1_000)
    choice = instance.solved()
    check(instance, choice)
    assert choice.value >= 0.999 * choice.bound
