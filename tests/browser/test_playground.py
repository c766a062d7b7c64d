"""The playground in real Chromium, with the engine behind it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pycupel import ContextBudget, ContextItem, Pipeline
from pycupel.policies import parse_policy, policy_from_dict, policy_to_dict
from pycupel.web import Playground, State
from tests.browser.pages import Opened, make_items, serious

ITEMS = make_items(40)
BUDGET = ContextBudget(1_000, 800, output_reserve=100)

DROP = """() => {
  const data = new DataTransfer();
  data.items.add(new File(['{"content": "dropped", "tokens": 4}\\n{"content": "b", "tokens": 5}'], "d.jsonl"));
  for (const name of ["dragover", "drop"]) {
    document.dispatchEvent(new DragEvent(name, { dataTransfer: data, bubbles: true, cancelable: true }));
  }
}"""


@pytest.fixture
def playground() -> Iterator[Playground]:
    with Playground(State(ITEMS, "tool-use", BUDGET, name="session.jsonl")) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield server
        server.shutdown()


class Player:
    """A person at the playground: after each change it waits for the engine's answer."""

    def __init__(self, page: Any) -> None:
        self.page = page

    def wait(self, before: str) -> None:
        self.page.wait_for_function(
            "before => document.documentElement.dataset.answers !== before && !document.querySelector('.busy')",
            arg=before,
        )

    def fill(self, field: str, value: str) -> None:
        before = self.page.locator("html").get_attribute("data-answers")
        self.page.locator(field).fill(value)
        self.wait(before)

    def choose(self, field: str, value: str) -> None:
        before = self.page.locator("html").get_attribute("data-answers")
        self.page.locator(field).select_option(value)
        self.wait(before)

    def click(self, field: str) -> None:
        before = self.page.locator("html").get_attribute("data-answers")
        self.page.locator(field).click()
        self.wait(before)

    def selected(self) -> list[str]:
        """The contents of the selected items, in order, from the details of the table."""
        self.page.locator(".tabs button[data-tab=in]").click()
        self.page.locator("#items .scroll").evaluate("node => { node.style.maxHeight = 'none'; }")
        self.page.wait_for_function(
            "() => new Promise(done => requestAnimationFrame(() => setTimeout(() => done(true), 50)))"
        )
        contents: list[str] = self.page.locator("#items td.c-text").all_inner_texts()
        return contents

    def policy(self) -> dict[str, Any]:
        text = self.page.locator("#policy-text").input_value()
        document: dict[str, Any] = json.loads(text)
        return document


def truth(document: dict[str, Any], budget: ContextBudget = BUDGET, query: str | None = None) -> list[str]:
    pipeline = Pipeline.from_policy(policy_from_dict(document))
    return [item.content for item in pipeline.run(ITEMS, budget, query=query)]


@pytest.fixture
def player(opened: Opened, playground: Playground) -> Player:
    return Player(opened.address(playground.address, permissions=["clipboard-read", "clipboard-write"]))


def test_it_begins_with_the_selection_of_the_engine(player: Player) -> None:
    assert player.selected() == truth(policy_to_dict("tool-use"))
    assert "session.jsonl" in player.page.locator(".knobs").inner_text()
    # Nothing has changed yet.
    assert player.page.locator(".top .quiet").inner_text() == ""


def test_weights_change_the_selection_and_agree_with_the_engine(player: Player) -> None:
    before = player.selected()
    player.fill("#weight-0", "0.05")
    player.fill("#weight-2", "10")
    document = policy_to_dict("tool-use")
    document["scorers"][0]["weight"] = 0.05
    document["scorers"][2]["weight"] = 10
    assert player.selected() == truth(document) != before
    # What has changed is marked, and told.
    assert "enter" in player.page.locator(".top .quiet").inner_text()


def test_a_weight_of_zero_turns_a_scorer_off(player: Player) -> None:
    player.fill("#weight-0", "0")
    document = policy_to_dict("tool-use")
    del document["scorers"][0]
    assert player.selected() == truth(document)
    assert player.page.locator(".error").inner_text() == ""


