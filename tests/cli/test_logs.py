"""The verbs about logged sessions: `context` and `replay`."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from pycupel.cli import main
from pycupel.replay.usage import CAUSES
from tests.cli.calls import Call
from tests.replay.sessions import REQUESTS, ROLLOUT, lines, planted_rows
from tests.replay.test_misses import transcript

SHARED = Path(__file__).parents[3] / "shared/histories"


@pytest.fixture
def session(tmp_path: Path) -> str:
    path = tmp_path / "session.jsonl"
    path.write_text("\n".join(planted_rows()), encoding="utf-8")
    return str(path)


@pytest.mark.unmeasured
def test_the_screen_has_every_section(call: Call, session: str) -> None:
    out = call("context", session, "--counter", "estimator").out
    for section in (
        "claude-sonnet-4-5-20250929, 24 calls, 48 messages",
        "counted by the provider, its parts by estimator x ",
        "WHERE THE WINDOW GOES",
        "not in the file",
        "THE LARGEST PARTS",
        "REDUNDANT",
        "LINT: nothing that the provider would reject",
        "GROWTH, in tokens per prompt: 24 calls",
        "ALTERNATIVES at 22,967 tokens",
        "of them that are not in the file",
        "newest-first",
    ):
        # Where the line with the path of the file wraps depends on the path.
        assert "".join(section.split()) in "".join(out.split())
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.unmeasured
@pytest.mark.parametrize("width", ["40", "60", "200"])
def test_the_screen_fits_the_width_there_is(
    call: Call, session: str, width: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", width)
    out = call("context", session, "--counter", "estimator", "-p", "chat").out
    assert max(map(len, out.splitlines())) <= int(width)


def test_a_section_that_is_missing_leaves_no_gap(call: Call) -> None:
    """A session with one call has not grown."""
    out = call("context", "-", text='{"role": "user", "content": "Hello."}').out
    assert "provider would reject\n\nALTERNATIVES at " in out


@pytest.mark.parametrize("provider", REQUESTS)
def test_context_of_a_request(call: Call, provider: str) -> None:
    text = json.dumps(REQUESTS[provider], indent=1)
    done = call("context", "-", "-b", "5000", text=text)
    assert (done.code, done.err) == (0, "")
    assert "system" in done.out
    assert "  ls " in done.out


def test_context_of_a_rollout(call: Call) -> None:
    done = call("context", "-", text="\n".join(lines(*ROLLOUT)))
    assert "stdin: gpt-5-codex, 4 calls, 11 messages" in done.out
    assert "The part that is not in the file exceeds this budget: pass a larger --budget." in done.out
    assert "1 compaction (C)" in done.out


def test_what_is_wrong_in_a_log_is_shown(call: Call) -> None:
    messages = [{"role": "user", "content": "a"}, {"role": "tool", "tool_call_id": "x", "content": "42"}]
    out = call("context", "-", "-b", "50", text=json.dumps({"messages": [*messages, messages[0]]})).out
    assert "LINT: 1 finding" in out
    assert "orphan-tool-result" in out
    orphans = [{**messages[1], "tool_call_id": str(n)} for n in range(8)]
    out = call("context", "-", text=json.dumps({"messages": [messages[0], *orphans, messages[0]]})).out
    assert "LINT: 8 findings" in out
    assert (out.count("orphan-tool-result"), out.count("    ... and 3 more\n")) == (5, 1)


def test_many_tools_are_summed_up_and_arguments_shown(call: Call) -> None:
    rows = [{"role": "user", "content": "a \x1b[31m"}]
    paths = ["/very/long/path/to/a/project/with/many/folders/src/checkout/retry.py", "7", '{"x": 1}']
    for n in range(12):
        arguments = json.dumps({"path": paths[0]}) if n == 0 else paths[n % 3]
        function = {"name": f"tool_{n}", "arguments": arguments}
        rows.append({"role": "assistant", "content": "", "tool_calls": [{"id": f"c{n}", "function": function}]})  # type: ignore[dict-item]
        rows.append({"role": "tool", "tool_call_id": f"c{n}", "content": f"{'word ' * (12 - n)}{n}"})
    out = call("context", "-", "-b", "5000", "--counter", "estimator", text=json.dumps(rows)).out
    assert "  4 other tools" in out
    assert ".../src/checkout/retry.py" in out
    assert "\x1b" not in out


def test_long_names_that_begin_alike_can_be_told_apart(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The names of the files are all of their paths, which may have spaces.
    monkeypatch.chdir(tmp_path)
    rows: list[dict[str, Any]] = [{"role": "user", "content": "a"}]
    for name in ("mcp__tracker__create_an_issue", "mcp__tracker__create_a_comment"):
        calls = [{"id": name, "function": {"name": name, "arguments": "{}"}}]
        rows.append({"role": "assistant", "content": "", "tool_calls": calls})
        rows.append({"role": "tool", "tool_call_id": name, "content": "word " * 9})
    paths = [Path(f"a-policy-with-a-long-name-{n}.json") for n in (1, 2)]
    for path in paths:
        path.write_text('{"scorers": [{"type": "recency", "weight": 1}]}', encoding="utf-8")
    out = call("context", "-", "-b", "500", *(f"-p{path}" for path in paths), text=json.dumps(rows)).out
    names = [line.split()[0] for line in out.splitlines() if "..." in line[:28]]
    assert [name[-13:] for name in names] == ["ate_a_comment", "eate_an_issue", "g-name-1.json", "g-name-2.json"]


def test_conversations_can_be_chosen(call: Call) -> None:
    rows = [{"id": str(n), "messages": [{"role": "user", "content": "word " * n}]} for n in (2, 5, 1)]
    text = "\n".join(map(json.dumps, rows))
    largest = call("context", "-", "-b", "50", text=text).out
    assert "conversation 2 of 3; --conversation N shows another" in largest
    assert "conversation 1 of 3" in call("context", "-", "-b", "50", "--conversation", "1", text=text).out
    assert call("context", "-", "--conversation", "4", text=text).err == (
        "pycupel: there is no conversation 4: the file has 3\n"
    )


def test_context_as_json(call: Call, session: str) -> None:
    found = json.loads(
        call(
            "context", session, "--counter", "estimator", "--json", "-p", "chat", "-b", "20%", "--window", "100000"
        ).out
    )
    assert found["largestPrompt"] == {"call": 24, "tokens": 45_934, "countedByProvider": True}
    assert sum(row["tokens"] for row in found["window"]) == 45_934
    assert (len(found["largest"]), len(found["growth"])) == (10, 24)
    assert found["instead"]["budget"] == 20_000
    assert found["instead"]["policies"][0]["invalid"] == 0


def test_torn_lines_are_skipped_and_said(call: Call, session: str) -> None:
    text = f'{Path(session).read_text(encoding="utf-8")}{{"type": "us'
    done = call("context", "-", "-p", "chat", text=text)
    assert (done.code, done.err) == (0, "pycupel: warning: stdin: skipped 1 line that is not a JSON object\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"\x00\xff\x80", "stdin: no conversation found; skipped 1 line that is not a JSON object"),
        (b"no\nlog\n", "stdin: no conversation found; skipped 2 lines that are not JSON objects"),
        (b"", "stdin: no conversation found"),
        (b'{"some": "object"}', "stdin: no conversation found"),
        (b'{"message": {}}', "stdin: no conversation found"),
        (b'{"messages": []}', "stdin: no conversation found"),
        (
            b'[{"content": "a"}]',
            "stdin: no conversation found\n  These look like items, which `pycupel select` reads.",
        ),
        (
            b'{"items": []}\n{"items": []}\n',
            "stdin: no conversation found\n  These look like requests with items, which `pycupel batch` reads.",
        ),
    ],
)
def test_what_is_no_log(call: Call, text: bytes, message: str) -> None:
    for verb in ("context", "replay"):
        assert call(verb, "-", "-b", "10", text=text) == (2, "", f"pycupel: {message}\n")


def test_replay_skips_files_without_a_conversation(call: Call, session: str, tmp_path: Path) -> None:
    """Issue: one empty transcript among many ended the replay of all."""
    empty = tmp_path / "empty.jsonl"
    empty.write_text("", encoding="utf-8")
    arguments = ["-b", "12000", "-p", "newest-first", "--counter", "estimator"]
    done = call("replay", str(empty), session, str(empty), *arguments)
    assert (done.code, done.out) == (0, call("replay", session, *arguments).out)
    assert done.err == f"pycupel: warning: {empty}: no conversation found\n" * 2
    done = call("replay", str(empty), str(empty), *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.endswith("pycupel: no conversation found in any of the files\n")
    assert call("replay", session, str(tmp_path / "missing"), *arguments).code == 2


def test_baselines_are_found_in_any_spelling(call: Call, session: str) -> None:
    assert "Newest_First" in call("replay", session, "-b", "12000", "-p", "Newest_First").out
    done = call("replay", session, "-b", "12000", "-p", "newest")
    hint = "Besides presets: newest-first, as-logged, clear-tool-uses, truncation-auto."
    assert done.err.splitlines()[1] == f"  {hint}"


def test_a_share_of_a_replay_is_one_of_the_models_window(call: Call, tmp_path: Path) -> None:
    """The log names the model, so `--model` need not."""
    request = {"model": "claude-sonnet-4-5", "messages": [{"role": "user", "content": "Hello!"}]}
    one = tmp_path / "one.jsonl"
    one.write_text(json.dumps(request), encoding="utf-8")
    options = ("-p", "chat", "-b", "50%")
    assert "at 100,000 tokens each" in call("replay", str(one), *options).out
    assert "at 500 tokens each" in call("replay", str(one), *options, "--window", "1000").out
    other = tmp_path / "other.jsonl"
    other.write_text(json.dumps({**request, "model": "gpt-4o"}), encoding="utf-8")
    done = call("replay", str(one), str(other), *options)
    assert done.err == (
        "pycupel: the models in the logs have different windows: choose with --window N or --model NAME\n"
    )
    assert "at 64,000 tokens each" in call("replay", str(one), str(other), *options, "--model", "gpt-4o").out
    unnamed = call("replay", "-", "-b", "50%", text=json.dumps({"messages": request["messages"]}))
    assert unnamed.err == "pycupel: a budget in percent needs --window N or --model NAME\n"
    assert call("replay", "missing.jsonl", "-b", "half").err.startswith("pycupel: the budget must be a number")


def test_replay(call: Call, session: str) -> None:
    done = call("replay", session, session, "-b", "12000", "--counter", "estimator", "-p", "chat")
    assert done.out.startswith("48 calls in 2 conversations, at 12,000 tokens each\n")
    assert "0.1 if reused, 1.25 otherwise" in done.out
    one, two = (
        json.loads(call("replay", *files, "-b", "12000", "--counter", "estimator", "-p", "chat", "--json").out)
        for files in ([session], [session, session])
    )
    assert two["policies"][0]["tokens"] == 2 * one["policies"][0]["tokens"]
    assert (one["sessions"], two["sessions"], one["policies"][0]["invalid"]) == (1, 2, 0)


def test_a_message_that_cannot_be_read_names_its_file(call: Call, session: str) -> None:
    done = call("replay", session, "-", "-b", "12000", "-pchat", text='[{"role": "user", "content": 7}]')
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("pycupel: stdin: messages[0].content: must be a string or a list")
    gemini = '{"contents": [{"role": "system", "parts": [{"text": "Be brief."}]}]}'
    noted = call("replay", "-", "-b", "12000", text=gemini).err.splitlines()
    assert noted[1] == "  Instructions go into config.system_instruction."


def test_the_legend_is_wrapped(call: Call, session: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    lines = call("replay", session, "-b", "12000", "--counter", "estimator", "-p", "chat").out.splitlines()
    start = lines.index("refused      calls that the provider would have rejected, or")
    assert lines[start + 1] == "             that could not be sent"
    assert max(map(len, lines)) <= 60
    assert not any(line.endswith("...") for line in lines)


def test_rates_are_checked(call: Call, session: str) -> None:
    for rate in ("-1", "nan", "inf"):
        done = call("replay", session, "-b", "12000", "--cache-read", rate)
        assert (done.code, done.out, done.err) == (2, "", "pycupel: a rate must be a finite number, 0 or more\n")


def test_nothing_needed_is_nothing_lost(call: Call) -> None:
    text = json.dumps([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}])
    row = call("replay", "-", "-b", "100", "-p", "chat", text=text).out.splitlines()[2]
    assert row.split()[-1] == "-"


@pytest.mark.unmeasured
@pytest.mark.skipif(not SHARED.is_dir(), reason="the histories are not beside the project")
def test_real_conversations(call: Call) -> None:
    done = call(
        "replay", str(SHARED / "tau-airline.jsonl.xz"), "-b", "4000", "-p", "chat", "--counter", "estimator", "--json"
    )
    found = json.loads(done.out)
    assert (done.code, found["sessions"], found["policies"][0]["invalid"]) == (0, 100, 0)


def test_context_and_replay_have_the_same_numbers(call: Call, session: str) -> None:
    """Issue: 564,365 and 564,950 tokens for one session, because only one of them corrected its counter."""
    options = (session, "--counter", "estimator", "-p", "as-logged", "--json")
    [context] = json.loads(call("context", *options).out)["instead"]["policies"]
    [replay] = json.loads(call("replay", *options, "-b", "12000").out)["policies"]
    same = ("calls", "tokens", "reusedShare", "cost", "largestPrompt")
    assert [context[name] for name in same] == [replay[name] for name in same]


def test_figures_without_what_is_not_in_the_file_say_so(call: Call, session: str, tmp_path: Path) -> None:
    """Issue: on one page, the largest prompt was 45,934 and 37,186."""
    path = tmp_path / "page.html"
    out = call("context", session, "--counter", "estimator", "-p", "as-logged").out
    assert "tokens per prompt, without the 8," in " ".join(out.split())
    call("context", session, "--counter", "estimator", "-p", "as-logged", "--html", str(path))
    text = path.read_text(encoding="utf-8")
    assert "tokens of each prompt that are not in the file." in text
    assert "not in the file, at every call" in text


class TestTheGauge:
    def gauge(self, call: Call, session: str, *options: str) -> Any:
        done = call("context", session, "--counter", "estimator", "-p", "as-logged", "--json", *options)
        return json.loads(done.out)["gauge"]

    def test_the_largest_prompt_is_compared_with_what_the_model_takes(self, call: Call, session: str) -> None:
        found = self.gauge(call, session)
        assert (found["limit"], found["reserve"], found["used"]) == (200_000, 0, 45_934)
        assert found["free"] == 200_000 - 45_934
        tokens = {each["group"]: each["tokens"] for each in found["groups"]}
        assert sum(tokens.values()) == 45_934
        assert {"user", "assistant and calls", "Read", "Bash", "not in the file"} <= tokens.keys()
        out = call("context", session, "--counter", "estimator", "-p", "as-logged").out
        assert "THE WINDOW: 45,934 of 200,000 tokens used, 23.0%\n  [" in out
        assert f". free {200_000 - 45_934:,}" in " ".join(out.split())

    def test_a_window_may_be_given_without_a_budget(self, call: Call, session: str) -> None:
        assert self.gauge(call, session, "--window", "60000")["free"] == 60_000 - 45_934
        out = call("context", session, "--counter", "estimator", "-p", "as-logged", "--window", "40000").out
        assert "THE WINDOW: 45,934 of 40,000 tokens used, 114.8%, 5,934 too many\n" in out
        assert self.gauge(call, session, "--model", "gpt-5")["reserve"] == 128_000

    def test_an_unknown_model_has_no_gauge(self, call: Call, session: str) -> None:
        assert self.gauge(call, session, "--model", "nobody/knows-it") is None
        text = '{"role": "user", "content": "Hello."}'
        assert "THE WINDOW:" not in call("context", "-", "-b", "50", text=text).out
        assert json.loads(call("context", "-", "-b", "50", "--json", text=text).out)["gauge"] is None

    def test_only_the_largest_tools_are_named(self, call: Call) -> None:
        rows: list[dict[str, Any]] = [{"role": "user", "content": "a"}]
        for n in range(8):
            calls = [{"id": f"c{n}", "type": "function", "function": {"name": f"tool_{n}", "arguments": "{}"}}]
            rows.append({"role": "assistant", "content": "", "tool_calls": calls})
            rows.append({"role": "tool", "tool_call_id": f"c{n}", "content": "word " * (20 - n)})
        options = ("-b", "5000", "--window", "9000", "--counter", "estimator", "--json", "-p", "as-logged")
        found = json.loads(call("context", "-", *options, text=json.dumps(rows)).out)["gauge"]
        groups = [each["group"] for each in found["groups"]]
        assert groups == ["user", "assistant and calls", *(f"tool_{n}" for n in range(5)), "other tools"]

    def test_the_page_has_it_too(self, call: Call, session: str, tmp_path: Path) -> None:
        path = tmp_path / "page.html"
        call("context", session, "--counter", "estimator", "-p", "as-logged", "--window", "60000", "--html", str(path))
        text = path.read_text(encoding="utf-8")
        assert "The largest prompt used 76.6% of what the model takes." in text
        assert '"levels":[["budget",22967],["input limit",60000]]' in text


def test_cache_misses_are_on_the_screen_the_page_and_in_json(call: Call) -> None:
    text = "\n".join(transcript())
    out = call("context", "-", "-p", "as-logged", text=text).out
    assert "THE PROMPT CACHE was lost at 1 call, 10,000 tokens" in out
    assert "     2  10,000  11,500  measured  expired" in out
    [miss] = json.loads(call("context", "-", "--json", text=text).out)["cacheMisses"]
    assert miss == {"call": 2, "cause": "expired", "tokens": 10_000, "cost": 11_500, "measured": True}
    page = call("context", "-", "--html", "-", text=text).out
    assert "The prompt cache was lost at 1 call, 10,000 tokens" in page
    assert CAUSES["expired"] in page


class TestWithoutAFile:
    """The session is found: which one, `tests/replay/test_sessions.py` says."""

    @pytest.fixture(autouse=True)
    def home(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
        monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
        monkeypatch.delenv("CI", raising=False)
        return tmp_path / "claude/projects"

    @pytest.fixture
    def found(self, home: Path, session: str) -> Path:
        home.mkdir(parents=True)
        return Path(session).rename(home / "session.jsonl")

    def test_stdin_is_read_if_it_is_no_terminal(self, call: Call, found: Path) -> None:
        done = call("context", text='{"role": "user", "content": "Hello."}')
        assert done.out.startswith("stdin: ")
        assert str(found) not in done.err

    @pytest.mark.unmeasured
    def test_the_newest_can_be_asked_for(self, call: Call, found: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CI", "true")
        done = call("context", "--newest", "-p", "as-logged")
        assert done.err == f"pycupel: {found}\n"
        assert "24 calls" in " ".join(done.out.split())

    def test_a_folder_means_the_newest_in_it(self, call: Call, found: Path) -> None:
        assert call("context", str(found.parent), "-p", "as-logged").err == f"pycupel: {found}\n"

    def test_they_can_be_listed(self, call: Call, found: Path) -> None:
        done = call("context", "--list")
        assert done.out == f"2026-10-14 09:15  {found}\n"
        assert done.err == "pycupel: 1 session, by the time (UTC) of the last row\n"
        [document] = json.loads(call("context", str(found.parent), "--list", "--json").out)
        assert document == {"time": "2026-10-14T09:15:40+00:00", "file": str(found)}

    def test_nothing_may_be_there(self, call: Call, tmp_path: Path) -> None:
        done = call("context", "--newest")
        assert (done.code, done.err) == (
            2,
            "pycupel: the folders of Claude Code and Codex: no sessions (*.jsonl) found\n",
        )
        folder = tmp_path / "empty"
        folder.mkdir()
        assert call("context", str(folder)).err == f"pycupel: {folder}: no sessions (*.jsonl) found\n"

    def test_at_a_terminal_it_is_found_but_not_in_ci(
        self, call: Call, found: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        class Terminal(io.StringIO):
            def isatty(self) -> bool:
                return True

        monkeypatch.setattr(sys, "stdin", Terminal())
        assert main(["context", "-p", "as-logged"]) == 0
        monkeypatch.setenv("CI", "1")
        assert main(["context"]) == 2

    def test_its_page_has_no_contents_unless_asked(self, call: Call, found: Path) -> None:
        """A page may be shared, and nobody chose this file."""
        bare = call("context", str(found.parent), "-p", "as-logged", "--html", "-").out
        whole = call("context", str(found.parent), "-p", "as-logged", "--html", "-", "--text").out
        named = call("context", str(found), "-p", "as-logged", "--html", "-").out
        for text in ("src/checkout/payments/client.py", "query_logs", "pytest"):
            assert text not in bare
            assert text in whole
        assert whole == named


class TestMoney:
    def rows(self, call: Call, *arguments: str, text: str = "") -> dict[str, tuple[int, float, bool]]:
        found = json.loads(call("context", *arguments, "--json", text=text).out)["money"]
        return {row["what"]: (row["tokens"], row["usd"], row["measured"]) for row in found["rows"]}

    def test_what_was_counted_is_measured_and_policies_are_estimated(self, call: Call, session: str) -> None:
        rows = self.rows(call, session, "-p", "as-logged", "-p", "chat")
        calls = [each.get("message", {}).get("usage") for each in map(json.loads, planted_rows())]
        written = sum(each["cache_creation_input_tokens"] for each in calls if each)
        assert rows["cache write"][0] == written
        assert rows["cache write"][1] == pytest.approx(written * 3.75e-6, abs=1e-6)
        assert rows["together"][1] == pytest.approx(sum(usd for _, usd, _ in [*rows.values()][:4]), abs=1e-5)
        assert {what: known for what, (_, _, known) in rows.items()} == {
            **dict.fromkeys(("input", "cached", "cache write", "output", "together"), True),
            **dict.fromkeys(("prompts with as-logged", "prompts with chat"), False),
        }

    def test_the_screen_and_the_page_have_it(self, call: Call, session: str) -> None:
        out = call("context", session).out
        assert "MONEY, in USD at the prices of claude-sonnet-4-5-20250929 on 2026-11-18\n" in out
        assert "measured   together\n" in out
        assert "estimated  prompts with chat\n" in out
        assert "Prices: https://" in out
        page = call("context", session, "--html", "-").out
        assert "Money, in USD at the prices of claude-sonnet-4-5-20250929 on 2026-11-18" in page

    def test_calls_of_other_models_are_paid_at_their_own_prices(self, call: Call) -> None:
        """Issue: the amounts were said to be at the prices of the last model only."""
        rows = [json.loads(row) for row in planted_rows()]
        reply = next(row["message"] for row in rows if row["type"] == "assistant")
        reply["model"] = "claude-haiku-4-5"
        text = "\n".join(map(json.dumps, rows))
        out = " ".join(call("context", "-", "-p", "as-logged", text=text).out.split())
        assert "at the prices of claude-sonnet-4-5-20250929, claude-haiku-4-5 on 2026-11-18" in out
        assert "estimated at the prices of claude-sonnet-4-5-20250929, without" in out
        found = json.loads(call("context", "-", "--json", text=text).out)["money"]
        assert found["otherModels"] == ["claude-haiku-4-5"]

    def test_a_log_without_counts_is_estimated(self, call: Call) -> None:
        request = {"model": "gpt-4o", "messages": [{"role": "user", "content": "word " * 500}]}
        reply = {"role": "assistant", "content": "word " * 100}
        text = json.dumps({**request, "messages": [*request["messages"], reply]})
        rows = self.rows(call, "-", "-b", "5000", "--counter", "estimator", text=text)
        assert rows["input"][1] == pytest.approx(rows["input"][0] * 2.5e-6, abs=1e-6)
        assert rows["output"][1] == pytest.approx(rows["output"][0] * 10e-6, abs=1e-6)
        assert not any(known for _, _, known in rows.values())

    def test_an_unknown_model_has_no_money(self, call: Call) -> None:
        for model in ({}, {"model": "mine"}):
            text = json.dumps({**model, "messages": [{"role": "user", "content": "Hello."}]})
            assert "MONEY" not in call("context", "-", text=text).out
            assert json.loads(call("context", "-", "--json", text=text).out)["money"] is None

    def test_prices_may_be_given(self, call: Call, session: str, tmp_path: Path) -> None:
        prices = tmp_path / "prices.txt"
        prices.write_text("claude-sonnet-4-5 1 1 1 1 2026-05-01 contract\n", encoding="utf-8")
        done = call("context", session, "--prices", str(prices))
        assert "Prices: contract." in done.out
        assert "pycupel: the prices of claude-sonnet-4-5-20250929 were checked on 2026-05-01" in done.err
        rows = self.rows(call, session, "--prices", str(prices))
        assert rows["together"][1] == pytest.approx(rows["together"][0] / 1e6, abs=1e-5)
        prices.write_text("claude-sonnet-4-5 1 1\n", encoding="utf-8")
        done = call("context", session, "--prices", str(prices))
        assert (done.code, done.out) == (2, "")
        assert f"{prices}: line 1 must have a model" in done.err

    def test_the_day_is_that_of_the_clock(self, call: Call, session: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("SOURCE_DATE_EPOCH")
        monkeypatch.setattr("pycupel.cli.look.time", lambda: 1_795_000_000 + 181 * 86_400)
        assert "were checked on 2026-11-18: --prices FILE has newer ones" in call("context", session).err
