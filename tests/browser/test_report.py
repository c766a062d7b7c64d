"""The page of a report in real Chromium."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest

from pycupel import (
    CompositeScorer,
    ContextBudget,
    ContextItem,
    GreedySlice,
    KindScorer,
    Pipeline,
    PriorityScorer,
    QuotaEntry,
    QuotaSlice,
    RecencyScorer,
    RelevanceScorer,
    SelectionReport,
    select,
    select_messages,
)
from pycupel.analytics import sweep_budgets
from pycupel.diagnostics import ExcludedItem, Filtered, IncludedItem
from pycupel.errors import BudgetOverflowError, PinnedExceedsBudgetError
from pycupel.render._layout import color_of
from pycupel.render.html import render_html
from tests.browser.pages import BUDGET, PIPELINE, Opened, make_items, make_report, rows_of, serious

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u202egnp.exe\u2066\x00\x1b[31m\"'&\U0001f600"

FOCUSED = """() => { const node = document.activeElement;
                      return `${node.tagName} ${node.textContent || node.type}`.slice(0, 40); }"""


def page_of(items: list[ContextItem], **options: Any) -> str:
    page: str = make_report(items).to_html(pipeline=PIPELINE, items=items, **options)
    return page


def figure(page: Any, label: str) -> str:
    text: str = page.locator(f".figures > div:has(dt:text-is('{label}')) dd").inner_text()
    return text.split("\n", maxsplit=1)[0]


def move_slider(page: Any, point: int) -> None:
    page.locator("#budget-slider").fill(str(point))


def choose(page: Any, tab: str) -> None:
    page.locator(".tabs").get_by_role("button", name=tab, exact=True).click()


class TestPanels:
    def test_the_panels_are_filled_with_the_numbers_of_the_report(self, opened: Opened) -> None:
        items = make_items()
        report = make_report(items)
        page = opened.page(page_of(items))
        assert figure(page, "Selected") == str(len(report.included))
        assert figure(page, "Tokens") == f"{report.included_tokens:,}"
        assert figure(page, "Left out") == str(len(report.excluded))
        assert figure(page, "Target") == "1,000"
        assert page.locator("h2").all_inner_texts() == [
            "Why out",
            "Notes",
            "Where the budget goes",
            "Order and score",
            "Items",
            "Time",
        ]
        assert page.locator(".note").all_inner_texts() == [*report.notes]
        assert page.locator(".mark").all_inner_texts() == ["target 1,000", "max 1,500"]
        kinds = dict.fromkeys(each.item.kind.value for each in report.included)
        assert set(page.locator(".legend b").all_inner_texts()) == {*kinds, "free"}
        assert rows_of(page)[0] == "in"
        assert page.locator(".picture path.k").count() == len(kinds)

    def test_the_bar_is_in_proportion(self, opened: Opened) -> None:
        items = make_items()
        report = make_report(items)
        page = opened.page(page_of(items))
        widths = page.locator(".bar > i").evaluate_all("parts => parts.map(part => part.getBoundingClientRect().width)")
        whole = page.locator(".bar").evaluate("bar => bar.getBoundingClientRect().width")
        assert sum(widths) / whole == pytest.approx(1_000 / 1_500, abs=0.01)
        assert sum(widths[:-1]) / whole == pytest.approx(report.included_tokens / 1_500, abs=0.01)

    def test_an_item_shows_its_text_reason_and_score_by_scorer(self, opened: Opened) -> None:
        items = make_items()
        report = make_report(items)
        page = opened.page(page_of(items))
        choose(page, "Out")
        page.locator("#items tr[data-i]").first.click()
        detail = page.locator(".detail").inner_text()
        first = report.excluded[0]
        assert first.item.content in detail
        assert "BudgetExceeded" in detail or "Deduplicated" in detail
        for scorer in ("Recency", "Kind", "Priority"):
            assert scorer in detail

    def test_a_shortened_item_shows_both_counts(self, opened: Opened) -> None:
        items = make_items()
        page = opened.page(page_of(items))
        page.get_by_role("searchbox").fill("item 3:")
        page.locator("#items tr[data-i]").first.click()
        assert f"{items[4].tokens}, shortened from 500" in page.locator(".detail").inner_text()

    def test_without_pipeline_the_page_says_what_to_pass(self, opened: Opened) -> None:
        page = opened.page(make_report(make_items()).to_html())
        assert "report.to_html(path, pipeline=pipeline, items=items)" in page.locator("main").inner_text()
        assert page.locator("#budget-slider").count() == 0

    def test_without_text_there_is_none(self, opened: Opened) -> None:
        page = opened.page(page_of(make_items(), text=False))
        page.locator("#items tr[data-i]").first.click()
        assert "text=False" in page.locator(".detail").inner_text()
        assert "item 1" not in page.content()

    def test_two_reports_side_by_side(self, opened: Opened) -> None:
        items = make_items()
        first, second = make_report(items), Pipeline(RecencyScorer()).dry_run(items, BUDGET)
        page = opened.page(page_of(items, other=second))
        mine, theirs = {id(item) for item in first.items}, {id(item) for item in second.items}
        assert page.locator(".pair").inner_text().count("only here") == 2
        # Neither is better for it.
        assert page.locator(".pair .minus, .pair .plus").count() == 0
        choose(page, "Differs")
        assert page.locator(".tools .count").inner_text() == f"{len(mine ^ theirs)} of {len(items)} items"

    def test_up_to_eight_reports_have_a_column_each(self, opened: Opened) -> None:
        """Issue: a page of seven policies was about two."""
        items = make_items()
        others = [Pipeline(CompositeScorer([(RecencyScorer(), n), (PriorityScorer(), 1)])) for n in range(1, 8)]
        reports = [each.dry_run(items, BUDGET) for each in others]
        names = [f"policy {n}" for n in range(8)]
        page = opened.page(render_html(make_report(items), items=items, other=reports, names=names))
        heads = page.locator("#items th").all_inner_texts()
        assert heads[1:9] == names
        assert page.locator(".pair h3").all_inner_texts() == names
        selected = [each.inner_text().split(" item")[0] for each in page.locator(".pair p").all()]
        assert selected == [str(len(each.included)) for each in (make_report(items), *reports)]
        for k, report in enumerate(reports):
            page.evaluate("document.querySelector('#items .scroll').scrollTop = 0")
            cells = page.locator(f"#items td.c-other{k}").all_inner_texts()
            contents = page.locator("#items td.c-text").all_inner_texts()
            chosen = {item.content for item in report.items}
            assert [cell.endswith("in") for cell in cells] == [content in chosen for content in contents]
        page.locator("#items tr[data-i]").first.click()
        assert page.locator(".detail dt", has_text="policy").count() == 8

    def test_each_report_is_a_column_in_reading_order(self, opened: Opened) -> None:
        items = make_items()
        report = make_report(items)
        others = [PIPELINE.dry_run(items, ContextBudget(tokens)) for tokens in (400, 900)]
        page = opened.page(render_html(report, other=others, names=("a", "b", "c")))
        for title in ("Why out", "Where the budget goes", "Order and score", "Time"):
            # These are about one of them.
            assert page.locator(f"h2:text-is('{title}: a')").count() == 1
        columns = page.locator(".reading")
        for n, each in enumerate((report, *others)):
            shown = columns.nth(n).locator(".link").all_inner_texts()
            assert shown == [item.content for item in each.items]
        in_all = set.intersection(*({item.content for item in each.items} for each in (report, *others)))
        marked = columns.first.locator("li.differs .link").all_inner_texts()
        assert marked == [item.content for item in report.items if item.content not in in_all]
        # An item opens from there, too.
        columns.nth(1).locator(".link").first.click()
        assert page.get_by_role("dialog").or_(page.locator("aside")).first.is_visible()


class TestTheCurve:
    """Tokens and score against the budget, below the slider."""

    def test_it_has_both_lines_a_dot_for_each_item_and_a_table(self, opened: Opened) -> None:
        items = make_items()
        page = opened.page(page_of(items))
        curve = page.locator(".curve")
        assert curve.locator("path.total").count() == 2
        curve.locator("summary").click()
        rows = [row.split("\t") for row in curve.locator("tbody tr").all_inner_texts()]
        assert [int(row[0].replace(",", "")) for row in rows] == sorted(int(row[0].replace(",", "")) for row in rows)
        report = make_report(items)
        [own] = [row for row in rows if row[0] == "1,000"]
        assert own[1:3] == [str(len(report.included)), f"{report.included_tokens:,}"]
        entered = sum(int(row[4]) for row in rows)
        # One is a duplicate, which never enters.
        assert entered == len(items) - 1
        dots = curve.locator("circle").count()
        assert 0 < dots <= entered
        assert 0 < curve.locator("circle.hollow").count() < dots
        assert "hollow one leaves again" in curve.locator("figcaption").inner_text()

    def test_its_scale_is_that_of_the_slider_and_says_where_steps_grow(self, opened: Opened) -> None:
        page = opened.page(page_of(make_items()))
        curve = page.locator(".curve")
        targets = [int(each.replace(",", "")) for each in curve.locator("tbody td:first-child").all_text_contents()]
        scale = [each for each in curve.locator("svg text").all_text_contents() if each != "0"]
        assert len({f"{targets[round((len(targets) - 1) * k / 4)]:,}" for k in range(1, 5)}.intersection(scale)) == 4
        assert "even up to 2,000, then growing" in curve.locator("figcaption").inner_text()
        # The budget of the report is one of the steps, wherever it lies.
        steps = [b - a for a, b in pairwise(t for t in targets if t != BUDGET.target_tokens) if b <= 2_000]
        assert max(steps) - min(steps) <= 1

    def test_its_cursor_follows_the_slider(self, opened: Opened) -> None:
        page = opened.page(page_of(make_items()))
        places = []
        for point in (5, 30):
            move_slider(page, point)
            places.append(float(page.locator(".curve .cursor").get_attribute("x1")))
        assert places[0] < places[1]

    def test_its_table_is_printed(self, opened: Opened) -> None:
        page = opened.page(page_of(make_items()))
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.locator(".curve .numbers").get_attribute("open") is not None

    def test_it_stands_below_the_slider(self, opened: Opened) -> None:
        """The middle of the slider's thumb, 16 pixels wide, is above the cursor."""
        page = opened.page(page_of(make_items()))
        box = page.locator("#budget-slider").bounding_box()
        most = int(page.locator("#budget-slider").get_attribute("max"))
        for point in (0, 20, most):
            move_slider(page, point)
            thumb = box["x"] + 8 + point / most * (box["width"] - 16)
            assert page.locator(".curve .cursor").bounding_box()["x"] == pytest.approx(thumb, abs=1.5)

    def test_it_knows_exactly_where_items_enter_by_score_alone(self, opened: Opened) -> None:
        pipeline = Pipeline(PriorityScorer(), GreedySlice(cost_exponent=0))
        items = make_items()
        report = pipeline.dry_run(items, BUDGET)
        page = opened.page(report.to_html(pipeline=pipeline, items=items))
        page.locator("#items tr[data-i]").nth(5).click()
        fact = page.locator(".detail dt:text-is('Budget') + dd").inner_text()
        target = int(fact.removeprefix("first selected at a target of ").replace(",", ""))
        wanted = report.items[5]
        for size, is_in in ((target, True), (target - 1, False)):
            selected = pipeline.run(items, BUDGET.resized(size + 500, size))
            assert any(each is wanted for each in selected) is is_in

    def test_otherwise_it_names_two_steps(self, opened: Opened) -> None:
        page = opened.page(page_of(make_items()))
        page.locator("#items tr[data-i]").nth(5).click()
        fact = page.locator(".detail dt:text-is('Budget') + dd").inner_text()
        assert re.fullmatch(r"first selected between [\d,]+ and [\d,]+", fact)


