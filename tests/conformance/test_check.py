"""Comparing what a vector of one stage expects: right ones pass, and every kind of mismatch is found."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence

import pytest

from pycupel import ContextBudget, ContextItem, ScoredItem
from pycupel.conformance.check import check_vector
from pycupel.registry import SLICERS
from pycupel.text import describe
from tests import registries
from tests.conformance.passing_vectors import (
    PASSING,
    PIPELINE,
    PLACING,
    REFUSED_SCORER,
    REFUSED_SLICER,
    SCORING,
    SLICING,
    changed,
    defect_of,
    problem_of,
)


@pytest.mark.proves("S-CF-05")
@pytest.mark.parametrize("vector", PASSING.values(), ids=PASSING.keys())
def test_a_right_vector_passes(vector: str) -> None:
    check_vector(tomllib.loads(vector))


# --- scoring


@pytest.mark.proves("S-IN-02", "S-CF-06")
@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            "score_approx = 1.0",
            "score_approx = 0.9",
            "score of 'new': expected 0.9, got 1.0 (epsilon 1e-09)",
        ),
        ("score_approx = 0.0", "score_approx = 1e-9", "score of 'old': expected 1e-09, got 0.0 (epsilon 1e-09)"),
        ("score_approx = 0.0", "score_approx = nan", "score of 'old': expected nan, got 0.0 (epsilon 1e-09)"),
        ('[[expected]]\ncontent = "new"', '[[expected]]\ncontent = "newer"', "there is no item 'newer'"),
        (
            '[[expected]]\ncontent = "old"',
            '[[expected]]\ncontent = "new"',
            "there is no item 'new'",
        ),
    ],
)
def test_a_wrong_score_is_found(old: str, new: str, problem: str) -> None:
    """Running a Scoring Test. CV-08: `abs(a - e) < eps` is strict."""
    assert problem_of(changed(SCORING, old, new)) == problem


def test_a_score_of_nan_is_no_number() -> None:
    """SC-03: NaN differs from whatever number a vector expects."""
    text = """
    [test]
    stage = "scoring"
    scorer = "boosted"
    [config]
    inner_scorer = {type = "kind", weights = [{kind = "Message", weight = 1e308}]}
    boosts = [
        {type = "metadata_key", key = "k", value = "v", boost = 1e308},
        {type = "reflexive"},
    ]
    [[items]]
    content = "x"
    tokens = 1
    metadata = {k = "v"}
    [[expected]]
    content = "x"
    score_approx = nan
    """
    check_vector(tomllib.loads(text))
    assert "expected 0.5, got nan" in problem_of(changed(text, "score_approx = nan", "score_approx = 0.5"))


@pytest.mark.parametrize(("epsilon", "passes"), [(0.0006, True), (0.0004, False)])
def test_a_vector_may_have_its_own_tolerance(epsilon: float, passes: bool) -> None:
    """Score Comparison: a custom [tolerance] table."""
    text = f"{SCORING}\n[tolerance]\nscore_epsilon = {epsilon}\n"
    vector = changed(text, "score_approx = 1.0", "score_approx = 0.9995")
    if passes:
        check_vector(vector)
    else:
        assert f"(epsilon {epsilon})" in problem_of(vector)


@pytest.mark.proves("S-IN-02", "S-CF-06")
def test_a_tolerance_is_exclusive() -> None:
    """CV-08: a difference of exactly epsilon is too much."""
    text = f"{SCORING}\n[tolerance]\nscore_epsilon = {2**-10}\n"
    vector = changed(text, "score_approx = 1.0", f"score_approx = {1 - 2**-10}")
    assert "score of 'new'" in problem_of(vector)


def test_expectations_of_one_content_are_matched_in_order() -> None:
    """`docs/vectors.md`: if a content occurs in several items."""
    twins = SCORING.replace('"new"', '"old"')
    assert "score of 'old'" in problem_of(tomllib.loads(twins))
    swapped = twins.replace("score_approx = 1.0", "score_approx = 0.5")
    swapped = swapped.replace("score_approx = 0.0", "score_approx = 1.0").replace("0.5", "0.0")
    check_vector(tomllib.loads(swapped))


NEW_AND_OLD = '[[expected]]\ncontent = "new"\nscore_approx = 1.0\n[[expected]]\ncontent = "old"\nscore_approx = 0.0\n'


@pytest.mark.parametrize(
    ("old", "new", "defect"),
    [
        (NEW_AND_OLD, "", "no expected score for 'old', 'new'"),
        (
            NEW_AND_OLD,
            NEW_AND_OLD.replace("expected", "expcted"),
            "unknown field 'expcted' in the vector; did you mean 'expected'?",
        ),
        ('[[expected]]\ncontent = "old"\nscore_approx = 0.0\n', "", "no expected score for 'old'"),
        (NEW_AND_OLD, "[expected]\n", "expected must be a list of tables, [[expected]], not {} (dict)"),
        (
            NEW_AND_OLD,
            '[expected]\ncontent = "new"\nscore_approx = 1.0\n',
            "expected must be a list of tables, [[expected]], not {'content': 'new', 'score_approx': 1.0} (dict)",
        ),
        ("score_approx = 1.0", "score_aprox = 1.0", "missing field 'score_approx' in an expected score"),
        ('content = "new"\nscore', "score", "missing field 'content' in an expected score"),
        ("score_approx = 1.0", "score_approx = true", "score_approx must be a number, not True (bool)"),
    ],
)
def test_a_scoring_vector_has_one_expectation_for_each_item(old: str, new: str, defect: str) -> None:
    """Without one it would show nothing about that item."""
    assert defect_of(changed(SCORING, old, new)) == defect


def test_each_item_of_several_with_one_content_needs_an_expectation() -> None:
    twins = SCORING.replace('[[items]]\ncontent = "new"', '[[items]]\ncontent = "old"')
    assert problem_of(tomllib.loads(twins)) == "there is no item 'new'"
    without_new = twins.replace('[[expected]]\ncontent = "new"\nscore_approx = 1.0\n', "")
    assert defect_of(tomllib.loads(without_new)) == "no expected score for 'old'"


@pytest.mark.parametrize("vector", [SCORING, PIPELINE])
@pytest.mark.parametrize("epsilon", ["0", "0.0", "-1e-9", "nan", "inf", "1e9", "0.002", "true"])
def test_a_tolerance_is_positive_and_small(vector: str, epsilon: str) -> None:
    """0 and NaN would let only equal scores pass, which the specification forbids; a large one would let all pass."""
    defect = defect_of(tomllib.loads(f"{vector}\n[tolerance]\nscore_epsilon = {epsilon}\n"))
    assert defect.startswith("score_epsilon must be a number above 0, at most 0.001, not ")


# --- slicing


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('["c", "a"]', '["a"]', "selected: expected ['a'], got ['a', 'c']"),
        ('["c", "a"]', "[]", "selected: expected [], got ['a', 'c']"),
        ('["c", "a"]', '["a", "b", "c"]', "selected: expected ['a', 'b', 'c'], got ['a', 'c']"),
        ('["c", "a"]', '["a", "a", "c"]', "selected: expected ['a', 'a', 'c'], got ['a', 'c']"),
        ("shortfall_count = 1", "shortfall_count = 0", "shortfall_count: expected 0, got 1"),
        ("cap_excluded_count = 1", "cap_excluded_count = 0", "cap_excluded_count: expected 0, got 1"),
        ('cap_excluded_contents = ["b"]', "cap_excluded_contents = []", "cap_excluded: expected [], got ['b']"),
        (
            'kind = "Memory"\nrequired_count = 1',
            'kind = "memory"\nrequired_count = 1',
            "shortfalls: expected [('memory', 1, 0)], got [('Memory', 1, 0)]",
        ),
        (
            "required_count = 1",
            "required_count = 2",
            "shortfalls: expected [('Memory', 2, 0)], got [('Memory', 1, 0)]",
        ),
        (
            "satisfied_count = 0",
            "satisfied_count = 1",
            "shortfalls: expected [('Memory', 1, 1)], got [('Memory', 1, 0)]",
        ),
        (
            '[[expected.shortfalls]]\nkind = "Memory"\nrequired_count = 1\nsatisfied_count = 0\n',
            "[expected.unknown]\n",
            None,
        ),
    ],
)
def test_a_wrong_selection_is_found(old: str, new: str, problem: str | None) -> None:
    """Running a Slicing Test. CV-06: shortfalls and caps count. CV-07: as a multiset."""
    vector = changed(SLICING, old, new)
    if problem is None:
        check_vector(vector)
    else:
        assert problem_of(vector) == problem


def test_an_unexpected_shortfall_is_found() -> None:
    """CV-06: an empty list says that there is none."""
    assert "shortfalls: expected []" in problem_of(
        changed(SLICING, "[[expected.shortfalls]]", "[expected.x]")
        | {"expected": {"selected_contents": ["a", "c"], "shortfalls": []}}
    )


class FirstSlice:
    def slice(self, scored_items: Sequence[ScoredItem], _budget: ContextBudget, /) -> list[ContextItem]:
        return [item for item, _ in scored_items[:1]]


def test_a_slicer_needs_only_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Registered strategies can be named like built-in ones."""
    registries.keep(monkeypatch)
    SLICERS.register("first", FirstSlice)
    vector = changed(SLICING, "count_quota", "first")
    vector["expected"] = {"selected_contents": ["a"]}
    check_vector(vector)
    vector["expected"]["cap_excluded_contents"] = ["b"]
    assert problem_of(vector) == "cap_excluded: expected ['b'], got []"


