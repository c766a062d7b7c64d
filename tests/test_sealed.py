"""Values stay what they are: no assignment, no state set from outside, on every Python."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import pytest

import pycupel
from pycupel import ContextItem, ContextKind, analytics, diagnostics, model, replay

PACKAGES = (pycupel, analytics, diagnostics, model, replay)


def values() -> list[type[Any]]:
    """Every public frozen dataclass with slots."""
    public = {getattr(package, name) for package in PACKAGES for name in package.__all__}
    classes = [each for each in public if isinstance(each, type) and "__dataclass_params__" in vars(each)]
    found = [each for each in classes if vars(each)["__dataclass_params__"].frozen and "__slots__" in vars(each)]
    return sorted(found, key=lambda each: each.__qualname__)


@pytest.mark.parametrize("cls", values(), ids=lambda cls: cls.__qualname__)
def test_no_attribute_can_be_assigned_or_deleted_field_or_not(cls: type[Any]) -> None:
    """With dataclasses alone, `item.typo = 1` is a TypeError about `super`."""
    value = object.__new__(cls)
    for name in ("typo", *(field.name for field in dataclasses.fields(cls))):
        with pytest.raises(dataclasses.FrozenInstanceError, match=f"cannot assign to '{name}' of {cls.__name__}; "):
            setattr(value, name, 1)
        with pytest.raises(dataclasses.FrozenInstanceError, match=f"cannot delete '{name}' of {cls.__name__}"):
            delattr(value, name)
    assert not hasattr(value, "__setstate__")


def test_there_are_many_such_classes() -> None:
    assert {ContextItem, pycupel.ContextBudget, pycupel.Pipeline, pycupel.KnapsackSlice} < set(values())


def test_an_item_is_copied_and_pickled_without_state() -> None:
    item = ContextItem("a", 1, kind="Note", metadata={"list": [1]}, tags=["x"])
    for made in (copy.copy(item), copy.deepcopy(item), pickle.loads(pickle.dumps(item))):
        assert made == item
        assert made is not item
        assert repr(made) == repr(item)
    assert copy.deepcopy(item).metadata["list"] is not item.metadata["list"]


def test_an_item_as_a_dict_can_be_changed_and_leaves_the_item_alone() -> None:
    """`dataclasses.asdict` works, and shares nothing."""
    item = ContextItem("a", 1, metadata={"list": [1]}, tags=["x"])
    changed = dataclasses.asdict(item)
    assert changed["kind"] == {"value": "Message", "key": "message"}
    assert changed["tags"] == ("x",)
    changed["metadata"]["list"].append(2)
    assert item.metadata == {"list": [1]}


class Greedy:
    """Tries to change whatever it is compared with."""

    def __eq__(self, other: object) -> bool:
        for name in ("value", "key", "tokens", "anything"):
            with pytest.raises((dataclasses.FrozenInstanceError, AttributeError)):
                setattr(other, name, "changed")
        return True

    __hash__ = None  # type: ignore[assignment]


def test_a_comparison_changes_neither_an_item_nor_what_items_share() -> None:
    item = ContextItem("a", 1)
    for value in (item, item.kind, item.source, item.metadata, item.tags):
        assert value == Greedy()
    assert item == ContextItem("a", 1)
    assert ContextKind.MESSAGE.value == "Message"
    assert item.metadata == {}
