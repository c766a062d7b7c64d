"""Versions: items that come with shorter versions of themselves, and what `select` makes of them."""

from __future__ import annotations

import pytest

from pycupel import ContextItem, Pipeline, Policy, RecencyScorer, select
from pycupel.errors import InvalidArgumentError
from pycupel.shorten import KeyLines, Stub, Versions, make_version

WHOLE = ContextItem("the whole text", 100, tags=["a"])
SHORT = ContextItem("brief", 10)


def test_a_version_is_completed() -> None:
    (version,) = Versions(WHOLE, [SHORT]).shorter
    assert (version.content, version.tokens, version.original_tokens, version.tags) == ("brief", 10, 100, ("a",))
    assert version.metadata["pycupel.version"]["maker"] == "given"


def test_one_that_has_its_original_tokens_is_used_as_it_is() -> None:
    version = make_version(WHOLE, "brief", 10, "mine")
    assert Versions(WHOLE, [version]).shorter[0] is version


def test_select_chooses_among_them() -> None:
    pair = Versions(WHOLE, [SHORT, ContextItem("half", 50)])
    assert select([pair], 100).items == [WHOLE]
    assert select([pair], 100).shortened == ()
    result = select([pair], 60)
    assert [item.content for item in result.items] == ["half"]
    assert result.shortened == ((WHOLE, result.items[0]),)
    assert repr(result) == "<ContextResult: 1 item, 50 tokens, 1 shortened>"
    assert [item.content for item in select(iter([pair]), 49).items] == ["brief"]
    assert select([pair], 9).items == []


def test_other_items_ask_the_shortener() -> None:
    lines = ContextItem("".join(f"value_{i} = {i}\n" for i in range(100)), 400)
    result = select([Versions(WHOLE, [SHORT]), lines], 250, shorten=KeyLines())
    assert {each.version.metadata["pycupel.version"]["maker"].partition(",")[0] for each in result.shortened} == {
        "given",
        "KeyLines",
    }
    assert [each.item for each in select([Versions(WHOLE, [SHORT]), lines], 40, shorten=Stub()).shortened]
    assert select([Versions(WHOLE, [SHORT]), lines], 50).shortened[0].item is WHOLE


def test_shorten_takes_the_place_of_the_policys_own() -> None:
    lines = ContextItem("".join(f"value_{i} = {i}\n" for i in range(100)), 400)
    policy = Policy(RecencyScorer(), shorten=Stub())
    assert select([lines], 200, policy).items[0].content.startswith("[Message left out")
    assert select([lines], 200, policy, shorten=KeyLines()).items[0].content.startswith(("[+", "value"))
    assert Pipeline.from_policy(policy).run([lines], 200) == select([lines], 200, policy).items


@pytest.mark.parametrize("tokens", [100, 101, -1])
def test_a_version_must_have_fewer_tokens(tokens: int) -> None:
    with pytest.raises(InvalidArgumentError, match=r"shorter\[0\] must have fewer tokens than the item, which has 100"):
        Versions(WHOLE, [ContextItem("x", tokens)])


def test_types_are_checked() -> None:
    with pytest.raises(TypeError, match="item must be a ContextItem"):
        Versions("x", [])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"shorter\[0\] must be a ContextItem"):
        Versions(WHOLE, ["x"])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="shorten must be a shortener"):
        select([WHOLE], 10, shorten="key-lines")  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="items must be an iterable"):
        select(3, 10)  # type: ignore[call-overload]