def test_a_second_copy_in_the_selection_is_found() -> None:
    """CV-07: a set would hide it."""
    twins = changed(SLICING.replace('content = "c"', 'content = "a"'), '["c", "a"]', '["a"]')
    assert problem_of(twins) == "selected: expected ['a'], got ['a', 'a']"


@pytest.mark.parametrize(
    ("vector", "old", "new", "defect"),
    [
        (SLICING, "selected_contents", "chosen", "missing field 'selected_contents' in [expected]"),
        (SLICING, "[expected]", "[wanted]", "missing field 'selected_contents' in [expected]"),
        (SLICING, "target_tokens", "target", "missing field 'target_tokens' in [budget]"),
        (SLICING, "[budget]", "[bugdet]", "missing field 'budget' in the vector"),
        (SLICING, "score = 0.9", "", "missing field 'score' in an item"),
        (SLICING, "satisfied_count", "satisfied", "missing field 'satisfied_count' in a shortfall"),
        (PLACING, "ordered_contents", "order", "missing field 'ordered_contents' in [expected]"),
        (
            PLACING,
            "[expected]",
            "[[expected]]",
            "expected must be a table, not [{'ordered_contents': ['c', 'a', 'b']}] (list)",
        ),
    ],
)
def test_a_vector_with_items_states_what_it_expects(vector: str, old: str, new: str, defect: str) -> None:
    """A missing expectation is not an expectation of nothing."""
    assert defect_of(changed(vector, old, new)) == defect