class TestColours:
    @pytest.mark.parametrize("count", [60, 8])
    def test_a_kind_has_its_colour_on_every_page(self, opened: Opened, count: int) -> None:
        """Whatever else is on the page: it went by size before."""
        page = opened.page(page_of(make_items(count)))
        swatch = page.locator(".legend li:has(b:text-is('Document')) .swatch").first
        assert swatch.get_attribute("class") == f"swatch k{color_of('document')}"

    def test_the_order_is_as_wide_as_the_tokens(self, opened: Opened) -> None:
        items = [ContextItem("large", 300, priority=1), ContextItem("small", 100, kind="Document", priority=2)]
        page = opened.page(PIPELINE.dry_run(items, BUDGET).to_html())
        large, small = (
            page.locator(f".picture path.{name}").bounding_box()["width"]
            for name in (
                page.locator(f".legend li:has(b:text-is('{kind}')) .swatch").get_attribute("class").split()[1]
                for kind in ("Message", "Document")
            )
        )
        assert large == pytest.approx(3 * small, rel=0.03)


class TestWhyOut:
    def test_it_sums_up_what_was_left_out_and_shows_the_items_of_a_reason(self, opened: Opened) -> None:
        items = make_items()
        report = make_report(items)
        page = opened.page(page_of(items))
        panel = page.get_by_role("region", name="Why out")
        lines = [line.split("\t")[:3] for line in panel.locator("tbody tr").all_inner_texts()]
        names = Counter(type(each.reason).__name__ for each in report.excluded)
        assert {re.findall(r"\((\w+)\)", line[0])[0]: line[1] for line in lines} == {
            name: f"{number} item{'s' if number > 1 else ''}" for name, number in names.items()
        }
        tokens = sum(int(line[2].split()[0].replace(",", "")) for line in lines)
        assert tokens == sum(each.item.tokens for each in report.excluded)
        panel.get_by_role("button", name="Deduplicated").click()
        assert page.locator(".tools .count").inner_text() == f"1 of {len(items)} items"
        assert set(rows_of(page).values()) == {"out"}
        move_slider(page, 1)
        assert not panel.is_visible(), "the reasons are those of the report"

    def test_where_nothing_was_left_out_there_is_no_panel(self, opened: Opened) -> None:
        items = [ContextItem("a", 1)]
        page = opened.page(Pipeline(RecencyScorer()).dry_run(items, 10).to_html())
        assert page.get_by_role("region", name="Why out").count() == 0


