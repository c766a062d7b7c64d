"""What holds for the estimate of any text."""

from __future__ import annotations

from hypothesis import given, strategies as st

from pycupel.tokens import estimate_tokens
from pycupel.tokens.estimate import BLOCK_ROWS, find_features
from tests.examples import examples

# Words, marks and gaps, as well as everything that Unicode has, half an emoji included.
TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=())),
    st.text("aAbZ09 \n\t.,_-/(é中ж🚀\ud800"),
    st.lists(
        st.sampled_from(["word", "camelCase", "snake_case", "0x1F", "  ", "\n", "=== ", "naïve", "世界", "f(x)"])
    ).map("".join),
)


@examples(100)
@given(TEXTS)
def test_an_estimate_is_zero_for_nothing_only(text: str) -> None:
    tokens = estimate_tokens(text)
    assert type(tokens) is int
    assert (tokens == 0) == (text == "")
    assert tokens == estimate_tokens(text)


@examples(100)
@given(TEXTS)
def test_no_estimate_is_far_above_the_number_of_bytes(text: str) -> None:
    """A token is a byte at least."""
    assert estimate_tokens(text) <= 2 * len(text.encode("utf-8", "surrogatepass")) + 1


@examples(100)
@given(TEXTS, TEXTS)
def test_two_texts_cost_about_what_both_cost_apart(first: str, second: str) -> None:
    """Lines of one text must not become much cheaper or dearer by being joined, or budgets would not add up."""
    together = estimate_tokens(f"{first}\n{second}")
    apart = estimate_tokens(first) + estimate_tokens(second)
    assert abs(together - apart) <= 4


@examples(100)
@given(TEXTS)
def test_there_is_a_cost_for_every_feature(text: str) -> None:
    found = find_features(text)
    assert found.data >= 0
    assert len(found.kinds) == len(found.letters) == len(found.skips)
    assert (
        len(found.blocks)
        == len(found.rows)
        == (0 if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2)
    )
    assert max(found.blocks, default=0) >> 4 <= len(BLOCK_ROWS)