# --- placing


@pytest.mark.parametrize(
    ("new", "problem"),
    [
        ('["c", "b", "a"]', "order: expected ['c', 'b', 'a'], got ['c', 'a', 'b']"),
        ('["c", "a"]', "order: expected ['c', 'a'], got ['c', 'a', 'b']"),
        ("[]", "order: expected [], got ['c', 'a', 'b']"),
    ],
)
def test_a_wrong_order_is_found(new: str, problem: str) -> None:
    """Running a Placing Test: an ordered comparison."""
    assert problem_of(changed(PLACING, '["c", "a", "b"]', new)) == problem


# --- what a vector may leave out, and what it may not


EMPTY_SLICING = '[test]\nstage = "slicing"\nslicer = "greedy"\n[budget]\ntarget_tokens = 5\n[expected]\n'
EMPTY_PLACING = '[test]\nstage = "placing"\nplacer = "u-shaped"\n[expected]\n'
EMPTY_PIPELINE = """
[test]
stage = "pipeline"
[budget]
target_tokens = 5
[[config.scorers]]
type = "recency"
[expected]
"""


@pytest.mark.parametrize(
    "text",
    [
        f"{EMPTY_SLICING}selected_contents = []",
        f"{EMPTY_PLACING}ordered_contents = []",
        f'sections = ["4.2"]\n{EMPTY_PLACING}ordered_contents = []',
        f"expected_output = []\n{EMPTY_PIPELINE}",
    ],
)
def test_missing_items_are_none(text: str) -> None:
    """CV-04: empty-input vectors have no list of items."""
    check_vector(tomllib.loads(text))


