"""What `--html` writes, and the playground as a process."""

from __future__ import annotations

import http.client
import json
import re
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from pycupel import web
from pycupel.replay import describe
from pycupel.web import State
from tests.cli.calls import Call
from tests.cli.console import Shell
from tests.replay.sessions import planted_rows

ITEMS = "\n".join(
    json.dumps({"content": f"item {i} \x1b[31m", "tokens": 5 + i, "priority": i * 7 % 5, "kind": "Memory"})
    for i in range(8)
)


@pytest.fixture
def items(tmp_path: Path) -> str:
    path = tmp_path / "items.jsonl"
    path.write_text(ITEMS, encoding="utf-8")
    return str(path)


@pytest.fixture
def session(tmp_path: Path) -> str:
    path = tmp_path / "session.jsonl"
    path.write_text("\n".join(planted_rows()), encoding="utf-8")
    return str(path)


def data_of(page: str) -> dict[str, Any]:
    found = re.search(r'id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    data: dict[str, Any] = json.loads(found[1])
    return data


def test_explain_writes_the_report_with_its_sweep(call: Call, items: str, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    done = call("explain", items, "-b", "30", "-q", "item 3", "--html", str(path))
    assert (done.code, done.out, done.err) == (0, "", f"pycupel: wrote {path}\n")
    data = data_of(path.read_text(encoding="utf-8"))
    assert data["subtitle"] == f"{items}, policy chat, query 'item 3'"
    assert data["report"]["candidates"] == 8
    assert len(data["report"]["times"]) == 5
    assert data["sweep"]["points"]
    # Shown by the page, which does that itself: as it is.
    assert "item 0 \x1b[31m" in data["report"]["rows"]["text"]
    start = data["sweep"]["points"][data["sweep"]["start"]]
    assert start["use"] == data["report"]["use"]


def test_a_page_may_go_to_stdout_and_json_beside_it(call: Call, items: str, tmp_path: Path) -> None:
    assert call("explain", items, "-b", "30", "--html", "-").out.startswith("<!doctype html>")
    done = call("explain", items, "-b", "30", "--html", str(tmp_path / "a.html"), "--json")
    assert json.loads(done.out)["total_candidates"] == 8
    why = call("explain", items, "-b", "30", "--html", str(tmp_path / "b.html"), "--why", "1")
    assert "item 0" in why.out


def test_diff_writes_both_side_by_side_and_still_exits_1(call: Call, items: str, tmp_path: Path) -> None:
    path = tmp_path / "diff.html"
    policy = tmp_path / "priority.json"
    policy.write_text('{"scorers": [{"type": "priority", "weight": 1}]}', encoding="utf-8")
    for query in ([], ["-q", "item 2"]):
        done = call("diff", items, "-b", "30", "-p", "chat", "-p", str(policy), *query, "--html", str(path))
        assert (done.code, done.out) == (1, "")
        data = data_of(path.read_text(encoding="utf-8"))
        assert data["names"] == ["chat", str(policy)]
        assert data["report"]["others"][0]["use"]["items"] > 0
    beside = call("diff", items, "-b", "30", "-p", "chat", "-p", str(policy), "--html", str(path), "--json")
    assert json.loads(beside.out)["differences"]


def test_diff_has_a_column_for_each_policy(call: Call, items: str, tmp_path: Path) -> None:
    """Issue: with seven policies, the page was about two."""
    path = tmp_path / "diff.html"
    names = ["chat", "rag", "debugging", "tool-use"]
    call("diff", items, "-b", "30", *(f"-p{name}" for name in names), "--html", str(path))
    data = data_of(path.read_text(encoding="utf-8"))
    assert data["names"] == names
    assert data["title"] == "chat, rag, debugging and tool-use"
    assert len(data["report"]["others"]) == 3
    done = call("diff", items, "-b", "30", *["-pchat"] * 9, "--html", str(path))
    assert (done.code, done.err) == (2, "pycupel: a page shows at most 8 policies side by side, not 9\n")


def test_replay_writes_its_table(call: Call, session: str, tmp_path: Path) -> None:
    path = tmp_path / "replay.html"
    done = call("replay", session, "-b", "12000", "--counter", "estimator", "--html", str(path))
    assert (done.code, done.out) == (0, "")
    panels = {
        panel["title"]: panel for panel in data_of(path.read_text(encoding="utf-8"))["panels"] if "title" in panel
    }
    beside = call("replay", session, "-b", "12000", "--counter", "estimator", "--html", str(path), "--json")
    policies = json.loads(beside.out)["policies"]
    assert [row[:2] for row in panels["Policies"]["rows"]] == [[each["policy"], each["tokens"]] for each in policies]
    assert [bar[1] for bar in panels["Tokens sent"]["bars"]] == [each["tokens"] for each in policies]
    # A sum over policies, of which only one is used, would mean nothing.
    assert not panels["Tokens sent"]["shares"]
    assert panels["Policies"]["alarms"] == [6, 7]


def test_replay_charts_every_policy_call_by_call(call: Call, session: str, tmp_path: Path) -> None:
    path = tmp_path / "replay.html"
    call("replay", session, "-b", "12000", "-p", "newest-first", "-p", "clear-tool-uses", "--html", str(path))
    data = data_of(path.read_text(encoding="utf-8"))
    assert data["subtitle"] == "session.jsonl, claude-sonnet-4-5-20250929, window 200,000"
    panels = {panel["title"]: panel for panel in data["panels"] if "title" in panel}
    assert "Anthropic's context editing" in panels["Policies"]["note"]
    chart = panels["newest-first: from call to call"]
    assert len(chart["totals"]) == 24
    # The cached part and the rest are the whole, at every call.
    for n, total in enumerate(chart["totals"]):
        assert sum(size for _, _, start, end, size in chart["bands"] if start <= n <= end) == total
    assert {label for _, label in chart["marks"]} == {"refused"}
    assert "cut" in {label for _, label in panels["clear-tool-uses: from call to call"]["marks"]}
    assert chart["levels"] == [["budget", 12_000], ["input limit", 200_000]]
    rows = panels["Call by call"]["rows"]
    assert len(rows) == 24
    assert rows[0][0] == 1
    assert rows[0][1].startswith(f"{chart['totals'][0]:,} (0)")


def test_replay_of_several_models_has_no_window_unless_one_is_given(call: Call, tmp_path: Path) -> None:
    for name in ("gpt-4o", "claude-sonnet-4-5"):
        request = {"model": name, "messages": [{"role": "user", "content": "Hello"}]}
        (tmp_path / f"{name}.json").write_text(json.dumps(request), encoding="utf-8")
    paths = [str(path) for path in sorted(tmp_path.glob("*.json"))]
    page = data_of(call("replay", *paths, "-b", "100", "--html", "-").out)
    assert page["subtitle"] == "claude-sonnet-4-5.json, gpt-4o.json, claude-sonnet-4-5, gpt-4o, window unknown"
    page = data_of(call("replay", *paths, "-b", "100", "--window", "9000", "--html", "-").out)
    assert page["subtitle"].endswith(", claude-sonnet-4-5, gpt-4o, window 9,000")


class TestTheDoctor:
    def page(self, call: Call, session: str, tmp_path: Path, *options: str) -> dict[str, Any]:
        path = tmp_path / "doctor.html"
        done = call("context", session, "--counter", "estimator", "--html", str(path), *options)
        assert done.code == 0
        data = data_of(path.read_text(encoding="utf-8"))
        return {"data": data, "out": done.out, **{panel.get("title", "figures"): panel for panel in data["panels"]}}

    @pytest.mark.unmeasured
    def test_it_has_what_the_screen_has(self, call: Call, session: str, tmp_path: Path) -> None:
        page = self.page(call, session, tmp_path, "--json")
        told = json.loads(page["out"])
        assert page["data"]["subtitle"] == "session.jsonl"
        assert page["figures"]["figures"][0][1:] == [told["largestPrompt"]["tokens"], "counted by the provider"]
        bars = page["The largest prompt, by its parts"]["bars"]
        assert [bar[1] for bar in bars] == [row["tokens"] for row in told["window"]]
        assert [row[2] for row in page["The largest parts"]["rows"]] == [part["tokens"] for part in told["largest"]]
        budget = told["instead"]["budget"]
        table = page[f"Alternatives at {budget:,} tokens per prompt"]
        assert [row[1] for row in table["rows"]] == [each["tokens"] for each in told["instead"]["policies"]]

    def test_without_room_for_anything_there_is_no_comparison(self, call: Call, session: str, tmp_path: Path) -> None:
        page = self.page(call, session, tmp_path, "-b", "10")
        assert not any(title.startswith("Alternatives") for title in page)

    @pytest.mark.unmeasured
    def test_the_picture_shows_each_call_and_the_life_of_each_part(
        self, call: Call, session: str, tmp_path: Path
    ) -> None:
        page = self.page(call, session, tmp_path)
        growth = page["How the prompt grew"]
        calls = len(growth["totals"])
        for number, total in enumerate(growth["totals"]):
            sizes = [size for _, _, start, end, size in growth["bands"] if start <= number <= end]
            assert sum(sizes) == pytest.approx(total, rel=0.2)
        assert all(0 <= start <= end < calls for _, _, start, end, _ in growth["bands"])
        rows = page["The life of each part"]["rows"]
        assert len(rows) == len(growth["bands"])
        for _, _, tokens, first, last, sent in rows:
            assert sent == tokens * (last - first + 1)
        assert [row[5] for row in rows] == sorted((row[5] for row in rows), reverse=True)

    def test_what_is_not_in_the_file_is_no_larger_than_any_prompt_leaves_room_for(
        self, call: Call, tmp_path: Path
    ) -> None:
        """Most of it grows, as the messages do."""
        path = tmp_path / "growing.jsonl"
        path.write_text("\n".join(json.dumps(row) for row in GROWING), encoding="utf-8")
        growth = self.page(call, str(path), tmp_path)["How the prompt grew"]
        assert growth["totals"] == [100, 1_000]
        for number, total in enumerate(growth["totals"]):
            assert sum(size for _, _, start, end, size in growth["bands"] if start <= number <= end) <= total
        assert "not in the file" in {group for _, group, _, _, _ in growth["bands"]}

    def test_compactions_end_lives_and_begin_with_a_summary(self, call: Call, tmp_path: Path) -> None:
        path = tmp_path / "compacted.jsonl"
        path.write_text("\n".join(json.dumps(row) for row in COMPACTED), encoding="utf-8")
        growth = self.page(call, str(path), tmp_path)["How the prompt grew"]
        assert growth["marks"] == [[2, "compacted"]]
        bands = {label: (group, start, end) for label, group, start, end, _ in growth["bands"]}
        assert bands["user: first question"] == ("user", 0, 1)
        assert bands["assistant: first answer"] == ("assistant", 1, 1)
        assert bands["user: third question"] == ("user", 2, 3)
        (summary,) = [life for label, life in bands.items() if label.startswith("summary: ")]
        assert summary == ("user", 2, 3), "a summary is sent as a message of the user"

    def test_a_summary_that_was_never_sent_has_no_life(self, call: Call, tmp_path: Path) -> None:
        path = tmp_path / "compacted.jsonl"
        path.write_text("\n".join(json.dumps(row) for row in COMPACTED[:6]), encoding="utf-8")
        growth = self.page(call, str(path), tmp_path)["How the prompt grew"]
        assert {group for _, group, _, _, _ in growth["bands"]} <= {"user", "assistant", "not in the file"}

    def test_system_prompt_and_tools_are_there_from_the_first_call_to_the_last(
        self, call: Call, tmp_path: Path
    ) -> None:
        request = {
            "model": "claude-sonnet-4-5",
            "system": "You are brief.",
            "tools": [{"name": "look", "description": "Look it up.", "input_schema": {"type": "object"}}],
            "messages": [
                {"role": "user", "content": "one"},
                {"role": "assistant", "content": "two"},
                {"role": "user", "content": "three"},
                {"role": "assistant", "content": "four"},
                {"role": "user", "content": "five"},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "lost", "content": "six"}]},
            ],
        }
        path = tmp_path / "request.json"
        path.write_text(json.dumps(request), encoding="utf-8")
        page = self.page(call, str(path), tmp_path)
        bands = {group: (start, end) for _, group, start, end, _ in page["How the prompt grew"]["bands"]}
        assert bands["system"] == bands["tools"] == (0, 2)
        assert any(title.startswith("What the provider would reject: ") for title in page)

    def test_a_single_call_has_no_growth_and_thin_parts_are_left_out(
        self, call: Call, session: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "one.json"
        path.write_text('[{"role": "user", "content": "hello"}]', encoding="utf-8")
        assert "How the prompt grew" not in self.page(call, str(path), tmp_path)
        monkeypatch.setattr(describe, "_MAX_BANDS", 5)
        growth = self.page(call, session, tmp_path)["How the prompt grew"]
        assert len(growth["bands"]) == 5
        assert re.search(r"The \d+ smallest parts are left out\.", growth["note"])


def _row(kind: str, text: str, tokens: int | None = None, **more: Any) -> dict[str, Any]:
    _row.count += 1  # type: ignore[attr-defined]
    number = _row.count  # type: ignore[attr-defined]
    usage = (
        {}
        if tokens is None
        else {"id": f"m{number}", "model": "claude", "usage": {"input_tokens": tokens, "output_tokens": 1}}
    )
    return {
        "type": kind,
        "uuid": f"u{number}",
        "parentUuid": f"u{number - 1}" if number > 1 else None,
        "sessionId": "s",
        "message": {"role": kind, "content": text if kind == "user" else [{"type": "text", "text": text}], **usage},
        **more,
    }


_row.count = 0  # type: ignore[attr-defined]
COMPACTED = [
    _row("user", "first question"),
    _row("assistant", "first answer", 20),
    _row("user", "second question"),
    _row("assistant", "second answer", 30),
    _row("user", "This session is being continued: a summary of it.", isCompactSummary=True),
    _row("user", "third question"),
    _row("assistant", "third answer", 25),
    _row("user", "fourth question"),
    _row("assistant", "fourth answer", 35),
]
GROWING = [
    _row("user", "first question"),
    _row("assistant", "first answer", 100),
    _row("user", "second question"),
    _row("assistant", "second answer", 1_000),
]


class TestPlay:
    def test_it_serves_until_ctrl_c(self, shell: Shell) -> None:
        (shell.directory / "items.jsonl").write_text(ITEMS, encoding="utf-8")
        process = subprocess.Popen(
            [shell.pycupel, "play", "items.jsonl", "-b", "30", "--no-browser"],
            cwd=shell.directory, env=shell.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        connection = http.client.HTTPConnection(address.split("/")[2], timeout=60)
        connection.request("GET", f"/{address.split('/', 3)[3]}")
        offer = data_of(connection.getresponse().read().decode())["play"]
        connection.close()
        assert (offer["name"], offer["items"], offer["budget"]["max"]) == ("items.jsonl", 8, 30)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out, err) == (0, "", "pycupel: Ctrl-C ends the playground\n")

    def test_after_ctrl_c_the_prompt_has_a_line_of_its_own(self, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("pycupel.web.play", lambda *_, **__: None)
        monkeypatch.setattr("sys.stderr.isatty", lambda: True)
        assert call("play", "-", text=ITEMS) == (0, "", "\n")

    def test_a_dropped_file_is_read_as_any_other(self, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
        benches: list[State] = []

        def serve(bench: State, port: int, *, browser: bool, tell: Any) -> None:
            benches.append(bench)
            assert (port, browser) == (7, True)
            tell("http://here/")

        monkeypatch.setattr(web, "play", serve)
        done = call("play", "-", "--port", "7", "--counter", "estimator", text='[{"content": "a", "tokens": 4}]')
        assert (done.code, done.out) == (0, "http://here/\n")
        (bench,) = benches
        offer = bench.answer(
            "items", {"name": "b", "text": '[{"content": "no tokens"}, {"content": "c", "tokens": 2}]'}
        )
        assert offer["play"]["items"] == 2
        assert "record 1, line 1" in bench.answer("items", {"name": "b", "text": '{"tokens": 3}'})["error"]
        assert data_of(bench.page())["play"]["name"] == "b"
