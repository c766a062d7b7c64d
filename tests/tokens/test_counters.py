"""Counters by name, the caller's own, and what providers report."""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, strategies as st

from pycupel.errors import InvalidArgumentError, MissingExtraError
from pycupel.messages import select_messages
from pycupel.messages.providers import PROVIDERS
from pycupel.protocols import TokenCounter
from pycupel.tokens import Counter, count_messages, estimate_tokens, get_counter, item, reported_tokens, warm_up
from pycupel.tokens.counters import _named
from pycupel.tokens.estimate import FamilyEstimate
from pycupel.tokens.families import counter_for, exact_counter
from tests.examples import examples
from tests.tokens.offline import CACHED, DATA, define, forbid_downloads, hide_vocabularies

SPLINTR = f"splintr-rs {version('splintr-rs')}"


@pytest.fixture
def without_splintr(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """And without vocabularies for tiktoken."""
    monkeypatch.setitem(sys.modules, "splintr", None)
    hide_vocabularies(monkeypatch, tmp_path)
    forbid_downloads(monkeypatch)
    _forget()
    yield
    _forget()


@pytest.fixture
def without_mistral_common(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mistral_common.tokens.tokenizers.mistral", None)


def _forget() -> None:
    _named.cache_clear()
    counter_for.cache_clear()
    exact_counter.cache_clear()


class WordCounter:
    margin_percent = Decimal("2.5")

    def __call__(self, text: str) -> int:
        return len(text.split())

    def count_batch(self, texts: list[str]) -> list[int]:
        return [self(text) for text in texts]


def returns(value: Any) -> Counter:
    def mistaken(text: str) -> Any:
        return value

    mistaken.__qualname__ = "mistaken"
    return get_counter(mistaken)


def test_auto_is_exact_with_splintr() -> None:
    counter = get_counter()
    assert (counter.name, counter.version, counter.exact) == ("o200k_base", SPLINTR, True)
    assert counter.margin_percent == 0
    assert counter("Hello, world!") == 4
    assert counter is get_counter("auto")


@pytest.mark.usefixtures("without_splintr")
def test_auto_is_exact_with_tiktoken_and_its_vocabulary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / CACHED).write_bytes(DATA)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(import_module("tiktoken_ext.openai_public"), "o200k_base", define("o200k_base"))
    counter = get_counter()
    assert (counter.name, counter.version, counter.exact) == ("o200k_base", f"tiktoken {version('tiktoken')}", True)
    assert counter("abcab de f") == 6


@pytest.mark.usefixtures("without_splintr")
def test_auto_is_the_estimator_without_anything_exact() -> None:
    assert get_counter() is get_counter("estimator")


@pytest.mark.parametrize("missing", ["'splintr'", "'splintr', 'tiktoken'"])
def test_auto_is_the_estimator_on_a_bare_machine(missing: str, tmp_path: Path) -> None:
    code = f"""
import sys
import weakref
sys.modules.update(dict.fromkeys(({missing},)))
from pycupel.tokens import get_counter
print(get_counter(), get_counter().margin_percent)
"""
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_CACHE_DIR")}
    places = {name: str(tmp_path) for name in ("TMPDIR", "TEMP", "TMP")}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment | places, capture_output=True, text=True, check=True
    )
    assert done.stdout == "estimator (pycupel 2) 5.0\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("without_splintr")
def test_what_is_asked_for_and_missing_is_said_with_both_remedies() -> None:
    with pytest.raises(MissingExtraError, match=r"needs splintr-rs.*pycupel\[tokens\]") as caught:
        get_counter("cl100k_base")
    (note,) = caught.value.__notes__
    assert "cl100k_base.tiktoken is not on this machine" in note
    assert caught.value.__suppress_context__


def test_the_estimator_says_that_it_may_be_too_low() -> None:
    counter = get_counter("estimator")
    assert (counter.name, counter.exact, counter.margin_percent) == ("estimator", False, 5.0)
    assert counter("Hello, world!") == estimate_tokens("Hello, world!")