def test_a_pipeline_vector_without_items_may_leave_out_its_output() -> None:
    """CV-04: the upstream suite has one that states nothing."""
    check_vector(changed(EMPTY_PIPELINE, "[expected]", ""))


@pytest.mark.parametrize(
    ("vector", "defect"),
    [
        (EMPTY_SLICING, "missing field 'selected_contents' in [expected]"),
        (EMPTY_SLICING.replace("[expected]", ""), "missing field 'selected_contents' in [expected]"),
        (EMPTY_PLACING, "missing field 'ordered_contents' in [expected]"),
        (EMPTY_PLACING.replace("[expected]", ""), "missing field 'ordered_contents' in [expected]"),
    ],
)
def test_a_vector_without_items_states_what_it_expects(vector: str, defect: str) -> None:
    """Otherwise it would pass without checking anything."""
    assert defect_of(tomllib.loads(vector)) == defect


@pytest.mark.parametrize(
    ("vector", "old", "new", "defect"),
    [
        (
            EMPTY_SLICING,
            "[expected]",
            '[expected]\nerorr = "SlicerConfig"',
            "'erorr' in [expected]; did you mean 'error'?",
        ),
        (REFUSED_SLICER, 'error = "S', 'eror = "S', "'eror' in [expected]; did you mean 'error'?"),
        (
            EMPTY_PLACING,
            "[expected]",
            '[expected]\nerror_mesage = "x"',
            "'error_mesage' in [expected]; did you mean 'error_message'?",
        ),
        (
            SLICING,
            "selected_contents",
            "selectedContents",
            "'selectedContents' in [expected]; did you mean 'selected_contents'?",
        ),
        (SLICING, "shortfalls]]", "shortfals]]", "'shortfals' in [expected]; did you mean 'shortfalls'?"),
        (
            SLICING,
            "shortfall_count",
            "shortfal_count",
            "'shortfal_count' in [expected]; did you mean 'shortfall_count'?",
        ),
        (PIPELINE, "overflow = false", "overfow = false", "'overfow' in [expected]; did you mean 'overflow'?"),
        (
            PIPELINE,
            "[expected.diagnostics.summary]",
            "[expected.diagnostcs.summary]",
            "'diagnostcs' in [expected]; did you mean 'diagnostics'?",
        ),
        (
            EMPTY_SLICING,
            "[test]",
            "[test]\nexpect_construction_eror = true",
            "'expect_construction_eror' in [test]; did you mean 'expect_construction_error'?",
        ),
        (EMPTY_PIPELINE, "[expected]", "[expcted]", "'expcted' in the vector; did you mean 'expected'?"),
        (EMPTY_PIPELINE, "[expected]", "[expect]", "'expect' in the vector; did you mean 'expected'?"),
        (
            EMPTY_PIPELINE,
            "[test]",
            "[[expcted_output]]\n[test]",
            "'expcted_output' in the vector; did you mean 'expected_output'?",
        ),
    ],
)
def test_a_misspelt_expectation_is_a_defect(vector: str, old: str, new: str, defect: str) -> None:
    """Ignored like other unknown fields, it would not be checked."""
    assert defect_of(changed(vector, old, new)) == f"unknown field {defect}"


