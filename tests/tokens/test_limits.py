"""What models take and give: the data file, registered models, those of a policy, and budgets within their limits."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from pycupel import ContextBudget, ContextItem, Pipeline, Policy, select
from pycupel.errors import DocumentError, InvalidArgumentError, InvalidBudgetError, UnitTooLargeError
from pycupel.messages import MessageSelection, select_messages
from pycupel.policies import CHAT, dump_policy, parse_policy, policy_from_dict, policy_json_schema, policy_to_dict
from pycupel.tokens import ModelLimits, count_messages, limits_of, models as limits, register_model, window_of
from pycupel.tokens.models import allowance, find_limits, limits_table, normalized_model, prices_in, prices_table
from pycupel.wire import dumps, loads
from tests.examples import examples
from tools.compare_models import PRICES, Facts, compare, facts_of, price_rows, rewrite_prices, rewritten

ROWS = (files("pycupel.tokens") / "data" / "limits.txt").read_text(encoding="utf-8").splitlines()
HISTORY = [{"role": role, "content": f"{n} " + 90 * "x"} for n in range(40) for role in ("user", "assistant")]
SMALL = ModelLimits(2_000, 1_500, 500)


@pytest.fixture(autouse=True)
def _registers_nothing_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_registered", {})


# --- the data file


def test_rows_have_a_name_a_window_and_perhaps_its_parts() -> None:
    for row in ROWS:
        if row.startswith("#"):
            continue
        name, window, *parts = row.split()
        assert name == normalized_model(name)
        assert all(0 < int(part) <= int(window) for part in parts)
        assert len(parts) in (0, 2) or int(parts[0]) < int(window)


def test_no_name_is_in_two_rows_and_a_longer_name_follows_the_shorter_one() -> None:
    names = [row.split()[0] for row in ROWS if not row.startswith("#")]
    assert len({*names}) == len(names) == len(limits_table())
    places = {name: i for i, name in enumerate(names)}
    for name in names:
        shorter = [each for each in names if name.startswith(each) and not name[len(each) : len(each) + 1].isalnum()]
        assert all(places[each] <= places[name] for each in shorter), name


@pytest.mark.parametrize(
    ("model", "known"),
    [
        ("gpt-5", (400_000, 272_000, 128_000)),
        ("openai/gpt-5-mini-2025-08-07", (400_000, 272_000, 128_000)),
        ("gpt-5.4-mini", (400_000, 272_000, 128_000)),
        ("azure/gpt-5.4", (1_050_000, 922_000, 128_000)),
        ("gpt-5.5-pro", (1_050_000, 922_000, 128_000)),
        ("gpt-6.1-sol", (1_050_000, 922_000, 128_000)),
        ("gpt-4o-mini", (128_000, 128_000, 16_384)),
        ("gpt-oss-120b", (128_000, 128_000, None)),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", (200_000, 200_000, 64_000)),
        ("qwen-max", (32_000, 30_720, 8_192)),
        ("qwen3.8-max", (991_808, 991_808, 131_072)),
        ("us.deepseek.r1-v1:0", (128_000, 65_536, 8_192)),
        ("deepseek.v3.2", (128_000, 128_000, 128_000)),
        ("accounts/fireworks/models/deepseek-v3p1", (128_000, 128_000, None)),
        ("us.writer.palmyra-x5-v1:0", (128_000, 128_000, 8_192)),
        ("muse-spark-1.3", (1_048_576, 1_048_576, 131_072)),
    ],
)
def test_limits_of_common_models(model: str, known: tuple[int, int, int | None]) -> None:
    assert limits_of(model) == known
    assert window_of(model) == known[0]


# --- models of one's own


def test_a_registered_model_is_known_in_every_spelling() -> None:
    register_model(" My-Llama ", window=32_768, output=4_096)
    for name in (
        "my-llama",
        "MY-LLAMA",
        "ollama/my-llama",
        "openai:my-llama",
        "my-llama:latest",
        "my-llama-2026-01-31",
    ):
        assert limits_of(name) == ModelLimits(32_768, 32_768, 4_096), name
    # Unlike rows of the data file, a registered name is no prefix.
    assert find_limits("my-llama-large") is None


def test_a_tag_is_another_model() -> None:
    register_model("qwen3:8b", window=40_960)
    register_model("qwen3:30b", window=131_072, input=129_024)
    assert limits_of("ollama/qwen3:8b").input == 40_960
    assert limits_of("ollama:qwen3:30b").input == 129_024
    assert limits_of("qwen3:4b") == limits_of("qwen3") == (32_000, 32_000, 16_384)


def test_the_last_registration_counts_also_for_a_known_model() -> None:
    register_model("claude-sonnet-4-5", window=500_000)
    register_model("claude-sonnet-4-5", window=1_000_000)
    assert window_of("anthropic/claude-sonnet-4.5") == 1_000_000
    assert window_of("claude-sonnet-4") == 200_000


def test_a_registration_is_for_the_process() -> None:
    register_model("of-this-process", window=1_000)
    code = "from pycupel.tokens.models import find_limits; print(find_limits('of-this-process'))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "None\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"name": "", "window": 1}, "name must not be empty"),
        ({"name": " ", "window": 1}, "name must not be empty"),
        ({"name": "x", "window": 0}, "window must be greater than 0, not 0"),
        ({"name": "x", "window": -5}, "window must be greater than 0, not -5"),
        ({"name": "x", "window": 10, "input": 0}, "input must be greater than 0, not 0"),
        ({"name": "x", "window": 10, "input": 11}, "input (11) must not exceed window (10)"),
        ({"name": "x", "window": 10, "output": 11}, "output (11) must not exceed window (10)"),
    ],
)
def test_wrong_limits_are_refused_with_a_sentence(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        register_model(**arguments)
    assert str(caught.value) == sentence
    assert caught.value.argument in arguments
    assert limits._registered == {}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"name": None, "window": 1}, r"name must be a str, not None"),
        ({"name": "x", "window": "8k"}, r"window must be an int, not '8k' \(str\)"),
        ({"name": "x", "window": 10, "input": 2.5}, r"input must be an int, not 2.5 \(float\)"),
        ({"name": "x", "window": 10, "output": True}, r"output must be an int, not True \(bool\)"),
    ],
)
def test_limits_of_another_type_are_refused(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(TypeError, match=sentence):
        register_model(**arguments)


def test_an_unknown_model_may_be_a_misspelt_registered_one() -> None:
    register_model("my-own-model", window=1_000)
    with pytest.raises(InvalidArgumentError, match="unknown model 'my-onw-model'; did you mean 'my-own-model'"):
        limits_of("my-onw-model")


# --- models of a policy


def policy_with(**models: ModelLimits) -> Policy:
    return Policy(CHAT.scorer, CHAT.slicer, CHAT.placer, models=models)


def test_a_policy_knows_its_own_models_and_registers_nothing() -> None:
    register_model("local", window=9_000)
    policy = policy_from_dict(
        {"scorers": [{"type": "recency"}], "models": {"Local": {"window": 2_000, "input": 1_000}}}
    )
    assert policy.models == {"Local": (2_000, 1_000, None)}
    assert limits_of("local").window == 9_000
    whole = select_messages(HISTORY, "100%", model="local", counter=len, provider="openai")
    mine = select_messages(HISTORY, "100%", model="local", counter=len, provider="openai", policy=policy)
    assert (whole.usage.window, mine.usage.window) == (9_000, 1_000)


def test_the_models_of_a_policy_are_part_of_its_document_and_its_pipeline() -> None:
    policy = policy_with(**{"my.model:8b": SMALL, "other": ModelLimits(9, 9, None)})
    document = {"my.model:8b": {"window": 2_000, "input": 1_500, "output": 500}, "other": {"window": 9, "input": 9}}
    assert policy_to_dict(policy)["models"] == document
    for name in ("json", "toml", "yaml"):
        assert parse_policy(dump_policy(policy, name), name) == policy
    assert Pipeline.from_policy(policy).models == policy.models
    assert hash(policy) == hash(policy_with(**policy.models)) != hash(CHAT)
    assert "models" not in policy_to_dict(CHAT)
    assert "window" in policy_json_schema()["properties"]["models"]["additionalProperties"]["properties"]
    assert "models={'my.model:8b'" in repr(policy)


@pytest.mark.parametrize(
    ("models", "mistakes"),
    [
        ({"x": {"window": 0}}, ["models.x.window: must be greater than 0, not 0 (int)"]),
        ({"x": {"input": 5}}, ["models.x.window: is missing"]),
        ({"x": {"window": 5, "input": 6}}, ["models.x.input: input (6) must not exceed window (5)"]),
        ({"x": {"window": "5"}, "y": 7}, ["models.x.window: must be an integer", "models.y: must be an object"]),
        ({"": {"window": 5}}, ["a model's name must not be empty"]),
        ({"x": {"windw": 5}}, ["models.x.windw: unknown field; did you mean 'window'?", "models.x.window: is missing"]),
    ],
)
def test_mistakes_in_the_models_of_a_document_have_their_path(models: Any, mistakes: list[str]) -> None:
    with pytest.raises(ValueError, match="models") as caught:
        policy_from_dict({"scorers": [{"type": "recency"}], "models": models})
    assert all(mistake in str(caught.value) for mistake in mistakes), str(caught.value)


@pytest.mark.parametrize(
    ("models", "error", "sentence"),
    [
        ([], TypeError, "models must be a mapping of models' names to ModelLimits"),
        ({3: SMALL}, TypeError, r"models: a name must be a str"),
        ({"x": 3}, TypeError, r"models\['x'\] must be a ModelLimits, not 3"),
        ({"x": (3, 3, None)}, TypeError, r"models\['x'\] must be a ModelLimits"),
        ({"x": ModelLimits(0, 0, 0)}, InvalidArgumentError, r"models\['x'\].window must be greater than 0"),
        (
            {"x": ModelLimits(5, 6, None)},
            InvalidArgumentError,
            r"models\['x'\].input \(6\) must not exceed window \(5\)",
        ),
        ({" ": SMALL}, InvalidArgumentError, r"models: a name must not be empty"),
    ],
)
def test_wrong_models_of_a_policy_are_refused(models: Any, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence) as caught:
        Policy(CHAT.scorer, models=models)
    assert getattr(caught.value, "argument", None) == "models"


# --- budgets within the limits


def test_a_share_is_one_of_the_input_limit() -> None:
    assert allowance("75%", "gpt-5").budget == 204_000
    assert allowance("100%", "gpt-5") == (272_000, limits_of("gpt-5"), ())
    assert allowance("50%", "mine", {"mine": SMALL}).budget == 750
    with pytest.raises(InvalidArgumentError, match="a share of what the model takes, but no model was given"):
        allowance("75%", None)
    with pytest.raises(InvalidArgumentError, match="unknown model 'mine'"):
        allowance("75%", "mine")


def test_a_history_of_291160_tokens_is_cut_to_204000_for_gpt_5() -> None:
    history: list[dict[str, str]] = [
        {"role": "user" if n % 2 == 0 else "assistant", "content": 996 * "x"} for n in range(290)
    ]
    history.append({"role": "user", "content": (291_160 - count_messages(history, "openai", len) - 4) * "y"})
    assert count_messages(history, "openai", len) == 291_160
    selection = select_messages(history, "75%", model="gpt-5", provider="openai", counter=len)
    sent = count_messages(selection.messages, "openai", len)
    assert 0 < sent <= 204_000
    assert selection.usage.window == 204_000
    assert selection.notes == ()


INPUT_NOTE = (
    "a prompt has at most 1500 tokens, the most input that 'mine' takes, although the budget allows {}; "
    "register_model sets other limits"
)


def test_a_note_says_that_the_input_limit_was_the_smallest() -> None:
    register_model("mine", window=2_000, input=1_500)
    selection = select_messages(HISTORY, 3_000, model="mine", provider="openai", counter=len)
    assert selection.notes == (INPUT_NOTE.format(3_000),)
    assert selection.usage.window == 1_500
    same = select_messages(HISTORY, 1_500, model="mine", provider="openai", counter=len)
    assert (same.messages, same.notes) == (selection.messages, ())
    budget = ContextBudget(3_000, 1_000, output_reserve=400)
    assert select_messages(HISTORY, budget, model="mine", provider="openai", counter=len).notes == (
        INPUT_NOTE.format(2_600),
    )
    items = [ContextItem(f"{n}", 100) for n in range(40)]
    result = select(items, 3_000, model="mine")
    assert (result.total_tokens, result.notes[0]) == (1_500, INPUT_NOTE.format(3_000))


def test_a_reserve_larger_than_what_the_input_limit_leaves_lowers_the_prompt_further() -> None:
    models = {"mine": SMALL}
    slots = {"Memory": 7}
    budget = ContextBudget(4_000, 3_000, output_reserve=800, reserved_slots=slots, estimation_safety_margin_percent=3.0)
    smaller, _, (note,) = allowance(budget, "mine", models)
    assert smaller == ContextBudget(
        2_000, 1_200, output_reserve=800, reserved_slots=slots, estimation_safety_margin_percent=3.0
    )
    assert "1200 tokens, what the output reserve of 800 leaves of the window of 'mine'," in note
    # A reserve of the whole window leaves nothing.
    assert allowance(ContextBudget(4_000, output_reserve=2_500), "mine", models).budget == ContextBudget(
        2_500, 0, output_reserve=2_500
    )


def test_an_unknown_model_with_a_number_of_tokens_works_as_before() -> None:
    known = select_messages(HISTORY, 3_000, provider="openai", counter=len)
    unknown = select_messages(HISTORY, 3_000, model="no-such-model", provider="openai", counter=len)
    assert known == unknown
    assert allowance(3_000, "no-such-model") == (3_000, None, ())
    items = [ContextItem(f"{n}", 100) for n in range(40)]
    assert select(items, 3_000, model="no-such-model") == select(items, 3_000)


@pytest.mark.parametrize(
    ("budget", "error"), [(-1, InvalidBudgetError), (2.5, TypeError), ("75", InvalidArgumentError)]
)
def test_wrong_budgets_of_a_model_are_refused(budget: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        allowance(budget, "gpt-5")
    with pytest.raises(error):
        select([ContextItem("x", 1)], budget, model="gpt-5")
    with pytest.raises(error):
        select_messages(HISTORY, budget, model="gpt-5")


def test_a_model_of_another_type_is_refused() -> None:
    model: Any = 5
    with pytest.raises(TypeError, match="model must be a str"):
        select([ContextItem("x", 1)], 10, model=model)


def test_the_limits_used_are_part_of_what_a_stored_selection_is_recognised_by() -> None:
    register_model("mine", window=9_000, input=4_000)

    def again(previous: MessageSelection | None) -> MessageSelection:
        return select_messages(HISTORY, 3_000, model="mine", provider="openai", counter=len, previous=previous)

    stored = loads(MessageSelection, dumps(again(None)))
    assert again(stored).notes == ()
    register_model("mine", window=9_000, input=5_000)
    [note] = again(stored).notes
    assert note.startswith("previous was ignored: it was made with different arguments")


def reserves() -> Iterator[int]:
    yield from (0, 1, 99, 400, 1_600)


@examples(60)
@given(
    st.integers(600, 6_000),
    st.sampled_from([*reserves()]),
    st.integers(900, 5_000),
    st.integers(500, 5_000),
    st.sampled_from((0.0, 5.0, 30.0)),
    st.sampled_from((None, "You are terse.")),
    st.booleans(),
)
def test_no_prompt_is_larger_than_the_smallest_limit(
    size: int, reserve: int, window: int, most: int, margin: float, system: str | None, stable: bool
) -> None:
    known = ModelLimits(window, min(window, most), None)
    policy = policy_with(mine=known)
    budget = ContextBudget(size + reserve, output_reserve=reserve, estimation_safety_margin_percent=margin)
    limit = min(size, known.input, window - reserve)
    for given_budget, allowed in ((budget, limit), (size, min(size, known.input)), ("75%", known.input * 3 // 4)):
        try:
            selection = select_messages(
                HISTORY,
                given_budget,
                model="mine",
                provider="openai",
                counter=len,
                policy=policy,
                system=system,
                stable=stable,
            )
        except UnitTooLargeError:
            # Nothing fits that must stay: an answer and a question, with the system prompt and their overhead.
            assert allowed < 300 * (1 + margin / 100)
            continue
        sent = count_messages(selection.messages, "openai", len, system=system)
        assert sent * (1 + (margin if given_budget is budget else 0) / 100) <= allowed
        is_input = given_budget is not budget or known.input <= window - reserve
        cut_by_input = known.input < size and is_input and given_budget != "75%"
        assert any("the most input that 'mine' takes" in note for note in selection.notes) is cut_by_input


# --- make models


def test_litellms_table_is_read_for_chats_of_the_makers_only() -> None:
    gpt = {"mode": "chat", "litellm_provider": "openai", "max_input_tokens": 272_000, "max_output_tokens": 128_000}
    table = {
        "gpt-5": gpt,
        "some-host/gpt-5": {**gpt, "litellm_provider": "some-host", "max_input_tokens": 8},
        "gpt-image": {**gpt, "mode": "image_generation"},
        "gpt-none": {"mode": "chat", "litellm_provider": "openai"},
        "gpt-zero": {**gpt, "max_input_tokens": 0},
    }
    assert facts_of(table) == {"gpt-5": Facts(272_000, 128_000)}


def test_a_row_changes_if_its_models_agree_and_differences_are_told() -> None:
    facts = {
        "o3": Facts(150_000, 90_000),
        "o3-pro": Facts(150_000, 90_000),
        "gpt-5.4": Facts(1_050_000, 128_000),
        "azure/gpt-5.4": Facts(922_000, 128_000),
        "gpt-4.1": Facts(1_000_000, 32_768),
        "gpt-4.1-mini": Facts(900_000, None),
        "kimi-k3": Facts(1_048_576, None),
        "grok-3": Facts(999_999, None),
        "zzz": Facts(5, None),
    }
    lines, changes = compare(facts)
    assert changes == {"o3": ModelLimits(200_000, 150_000, 90_000)}
    assert lines == [
        "no row: zzz has 5 and 0",
        "input differs: gpt-4.1 has 1047576, but gpt-4.1-mini has 900_000, gpt-4.1 has 1_000_000",
        "more than the window: grok-3 has 128_000, but grok-3 has 999_999",
        "changed: o3 from (200000, 200000, 100000) to (200000, 150000, 90000), as o3",
    ]
    text = ["# o3 is a model\n", "o3      200_000\n", "o3-x    1\n", "o4      200_000\n"]
    new = [*rewritten(text, changes)]
    assert [each.split() for each in new] == [
        ["#", "o3", "is", "a", "model"],
        ["o3", "200_000", "150_000", "90_000"],
        ["o3-x", "1"],
        ["o4", "200_000"],
    ]
    assert [*rewritten(text, {"o4": ModelLimits(5, 5, None)})][3].split() == ["o4", "5"]
    assert [*rewritten(text, {"o4": ModelLimits(5, 4, None)})][3].split() == ["o4", "5", "4"]


# --- prices


def test_every_price_has_a_day_and_a_source() -> None:
    table = prices_table()
    assert table["claude-sonnet-4-5"][:4] == (3.0, 0.3, 3.75, 15.0)
    # No cache is written to at a price of its own.
    assert table["gpt-4o"][:4] == (2.5, 1.25, 2.5, 10.0)
    for name, row in table.items():
        assert name == normalized_model(name)
        assert row.input > 0 < row.output
        assert row.date.year >= 2026
        assert row.source
        assert row.cached <= row.input


@pytest.mark.parametrize(
    "line",
    [
        "m",
        "m 1 2 3 4",
        "m 1 2 3 4 2026-01-01",
        "m 1 2 3 x 2026-01-01 s",
        "m 1 2 3 4 soon s",
        "m 1 -2 3 4 2026-01-01 s",
        "m - 2 3 4 2026-01-01 s",
        "m 1 2 3 inf 2026-01-01 s",
        "m 1 nan 3 4 2026-01-01 s",
    ],
)
def test_a_line_without_a_price_is_named(line: str) -> None:
    with pytest.raises(DocumentError, match=r"^line 3 must have a model, its prices in USD per million tokens"):
        prices_in(f"# a comment\n\n{line}\n")


def test_prices_come_from_the_makers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = {"mode": "chat", "litellm_provider": "openai", "input_cost_per_token": 2e-6, "output_cost_per_token": 8e-6}
    table = {
        "gpt-9-2027-01-01": {**usual, "input_cost_per_token": 5e-6},
        "gpt-9": {**usual, "cache_read_input_token_cost": 2e-7, "source": "https://example.org/prices twice"},
        "gpt-8": usual,
        "azure/gpt-7": {**usual, "litellm_provider": "azure"},
        "gpt-6-image": {**usual, "mode": "image_generation"},
        "gpt-free": {**usual, "input_cost_per_token": 0},
        "unknown": {**usual, "litellm_provider": "some-host"},
    }
    rows = price_rows(table, "litellm-1.2.3-py3-none-any.whl", date(2027, 1, 2))
    assert {name: row.split()[1:] for name, row in rows.items()} == {
        "gpt-8": ["2", "-", "-", "8", "2027-01-02", "litellm-1.2.3"],
        "gpt-9": ["2", "0.2", "-", "8", "2027-01-02", "https://example.org/prices"],
    }
    file = tmp_path / PRICES.name
    monkeypatch.setattr("tools.compare_models.PRICES", file)
    known = ["# prices\n", "gpt-8 1 - - 8 2026-01-02 here\n", "gpt-1 1 - - 1 2026-01-02 here\n"]
    assert rewrite_prices(known, rows) == [
        "price: gpt-8 from ['1', '-', '-', '8'] to ['2', '-', '-', '8']",
        "price: gpt-9 from nothing to ['2', '0.2', '-', '8']",
    ]
    text = file.read_text(encoding="utf-8")
    assert text.startswith("# prices\ngpt-1 1 ")
    assert prices_in(text)["gpt-9"] == (2.0, 0.2, 2.0, 8.0, date(2027, 1, 2), "https://example.org/prices")
    assert rewrite_prices(text.splitlines(keepends=True), rows) == []