@pytest.mark.parametrize(
    ("name", "encoding"),
    [
        ("o200k_base", "o200k_base"),
        ("cl100k_base", "cl100k_base"),
        ("gpt-3.5-turbo", "cl100k_base"),
        ("gpt-4", "cl100k_base"),
        ("gpt-4-turbo-2024-04-09", "cl100k_base"),
        ("text-embedding-3-small", "cl100k_base"),
        ("gpt-4o-mini", "o200k_base"),
        ("gpt-4.1-nano", "o200k_base"),
        ("gpt-4.5-preview", "o200k_base"),
        ("gpt-5", "o200k_base"),
        ("gpt-5-mini", "o200k_base"),
        ("gpt-oss-20b", "o200k_base"),
        ("chatgpt-4o-latest", "o200k_base"),
        ("o1", "o200k_base"),
        ("o3-mini", "o200k_base"),
        ("o4-mini", "o200k_base"),
        ("openai:gpt-4o", "o200k_base"),
        ("ft:gpt-4o-mini-2024-07-18:acme::9x", "o200k_base"),
        ("llama-3.3-70b-instruct", "llama3"),
        ("meta.llama3-1-8b-instruct-v1:0", "llama3"),
        ("deepseek-chat", "deepseek_v3"),
        ("qwen3-32b", "qwen"),
        ("gemma-3-27b-it", "gemma3"),
        ("kimi-k2-thinking", "kimi_k2"),
        ("mistral-large-latest", "tekken"),
        ("codestral-latest", "tekken"),
        ("ministral-8b-latest", "tekken"),
        ("magistral-medium-2509", "tekken"),
        ("mixtral-8x7b-instruct", "mistral_v2"),
        ("tekken", "tekken"),
    ],
)
def test_a_model_has_its_encoding(name: str, encoding: str) -> None:
    counter = get_counter(name)
    assert (counter.name, counter.exact, counter.margin_percent) == (encoding, True, 0.0)


@pytest.mark.parametrize(
    ("name", "counted_by", "margin"),
    [
        ("claude", "estimator for anthropic", 10.0),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "estimator for anthropic", 10.0),
        ("gemini-2.5-pro", "gemma3 for gemini", 5.0),
        ("llama-4-scout", "estimator for llama", 5.0),
        ("qwen3.5-plus", "estimator for qwen", 5.0),
        ("command-r", "estimator for cohere", 10.0),
        ("grok-4", "estimator for grok", 10.0),
        ("davinci-002", "estimator", 5.0),
    ],
)
def test_a_model_without_a_vocabulary_here_is_estimated(name: str, counted_by: str, margin: float) -> None:
    counter = get_counter(name)
    assert (counter.name, counter.exact, counter.margin_percent) == (counted_by, False, margin)


@pytest.mark.usefixtures("without_splintr", "without_mistral_common")
@pytest.mark.parametrize("name", ["mistral-large-latest", "gemini-2.5-pro", "llama-3.3-70b", "gemma-3", "mixtral-8x7b"])
def test_a_model_whose_vocabulary_is_not_installed_is_estimated(name: str) -> None:
    counter = get_counter(name)
    assert counter.name.startswith("estimator for ")
    assert not counter.exact
    assert counter.margin_percent >= 5.0


@pytest.mark.unmeasured
@pytest.mark.usefixtures("without_splintr")
def test_mistral_counts_with_its_own_package_too() -> None:
    counter = get_counter("mistral-small-latest")
    assert (counter.name, counter.version) == ("tekken", f"mistral-common {version('mistral-common')}")
    assert counter.exact
    assert counter("Hello, world!") == 4


@pytest.mark.usefixtures("without_splintr", "without_mistral_common")
def test_tekken_by_name_needs_a_package_that_has_it() -> None:
    with pytest.raises(MissingExtraError, match=r"counting tekken exactly needs splintr-rs") as caught:
        get_counter("tekken")
    (note,) = caught.value.__notes__
    assert "needs mistral-common" in note