def test_a_scoring_vector_without_items_checks_nothing() -> None:
    """There is no outcome that could be wrong."""
    vector = tomllib.loads('[test]\nstage = "scoring"\nscorer = "recency"')
    assert defect_of(vector) == "a scoring vector without items checks nothing"


@pytest.mark.parametrize(
    ("vector", "own", "expected"),
    [
        ('[test]\nstage = "scoring"\nscorer = "recency"', "items", ""),
        ('[test]\nstage = "slicing"\nslicer = "greedy"', "scored_items", "selected_contents = []"),
        ('[test]\nstage = "placing"\nplacer = "u-shaped"', "items", "ordered_contents = []"),
        ('[test]\nstage = "pipeline"\n[[config.scorers]]\ntype = "recency"', "items", ""),
    ],
)
def test_misspelt_items_are_a_defect(vector: str, own: str, expected: str) -> None:
    """Ignored like any unknown field, they would leave a vector that expects nothing of nothing."""
    misspelt = f'{vector}\n[budget]\ntarget_tokens = 5\n[[itms]]\ncontent = "a"\ntokens = 1\n[expected]\n{expected}'
    stage = tomllib.loads(vector)["test"]["stage"]
    assert defect_of(tomllib.loads(misspelt)) == (
        f"a {stage} vector has its items in {own}, but this one has only itms"
    )


@pytest.mark.parametrize(
    ("vector", "old", "new", "problem"),
    [
        (SCORING, '"recency"', '"novelty"', "unknown scorer 'novelty'"),
        (SLICING, '"count_quota"', '"novelty"', "unknown slicer 'novelty'"),
        (PLACING, '"u-shaped"', '"novelty"', "unknown placer 'novelty'"),
        (PIPELINE, 'type = "reflexive"', 'type = "novelty"', "unknown scorer 'novelty'"),
        (PIPELINE, '"count_quota"', '"novelty"', "unknown slicer 'novelty'"),
        (PIPELINE, '"chronological"', '"novelty"', "unknown placer 'novelty'"),
        (REFUSED_SCORER, '"metadata_key"', '"novelty"', "unknown scorer 'novelty'"),
        (REFUSED_SLICER, '"knapsack"', '"novelty"', "unknown slicer 'novelty'"),
    ],
)
def test_an_unknown_strategy_does_not_pass(vector: str, old: str, new: str, problem: str) -> None:
    """Nor does it count as the construction error that a vector expects."""
    assert defect_of(changed(vector, old, new)).startswith(f"type: {problem}; choose from ")


@pytest.mark.parametrize(
    ("vector", "old", "new"),
    [
        (PLACING, '"u-shaped"', '"UShaped"'),
        (PLACING, '"placing"', '"Placing"'),
        (SLICING, '"count_quota"', '"count-quota"'),
        (SLICING, '"slicing"', '"SLICING"'),
        (REFUSED_SCORER, '"metadata_key"', '"metadataKey"'),
        (REFUSED_SLICER, '"SlicerConfig"', '"slicer_config"'),
    ],
)
def test_names_are_found_in_any_spelling(vector: str, old: str, new: str) -> None:
    check_vector(changed(vector, old, new))


@pytest.mark.proves("S-CF-07")
def test_an_unknown_stage_does_not_pass() -> None:
    """RUN-CONFORMANCE-SUITE: an unknown stage is an error."""
    defect = defect_of(changed(SCORING, '"scoring"', '"sorting"'))
    assert defect == "unknown stage 'sorting'; expected one of scoring, slicing, placing, pipeline"


