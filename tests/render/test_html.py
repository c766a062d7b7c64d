"""The page of a report, without a browser: its data, its policy, and what it leaves out. tests/browser looks at it."""

from __future__ import annotations

import base64
import hashlib
import html
import importlib.resources
import json
import math
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pycupel import (
    CompositeScorer,
    ContextBudget,
    ContextItem,
    CountQuotaEntry,
    CountQuotaSlice,
    GreedySlice,
    KindScorer,
    KnapsackSlice,
    Pipeline,
    PriorityScorer,
    RecencyScorer,
    ReflexiveScorer,
    RelevanceScorer,
    SelectionReport,
    UShapedPlacer,
)
from pycupel.analytics import sweep_budgets
from pycupel.diagnostics import (
    BudgetExceeded,
    Deduplicated,
    ExcludedItem,
    ExclusionReason,
    Filtered,
    IncludedItem,
    InclusionReason,
    PinnedOverride,
    UnknownReason,
)
from pycupel.errors import InvalidArgumentError
from pycupel.messages import select_messages
from pycupel.render._data import entries_of
from pycupel.render.html import (
    Band,
    Bar,
    Bars,
    Figure,
    Figures,
    GrowthChart,
    Mark,
    Notes,
    Rows,
    render_html,
    render_panels,
)
from pycupel.shorten import HeadAndTail
from pycupel.wire import dumps, loads

NOW = datetime(2026, 1, 1, tzinfo=UTC)
HOSTILE = "</script><script>alert(1)</script><!--\u202e\u2066\x00\x1b[31m\"'&\U0001f600 {{ script }} \ud800"


def make_items(count: int = 12) -> list[ContextItem]:
    kinds = ("Message", "Document", "ToolOutput")
    items = [ContextItem("Be brief.", 10, kind="SystemPrompt", pinned=True)]
    items += [
        ContextItem(
            f"content {i}",
            20 + 7 * i % 50,
            kind=kinds[i % 3],
            priority=i * i % 11,
            timestamp=NOW + timedelta(minutes=i),
        )
        for i in range(count)
    ]
    return items


PIPELINE = Pipeline(CompositeScorer([(RecencyScorer(), 1), (PriorityScorer(), 3)]))
BUDGET = ContextBudget(300, 200, output_reserve=50)


def data_of(page: str | None) -> dict[str, Any]:
    assert page is not None
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    data: dict[str, Any] = json.loads(found[1])
    return data


def make_report(
    included: Sequence[IncludedItem] = (), excluded: Sequence[ExcludedItem] = (), **options: Any
) -> SelectionReport:
    tokens = sum(each.item.tokens for each in included) + sum(each.item.tokens for each in excluded)
    return SelectionReport((), included, excluded, len(included) + len(excluded), tokens, **options)


def selections(sweep: dict[str, Any]) -> list[set[int]]:
    """The selected rows of each point, as the script of the page makes them."""
    selected: set[int] = set()
    found = []
    for deltas in sweep["flips"]:
        row = 0
        for delta in deltas:
            row += delta
            selected ^= {row}
        found.append(set(selected))
    return found


