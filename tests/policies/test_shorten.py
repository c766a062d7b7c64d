"""The field `shorten` of policy documents."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from pycupel import Policy, RecencyScorer, StreamSlice
from pycupel.errors import DocumentError
from pycupel.policies import dump_policy, parse_policy, policy_from_dict, policy_json_schema, policy_to_dict
from pycupel.protocols import NoShortener, Shortener
from pycupel.registry import SHORTENERS
from pycupel.shorten import ByFormat, HeadAndTail, KeyLines, Stub


def document(shorten: Any) -> dict[str, Any]:
    return {"scorers": [{"type": "recency"}], "shorten": shorten}


@pytest.mark.parametrize(
    ("written", "maker", "canonical"),
    [
        ("by-format", ByFormat(), "byFormat"),
        ("key-lines", KeyLines(), "keyLines"),
        ({"type": "keyLines"}, KeyLines(), "keyLines"),
        ({"type": "key_lines", "shares": [0.1, 0.5]}, KeyLines((0.1, 0.5)), {"type": "keyLines", "shares": [0.1, 0.5]}),
        ({"type": "headAndTail", "tokens": 90}, HeadAndTail(90), {"type": "headAndTail", "tokens": 90}),
        ("stub", Stub(), "stub"),
        ("none", NoShortener(), "none"),
        (None, None, None),
    ],
)
def test_a_shortener_is_named_or_described(written: Any, maker: Shortener | None, canonical: Any) -> None:
    policy = policy_from_dict(document(written))
    assert policy.shorten == maker
    assert policy_to_dict(policy).get("shorten") == canonical
    assert policy_from_dict(policy_to_dict(policy)) == policy
    assert parse_policy(dump_policy(policy, "toml"), "toml") == policy
    if written is not None:
        Draft202012Validator(policy_json_schema()).validate(document(written))


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (
            "key-line",
            "shorten: unknown shortener 'key-line'; choose from byFormat, keyLines, headAndTail, stub, none; did you",
        ),
        ("headAndTail", 'shorten: needs options; write it as an object: "shorten": {"type": "headAndTail", "tokens": '),
        ({"type": "headAndTail", "tokens": 0}, "tokens: must be greater than 0"),
        ({"shares": [0.1]}, "shorten.type: is missing"),
        (3, "shorten: must be an object with a type"),
    ],
)
def test_mistakes(written: Any, text: str) -> None:
    with pytest.raises(DocumentError) as caught:
        policy_from_dict(document(written))
    assert text in str(caught.value)


def test_a_slicer_that_cannot_choose_among_versions() -> None:
    with pytest.raises(DocumentError, match="shorten works only with GreedySlice"):
        policy_from_dict({**document("stub"), "slicerType": "stream"})
    assert StreamSlice() == policy_from_dict({**document(None), "slicerType": "stream"}).slicer


def test_a_shortener_that_is_not_registered_cannot_be_written() -> None:
    class Mine:
        def shorten(self, item: Any, context: Any, /) -> list[Any]:
            return []

    with pytest.raises(DocumentError, match=r"shorten: .*Mine is not a registered shortener"):
        policy_to_dict(Policy(RecencyScorer(), shorten=Mine()))


def test_the_built_in_ones_are_found_by_class() -> None:
    assert SHORTENERS.name_of(Stub) == "stub"
    assert SHORTENERS["key_lines"] is KeyLines