def test_scorers_are_added_and_removed(player: Player) -> None:
    player.choose("#add-scorer", "frequency")
    player.click("[aria-label='Remove recency']")
    document = policy_to_dict("tool-use")
    document["scorers"] = [*document["scorers"][1:], {"type": "frequency", "weight": 1}]
    assert player.policy() == document
    assert player.selected() == truth(document)


def test_slicer_quotas_placer_query_and_budget(player: Player) -> None:
    player.choose("#slicer", "knapsack")
    player.choose("#add-quota", "Document")
    player.fill("#quota-0-maxPercent", "20")
    player.choose("#placer", "best at both edges")
    player.fill("#query", "checkout")
    player.fill("#budget-target", "600")
    document = policy_to_dict("tool-use")
    document["slicer"] = {
        "type": "quota",
        "entries": [{"kind": "Document", "minPercent": 0, "maxPercent": 20}],
        "inner": {"type": "knapsack"},
    }
    document["placer"] = {"type": "uShaped"}
    assert player.selected() == truth(document, ContextBudget(1_000, 600, output_reserve=100), "checkout")
    player.click("[aria-label='Remove the quota of Document']")
    document["slicer"] = {"type": "knapsack"}
    assert player.selected() == truth(document, ContextBudget(1_000, 600, output_reserve=100), "checkout")


def test_the_budget_can_be_dragged(player: Player) -> None:
    player.fill("#budget-slide", "1500")
    target = int(player.page.locator("#budget-target").input_value())
    assert target >= 1_490
    assert player.page.locator("#budget-max").input_value() == str(target)
    assert player.selected() == truth(policy_to_dict("tool-use"), ContextBudget(target, output_reserve=100))


def test_a_preset_replaces_the_policy(player: Player) -> None:
    player.choose("#preset", "debugging")
    assert player.selected() == truth(policy_to_dict("debugging"))


def test_two_policies_are_compared(player: Player) -> None:
    player.click("#keep")
    player.choose("#preset", "rag")
    panel = player.page.locator("section:has(> header h2:text-is('Side by side'))")
    assert panel.locator(".pair h3").all_inner_texts() == ["now", "kept"]
    assert panel.locator(".columns h3").all_inner_texts() == ["now", "kept"]
    player.page.locator(".tabs button[data-tab=differs]").click()
    differing = {*truth(policy_to_dict("rag"))} ^ {*truth(policy_to_dict("tool-use"))}
    assert player.page.locator(".tools .count").inner_text().startswith(f"{len(differing)} of ")
    player.click("#keep")
    assert panel.count() == 0


def test_both_columns_show_what_they_select_now(player: Player) -> None:
    """Issue: after a change, the first column had what was selected before it."""
    page = player.page
    player.click("#keep")
    player.fill("#budget-target", "400")
    for column, figure in zip(page.locator(".reading").all(), page.locator(".pair p").all(), strict=True):
        assert f"{column.locator('li').count()} items" in figure.inner_text()
    assert page.locator(".reading").first.locator("li").count() < page.locator(".reading").last.locator("li").count()


def test_the_policy_is_copied_as_json_and_toml(player: Player) -> None:
    player.fill("#weight-0", "7")
    document = policy_to_dict("tool-use")
    document["scorers"][0]["weight"] = 7
    for name, title in (("json", "Copy as JSON"), ("toml", "Copy as TOML")):
        player.page.get_by_role("button", name=title).click()
        player.page.wait_for_function(
            "name => document.getElementById(`copy-${name}`).textContent === 'Copied'", arg=name
        )
        text = player.page.evaluate("() => navigator.clipboard.readText()")
        assert parse_policy(text, name) == policy_from_dict(document)  # type: ignore[arg-type]