@pytest.mark.usefixtures("without_splintr")
def test_other_vocabularies_are_only_in_splintr() -> None:
    with pytest.raises(MissingExtraError, match=r"counting llama3 exactly needs splintr-rs"):
        exact_counter("llama3")


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("claude-opus-4-6", "claude-opus-4-7"),
        ("claude-3-7-sonnet-latest", "claude-opus-4-10"),
        ("anthropic.claude-opus-4-1-20250805-v1:0", "anthropic/claude-sonnet-5"),
        ("claude-sonnet-4-20250514", "claude-haiku-5-20260601"),
        ("claude-v2:1", "claude-mythos-preview"),
    ],
)
def test_newer_models_of_claude_have_more_tokens(older: str, newer: str) -> None:
    text = "The quick brown fox jumps over the lazy dog. " * 20
    assert get_counter(older)(text) == get_counter("claude")(text)
    assert get_counter(newer)(text) == pytest.approx(1.35 * get_counter("claude")(text), rel=0.02)


@pytest.mark.parametrize(
    ("provider", "model", "counted_by"),
    [
        ("openai", None, "o200k_base"),
        ("responses", None, "o200k_base"),
        ("anthropic", None, "estimator for anthropic"),
        ("gemini", None, "gemma3 for gemini"),
        ("mistral", None, "tekken"),
        ("openai", "gpt-4", "cl100k_base"),
        ("openai", "claude-opus-4-6", "estimator for anthropic"),
        ("anthropic", "my-own-model", "estimator for anthropic"),
        ("openai", "my-own-model", "estimator for an unknown model"),
        ("responses", "my-own-model", "estimator for an unknown model"),
    ],
)
def test_the_model_decides_and_else_the_provider(provider: str, model: str | None, counted_by: str) -> None:
    assert counter_for(model, PROVIDERS[provider].typical_model).name == counted_by


@pytest.mark.parametrize("provider", ["openai", "responses", "anthropic", "gemini"])
def test_nothing_is_exact_for_a_model_that_is_not_known(provider: str) -> None:
    counter = counter_for("my-own-model", PROVIDERS[provider].typical_model)
    assert not counter.exact
    assert counter.margin_percent > 0
    text = "The quick brown fox jumps over 12345 lazy dogs. " * 20
    assert counter(text) > get_counter("o200k_base")(text)


def test_warming_up_loads_the_vocabulary_before_the_first_request(monkeypatch: pytest.MonkeyPatch) -> None:
    _forget()
    history = [{"role": "user", "content": "Hi"}]
    warm_up()
    warm_up("llama-3.3-70b")
    warm_up("my-own-model")
    monkeypatch.setattr("pycupel.tokens.families.load_splintr", forbidden)
    assert "o200k_base" in select_messages(history, 100).counter
    assert "llama3" in select_messages(history, 100, model="llama-3.3-70b").counter
    assert get_counter("gpt-4o").exact
    with pytest.raises(AssertionError, match="loaded cl100k_base"):
        get_counter("gpt-4")


def forbidden(encoding: str) -> None:
    raise AssertionError(f"loaded {encoding}")


def test_a_vocabulary_is_loaded_once() -> None:
    for name in ("auto", "gpt-4o", "gemini-2.5-pro", "mistral-large-latest"):
        assert get_counter(name) is get_counter(name)
    for provider in ("openai", "gemini", "mistral"):
        typical = PROVIDERS[provider].typical_model
        assert counter_for(None, typical) is counter_for(None, typical)