class TestTheSlider:
    def test_it_moves_items_and_agrees_with_the_engine(self, opened: Opened) -> None:
        items = make_items()
        report = make_report(items)
        rows = [each.item for each in report.included] + [each.item for each in report.excluded]
        page = opened.page(page_of(items))
        points = int(page.get_attribute("#budget-slider", "max")) + 1
        for point in (0, 5, points // 2, points - 1, 3):
            move_slider(page, point)
            target = int(re.sub(r"\D", "", page.locator(".whatif output b").inner_text()))
            choose(page, "In")
            try:
                truth = PIPELINE.run(items, BUDGET.resized(target + 500, target))
            except (BudgetOverflowError, PinnedExceedsBudgetError):
                truth = []
                assert "too small" in page.locator(".whatif output").inner_text()
            shown = {id(rows[row]) for row in all_rows(page)}
            assert shown == {id(item) for item in truth}
            assert figure(page, "Selected") == str(len(truth))
            assert figure(page, "Tokens") == f"{sum(item.tokens for item in truth):,}"

    def test_what_enters_and_leaves_is_marked_and_can_be_undone(self, opened: Opened) -> None:
        items = make_items()
        page = opened.page(page_of(items))
        before = page.locator(".figures").inner_text()
        move_slider(page, 1)
        choose(page, "Moved")
        assert set(rows_of(page).values()) == {"leaves"}
        page.get_by_role("button", name="Back to the report").click()
        assert page.locator(".figures").inner_text() == before
        assert "leaves" not in rows_of(page).values()

    def test_away_from_the_report_only_what_moved_is_explained(self, opened: Opened) -> None:
        """Issue: rows that left still said "Selected by score", and others why they did not fit another budget."""
        items = make_items()
        page = opened.page(page_of(items))
        time = page.get_by_role("region", name="Time")
        assert time.is_visible()
        assert "Selected by score" in page.locator("#items td.c-reason").all_inner_texts()
        for point, state in ((1, "leaves"), (50, "enters")):
            move_slider(page, point)
            target = page.locator(".whatif output b").inner_text().split()[1]
            choose(page, "All")
            told = dict(zip(rows_of(page).values(), page.locator("#items td.c-reason").all_inner_texts(), strict=True))
            assert {word: text for word, text in told.items() if text} == {state: f"{state}: 1,000 \u2192 {target}"}
            cut = page.locator("#items td.c-reason").evaluate_all(
                "all => all.map(each => each.scrollWidth > each.clientWidth)"
            )
            assert not any(cut), "both budgets can be read"
            assert "for 1,000 tokens" in page.locator(".away").inner_text()
            assert not time.is_visible()
            assert not page.get_by_label("Reason", exact=True).is_visible()
        page.locator("#items tr[data-i]").last.click()
        assert "Did not fit" not in page.locator(".detail").inner_text()
        page.get_by_role("button", name="Back to 1,000 tokens").click()
        assert time.is_visible()
        assert not page.locator(".away").is_visible()
        assert "Selected by score" in page.locator("#items td.c-reason").all_inner_texts()

    def test_a_pipeline_that_did_not_make_the_report_is_told(self, opened: Opened) -> None:
        items = make_items()
        page = opened.page(make_report(items).to_html(pipeline=Pipeline(RecencyScorer()), items=items))
        assert "the given pipeline selects other items" in page.locator(".whatif output").inner_text()

    def test_a_sweep_that_failed_is_told(self, opened: Opened) -> None:
        items = make_items()
        page = opened.page(make_report(items).to_html(pipeline=Pipeline(RelevanceScorer()), items=items))
        assert (
            "Other budgets could not be tried" in page.locator(".whatif").inner_text()
            or page.locator("#budget-slider").count()
        )


def all_rows(page: Any) -> set[int]:
    """Every row of the table, by scrolling through it."""
    found: set[int] = set()
    scroll = page.locator("#items .scroll")
    top = 0
    while True:
        scroll.evaluate("(node, top) => { node.scrollTop = top; }", top)
        page.wait_for_function("() => new Promise(done => requestAnimationFrame(() => setTimeout(() => done(true))))")
        found |= rows_of(page).keys()
        if top + 400 > scroll.evaluate("node => node.scrollHeight"):
            scroll.evaluate("node => { node.scrollTop = 0; }")
            return found
        top += 400


class TestTheTable:
    def test_search(self, opened: Opened) -> None:
        items = make_items()
        page = opened.page(page_of(items))
        page.get_by_role("searchbox").fill("CHECKOUT")
        expected = sum("checkout" in item.content for item in items)
        assert page.locator(".tools .count").inner_text() == f"{expected} of {len(items)} items"
        page.get_by_role("searchbox").fill("no such thing")
        assert page.get_by_text("No matches.").is_visible()

    def test_filters(self, opened: Opened) -> None:
        items = make_items()
        page = opened.page(page_of(items))
        page.get_by_label("Kind", exact=True).select_option(label="Document")
        expected = sum(item.kind == "Document" for item in items)
        assert page.locator(".tools .count").inner_text() == f"{expected} of {len(items)} items"
        page.get_by_label("Reason").select_option(label="Always selected (Pinned)")
        assert page.locator(".tools .count").inner_text() == f"0 of {len(items)} items"

    def test_sort(self, opened: Opened) -> None:
        items = make_items()
        page = opened.page(page_of(items))
        column = page.locator("#items td.c-tokens")
        tokens = [item.tokens for item in items]
        header = page.locator("#items th.c-tokens")
        header.get_by_role("button").click()
        assert header.get_attribute("aria-sort") == "descending"
        assert column.first.inner_text() == str(max(tokens))
        header.get_by_role("button").click()
        assert header.get_attribute("aria-sort") == "ascending"
        assert column.first.inner_text() == str(min(tokens))
        header.get_by_role("button").click()
        assert header.get_attribute("aria-sort") is None
        assert list(rows_of(page))[:3] == [0, 1, 2]

    def test_only_the_rows_in_sight_are_built(self, opened: Opened) -> None:
        items = make_items(3_000)
        page = opened.page(make_report(items).to_html())
        assert len(rows_of(page)) < 60
        page.locator("#items .scroll").evaluate("node => { node.scrollTop = node.scrollHeight; }")
        page.wait_for_selector(f"#items tr[data-row='{len(items) - 1}']")
        assert len(rows_of(page)) < 60


class TestByKeyboard:
    def test_everything_can_be_reached_and_used(self, opened: Opened) -> None:
        items = make_items()
        page = opened.page(page_of(items))
        reached: list[str] = []
        for _ in range(25):
            page.keyboard.press("Tab")
            reached.append(page.evaluate(FOCUSED))
            if reached[-1].startswith("TR"):
                break
        assert reached[0].startswith("BUTTON Theme")
        assert "INPUT range" in reached
        assert "INPUT search" in reached
        assert [each for each in reached if each.startswith("SELECT")]
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        assert page.locator(".detail h2").inner_text() == "Item 3"
        page.keyboard.press("End")
        assert page.evaluate("() => document.activeElement.dataset.row") == str(len(items) - 1)
        page.keyboard.press("PageUp")
        page.keyboard.press("Home")
        page.keyboard.press(" ")
        assert page.locator(".detail h2").inner_text() == "Item 1"
        page.keyboard.press("Escape")
        assert not page.locator(".detail").is_visible()
        assert page.evaluate("() => document.activeElement.dataset.row") == "0"

    def test_the_slider_moves_by_arrows(self, opened: Opened) -> None:
        page = opened.page(page_of(make_items()))
        slider = page.locator("#budget-slider")
        slider.focus()
        before = slider.get_attribute("aria-valuetext")
        page.keyboard.press("ArrowRight")
        after = slider.get_attribute("aria-valuetext")
        assert before != after
        assert after.startswith("target ")

    def test_charts_are_walked_through_by_arrows(self, opened: Opened) -> None:
        page = opened.page(page_of(make_items()))
        order = page.locator("section:has(> header h2:text-is('Order and score')) svg[role=img]")
        order.focus()
        page.keyboard.press("ArrowRight")
        tip = page.locator(".tip:visible")
        assert tip.inner_text().startswith("1. ")
        page.keyboard.press("Enter")
        assert page.locator("#detail, .detail").first.is_visible()
        curve = page.locator("figure.curve svg[role=img]")
        curve.focus()
        page.keyboard.press("End")
        assert tip.inner_text().startswith("target ")


class TestLooks:
    @pytest.mark.parametrize("scheme", ["light", "dark"])
    @pytest.mark.parametrize("width", [1280, 390])
    def test_no_serious_barrier_and_no_sideways_scrolling(self, opened: Opened, scheme: str, width: int) -> None:
        items = make_items()
        other = Pipeline(RecencyScorer()).dry_run(items, BUDGET)
        page = opened.page(page_of(items, other=other), color_scheme=scheme, viewport={"width": width, "height": 844})
        assert serious(page) == []
        page.locator("#items tr[data-i]").nth(1).click()
        assert serious(page) == []
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")

    def test_the_built_in_kinds_are_not_cut(self, opened: Opened) -> None:
        page = opened.page(page_of(make_items()))
        cut = "cells => cells.filter(cell => cell.scrollWidth > cell.clientWidth).map(cell => cell.textContent)"
        assert page.locator("#items td.c-kind").evaluate_all(cut) == []

    def test_the_content_keeps_some_room_beside_an_item(self, opened: Opened) -> None:
        page = opened.page(page_of(make_items()), viewport={"width": 950, "height": 844})
        page.locator("#items tr[data-i]").first.click()
        assert page.locator("#items td.c-text").first.evaluate("cell => cell.clientWidth") >= 100

    def test_long_words_stay_where_they_belong(self, opened: Opened) -> None:
        word = "K" * 200
        items = [
            ContextItem(word, 50, kind=word, metadata={word: word}),
            ContextItem(f"{word}2", 5_000, kind=f"{word}2"),
        ]
        page = opened.page(page_of(items), viewport={"width": 390, "height": 844})
        right = "nodes => Math.max(...nodes.map(node => node.getBoundingClientRect().right))"
        assert page.locator(".note, .legend b").evaluate_all(right) <= page.locator(".card").evaluate_all(right)
        page.locator("#items tr[data-i]").first.click()
        assert (
            page.locator(".detail dd").evaluate_all("nodes => Math.min(...nodes.map(node => node.clientWidth))") > 100
        )

    def test_text_from_right_to_left_begins_at_its_own_edge(self, opened: Opened) -> None:
        page = opened.page(
            page_of([ContextItem("\u05e9\u05dc\u05d5\u05dd " * 99, 20, kind="\u05de\u05e1\u05de\u05da")])
        )
        style = "node => [getComputedStyle(node).display, getComputedStyle(node).direction]"
        assert page.locator("#items td.c-text bdi").first.evaluate(style) == ["block", "rtl"]
        # Its numbers follow the kind.
        kind, numbers = (page.locator(f".legend {each}").first.bounding_box() for each in ("b", ".quiet"))
        assert kind["x"] + kind["width"] <= numbers["x"]

    def test_dark_mode_follows_the_system_and_the_button(self, opened: Opened) -> None:
        page = opened.page(page_of(make_items()), color_scheme="dark")
        color = "() => getComputedStyle(document.body).backgroundColor"
        dark = page.evaluate(color)
        button = page.get_by_role("button", name="Theme")
        button.click()
        light = page.evaluate(color)
        assert (dark, light) == ("rgb(20, 22, 26)", "rgb(246, 247, 249)")
        button.click()
        assert page.evaluate(color) == dark
        assert button.inner_text() == "Theme: dark"

    def test_on_a_phone_a_row_shows_the_state_of_every_policy(self, opened: Opened) -> None:
        items = make_items()
        others = [Pipeline(RecencyScorer()).dry_run(items, BUDGET), Pipeline(PriorityScorer()).dry_run(items, BUDGET)]
        text = render_html(make_report(items), items=items, other=others, names=["one", "two", "three"])
        page = opened.page(text, viewport={"width": 390, "height": 844})
        line = page.locator("#items tr[data-i]").first
        for name in ("state", "other0", "other1"):
            box = line.locator(f".c-{name}").bounding_box()
            assert box["width"] > 40
            assert box["x"] + box["width"] <= 390
        before = line.locator(".c-other1").evaluate("node => getComputedStyle(node, '::before').content")
        assert "three" in before or "data-name" in before
        assert serious(page) == []

    def test_a_phone_shows_rows_as_cards_and_the_item_as_a_sheet(self, opened: Opened) -> None:
        page = opened.page(page_of(make_items()), viewport={"width": 390, "height": 844}, has_touch=True)
        assert not page.locator("#items thead").is_visible()
        assert page.locator("#items td.c-reason").first.inner_text() == "Selected by score"
        number = page.locator("#items td.c-number").first
        assert number.is_visible()
        assert number.evaluate("node => getComputedStyle(node, '::before').content") == '"#"'
        assert page.locator("#items td.c-reason").first.is_visible()
        page.locator("#items tr[data-i]").first.tap()
        detail = page.locator(".detail")
        assert detail.is_visible()
        assert detail.evaluate("node => getComputedStyle(node).position") == "fixed"
        detail.get_by_role("button", name="Close").click()
        assert not detail.is_visible()


def test_a_long_text_is_cut_with_a_mark_on_paper_too(opened: Opened) -> None:
    """A row shows so many characters at most. On the screen, the edge of the column hides that."""
    page = opened.page(page_of([ContextItem("word " * 200, 200), ContextItem("short", 5)]))
    page.emulate_media(media="print")
    try:
        texts = page.locator("#items td.c-text").all_inner_texts()
        assert sorted(text.endswith("\u2026") for text in texts) == [False, True]
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    finally:
        page.emulate_media(media="screen")


class TestBadInput:
    def test_hostile_content_is_shown_as_text_and_does_nothing(self, opened: Opened) -> None:
        item = ContextItem(HOSTILE, 5, kind=f"k {HOSTILE}", source=HOSTILE, tags=[HOSTILE], metadata={HOSTILE: HOSTILE})
        out = ContextItem(f"{HOSTILE} 2", 5)
        report = SelectionReport(
            (),
            [IncludedItem(item, 0.5, HOSTILE)],
            [ExcludedItem(out, 0.2, Filtered(HOSTILE))],
            2,
            10,
            notes=[HOSTILE],
        )
        page = opened.page(report.to_html(other=report))
        for row in range(2):
            page.locator(f"#items tr[data-row='{row}']").click()
            shown = page.locator(".detail pre").inner_text()
            assert "</script><script>alert(1)</script><img src=x onerror=alert(2)>[U+202E]gnp.exe[U+2066]" in shown
            assert "\u2400\u241b[31m\"'&\U0001f600" in shown
        assert page.locator("img").count() == 0
        assert page.locator("script").count() == 2
        assert page.title() == "Context selection"

    def test_the_policy_stops_a_script_even_if_one_got_in(self, opened: Opened) -> None:
        page = opened.page(make_report(make_items()).to_html())
        page.evaluate(
            """() => { const node = document.createElement("script");
                       node.textContent = "window.got = 1"; document.body.append(node); }"""
        )
        assert page.evaluate("() => window.got") is None
        assert len(opened.complaints) == 1
        assert "Content Security Policy" in opened.complaints.pop()

    @pytest.mark.parametrize(
        "report",
        [
            SelectionReport((), (), (), 0, 0),
            SelectionReport((), [IncludedItem(ContextItem("only", 7), 1.0, "Scored")], (), 1, 7),
            SelectionReport((), [IncludedItem(ContextItem("a", 10**400), float("nan"), "Scored")], (), 1, 10**400),
            Pipeline(KindScorer()).dry_run([ContextItem("a", 10), ContextItem("b", 0)], ContextBudget(0)),
        ],
        ids=["empty", "one item, no budget", "huge", "no room"],
    )
    def test_small_and_strange_reports_make_sense(self, opened: Opened, report: SelectionReport) -> None:
        page = opened.page(report.to_html())
        assert figure(page, "Selected") == str(len(report.included))
        text = page.locator("main").inner_text()
        assert "NaN" not in text
        assert "undefined" not in text

    def test_many_items_are_cut_and_the_page_says_so(self, opened: Opened) -> None:
        items = [ContextItem(f"{i}", 1) for i in range(100_000)]
        page = opened.page(Pipeline(KindScorer()).dry_run(items, 50_000).to_html())
        assert "90,000 more items are not on this page" in page.locator("#items").inner_text()
        assert figure(page, "Selected") == "50,000"


def test_reasons_are_about_the_final_selection_and_name_the_quota(opened: Opened) -> None:
    """Issue: what the selection left looked like the moment of the decision, and a full quota like a lack of room."""
    pipeline = Pipeline(PriorityScorer(), QuotaSlice([QuotaEntry("Document", cap=40)]))
    items = [
        ContextItem("kept", 20, kind="Document", priority=3),
        ContextItem("beyond the quota", 20, kind="Document", priority=2),
        ContextItem("out, too", 20, kind="Document", priority=1),
        ContextItem("too large", 51, priority=1),
    ]
    page = opened.page(pipeline.dry_run(items, 50).to_html())
    reasons = page.locator("#items td.c-reason").all_inner_texts()
    assert reasons[1] == "20 tokens; 40% of the 50 tokens left by pinned items is 20; Document has 20"
    assert reasons[3] == "51 tokens; the selection left 30 free"


def test_what_a_notebook_shows_has_no_barrier(opened: Opened) -> None:
    items = make_items()
    report = make_report(items)
    history = [{"role": "user", "content": "word " * 40}, {"role": "assistant", "content": "yes"}] * 9
    shown: list[Any] = [
        select(items, BUDGET, PIPELINE),
        select_messages(history, 300, counter="estimator"),
        report.why(report.excluded[0].item),
        sweep_budgets(PIPELINE, items, [400, 900]),
    ]
    frames = "".join(each._repr_html_() for each in shown)
    page = opened.page(f"<!doctype html><html lang=en data-ready><title>Notebook</title><main>{frames}</main></html>")
    titles = []
    for frame in page.frames[1:]:
        titles.append(frame.locator("h1").inner_text())
        assert serious(frame) == []
    assert titles[:2] + titles[3:] == ["Selected items", "Selected messages", "What 2 budgets select"]


def test_a_notebook_shows_the_page_in_a_frame(opened: Opened) -> None:
    bundle = make_report(make_items())._repr_mimebundle_()
    page = opened.page(f"<!doctype html><html data-ready><body>{bundle['text/html']}</body></html>")
    frame = page.frame_locator("iframe")
    assert frame.locator("h1").inner_text() == "Context selection"
    assert frame.locator("#items tr[data-i]").count() > 10