def test_the_policy_can_be_edited_as_json_and_mistakes_are_told(player: Player) -> None:
    player.page.locator("summary").click()
    document = {"scorers": [{"type": "tag", "weight": 1, "tagWeights": {"odd": 1}}]}
    player.page.locator("#policy-text").fill(json.dumps(document))
    player.click("#apply")
    assert player.selected() == truth(document)
    player.page.locator("#policy-text").fill('{"scorers": [{"type": "recencey", "weight": 1}]}')
    player.click("#apply")
    assert "recency" in player.page.locator(".error").inner_text()
    player.page.locator("#policy-text").fill("{")
    player.page.locator("#apply").click()
    assert "Not valid JSON" in player.page.locator(".error").inner_text()


@pytest.mark.parametrize("width", [1280, 390])
def test_a_mistake_is_in_sight_at_once(opened: Opened, width: int) -> None:
    with Playground(State([ContextItem("a", 10, pinned=True)], budget=5)) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        page = opened.address(server.address, viewport={"width": width, "height": 700})
        box = page.locator(".error").bounding_box()
        server.shutdown()
    assert 0 <= box["y"] <= 700 - box["height"]


def test_a_file_is_opened_by_choosing_or_dropping_it(player: Player, tmp_path: Path) -> None:
    file = tmp_path / "other.jsonl"
    file.write_text('{"content": "first", "tokens": 30}\n{"content": "second", "tokens": 10}\n', encoding="utf-8")
    before = player.page.locator("html").get_attribute("data-answers")
    player.page.locator("#open-file").set_input_files(file)
    player.wait(before)
    assert player.selected() == ["second"]
    before = player.page.locator("html").get_attribute("data-answers")
    player.page.evaluate(DROP)
    player.wait(before)
    assert player.selected() == ["dropped"]
    assert "d.jsonl" in player.page.locator(".knobs").inner_text()
    player.page.locator("#open-file").set_input_files({"name": "x", "mimeType": "text/plain", "buffer": b"nonsense"})
    player.page.wait_for_function("() => document.querySelector('.error').textContent !== ''")
    assert "line 1" in player.page.locator(".error").inner_text()


def test_the_view_survives_a_change(player: Player) -> None:
    player.page.get_by_role("searchbox").fill("checkout")
    player.page.locator("#items tr[data-i]").first.click()
    text = player.page.locator(".detail pre").inner_text()
    player.fill("#weight-0", "9")
    assert player.page.get_by_role("searchbox").input_value() == "checkout"
    assert player.page.locator(".detail pre").inner_text() == text


def test_advice_names_what_the_playground_has(player: Player) -> None:
    """Issue: it said to raise max_tokens, which is no control of this page."""
    player.fill("#budget-max", "10")
    error = player.page.locator(".error")
    assert error.inner_text() == "Output (100) must not exceed Max (10)"
    player.fill("#budget-reserve", "0")
    assert "Raise Max, lower Output, or pin less: 'You are a helpful" in error.inner_text()


def test_a_playground_that_has_ended_is_told(opened: Opened) -> None:
    server = Playground(State(ITEMS))
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    player = Player(opened.address(server.address))
    server.shutdown()
    server.server_close()
    player.fill("#query", "x")
    assert "Is it still running" in player.page.locator(".error").inner_text()
    assert ["ERR_CONNECTION_REFUSED" in each for each in opened.complaints] == [True]
    opened.complaints.clear()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_no_serious_barrier(opened: Opened, playground: Playground, scheme: str, width: int) -> None:
    page = opened.address(playground.address, color_scheme=scheme, viewport={"width": width, "height": 900})
    Player(page).click("#keep")
    page.locator("summary").click()
    assert serious(page) == []
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


def test_hostile_items_are_text(opened: Opened) -> None:
    hostile = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
    items = [ContextItem(hostile, 5, kind=hostile), ContextItem("b", 5)]
    with Playground(State(items, name=hostile)) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        page = opened.address(server.address)
        assert page.locator(".knobs legend").first.inner_text() == hostile
        assert page.locator("img").count() == 0
        server.shutdown()