@pytest.mark.parametrize(
    ("vector", "old", "new", "defect"),
    [
        (SCORING, "[[items]]", "[[scored_items]]", "a scoring vector has its items in items, not in scored_items"),
        (SLICING, "[[scored_items]]", "[[items]]", "a slicing vector has its items in scored_items, not in items"),
        (PLACING, "[[items]]", "[[scored_items]]", "a placing vector has its items in items, not in scored_items"),
        (
            PIPELINE,
            "[expected.diagnostics.summary]",
            "[[expected.diagnostics.summary]]",
            "summary must be a table",
        ),
        (SCORING, "[test]", "tolerance = [{score_epsilon = 1e-9}]\n[test]", "tolerance must be a table, not"),
        (REFUSED_SLICER, '"SlicerConfig"', '["SlicerConfig"]', "unknown error ['SlicerConfig']; expected one of "),
        (SLICING, "[test]", "tolerance = {score_epsilon = nan}\n[test]", "score_epsilon must be a number above 0"),
        (SCORING, "[test]", '[test]\nexpect_construction_error = "false"', "expect_construction_error must be true or"),
        (SLICING, "[expected]", '[expected]\nerror_message = "boom"', "error_message requires error"),
        (
            SLICING,
            "[test]",
            '[[expected_output]]\ncontent = "a"\n[test]',
            "expected_output is for pipeline vectors",
        ),
    ],
)
def test_what_would_not_be_looked_at_is_a_defect(vector: str, old: str, new: str, defect: str) -> None:
    text = vector.replace(old, new)
    assert text != vector
    assert defect_of(tomllib.loads(text)).startswith(defect)


@pytest.mark.parametrize(
    ("vector", "path"),
    [
        (SCORING, "items"),
        (SCORING, "expected"),
        (SLICING, "scored_items"),
        (SLICING, "expected.shortfalls"),
        (PLACING, "items"),
        (PIPELINE, "items"),
        (PIPELINE, "expected_output"),
        (PIPELINE, "expected.diagnostics.included"),
        (PIPELINE, "expected.diagnostics.excluded"),
        (PIPELINE, "expected.diagnostics.shortfalls"),
    ],
)
@pytest.mark.parametrize("value", [{}, ["a"]])
def test_a_list_of_tables_is_nothing_else(vector: str, path: str, value: object) -> None:
    """An empty table would be an expectation of nothing."""
    document = table = tomllib.loads(vector)
    *parents, name = path.split(".")
    for parent in parents:
        table = table[parent]
    table[name] = value
    assert defect_of(document) == f"{name} must be a list of tables, [[{name}]], not {describe(value)}"


def test_true_is_not_the_number_1() -> None:
    vector = tomllib.loads(PIPELINE)
    vector["expected"]["diagnostics"] = {"summary": {"total_candidates": True}}
    vector["items"], vector["expected_output"] = vector["items"][:1], vector["expected_output"][:1]
    assert problem_of(vector) == "total_candidates: expected True, got 1"


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("selected_contents", '"ab"', "selected_contents must be a list of strings"),
        ("selected_contents", "{a = 1}", "selected_contents must be a list of strings"),
        ("selected_contents", "[1]", "selected_contents must be a list of strings"),
        ("cap_excluded_contents", '"c"', "cap_excluded_contents must be a list of strings"),
        ("shortfall_count", "true", "shortfall_count must be an integer, not True"),
        ("cap_excluded_count", "1.0", "cap_excluded_count must be an integer, not 1.0"),
    ],
)
def test_expectations_of_another_type_are_a_defect(field: str, value: str, problem: str) -> None:
    vector = tomllib.loads(SLICING)
    vector["expected"] |= tomllib.loads(f"{field} = {value}")
    assert defect_of(vector).startswith(problem)
