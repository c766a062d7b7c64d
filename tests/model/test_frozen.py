"""`FrozenDict`: reads like a dict, cannot be changed, survives pickling and copying."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import pytest

from pycupel.values import FrozenDict


def frozen() -> FrozenDict[str, Any]:
    return FrozenDict({"b": 1, "a": 2})


def test_it_reads_like_a_dict() -> None:
    assert isinstance(frozen(), dict)
    assert list(frozen().items()) == [("b", 1), ("a", 2)]
    assert frozen()["a"] == 2
    assert frozen().get("c") is None
    assert repr(frozen()) == "{'b': 1, 'a': 2}"
    assert json.dumps(frozen()) == '{"b": 1, "a": 2}'


@pytest.mark.parametrize("other", [{"a": 2, "b": 1}, MappingProxyType({"a": 2, "b": 1}), FrozenDict(a=2, b=1)])
def test_it_equals_any_mapping_with_the_same_members(other: Any) -> None:
    assert frozen() == other
    assert other == frozen()
    assert frozen() != {**other, "b": 2}


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.__setitem__("a", 3),
        lambda d: d.__delitem__("a"),
        lambda d: d.__ior__({"a": 3}),
        lambda d: d.clear(),
        lambda d: d.pop("a"),
        lambda d: d.pop("c", None),
        lambda d: d.popitem(),
        lambda d: d.setdefault("a", 3),
        lambda d: d.setdefault("c"),
        lambda d: d.update({"a": 3}),
        lambda d: d.update(a=3),
    ],
)
def test_every_change_is_refused(change: Callable[[Any], object]) -> None:
    mapping = frozen()
    with pytest.raises(TypeError, match=r"^FrozenDict is read-only; copy it with dict\(\.\.\.\) to change it$"):
        change(mapping)
    assert mapping == {"b": 1, "a": 2}


def test_attributes_cannot_be_added() -> None:
    mapping: Any = frozen()
    with pytest.raises(AttributeError):
        mapping.extra = 1


def test_no_method_of_dict_that_changes_it_was_forgotten() -> None:
    """A dict may get new methods in a new version of Python."""
    own = set(vars(FrozenDict))
    inherited = {name for name in vars(dict) if not name.startswith("__")} - own
    assert inherited == {"copy", "fromkeys", "get", "items", "keys", "values"}


def test_copy_and_union_give_a_dict_to_change() -> None:
    assert type(frozen().copy()) is dict
    assert type(frozen() | {"c": 3}) is dict
    assert frozen() | {"c": 3} == {"b": 1, "a": 2, "c": 3}


def test_the_hash_does_not_depend_on_the_order() -> None:
    assert hash(frozen()) == hash(FrozenDict({"a": 2, "b": 1}))
    assert len({hash(FrozenDict(a=i)) for i in range(100)}) > 90


def test_there_is_no_hash_if_a_value_has_none() -> None:
    with pytest.raises(TypeError, match="unhashable type: 'list'"):
        hash(FrozenDict(a=[]))


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_it_survives_pickling(protocol: int) -> None:
    loaded = pickle.loads(pickle.dumps(frozen(), protocol))
    assert type(loaded) is FrozenDict
    assert list(loaded.items()) == [("b", 1), ("a", 2)]


def test_a_copy_is_the_same_object() -> None:
    mapping = frozen()
    assert copy.copy(mapping) is mapping


def test_a_deep_copy_copies_the_values() -> None:
    mapping: FrozenDict[str, list[int]] = FrozenDict(a=[1])
    copied = copy.deepcopy(mapping)
    assert copied == mapping
    assert type(copied) is FrozenDict
    assert copied["a"] is not mapping["a"]