class TestTheFile:
    def test_a_path_is_written_and_nothing_returned(self, tmp_path: Path) -> None:
        report = PIPELINE.dry_run(make_items(), BUDGET)
        report.to_html(tmp_path / "report.html")
        assert (tmp_path / "report.html").read_bytes().decode() == report.to_html()

    def test_it_is_small(self) -> None:
        assert len(make_report().to_html().encode()) < 150_000

    def test_the_policy_allows_its_own_style_and_script_and_nothing_else(self) -> None:
        page = make_report().to_html()
        policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
        assert policy
        rules = dict(rule.split(" ", 1) for rule in html.unescape(policy[1]).split("; "))
        assert rules["default-src"] == "'none'"
        assert rules["connect-src"] == "'none'"
        assert rules["base-uri"] == rules["form-action"] == "'none'"
        for tag in ("style", "script"):
            (inline,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
            digest = base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()
            assert rules[f"{tag}-src"] == f"'sha256-{digest}'"

    def test_nothing_refers_to_the_network(self) -> None:
        page = make_report().to_html()
        assert set(re.findall(r"\w+://[^\"' ]*", page)) == {"http://www.w3.org/2000/svg"}
        assert not re.search(r"\ssrc=|@import|url\(", page)

    def test_the_assets_are_three_readable_files(self) -> None:
        folder = importlib.resources.files("pycupel.render") / "assets"
        assert sorted(file.name for file in folder.iterdir()) == ["page.css", "page.html", "page.js"]

    def test_the_script_makes_no_markup_from_text(self) -> None:
        script = (importlib.resources.files("pycupel.render") / "assets" / "page.js").read_text(encoding="utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|Function\(", script)


class TestHostileContent:
    def test_it_is_data_and_comes_back_unchanged(self) -> None:
        item = ContextItem(HOSTILE, 5, kind="</title>", tags=["</script>"], metadata={"<b>": HOSTILE})
        page = make_report([IncludedItem(item, 0.5, "</script>")], notes=[HOSTILE]).to_html()
        assert page.isascii()
        assert page.count("</script>") == 2
        report = data_of(page)["report"]
        assert report["rows"]["text"] == [HOSTILE]
        assert report["notes"] == [HOSTILE]
        assert report["kinds"] == ["</title>"]

    def test_a_title_is_escaped(self) -> None:
        page = render_html(make_report(), title="</title><script>")
        assert "<title>&lt;/title&gt;&lt;script&gt;</title>" in page

    def test_a_metadata_value_that_cannot_be_shown_spoils_nothing(self) -> None:
        class Bad:
            def __repr__(self) -> str:
                raise RuntimeError

        item = ContextItem("a", 1, metadata={"x": Bad(), "n": 1})
        rows = data_of(make_report([IncludedItem(item, 1.0, "Scored")]).to_html())["report"]["rows"]
        assert rows["metadata"] == [[["x", "..."], ["n", "1"]]]


class TestTheRows:
    def test_the_selection_comes_first_in_its_order_and_then_the_rest(self) -> None:
        report = PIPELINE.dry_run(make_items(), BUDGET)
        rows = data_of(report.to_html())["report"]["rows"]
        assert rows["text"] == [each.item.content for each in entries_of(report)]
        assert rows["in"] == [1] * len(report.included) + [0] * len(report.excluded)
        assert rows["score"] == [each.score for each in entries_of(report)]
        assert rows["tokens"] == [each.item.tokens for each in entries_of(report)]

    def test_reasons_have_a_title_and_numbers(self) -> None:
        report = make_report(
            [
                IncludedItem(ContextItem("a", 1), 1.0, InclusionReason.PINNED),
                IncludedItem(ContextItem("b", 1), 1.0, "X"),
            ],
            [
                ExcludedItem(ContextItem("c", 9), 0.5, BudgetExceeded(9, 3)),
                ExcludedItem(ContextItem("c", 9), 0.4, Deduplicated("c")),
                ExcludedItem(ContextItem("a", 9), 0.4, Deduplicated("a")),
                ExcludedItem(ContextItem("e", 9), 0.3, PinnedOverride("gone")),
            ],
        )
        data = data_of(report.to_html())["report"]
        titles = [data["reasons"][i] for i in data["rows"]["reason"]]
        assert titles == [
            "Always selected (Pinned)",
            "X",
            "Did not fit (BudgetExceeded)",
            "Same text as another candidate (Deduplicated)",
            "Same text as another candidate (Deduplicated)",
            "Would fit without the pinned items (PinnedOverride)",
        ]
        # The numbers are those of the rows; the duplicate of row 3 is not row 4 itself.
        assert data["rows"]["why"] == [
            None, None, "9 tokens; the selection left 3 free", "copy of #3", "copy of #1", "displaced by 'gone'",
        ]  # fmt: skip

    def test_scores_by_scorer_are_those_of_the_run(self) -> None:
        report = PIPELINE.dry_run(make_items(), BUDGET)
        data = data_of(report.to_html())["report"]
        assert data["scorers"] == [["RecencyScorer", 0.25], ["PriorityScorer", 0.75]]
        for entry, parts in zip(entries_of(report), data["rows"]["parts"], strict=True):
            told = report.why(entry.item).parts
            assert parts == ([part.score for part in told] or None)

    def test_a_report_from_a_file_has_none(self) -> None:
        report = loads(SelectionReport, dumps(PIPELINE.dry_run(make_items(), BUDGET)))
        data = data_of(report.to_html())["report"]
        assert data["scorers"] == []
        assert "parts" not in data["rows"]

    def test_versions_have_both_counts(self) -> None:
        item = ContextItem("short", 3, original_tokens=30)
        rows = data_of(make_report([IncludedItem(item, 1.0, "Scored")]).to_html())["report"]["rows"]
        assert (rows["tokens"], rows["original"]) == ([3], [30])

    def test_an_item_and_its_shorter_versions_are_one_row(self) -> None:
        items = [
            ContextItem("\n".join(f"line {k} of {i}: error E{i * k}" for k in range(40)), 400, priority=i)
            for i in range(6)
        ]
        pipeline = Pipeline(PriorityScorer(), shorten=HeadAndTail(100))
        report = pipeline.dry_run(items, 1_300)
        assert report.shortened
        data = data_of(report.to_html(pipeline=pipeline, items=items))
        rows, use = data["report"]["rows"], data["report"]["use"]
        assert sorted(rows["input"]) == [0, 1, 2, 3, 4, 5]
        assert use["shortened"] == len(report.shortened)
        assert {tokens for tokens, is_in in zip(rows["original"], rows["in"], strict=True) if is_in} == {None, 400}
        # The scores by scorer are those of the whole item.
        assert all(parts == [score] for parts, score in zip(rows["parts"], rows["score"], strict=True))
        for point, selected in zip(data["sweep"]["points"], selections(data["sweep"]), strict=True):
            assert len(selected) == point["use"]["items"]
        again = loads(SelectionReport, dumps(report))
        assert data_of(again.to_html(items=items))["report"]["rows"]["input"] == rows["input"]

    def test_long_contents_are_cut_and_the_page_knows_by_how_much(self) -> None:
        item = ContextItem("x" * 5_000, 3)
        rows = data_of(make_report([IncludedItem(item, 1.0, "Scored")]).to_html())["report"]["rows"]
        assert (len(rows["text"][0]), rows["more"]) == (4_000, [1_000])

    @pytest.mark.parametrize("character", ["x", "\u00e9"])
    def test_thousands_of_long_contents_are_cut_further(self, character: str) -> None:
        items = [*(ContextItem(f"{i} {character * 4_000}", 1_000) for i in range(4_999)), ContextItem("short", 1)]
        page = PIPELINE.dry_run(items, 500_000).to_html(pipeline=PIPELINE, items=items)
        rows = data_of(page)["report"]["rows"]
        assert 1_000_000 < len(page) < 5_000_000
        assert rows["more"].count(None) == 1
        assert {len(text) + (more or 0) for text, more in zip(rows["text"], rows["more"], strict=True)} == {
            len(item.content) for item in items
        }

    def test_texts_have_what_other_reports_and_metadata_leave(self) -> None:
        metadata = {f"key {n}": "value of some length" for n in range(8)}
        items = [ContextItem(f"{i} {'x' * 2_000}", 500, metadata=metadata) for i in range(5_000)]
        one, *others = (PIPELINE.dry_run(items, budget) for budget in range(50_000, 58_000, 1_000))
        assert 4_000_000 < len(render_html(one, other=others)) < 5_000_000
        assert 4_000_000 < len(one.to_html()) < 5_000_000

    @pytest.mark.unmeasured
    def test_many_items_are_cut_and_said_and_the_totals_still_count_them(self) -> None:
        items = [ContextItem(f"{i}", 1, kind="Message" if i % 2 else "Document") for i in range(20_000)]
        page = Pipeline(KindScorer()).dry_run(items, 12_000).to_html()
        data = data_of(page)["report"]
        assert (data["size"], data["hidden"]) == (10_000, 10_000)
        assert sum(data["rows"]["in"]) == 7_500
        assert data["use"]["items"] == 12_000
        # Excluded items have the numbers that they have in the report.
        assert data["skipped"] == 4_500
        assert data["use"]["kinds"] == [[10_000, 10_000], [2_000, 2_000]]
        assert len(page) < 5_000_000

    @pytest.mark.unmeasured
    def test_a_sweep_of_many_items_changes_only_rows_that_are_there(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("pycupel.render._data._MAX_ROWS", 1_000)
        items = [ContextItem(f"{i}", 1) for i in range(1_100)]
        sweep = data_of(PIPELINE.dry_run(items, 400).to_html(pipeline=PIPELINE, items=items))["sweep"]
        assert len(selections(sweep)[-1]) == 1_000
        assert sweep["points"][-1]["use"]["items"] == 1_100

    def test_a_sweep_by_score_alone_knows_where_each_item_enters(self) -> None:
        pipeline = Pipeline(ReflexiveScorer(), GreedySlice(cost_exponent=0))
        items = [ContextItem("best", 30, future_relevance_hint=1), ContextItem("next", 20, future_relevance_hint=0.5)]
        report = pipeline.dry_run(items, 40)
        assert data_of(report.to_html(pipeline=pipeline, items=items))["sweep"]["enters"] == [30, 20]
        assert data_of(report.to_html(pipeline=PIPELINE, items=items))["sweep"]["enters"] is None

    def test_many_kinds_share_the_last_colour(self) -> None:
        items = [IncludedItem(ContextItem("a", 100 - i, kind=f"k{i}"), 1.0, "Scored") for i in range(20)]
        data = data_of(make_report(items).to_html())["report"]
        assert data["kinds"] == [f"k{i}" for i in range(20)]
        assert data["use"]["kinds"][:2] == [[100, 1], [99, 1]]
        assert data["use"]["kinds"][-1] == [sum(range(81, 90)), 9]
        assert len(data["use"]["kinds"]) == 12


class TestNumbers:
    def test_what_javascript_cannot_hold_is_a_text(self) -> None:
        items = [
            IncludedItem(ContextItem("a", 10**30), math.nan, "Scored"),
            IncludedItem(ContextItem("b", 10**6_000), math.inf, "Scored"),
        ]
        rows = data_of(make_report(items, budget=ContextBudget(10**40)).to_html())["report"]["rows"]
        assert rows["tokens"] == ["1.0e+30", "1.0e+6000"]
        assert rows["score"] == ["nan", "inf"]

    def test_the_budget_and_its_use(self) -> None:
        budget = ContextBudget(
            1_000, 900, output_reserve=200, reserved_slots={"Document": 50}, estimation_safety_margin_percent=10
        )
        report = Pipeline(KindScorer()).dry_run([ContextItem("a", 100), ContextItem("b", 50, pinned=True)], budget)
        data = data_of(report.to_html())["report"]
        assert data["budget"] == {"max": 1_000, "target": 900, "reserve": 200, "slots": 50, "margin": 10.0}
        # 1,000 less the output, the pinned item and the slot are 700, of which 10% are margin: 900 - 50 - 630 held.
        assert data["use"] == {
            "items": 2,
            "shortened": 0,
            "tokens": 150,
            "pinned": 50,
            "held": 220,
            "kinds": [[150, 2]],
        }

    def test_an_empty_report_and_one_without_a_budget_make_sense(self) -> None:
        data = data_of(make_report().to_html())["report"]
        assert (data["size"], data["rows"], data["budget"], data["use"]["kinds"]) == (0, {}, None, [])

    def test_shortfalls_and_times(self) -> None:
        slicer = CountQuotaSlice([CountQuotaEntry("Document", cap_count=3, require_count=2)])
        report = Pipeline(KindScorer(), slicer).dry_run(make_items(1), BUDGET)
        data = data_of(report.to_html())["report"]
        assert data["shortfalls"] == [["Document", 2, 0]]
        assert [stage for stage, _, _ in data["times"]] == ["Classify", "Score", "Deduplicate", "Slice", "Place"]


class TestTags:
    def test_many_are_cut_and_the_page_says_so(self) -> None:
        few, many = (ContextItem("a", 1, tags=[f"tag-{i:03}" for i in range(count)]) for count in (2, 60))
        report = make_report([IncludedItem(item, 1.0, "Scored") for item in (few, many, ContextItem("b", 1))], [])
        tags = data_of(report.to_html())["report"]["rows"]["tags"]
        assert tags[0] == "tag-000, tag-001"
        assert (len(tags[1]), tags[1][-3:], tags[2]) == (200, "...", None)


class TestWithoutText:
    def test_no_content_is_in_the_page(self) -> None:
        secret = "the secret word"  # noqa: S105
        kept = ContextItem(secret, 10, tags=["secret tag"], metadata={"secret key": "secret value"}, kind="Memory")
        reasons: list[ExclusionReason] = [
            Deduplicated(secret),
            Deduplicated(f"{secret}, not a candidate"),
            PinnedOverride(f"{secret}, not a candidate"),
            UnknownReason("Elsewhere", {"because": secret}),
            Filtered("by age"),
            BudgetExceeded(5, 2),
        ]
        report = make_report(
            [IncludedItem(kept, 1.0, "Scored")],
            [ExcludedItem(ContextItem(f"{secret} {i}", 5), 0.5, reason) for i, reason in enumerate(reasons)],
        )
        assert "secret" in report.to_html()
        page = report.to_html(text=False)
        assert "secret" not in page
        assert data_of(page)["report"]["rows"]["why"] == [
            None,
            "copy of #1",
            "copy of 'another item'",
            "displaced by 'another item'",
            None,
            "filter_name 'by age'",
            "5 tokens; the selection left 2 free",
        ]

    def test_text_has_to_be_a_bool(self) -> None:
        with pytest.raises(TypeError, match="text must be"):
            make_report().to_html(text="no")  # type: ignore[call-overload]


class TestTheSweep:
    @pytest.mark.parametrize(
        ("pipeline", "budget"),
        [
            (PIPELINE, BUDGET),
            (PIPELINE, ContextBudget(40)),
            (PIPELINE, ContextBudget(100_000)),
            (PIPELINE, ContextBudget(0)),
            (Pipeline(ReflexiveScorer(), KnapsackSlice(10), UShapedPlacer()), BUDGET),
            (PIPELINE, ContextBudget(900, 800, reserved_slots={"Document": 70}, estimation_safety_margin_percent=25)),
            (PIPELINE, ContextBudget(900, 850, output_reserve=200, estimation_safety_margin_percent=100)),
        ],
    )
    def test_every_point_selects_what_the_engine_selects(self, pipeline: Pipeline, budget: ContextBudget) -> None:
        items = make_items()
        items[0] = ContextItem("Be brief.", 10 if budget.max_tokens else 0, kind="SystemPrompt", pinned=True)
        report = pipeline.dry_run(items, budget)
        data = data_of(report.to_html(pipeline=pipeline, items=items))
        sweep, rows = data["sweep"], [each.item for each in entries_of(report)]
        points = sweep["points"]
        assert 2 <= len(points) <= 64
        assert points[sweep["start"]]["target"] == budget.target_tokens
        budgets = [budget.resized(point["max"], point["target"]) for point in points]
        for point, truth, selected in zip(
            points, sweep_budgets(pipeline, items, budgets), selections(sweep), strict=True
        ):
            assert {id(rows[row]) for row in selected} == set(map(id, truth.items))
            assert (point["use"]["items"], point["use"]["tokens"]) == (len(truth.items), truth.tokens)
            assert point["ok"] is truth.feasible
            if sweep["order"] is not None:
                order = [rows[row] for row in sweep["order"] if row in selected]
                assert list(map(id, order)) == list(map(id, truth.items))
        assert selections(sweep)[sweep["start"]] == set(range(len(report.included)))

    def test_the_last_point_has_room_for_everything(self) -> None:
        items = make_items(40)
        budget = ContextBudget(
            300, 200, output_reserve=50, reserved_slots={"Memory": 13}, estimation_safety_margin_percent=7
        )
        sweep = data_of(PIPELINE.dry_run(items, budget).to_html(pipeline=PIPELINE, items=items))["sweep"]
        assert len(sweep["points"]) == 64
        assert sweep["points"][-1]["use"]["items"] == len(items)
        # Most of them are near the target.
        assert sum(point["target"] <= 400 for point in sweep["points"]) >= 40

    def test_an_order_that_depends_on_the_budget_is_not_told(self) -> None:
        items = make_items(20)
        pipeline = Pipeline(PriorityScorer(), placer=UShapedPlacer())
        sweep = data_of(pipeline.dry_run(items, BUDGET).to_html(pipeline=pipeline, items=items))["sweep"]
        assert sweep["order"] is None

    def test_a_report_without_budget_or_from_a_file_can_be_swept(self) -> None:
        items = make_items()
        original = PIPELINE.dry_run(items, BUDGET)
        report = loads(SelectionReport, dumps(original))
        bare = make_report(report.included, report.excluded)
        sweep = data_of(bare.to_html(pipeline=PIPELINE, items=items))["sweep"]
        assert sweep["points"][sweep["start"]]["use"]["items"] == len(items)
        again = data_of(report.to_html(pipeline=PIPELINE, items=items))["sweep"]
        assert selections(again)[again["start"]] == set(range(len(original.included)))

    def test_without_pipeline_or_items_there_is_none(self) -> None:
        report = PIPELINE.dry_run(make_items(), BUDGET)
        assert data_of(report.to_html())["sweep"] is None
        assert data_of(report.to_html(pipeline=PIPELINE))["sweep"] is None
        assert data_of(report.to_html(items=make_items()))["sweep"] is None

    def test_an_error_of_the_engine_is_told_on_the_page(self) -> None:
        items = make_items()
        report = PIPELINE.dry_run(items, BUDGET)
        sweep = data_of(report.to_html(pipeline=Pipeline(RelevanceScorer()), items=items))["sweep"]
        assert list(sweep) == ["failed"]
        assert "query" in sweep["failed"]

    def test_a_history_asks_for_no_pipeline(self) -> None:
        """It would be refused."""
        messages = [{"role": "user", "content": f"question {i} " * 20} for i in range(20)]
        report = select_messages(messages, 500, counter="estimator", explain=True).report
        assert report is not None
        assert data_of(report.to_html())["sweep"]["failed"].startswith("a chat history is cut, and not selected item")
        with pytest.raises(InvalidArgumentError, match="for a chat history"):
            report.to_html(pipeline="chat", items=report.items)

    def test_what_is_not_an_item_is_refused(self) -> None:
        report = PIPELINE.dry_run(make_items(), BUDGET)
        with pytest.raises(TypeError, match=r"^items\[0\] must be a ContextItem, not \('a', 1\) \(tuple\)$"):
            report.to_html(items=[("a", 1)])  # type: ignore[list-item]

    def test_items_of_another_run_are_refused(self) -> None:
        report = PIPELINE.dry_run(make_items(), BUDGET)
        with pytest.raises(InvalidArgumentError, match="items must be the candidates of the report: it has 13, but"):
            report.to_html(pipeline=PIPELINE, items=make_items(3))

    def test_a_preset_may_be_named(self) -> None:
        items = make_items()
        report = Pipeline.from_policy("chat").dry_run(items, BUDGET)
        assert data_of(report.to_html(pipeline="chat", items=items))["sweep"]["points"]


class TestTwoReports:
    def test_each_row_has_both_fates(self) -> None:
        items = make_items()
        first = PIPELINE.dry_run(items, BUDGET)
        second = Pipeline(RecencyScorer()).dry_run(items, BUDGET)
        data = data_of(first.to_html(other=second))["report"]
        contents = {each.item.content for each in second.included}
        assert data["rows"]["other0_in"] == [int(text in contents) for text in data["rows"]["text"]]
        assert data["others"][0]["use"]["items"] == len(second.included)

    def test_items_that_only_one_of_them_has(self) -> None:
        first = make_report([IncludedItem(ContextItem("a", 1), 1.0, "Scored")])
        second = make_report(
            [IncludedItem(ContextItem("b", 2), 0.5, "Scored")],
            [
                ExcludedItem(ContextItem("b", 2), 0.25, Deduplicated("b")),
                ExcludedItem(ContextItem("a", 1), 0, Filtered("x")),
            ],
        )
        rows = data_of(first.to_html(other=second))["report"]["rows"]
        assert rows["text"] == ["a", "b", "b"]
        assert rows["in"] == [1, None, None]
        assert rows["other0_in"] == [0, 1, 0]
        assert rows["other0_why"] == ["filter_name 'x'", None, "copy of #2"]

    def test_only_so_many_rows_are_added(self) -> None:
        first = make_report([IncludedItem(ContextItem(f"a{i}", 1), 1.0, "Scored") for i in range(9_999)])
        second = make_report([IncludedItem(ContextItem(f"b{i}", 1), 1.0, "Scored") for i in range(5)])
        assert data_of(first.to_html(other=second))["report"]["size"] == 10_000

    def test_a_page_shows_at_most_eight(self) -> None:
        report = make_report()
        assert render_html(report, other=[report] * 7)
        with pytest.raises(InvalidArgumentError, match="at most 8 reports side by side, not 9"):
            render_html(report, other=[report] * 8)

    @pytest.mark.parametrize("name", ["report", "other"])
    def test_something_else_is_refused(self, name: str) -> None:
        arguments: dict[str, Any] = {"report": make_report(), "other": None, name: "x"}
        with pytest.raises(TypeError, match=f"{name} must be a SelectionReport"):
            render_html(arguments["report"], other=arguments["other"])


class TestNotebooks:
    def test_the_bundle_has_a_text_and_the_page_in_a_frame(self) -> None:
        report = PIPELINE.dry_run(make_items(), BUDGET)
        bundle = report._repr_mimebundle_()
        assert bundle["text/plain"] == str(report)
        frame = re.fullmatch(r'<iframe srcdoc="([^"]*)" sandbox="allow-scripts" [^>]*></iframe>', bundle["text/html"])
        assert frame
        assert html.unescape(frame[1]) == report.to_html()


class TestPanels:
    def test_plain_rows_become_data(self) -> None:
        page = render_panels(
            "The window",
            [
                Figures([Figure("Calls", 12), Figure("Model", "gpt", "of two")]),
                Bars("Parts", [Bar("system", 400), Bar("tools", 10**30, "three", "tools")]),
                GrowthChart("Growth", [100, None, 300], [Band("a", "user", 0, 2, 100)], [Mark(2, "compacted")]),
                Rows("Largest", ["What", "Tokens"], [["a </script>", 12], ["b", None], ["c", math.nan]], note="Ten."),
                Notes("Findings", ["one"]),
            ],
            subtitle="A file.",
            quiet=["tools"],
        )
        data = data_of(page)
        assert data["colors"] == {"system": 0, "user": 1}, "quiet ones have none"
        assert data["title"] == "The window"
        assert data["subtitle"] == "A file."
        assert data["panels"] == [
            {"type": "figures", "figures": [["Calls", 12, ""], ["Model", "gpt", "of two"]]},
            {
                "type": "bars",
                "title": "Parts",
                "bars": [["system", 400, "", ""], ["tools", "1.0e+30", "three", "tools"]],
                "unit": "tokens",
                "note": "",
                "shares": True,
            },
            {
                "type": "growthchart",
                "title": "Growth",
                "totals": [100, None, 300],
                "bands": [["a", "user", 0, 2, 100]],
                "marks": [[2, "compacted"]],
                "levels": [],
                "point": "call",
                "unit": "tokens",
                "note": "",
            },
            {
                "type": "rows",
                "title": "Largest",
                "columns": ["What", "Tokens"],
                "rows": [["a </script>", 12], ["b", None], ["c", "nan"]],
                "note": "Ten.",
                "alarms": [],
            },
            {"type": "notes", "title": "Findings", "lines": ["one"]},
        ]
        assert page.count("</script>") == 2