def test_an_estimate_is_multiplied_and_rounded_up() -> None:
    text = "Call me at 12345 or 67."
    tokens = estimate_tokens(text)
    assert FamilyEstimate("o200k", 120)(text) == -(-tokens * 120 // 100)


def test_estimates_for_families_take_texts_only() -> None:
    assert FamilyEstimate("qwen")("") == 0
    with pytest.raises(TypeError, match="text must be a str"):
        FamilyEstimate("qwen")(b"text")  # type: ignore[arg-type]


def test_digits_are_tokens_of_their_own_where_the_vocabulary_says_so() -> None:
    number = "1234567890" * 100
    assert FamilyEstimate("cl100k")(number) == pytest.approx(len(number) / 3, rel=0.15)
    assert FamilyEstimate("qwen")(number) == pytest.approx(len(number), rel=0.15)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("p50k_base_v9x", ""),
        ("o200k_bas", "; did you mean 'o200k_base'?"),
        ("estimate", "; did you mean 'estimator'?"),
        ("", ""),
    ],
)
def test_an_unknown_name_is_refused(name: str, hint: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        get_counter(name)
    text = str(caught.value)
    assert text.startswith(
        f"unknown counter {name!r}; choose from auto, estimator, o200k_base, cl100k_base, tekken, gpt-4o"
    )
    assert text.endswith(hint or "mistral")
    assert (caught.value.argument, caught.value.value) == ("counter", name)
    assert "name one with the same tokenizer" in caught.value.__notes__[0]


def test_a_counter_stays_what_it_is() -> None:
    counter = Counter(len, "letters", "7")
    assert get_counter(counter) is counter
    protocol: TokenCounter = counter
    assert protocol("four") == 4


def test_own_functions_count() -> None:
    counter = get_counter(len)
    assert (counter.name, counter.version, counter.exact, counter.margin_percent) == ("len", "", False, 0.0)
    assert counter("four") == 4
    assert get_counter(lambda text: 7)("four") == 7
    assert "lambda" in get_counter(lambda text: 7).name


def test_a_function_of_no_module_counts() -> None:
    """As in a notebook or a template that is executed without a name."""
    made: dict[str, Any] = {"__name__": None}
    exec("def letters(text): return len(text)", made)  # noqa: S102 - written here
    counter = get_counter(made["letters"])
    assert counter.direct("four") == 4


def test_own_objects_count_and_say_how_well() -> None:
    """`margin_percent` and `count_batch` are theirs if they have them."""
    counter = get_counter(WordCounter())
    assert (counter.name, counter.margin_percent) == ("WordCounter", 2.5)
    assert counter("two words") == 2
    assert counter.count_batch(text for text in ("one", "two words")) == [1, 2]


# --- functions of messages instead of texts


def approximately(messages: Iterable[Any]) -> int:
    """Like LangChain's `count_tokens_approximately`, which takes every character of a text for a message."""
    return sum(3 + len(str(message)) for message in messages)


class Calls:
    """Counts its calls, too; `counts` is a method of it."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(self, text: str) -> int:
        self.texts.append(text)
        return len(text)

    def counts(self, text: str) -> int:
        return self(text)

    def mistaken(self, text: str) -> int:
        return 4 * len(text)


class Unhashable(Calls):
    __hash__ = None  # type: ignore[assignment]


def test_a_function_of_messages_is_refused_at_every_use() -> None:
    history = [{"role": "user", "content": "Hi"}]
    for use in (
        lambda: get_counter(approximately),
        lambda: count_messages(history, "openai", approximately),
        lambda: select_messages(history, 100, counter=approximately),
        lambda: item("Hi", counter=approximately),
    ):
        with pytest.raises(InvalidArgumentError) as caught:
            use()
        assert str(caught.value) == (
            "approximately counts 176 tokens in a sentence of 44 characters; pass a function of a text, not of messages"
        )
        assert (caught.value.argument, caught.value.value) == ("counter", 176)


def test_two_tokens_a_character_are_the_most() -> None:
    assert get_counter(lambda text: 2 * len(text))("four") == 8
    with pytest.raises(InvalidArgumentError, match="counts 89 tokens in a sentence of 44 characters"):
        get_counter(lambda text: 2 * len(text) + 1)


def test_a_function_is_tried_once() -> None:
    calls = Calls()
    for _ in range(3):
        get_counter(calls)
    assert calls.texts == ["The quick brown fox jumps over the lazy dog."]
    # A method is another object each time that it is asked for.
    for _ in range(3):
        get_counter(calls.counts)
    assert len(calls.texts) == 2
    with pytest.raises(InvalidArgumentError, match=r"Calls\.mistaken counts 176 tokens"):
        get_counter(calls.mistaken)


def test_what_cannot_be_remembered_is_tried_each_time() -> None:
    calls = Unhashable()
    assert [get_counter(calls)("four") for _ in range(2)] == [4, 4]
    assert len(calls.texts) == 4


def test_trying_keeps_nothing_alive() -> None:
    calls = Calls()
    get_counter(calls)
    get_counter(calls.counts)
    alive = weakref.ref(calls)
    del calls
    gc.collect()
    assert alive() is None


def test_a_function_may_know_some_texts_only() -> None:
    known = {"four": 4}
    counter = get_counter(known.__getitem__)
    assert counter("four") == 4
    with pytest.raises(KeyError):
        counter("five")


@pytest.mark.parametrize("value", [None, 3, b"auto", ["auto"]])
def test_what_cannot_count_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match=r"^counter must be a function from str to int, or a name, not "):
        get_counter(value)


def test_a_margin_that_is_no_number_is_refused() -> None:
    counter = WordCounter()
    counter.margin_percent = "5"  # type: ignore[assignment]
    with pytest.raises(TypeError, match=r"^margin_percent must be a number"):
        get_counter(counter)


@pytest.mark.parametrize("value", [True, 4.0, "4", None, [4]])
def test_what_is_no_count_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match=r"^what mistaken returns must be an int, not "):
        returns(value)("text")


def test_less_than_nothing_is_no_count() -> None:
    with pytest.raises(
        InvalidArgumentError, match=r"^mistaken returned -1; a token count cannot be negative$"
    ) as caught:
        returns(-1)("text")
    assert caught.value.argument == "counter"


class Integer:
    """As numpy has them: no int, but as good as one."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


def test_integers_of_other_makes_are_counts() -> None:
    """DM-02: what is an integer by `__index__` is one."""
    tokens = returns(Integer(4))("text")
    assert (tokens, type(tokens)) == (4, int)
    with pytest.raises(InvalidArgumentError, match="cannot be negative"):
        returns(Integer(-4))("text")


def test_a_batch_is_counted_one_by_one_or_by_the_counter() -> None:
    assert get_counter("o200k_base").count_batch(["Hello, world!", "", "Hello, world!"]) == [4, 0, 4]
    assert get_counter(len).count_batch(iter(["a", "bc"])) == [1, 2]
    assert Counter(len, "letters", batch=lambda texts: [7] * len(texts)).count_batch(["a", "bc"]) == [7, 7]


@pytest.mark.parametrize("value", [-1, True, 1.5])
def test_what_a_batch_returns_is_checked_too(value: Any) -> None:
    counter = Counter(len, "letters", batch=lambda texts: [value] * len(texts))
    with pytest.raises((TypeError, InvalidArgumentError), match="letters"):
        counter.count_batch(["a"])


def test_a_counter_says_who_counts() -> None:
    assert str(get_counter("o200k_base")) == f"o200k_base ({SPLINTR})"
    assert str(get_counter(len)) == "len"


def test_a_counter_is_corrected_by_what_was_reported() -> None:
    counter = get_counter(WordCounter()).calibrated(counted=10, reported=11)
    assert counter.name == "WordCounter x 1.100"
    assert counter("word " * 100) == 110
    assert counter("word " * 101) == 112, "rounded up"
    assert counter.count_batch(["", "word " * 10]) == [0, 11]
    assert counter.margin_percent == 2.5


def test_a_corrected_counter_is_no_longer_exact() -> None:
    counter = get_counter("o200k_base")
    corrected = counter.calibrated(counted=100, reported=100)
    assert not corrected.exact
    assert corrected.version == counter.version
    assert corrected("Hello, world!") == 4


@examples(100)
@given(st.integers(1, 10**9), st.fractions("1/4", 4, max_denominator=1000))
def test_what_was_counted_becomes_just_what_was_reported(counted: int, factor: Any) -> None:
    """With floats, it could become one more."""
    reported = max(1, int(counted * factor), -(-counted // 4))
    corrected = Counter(lambda text: counted, "the same").calibrated(counted=counted, reported=reported)
    assert corrected("text") == reported


@pytest.mark.parametrize(("counted", "reported"), [(1, 5), (5, 1), (1000, 249), (249, 1000), (1, 10**400)])
def test_numbers_about_different_requests_are_refused(counted: int, reported: int) -> None:
    with pytest.raises(InvalidArgumentError, match="cannot belong to the same request") as caught:
        get_counter(len).calibrated(counted=counted, reported=reported)
    assert (caught.value.argument, caught.value.value) == ("reported", reported)


@pytest.mark.parametrize(("counted", "reported"), [(4, 1), (1, 4)])
def test_a_factor_of_four_is_the_most(counted: int, reported: int) -> None:
    assert get_counter(len).calibrated(counted=counted, reported=reported)("four") == 4 * reported // counted


@pytest.mark.parametrize(("counted", "reported", "name"), [(0, 1, "counted"), (1, 0, "reported"), (-1, 1, "counted")])
def test_there_must_be_something_to_correct_by(counted: int, reported: int, name: str) -> None:
    with pytest.raises(InvalidArgumentError, match=f"^{name} must be greater than 0"):
        get_counter(len).calibrated(counted=counted, reported=reported)
    with pytest.raises(TypeError, match=r"^counted must be an int"):
        get_counter(len).calibrated(counted=1.0, reported=1)  # type: ignore[arg-type]


class SlottedUsage:
    """As of a library whose objects have no dict."""

    __slots__ = ("input_tokens",)

    def __init__(self) -> None:
        self.input_tokens = 7


USAGES: list[tuple[dict[str, Any], int]] = [
    # OpenAI: what is cached is part of the prompt.
    ({"prompt_tokens": 10, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 3}}, 10),
    # Responses.
    ({"input_tokens": 10, "output_tokens": 5, "input_tokens_details": {"cached_tokens": 3}}, 10),
    # Anthropic: what is cached is not part of the input.
    ({"input_tokens": 10, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 30, "output_tokens": 1}, 60),
    ({"input_tokens": 10, "cache_read_input_tokens": None, "cache_creation_input_tokens": 0}, 10),
    # Gemini, its objects and its JSON.
    ({"prompt_token_count": 10, "candidates_token_count": 5, "cached_content_token_count": 3}, 10),
    ({"promptTokenCount": 10, "candidatesTokenCount": 5}, 10),
    # A gateway that translates Anthropic's report: the prompt has everything already.
    ({"prompt_tokens": 60, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 30}, 60),
]


@pytest.mark.parametrize(("usage", "tokens"), USAGES)
@pytest.mark.parametrize("make", [dict, lambda usage: SimpleNamespace(**usage)])
def test_the_reports_of_providers_are_read(usage: dict[str, Any], tokens: int, make: Callable[[Any], Any]) -> None:
    assert reported_tokens(make(usage)) == tokens


def test_a_report_may_be_any_object() -> None:
    assert reported_tokens(SlottedUsage()) == 7


@pytest.mark.parametrize(
    "usage",
    [None, 7, {}, {"completion_tokens": 5}, {"prompt_tokens": None}, {"prompt_tokens": True}, {"input_tokens": "7"}],
)
def test_what_reports_nothing_is_refused(usage: object) -> None:
    with pytest.raises(InvalidArgumentError, match="no prompt token count in ") as caught:
        reported_tokens(usage)
    assert caught.value.argument == "usage"
    assert caught.value.__notes__ == ["Pass the usage or usage_metadata of a response."]


@dataclass(frozen=True)
class Fixed:
    tokens: int

    def __call__(self, text: str) -> int:
        return self.tokens


@pytest.mark.parametrize("counter", ["estimator", len, Fixed(3)])
def test_a_counter_can_be_sent_to_another_process(counter: Any) -> None:
    made = get_counter(counter)
    corrected = made.calibrated(counted=2, reported=3)
    for each in (made, corrected):
        copy = pickle.loads(pickle.dumps(each))
        assert copy == each
        assert copy("Hello, world!") == each("Hello, world!")


def test_threads_may_share_a_counter() -> None:
    _named.cache_clear()
    texts = [f"Hello, {number} worlds! " * (number % 7) for number in range(400)]
    with ThreadPoolExecutor(8) as pool:
        counters = list(pool.map(get_counter, ["o200k_base"] * 8))
        counts = [list(pool.map(counter, texts)) for counter in counters]
    assert counts == [get_counter("o200k_base").count_batch(texts)] * 8


@pytest.mark.parametrize("name", ["GPT-4o", "openai/gpt-4o", "azure/openai/GPT-4o"])
def test_a_model_may_be_spelled_in_capitals_and_with_its_provider(name: str) -> None:
    assert get_counter(name).name == "o200k_base"
