"""The verbs in this process: what they write, and how they end. The files in `golden` show how it looks."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from runpy import run_module
from typing import Any

import pytest

from pycupel.cli import VERBS
from pycupel.cli.parsers import load_verb, verb_parser
from pycupel.messages import count_messages
from pycupel.registry import SCORERS
from tests.cli.calls import Call

ITEMS = "\n".join(
    json.dumps({"content": content, "tokens": tokens, "priority": priority})
    for content, tokens, priority in [("red pump", 3, 1), ("blue pump", 4, 2), ("red \x1b[31m\u202e", 5, 3)]
)


@pytest.fixture
def items(tmp_path: Path) -> str:
    path = tmp_path / "items.jsonl"
    path.write_text(ITEMS, encoding="utf-8")
    return str(path)


# --- the program


def test_help_lists_every_verb(call: Call) -> None:
    done = call("--help")
    assert done.code == 0
    assert all(f"  {name} " in done.out and summary in done.out for name, summary in VERBS.items())


def test_help_is_a_verb_too(call: Call) -> None:
    assert call("help").out == call("--help").out
    assert call("help", "trim").out == call("trim", "--help").out
    assert call("help", "nothing").out == call("--help").out


@pytest.mark.parametrize("name", VERBS)
def test_the_help_of_a_verb_fits_the_screen(call: Call, name: str) -> None:
    """Its example does, too."""
    assert max(map(len, call(name, "--help").out.splitlines())) <= 80


def test_the_package_is_the_same_program(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["pycupel", "--version"])
    with pytest.raises(SystemExit, match="0"):
        run_module("pycupel", run_name="__main__")
    assert capsys.readouterr().out == "pycupel 1.0.0\n"


def test_version(call: Call) -> None:
    assert call("--version")[:2] == (0, "pycupel 1.0.0\n")


def test_no_verb_is_wrong_and_shows_the_help(call: Call) -> None:
    done = call()
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("usage: pycupel VERB ...")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["selct"], "unknown verb 'selct'; did you mean 'select'?\n  pycupel --help lists them"),
        (
            ["--versoin"],
            "unrecognized arguments: --versoin; did you mean '--version'?\n  pycupel --help lists its arguments",
        ),
        (["-x"], "unrecognized arguments: -x\n  pycupel --help lists its arguments"),
        (
            ["select"],
            "the following arguments are required: FILE, -b/--budget\n  pycupel select --help lists its arguments",
        ),
        (
            ["select", "x", "-b", "1", "--strickt"],
            "unrecognized arguments: --strickt; did you mean '--strict'?\n  pycupel select --help lists its arguments",
        ),
        (
            ["select", "x", "--budgt=1"],
            "unrecognized arguments: --budgt; did you mean '--budget'?\n  pycupel select --help lists its arguments",
        ),
        (
            ["policy", "show", "--jsn"],
            "unrecognized arguments: --jsn\n  pycupel policy show --help lists its arguments",
        ),
        (
            ["policy", "list", "--jsn"],
            "unrecognized arguments: --jsn; did you mean '--json'?\n  pycupel policy list --help lists its arguments",
        ),
        (
            ["count", "x", "--couter", "estimator", "y"],
            "unrecognized arguments: --couter; did you mean '--counter'?\n  pycupel count --help lists its arguments",
        ),
        (["select", "x", "y", "-b", "1"], "unrecognized arguments: y\n  pycupel select --help lists its arguments"),
        (["--quiet", "select", "x"], "options come after the verb: pycupel select --quiet ..."),
        (
            ["policy", "lst"],
            (
                "argument ACTION: unknown value 'lst'; choose from list, show, check, schema, convert; "
                "did you mean 'list'?\n  pycupel policy --help lists its arguments"
            ),
        ),
        (
            ["batch", "x", "-o", "y", "--engine", "LOCALL"],
            (
                "argument --engine: unknown value 'LOCALL'; choose from local, dask; did you mean 'local'?\n"
                "  pycupel batch --help lists its arguments"
            ),
        ),
        (
            ["select", "x", "-b", "50%", "--window", "8k"],
            "argument --window: must be a whole number above 0, not '8k'\n  pycupel select --help lists its arguments",
        ),
        (
            ["replay", "x", "-b", "1", "--cache-read", "x"],
            "argument --cache-read: must be a number, not 'x'\n  pycupel replay --help lists its arguments",
        ),
    ],
)
def test_mistakes_get_a_suggestion(call: Call, arguments: list[str], message: str) -> None:
    assert call(*arguments) == (2, "", f"pycupel: {message}\n")


@pytest.mark.parametrize(
    ("given", "exact"),
    [
        (["completion", "BASH"], ["completion", "bash"]),
        (["demo", "Items"], ["demo", "items"]),
        (["count", "-", "--as", "Messages"], ["count", "-", "--as", "messages"]),
        (["policy", "Show", "rag", "--format=TOML"], ["policy", "show", "rag", "--format=toml"]),
    ],
)
def test_a_choice_may_be_spelt_like_other_names(call: Call, given: list[str], exact: list[str]) -> None:
    text = '[{"role": "user", "content": "hello"}]'
    done = call(*given, text=text)
    assert done.code == 0
    assert done == call(*exact, text=text)


def test_an_engine_may_be_spelt_like_other_names(call: Call, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text('{"items": [{"content": "a", "tokens": 1}], "budget": 5}\n', encoding="utf-8")
    done = call("batch", str(log), "-o", str(tmp_path / "out"), "--engine", "LOCAL", "--workers", "1", "--quiet")
    assert (done.code, done.err) == (0, "")


def test_only_the_action_is_a_choice_not_its_arguments(call: Call) -> None:
    """A file may be called like an action."""
    assert call("policy", "CHECK", "LIST").err.endswith(", not 'LIST'\n")


def test_a_quiet_action(call: Call) -> None:
    """Issue: --quiet was unknown after an action of `policy`."""
    listed = call("policy", "list")
    for arguments in (["--quiet", "list"], ["list", "--quiet"], ["--quiet", "list", "--quiet"]):
        assert call("policy", *arguments) == listed


@pytest.mark.parametrize(
    "arguments",
    [
        ["count", "a", "--counter", "estimator", "b"],
        ["replay", "a", "-b", "1000", "b"],
        ["batch", "a", "-o", "out", "b"],
        ["policy", "check", "a", "--quiet", "b"],
    ],
    ids=" ".join,
)
def test_files_may_be_on_both_sides_of_an_option(arguments: list[str]) -> None:
    """Issue: `pycupel replay a -b 1000 b` did not know `b`."""
    name, *rest = arguments
    assert verb_parser(name, load_verb(name)).parse_args(rest).files == ["a", "b"]


# --- options


@pytest.mark.parametrize(
    ("budget", "tokens"),
    [
        (["7"], 7),
        (["7,000"], 7_000),
        (["10%", "--window", "70"], 7),
        (["12.5%", "--model", "gpt-4o"], 16_000),
    ],
)
def test_budgets(call: Call, items: str, budget: list[str], tokens: int) -> None:
    assert f"of {tokens:,} tokens" in call("select", items, "-b", *budget).err


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        (["-7"], "the budget must be 0 or more, not -7"),
        (["x"], "the budget must be a number of tokens or a share like 50%, not 'x'"),
        (["x%"], "the budget must be a number of tokens or a share like 50%, not 'x%'"),
        (["0%"], "a share of the window must be above 0% and at most 100%, not 0%"),
        (["101%", "--window", "9"], "a share of the window must be above 0% and at most 100%, not 101%"),
        (["10%"], "a budget in percent needs --window N or --model NAME"),
        (["10%", "--window", "9" * 400], "the window is too large for a budget in percent"),
        (["10%", "--window", "-9"], "argument --window: must be a whole number above 0, not '-9'"),
        (["10%", "--window", "0"], "argument --window: must be a whole number above 0, not '0'"),
        (["8K"], "the budget must be a number of tokens or a share like 50%, not '8K'; did you mean 8000?"),
        (["10%", "--model", "gpt-4p"], "unknown model 'gpt-4p'; did you mean 'gpt-4'?"),
    ],
)
def test_wrong_budgets(call: Call, items: str, budget: list[str], message: str) -> None:
    done = call("select", items, f"-b{budget[0]}", *budget[1:])
    assert done.code == 2
    assert done.err.startswith(f"pycupel: {message}\n")


def test_a_policy_may_be_a_file(call: Call, items: str, tmp_path: Path) -> None:
    policy = tmp_path / "priority.toml"
    policy.write_text('[[scorers]]\ntype = "priority"\nweight = 1\n', encoding="utf-8")
    done = call("select", items, "-b", "5", "-p", str(policy), "--quiet")
    assert [json.loads(line)["tokens"] for line in done.out.splitlines()] == [5]
    unnamed = policy.rename(tmp_path / "priority")
    done = call("select", items, "-b", "5", "-p", str(unnamed))
    assert done.code == 2
    assert done.err.endswith("\n  The name of a policy file must end with .json, .toml, .yaml or .yml.\n")
    assert "must end with" not in call("select", items, "-b", "5", "-p", "nope").err


# --- items


def test_select_writes_notes_and_a_summary_to_stderr(call: Call, items: str) -> None:
    done = call("select", items, "-b", "9", "-q", "red", "-p", "tool-use")
    assert [json.loads(line)["content"] for line in done.out.splitlines()] == ["blue pump", "red \x1b[31m\u202e"]
    assert done.err.splitlines()[-1] == "pycupel: 2 of 3 items, 9 of 9 tokens"
    plain = call("select", items, "-b", "9", "-p", "rag")
    assert plain.err.startswith("pycupel: note: ")


def test_json_is_safe_for_a_terminal(call: Call, items: str) -> None:
    out = call("select", items, "-b", "12").out
    assert "\\u001b[31m\\u202e" in out
    assert out.isascii()


def test_json_escapes_what_lies_beyond_16_bits(call: Call) -> None:
    """Such as a tag, which is invisible."""
    text = '{"content": "\\udb40\\udc41 \\u00e9", "tokens": 1}'
    assert '"\\udb40\\udc41 \u00e9"' in call("select", "-", "-b", "12", text=text).out


def test_what_is_pinned_and_does_not_fit_exits_3(call: Call) -> None:
    done = call("select", "-", "-b", "2", text='{"content": "a", "tokens": 3, "pinned": true}')
    assert done.code == 3
    assert done.err.startswith("pycupel: Pinned items require 3 tokens, but only 2 are available\n  Raise -b to 3 ")


def test_explain_shows_control_characters_as_text(call: Call, items: str) -> None:
    out = call("explain", items, "-b", "9").out
    assert "red \\x1b[31m\\u202e" in out
    assert "TIME" not in out


def test_notes_name_strategies_as_policy_files_do(call: Call, tmp_path: Path) -> None:
    """Issue: the command line advised to call `QuotaSlice(..., redistribute=True)`."""
    policy = tmp_path / "policy.json"
    slicer = {"type": "quota", "entries": [{"kind": "Document", "maxPercent": 10}], "inner": {"type": "greedy"}}
    policy.write_text(json.dumps({"scorers": [{"type": "recency"}], "slicer": slicer}), encoding="utf-8")
    tokens = {"a": 10, "b": 90}
    rows = "\n".join(
        json.dumps({"content": f"{kind} {n}", "tokens": each, "kind": kind})
        for kind, each in tokens.items()
        for n in range(9)
    )
    options = ("-", "-b", "180", "-p", str(policy))
    assert "use the slicer 'quota' with 'redistribute' true" in " ".join(
        call("explain", *options, text=rows).out.split()
    )
    assert "use the slicer 'quota' with 'redistribute' true" in call("select", *options, text=rows).err


def test_explain_lists_all_items_if_asked(call: Call) -> None:
    text = "\n".join(f'{{"content": "item {n}", "tokens": 9}}' for n in range(50))
    assert "... and 8 more" in call("explain", "-", "-b", "18", text=text).out
    assert "item 0" in call("explain", "-", "-b", "18", "--all", text=text).out


def test_explain_as_json_is_a_report(call: Call, items: str) -> None:
    report = json.loads(call("explain", items, "-b", "9", "--json").out)
    assert (report["events"], len(report["included"]), len(report["excluded"])) == ([], 2, 1)


def test_explain_one_item(call: Call, items: str) -> None:
    by_start = call("explain", items, "-b", "9", "--why", "red p", "-q", "blue").out
    assert by_start.startswith("red pump\n  Message of 3 tokens, left out")
    # The number that the report gives it, after those of the two selected items.
    assert " 3  Message" in call("explain", items, "-b", "9", "-q", "blue").out
    assert call("explain", items, "-b", "9", "--why", "3", "-q", "blue").out == by_start
    umlauts = call("explain", "-", "-b", "9", "--why", "Gr", text='{"content": "Größe", "tokens": 3}').out
    assert umlauts.startswith("Größe\n")
    done = call("explain", items, "-b", "9", "--why", "red")
    assert (done.code, done.err.startswith("pycupel: 2 contents start with 'red'")) == (2, True)


@pytest.mark.parametrize(
    ("number", "included", "reason"), [("3", False, {"reason": "BudgetExceeded"}), ("2", True, "Scored")]
)
def test_explain_one_item_as_json(call: Call, items: str, number: str, included: bool, reason: object) -> None:
    found = json.loads(call("explain", items, "-b", "9", "--why", number, "--json").out)
    assert found["included"] is included
    assert found["reason"] == reason or found["reason"]["reason"] == "BudgetExceeded"
    report = json.loads(call("explain", items, "-b", "9", "--json").out)
    entries = [*report["included"], *report["excluded"]]
    assert found["item"] == entries[int(number) - 1]["item"]
    assert len(found["parts"]) == 3


def test_explain_says_what_was_asked(call: Call, items: str) -> None:
    # A long path is wrapped, and wherever it has a space.
    asked = call("explain", items, "-b", "9", "-p", "debugging", "-q", "z\x1b\nx " * 50).out.partition(
        " items selected"
    )[0]
    expected = f"{items}, policy debugging, query 'z\\x1b x z\\x1b x"
    assert "".join(asked.split()).startswith("".join(expected.split()))
    assert asked.endswith("...'\n2 of 3")
    found = json.loads(call("explain", items, "-b", "9", "--why", "1", "--json", "-q", "pump").out)
    assert (found["file"], found["policy"], found["query"]) == (items, "chat", "pump")


def test_explain_needs_a_budget_for_items(call: Call, items: str) -> None:
    done = call("explain", items)
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "pycupel: the following arguments are required: -b/--budget\n  pycupel explain --help lists its arguments\n"
    )


@pytest.fixture
def stored(call: Call, items: str) -> str:
    return call("explain", items, "-b", "9", "--json").out


def test_explain_reads_a_stored_report(call: Call, stored: str) -> None:
    """Issue: an error said that the content is missing."""
    shown = call("explain", "-", text=stored)
    # The file of the items is stdin, too: the line with the name of a file wraps, depending on how long its path is.
    expected = call("explain", "-", "-b", "9", text=ITEMS).out.replace("stdin, policy chat\n", "stored report stdin\n")
    assert shown.out.startswith("stored report stdin\n2 of 3 items selected")
    assert shown.out == expected.replace("\\x1b", "?").replace("\\u202e", "?")
    assert call("explain", "-", "--json", text=stored).out == stored
    assert call("explain", "-", "--html", "-", text=stored).out.startswith("<!doctype html>")


def test_explain_explains_an_item_of_a_stored_report(call: Call, stored: str) -> None:
    assert call("explain", "-", "--why", "red p", text=stored).out.startswith(
        "red pump\n  Message of 3 tokens, left out"
    )
    assert call("explain", "-", "--why", "x", text=stored).err == "pycupel: no content starts with 'x'\n"
    assert (
        call("explain", "-", "--why", "3", text=stored).out == call("explain", "-", "--why", "red p", text=stored).out
    )
    for number in ("0", "4"):
        done = call("explain", "-", "--why", number, text=stored)
        assert (done.code, done.err) == (2, f"pycupel: there is no item {number}: the report has 3\n")
    found = json.loads(call("explain", "-", "--why", "red p", "--json", text=stored).out)
    assert (found["file"], found["policy"], found["minBudget"]) == ("stdin", None, None)


@pytest.mark.parametrize("option", ["-b", "-p", "-q"])
def test_a_stored_report_cannot_be_selected_again(call: Call, stored: str, option: str) -> None:
    value = {"-b": "9", "-p": "rag", "-q": "pump"}[option]
    done = call("explain", "-", option, value, text=stored)
    assert (done.code, done.out) == (2, "")
    assert done.err == f"pycupel: stdin: is a stored report; {option} selects again, which needs the items\n"


def test_a_stored_report_is_alone_and_whole(call: Call, stored: str) -> None:
    line = json.dumps(json.loads(stored))
    assert call("explain", "-", text=f"{line}\n{line}").err == "pycupel: stdin: must contain a single stored report\n"
    done = call("explain", "-", text='{"included": [], "excluded": []}')
    assert (done.code, done.err) == (2, "pycupel: stdin: events: is missing\n")


def test_sweep(call: Call, items: str) -> None:
    points = json.loads(call("sweep", items, "-b", "3:9:3", "--json").out)
    assert [(point["budget"], point["items"]) for point in points] == [(3, 1), (6, 1), (9, 2)]
    out = call("sweep", items, "-b", "50%,100%", "--window", "12").out
    rows = [line.split()[:3] for line in out.splitlines()[2:] if line.split()[0] not in "+-"]
    assert rows == [["6", "1", "5"], ["12", "3", "12"]]


def test_sweep_takes_ten_steps_up_to_everything(call: Call, items: str) -> None:
    points = json.loads(call("sweep", items, "--json").out)
    assert [point["budget"] for point in points] == [2, 3, 4, 5, 6, 8, 9, 10, 11, 12]
    assert points[-1]["tokens"] == 12
    many = "\n".join(f'{{"content": "item {n}", "tokens": 7}}' for n in range(30))
    assert [point["budget"] for point in json.loads(call("sweep", "-", "--json", text=many).out)] == [
        *range(21, 211, 21)
    ]
    [only] = json.loads(call("sweep", "-", "--json", text='{"content": "a", "tokens": 0}').out)
    assert only["budget"] == 0


def test_sweep_says_what_enters_and_leaves(call: Call) -> None:
    large = '{"content": "large", "tokens": 6, "futureRelevanceHint": 1.0}'
    small = '{"content": "small", "tokens": 3, "futureRelevanceHint": 0.5}'
    arguments = ("sweep", "-", "-b", "3,6,9", "-p", "rag")
    out = call(*arguments, text=f"{large}\n{small}").out.splitlines()
    assert out[0] == "3 budgets, with what enters (+) and leaves (-) of 2 items"
    assert [line.strip() for line in out if line.startswith("    ") and line.split()[0] in "+-"] == [
        "+ 1: small",
        "+ 1: large",
        "- 1: small",
        "+ 1: small",
    ]
    points = json.loads(call(*arguments, "--json", text=f"{large}\n{small}").out)
    assert [(point["enters"], point["leaves"]) for point in points] == [
        ([1], []),
        ([0], [1]),
        ([1], []),
    ]


@pytest.mark.parametrize("budgets", ["1:2", "9:1:1", "1:9:0", "1:9999:1", "1:2:3:4"])
def test_wrong_ranges(call: Call, items: str, budgets: str) -> None:
    done = call("sweep", items, "-b", budgets)
    assert (done.code, "a range of budgets" in done.err) == (2, True)


def test_a_comma_in_a_sweep_is_between_budgets(call: Call, items: str) -> None:
    done = call("sweep", items, "-b", "1,000")
    assert done.code == 2
    assert "a comma separates budgets here: write 1000, not 1,000, in '1,000'" in done.err


def test_sweep_says_where_what_is_pinned_does_not_fit(call: Call) -> None:
    done = call("sweep", "-", "-b", "1", text='{"content": "a", "tokens": 3, "pinned": true}')
    assert (done.code, "too small for pinned or required items" in done.out) == (0, True)


def test_diff_exits_1_if_there_is_one(call: Call, items: str, tmp_path: Path) -> None:
    policy = tmp_path / "low.json"
    policy.write_text('{"scorers": [{"type": "kind"}], "slicerType": "greedy"}', encoding="utf-8")
    done = call("diff", items, "-b", "5", "-p", "chat", "-p", str(policy))
    assert (done.code, "DIFFERENCES" in done.out, "\\x1b[31m" in done.out) == (1, True, True)
    as_json = call("diff", items, "-b", "5", "-p", "chat", "-p", str(policy), "--json")
    assert (as_json.code, json.loads(as_json.out)["differences"][0]["selectedBy"]) == (1, [str(policy)])
    assert call("diff", items, "-b", "50", "-p", "chat", "-p", "rag").code == 0


def test_diff_needs_two_policies(call: Call, items: str) -> None:
    assert call("diff", items, "-b", "5").err == (
        "pycupel: diff compares policies: give at least two, like -p chat -p rag.toml\n"
    )


# --- chat histories


ORPHAN = json.dumps([{"role": "user", "content": "a"}, {"role": "tool", "tool_call_id": "x\x1b", "content": "42"}])


def test_trim_says_what_it_did(call: Call) -> None:
    text = json.dumps([{"role": "user", "content": f"{n} words"} for n in range(50)])
    done = call("trim", "-", "-b", "50", "--counter", "estimator", "-q", "words", text=text)
    assert len(json.loads(done.out)) < 50
    assert "pycupel: note: " in done.err
    assert done.err.endswith("tokens for openai, counted by estimator (pycupel 2)\n")


def test_trim_shortens_results_before_it_drops_them(call: Call) -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Read the logs."}]
    for n in range(6):
        function = {"name": "read", "arguments": f'{{"path": "{n}.log"}}'}
        messages.append(
            {"role": "assistant", "tool_calls": [{"id": f"c{n}", "type": "function", "function": function}]}
        )
        messages.append({"role": "tool", "tool_call_id": f"c{n}", "content": f"line of log {n}\n" * 200})
    arguments = ("trim", "-", "-b", "5000", "--counter", "estimator", "-p")
    dropped, shortened = (
        json.loads(call(*arguments, policy, text=json.dumps(messages)).out) for policy in ("chat+drop", "chat")
    )
    assert len(dropped) < len(shortened) == len(messages)
    assert "unknown preset 'chta'" in call(*arguments, "chta+drop", text="[]").err


def test_a_share_is_one_of_the_window_of_the_model_in_the_file(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "request.json"
    path.write_text('{"model": "gpt-4o", "messages": [{"role": "user", "content": "Hi."}]}', encoding="utf-8")
    found = json.loads(call("context", str(path), "-b", "50%", "-p", "chat", "--json").out)
    assert found["instead"]["budget"] == 64_000
    other = json.loads(call("context", str(path), "-b", "50%", "--window", "100", "-p", "chat", "--json").out)
    assert other["instead"]["budget"] == 50
    assert call("trim", str(path), "-b", "50%").code == 0
    assert call("trim", str(path), "-b", "0.001%").code == 3


@pytest.mark.parametrize(
    ("limits", "reply"),
    [
        ({"max_tokens": 60}, 60),
        ({"max_completion_tokens": 60, "max_tokens": None}, 60),
        ({"max_output_tokens": 60}, 60),
        ({"generationConfig": {"maxOutputTokens": 60}}, 60),
        ({"max_tokens": 20}, 20),
        ({"max_tokens": True, "config": "fast"}, 0),
        ({}, 0),
    ],
)
def test_a_share_of_the_window_leaves_room_for_the_reply(call: Call, limits: dict[str, Any], reply: int) -> None:
    messages = [{"role": ("user", "assistant")[n % 2], "content": f"{n} words"} for n in range(9)]
    request = json.dumps({"messages": messages, **limits})

    def trimmed(budget: str) -> Any:
        return call("trim", "-", "-b", budget, "--window", "100", "--counter", "estimator", text=request)

    done, room = trimmed("80%"), min(80, 100 - reply)
    assert done.out == trimmed(str(room)).out
    note = f"note: the budget is {room} tokens, not 80, because the request asks for a reply of up to {reply}"
    assert (note in done.err) == (reply > 20)
    assert done.code == 0
    assert "the budget is" not in trimmed("80").err


@pytest.mark.parametrize("reply", [100, 5_000])
def test_a_reply_that_leaves_nothing_of_the_window(call: Call, reply: int) -> None:
    request = json.dumps({"messages": [{"role": "user", "content": "Hello"}], "max_tokens": reply})
    done = call("trim", "-", "-b", "80%", "--window", "100", text=request)
    assert (done.code, done.out) == (2, "")
    assert f"asks for a reply of up to {reply:,} tokens, which leaves nothing of the window of 100; lower" in done.err
    assert call("trim", "-", "-b", "80", "--window", "100", text=request).code == 0
    assert call("trim", "-", "-b", "80%", "--window", "0", text=request).code == 2


def test_trim_refuses_a_wrong_budget_before_it_reads(call: Call) -> None:
    assert "the budget must be a number of tokens or a share like 50%, not 'abc'" in call("trim", "-", "-b", "abc").err


def test_trim_exits_3_if_what_must_stay_does_not_fit(call: Call) -> None:
    done = call("trim", "-", "-b", "1", text='[{"role": "user", "content": "a long question"}]')
    assert (done.code, done.out) == (3, "")
    assert "Raise -b, or shorten" in done.err
    system = json.dumps({"system": "word " * 90, "messages": [{"role": "user", "content": "a"}]})
    assert "Raise -b, or shorten the system prompt." in call("trim", "-", "-b", "20", text=system).err


def test_trim_gives_no_hints_at_arguments_that_it_does_not_have(call: Call) -> None:
    messages = json.loads(call("demo", "messages").out)
    done = call("trim", "-", "-b", "100", text=json.dumps(messages))
    assert done.code == 3
    assert "Raise -b, or shorten" in done.err
    assert "too_large" not in done.err
    assert "pin less" not in done.err


def test_trim_counts_what_stands_beside_the_messages(call: Call) -> None:
    request = {"model": "claude-sonnet-4-5", "system": "word " * 50, "messages": [{"role": "user", "content": "hello"}]}
    for option in ([], ["--model", "claude-haiku-4-5"]):
        done = call("trim", "-", "-b", "40", *option, text=json.dumps(request))
        assert (done.code, "needs" in done.err) == (3, True)
        assert json.loads(call("trim", "-", "-b", "200", *option, text=json.dumps(request)).out) == request


def test_trim_and_count_agree_on_the_whole_request(call: Call, tmp_path: Path) -> None:
    tool = {"name": "f", "description": "Finds.", "input_schema": {"type": "object"}}
    messages = [{"role": "user", "content": "hello"}]
    request = {"model": "claude-sonnet-4-5", "system": "word " * 900, "tools": [tool], "messages": messages}
    path = tmp_path / "request.json"
    path.write_text(json.dumps(request), encoding="utf-8")
    counted = json.loads(call("count", str(path), "--json").out)
    assert counted["total"] > 900
    assert counted["files"][0]["reply"] == 3
    assert "; the start of the reply adds 3\n" in call("count", str(path)).err
    done = call("trim", str(path), "-b", "9000")
    assert f" messages, {counted['total']:,} tokens for anthropic, counted by " in done.err


def test_lint_exits_1_if_there_are_findings(call: Call) -> None:
    done = call("lint", "-", text=ORPHAN)
    assert done.code == 1
    assert done.out.startswith("messages[1]: error orphan-tool-result\n  the tool result 'x\\x1b'")
    assert done.err == "pycupel: 1 finding in 2 messages\n"
    found = json.loads(call("lint", "-", "--json", text=ORPHAN).out)
    assert (found[0]["record"], found[0]["rule"]) == (1, "orphan-tool-result")


def test_lint_can_leave_out_warnings(call: Call) -> None:
    text = json.dumps([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}])
    assert call("lint", "-", "--provider", "anthropic", text=text).code == 1
    assert call("lint", "-", "--provider", "anthropic", "--errors-only", text=text) == (
        0,
        "",
        "pycupel: 0 findings in 2 messages\n",
    )


def test_lint_reads_what_stands_beside_the_messages(call: Call) -> None:
    """The model decides whose rules apply, and tools have rules of their own."""
    tool = {"name": "look", "input_schema": {"type": "object"}}
    messages = [{"role": "assistant", "content": "Hello."}, {"role": "user", "content": "Hi."}]
    request = {"model": "claude-sonnet-4-5", "tools": [tool, tool], "messages": messages}
    done = call("lint", "-", "--errors-only", text=json.dumps(request))
    assert done.code == 1
    assert done.out.startswith("outside the messages: error duplicate-tool")
    assert "messages[0]: error first-not-user" in done.out


def test_lint_continues_after_a_record_that_cannot_be_read(call: Call) -> None:
    odd = {"messages": [{"content": "Hi."}]}
    orphan = {"messages": [{"role": "user", "content": "Hi."}, {"role": "tool", "tool_call_id": "1", "content": "a"}]}
    done = call("lint", "-", text=f"{json.dumps(odd)}\n{json.dumps(orphan)}")
    assert done.code == 1
    assert "record 1, messages[0]: error unknown-shape" in done.out
    assert "record 2, messages[1]: error orphan-tool-result" in done.out
    alone = call("lint", "-", text=json.dumps(odd))
    assert (alone.code, "messages[0].role" in alone.err) == (2, True)


def test_lint_names_the_record_if_there_are_several(call: Call) -> None:
    text = f'{{"messages": [{{"role": "user", "content": "a"}}]}}\n{{"messages": {ORPHAN}}}'
    assert call("lint", "-", text=text).out.startswith("record 2, messages[1]: error")


# --- counting


@pytest.mark.parametrize(
    ("text", "what", "tokens"),
    [
        ("How many tokens is this?", "text", 6),
        ("", "text", 0),
        ("{}", "text", 1),
        ("7", "text", 1),
        (ITEMS, "3 items", 11),
        ('[{"role": "user", "content": "hello"}]', "1 message", 8),
        ('[{"type": "message", "role": "user", "content": "hello"}]', "1 message", 8),
        ('{"type": "user", "message": {"role": "user", "content": "hello"}}', "text", 20),
    ],
)
def test_count_knows_what_a_file_is(call: Call, text: str, what: str, tokens: int) -> None:
    found = json.loads(call("count", "-", "--json", "--counter", "estimator", text=text).out)
    assert (found["files"][0]["what"], abs(found["total"] - tokens) <= 2) == (what, True)


def test_count_says_if_a_text_looks_like_something_else(call: Call) -> None:
    text = '{"type": "user", "message": {"role": "user", "content": "hello"}}'
    counted = "pycupel: counted by estimator (pycupel 2), an estimate\n"
    done = call("count", "-", "--counter", "estimator", text=text)
    assert done.err == (
        "pycupel: stdin: counted as plain text\n"
        "  This looks like an agent's transcript, which `pycupel context` reads.\n"
        f"{counted}"
    )
    assert call("count", "-", "--as", "text", "--counter", "estimator", text=text).err == counted


def test_count_counts_what_stands_beside_the_messages(call: Call) -> None:
    request: dict[str, object] = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hello"}]}
    beside = {"tools": [{"name": "f"}], "system": "Be brief."}
    alone, whole = (
        json.loads(call("count", "-", "--json", "--counter", "estimator", text=json.dumps(each)).out)
        for each in (request, {**request, **beside})
    )
    assert alone["files"][0]["what"] == whole["files"][0]["what"] == "1 message"
    assert alone["total"] + 10 < whole["total"]


def test_count_takes_the_counter_of_the_model(call: Call) -> None:
    """As `trim` and `count_messages` do."""
    messages = [{"role": "user", "content": "Where is the parts list for pump P-7? " * 50}]
    request = {"model": "claude-opus-4-7", "messages": messages}
    done = json.loads(call("count", "-", "--json", text=json.dumps(request)).out)
    assert done["total"] == count_messages(messages, model="claude-opus-4-7")
    assert (done["counter"].partition(" (")[0], done["exact"]) == ("estimator for anthropic", False)


def test_a_text_may_stand_for_the_messages_of_a_request(call: Call) -> None:
    for key in ("input", "contents"):
        done = call("count", "-", "--counter", "estimator", "--json", text=json.dumps({key: "one two " * 100}))
        assert json.loads(done.out)["total"] > 150
    wrong = call("lint", "-", text='{"messages": 5}')
    assert (wrong.code, "messages must be a list of messages, not 5" in wrong.err) == (2, True)


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("items", '{"contnet": "a"}', "record 1: an item needs a string field 'content'"),
        ("items", '{"items": [{"content": "a"}]}', "which `pycupel batch` reads"),
        ("messages", '{"content": "a", "tokens": 3}', "which `pycupel select` reads"),
    ],
)
def test_count_refuses_what_is_something_else(call: Call, kind: str, text: str, message: str) -> None:
    done = call("count", "--as", kind, "-", text=text)
    assert (done.code, message in done.err) == (2, True)


def test_count_can_be_told_what_a_file_is(call: Call) -> None:
    text = '[{"role": "user", "content": "hello"}]'
    counts = {
        kind: json.loads(call("count", "-", "--as", kind, "--json", text=text).out)["total"]
        for kind in ("text", "items", "messages")
    }
    assert counts["items"] < counts["messages"] < counts["text"]


def test_count_says_what_is_wrong_with_messages(call: Call) -> None:
    done = call("count", "-", "--as", "messages", "--provider", "opnai", text='[{"role": "user", "content": "hello"}]')
    assert (done.code, "did you mean 'openai'?" in done.err) == (2, True)


def test_an_error_about_a_message_names_the_file(call: Call, items: str, tmp_path: Path) -> None:
    """Issue: with several files, `count` did not say which one; `trim` and `lint` in a loop did not, either."""
    wrong = tmp_path / "wrong.json"
    wrong.write_text('[{"type": "reasoning", "encrypted_content": 5}]', encoding="utf-8")
    calls = [
        ["count", items, str(wrong)],
        ["trim", str(wrong), "-b", "9"],
        ["lint", str(wrong)],
        ["context", str(wrong)],
    ]
    for arguments in calls:
        done = call(*arguments)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith(f"pycupel: {wrong}: messages[0].")


def test_count_adds_up(call: Call, items: str, tmp_path: Path) -> None:
    done = call("count", items, items.replace("items.jsonl", ".") + "/items.jsonl", "--counter", "o200k_base")
    first, second, total = [line.split() for line in done.out.splitlines()[1:]]
    assert first[:3] == second[:3] == ["11", "3", "items"]
    assert total == ["22", "total"]
    one, other, counted = done.err.splitlines()
    assert one == f"pycupel: {items}: counted from the contents; the items themselves say 12"
    assert other.endswith("items.jsonl: counted from the contents; the items themselves say 12")
    assert re.fullmatch(r"pycupel: counted by o200k_base \((?:splintr-rs|tiktoken) [\d.]+\)", counted)
    assert len(call("count", items, items).out.splitlines()) == 4
    assert "an estimate" in call("count", items, "--counter", "estimator").err


# --- policies


def test_policies_are_listed(call: Call) -> None:
    assert call("policy", "list").out.startswith("chat          Conversations: ")
    assert [each["name"] for each in json.loads(call("policy", "list", "--json").out)][:2] == ["chat", "code-review"]


def test_policies_are_shown_converted_and_checked(call: Call, tmp_path: Path) -> None:
    target = tmp_path / "rag.toml"
    assert call("policy", "convert", "rag", str(target)) == (0, "", "")
    assert call("policy", "show", str(target)).out == call("policy", "show", "rag").out
    assert call("policy", "show", "rag", "--format", "toml").out == target.read_text(encoding="utf-8")
    assert call("policy", "check", str(target)) == (0, f"{target}: fine\n", "")
    assert json.loads(call("policy", "schema").out)["title"] == "Cupel policy"


def test_all_files_are_checked_and_all_mistakes_told(call: Call, tmp_path: Path) -> None:
    wrong = tmp_path / "five.json"
    wrong.write_text(
        '{"scorers": [{"type": "recencyy", "weight": -1}], "slicerTyp": 0, "placerType": 1, "deduplicationEnabled": 3}',
        encoding="utf-8",
    )
    right = tmp_path / "rag.json"
    call("policy", "convert", "rag", str(right))
    done = call("policy", "check", str(wrong), str(tmp_path / "nothing.json"), str(right))
    assert (done.code, done.out) == (2, f"{right}: fine\n")
    assert "there are 5 mistakes in the policy" in done.err
    assert done.err.splitlines()[-1] == f"pycupel: {tmp_path / 'nothing.json'}: no such file or directory"


# --- conformance, completion, demo


def test_conformance(call: Call, tmp_path: Path) -> None:
    vector = call("demo", "vector").out
    (tmp_path / "a.toml").write_text(vector, encoding="utf-8")
    assert "1 of 1 vectors passed" in call("conformance", str(tmp_path)).out
    assert "passed  a.toml" in call("conformance", str(tmp_path), "-v", "--suite", "mine").out
    assert json.loads(call("conformance", str(tmp_path), "--json").out)["tiers"] == {"other": {"passed": 1, "total": 1}}
    (tmp_path / "b.toml").write_text(vector.replace("score_approx = 1.0", "score_approx = 0.5"), encoding="utf-8")
    assert call("conformance", str(tmp_path)).code == 1
    done = call("conformance", str(tmp_path), "--json")
    assert (done.code, json.loads(done.out)["failures"][0]["path"]) == (1, "b.toml")
    for more in ([], ["--json"]):
        missing = call("conformance", str(tmp_path / "x"), *more)
        assert (missing.code, missing.err) == (2, f"pycupel: no such directory: {tmp_path / 'x'}\n")
        (tmp_path / "empty").mkdir(exist_ok=True)
        file = call("conformance", str(tmp_path / "a.toml"), *more)
        assert (file.code, "a.toml is a file; pass the directory that contains it" in file.err) == (2, True)
        empty = call("conformance", str(tmp_path / "empty"), *more)
        assert empty.code == 1
        assert empty.err == f"pycupel: warning: no vectors (*.toml) found in {tmp_path / 'empty'}\n"


def test_completion_knows_verbs_options_and_names(call: Call) -> None:
    bash = call("completion", "bash").out
    assert f'words="{" ".join(VERBS)} --help --version"' in bash
    assert "context) words=" in bash
    assert '--policy) words="chat code-review' in bash
    fish = call("completion", "fish").out
    assert f"-n __fish_use_subcommand -xa '{' '.join(VERBS)}'" in fish
    assert "-s p -l policy -xa 'chat code-review" in fish
    assert "'__fish_seen_subcommand_from context' -a '" in fish
    assert call("completion", "zsh").out == (
        "autoload -U +X compinit && compinit -u\nautoload -U +X bashcompinit && bashcompinit\n" + bash
    )


def test_demo(call: Call) -> None:
    out = call("demo").out
    assert "TRY NEXT" in out
    assert len(out.splitlines()) <= 36, "a screen of 24 lines, and a half"
    assert max(map(len, out.splitlines())) <= 80
    assert len(call("demo", "items").out.splitlines()) == 45
    history = json.loads(call("demo", "messages").out)
    assert call("lint", "-", text=json.dumps(history)).code == 0
    assert len(call("demo", "requests").out.splitlines()) == 9
    assert len(call("demo", "transcript").out.splitlines()) == 132


def test_the_demonstration_fits_a_narrow_terminal(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    shown, _, _ = call("demo").out.partition("TRY NEXT")
    assert max(map(len, shown.splitlines())) <= 60


PINNED = [f'{{"content": "prompt {n}", "tokens": {10 * n}, "pinned": true}}' for n in range(1, 6)]


@pytest.mark.parametrize("verb", ["select", "explain", "diff"])
def test_a_budget_below_the_pinned_items_names_them_and_the_option(call: Call, verb: str) -> None:
    """Issue: it said "raise max_tokens", which is no option of the command line."""
    policies = ("-p", "chat", "-p", "rag") if verb == "diff" else ()
    done = call(verb, "-", "-b", "20", *policies, text="\n".join(PINNED))
    assert (done.code, done.out) == (3, "")
    named = "'prompt 5' (50 tokens), 'prompt 4' (40 tokens), 'prompt 3' (30 tokens), 2 more"
    assert done.err.endswith(f"\n  Raise -b to 150 or more, or pin less: {named}.\n")


def test_a_budget_below_what_is_required_names_the_option(call: Call, tmp_path: Path) -> None:
    policy = tmp_path / "required.json"
    slicer = {"type": "countQuota", "entries": [{"kind": "Message", "requireCount": 2, "capCount": 9}]}
    document = {"scorers": [{"type": "recency", "weight": 1}], "slicer": slicer}
    policy.write_text(json.dumps(document), encoding="utf-8")
    items = '{"content": "a", "tokens": 30}\n{"content": "b", "tokens": 40}'
    done = call("select", "-", "-b", "20", "-p", str(policy), text=items)
    assert (done.code, done.err.endswith("\n  Raise -b to 70 or more, or pin less.\n")) == (3, True), done.err


def test_count_says_if_items_claim_another_number(call: Call) -> None:
    """Issue: `count` had 2,360 tokens where the other verbs had 16,075."""
    done = call("count", "-", "--counter", "estimator", text='{"content": "a b", "tokens": 70}\n{"content": "c"}')
    assert "stdin: counted from the contents; the items themselves say 70\n" in done.err
    assert "themselves" not in call("count", "-", text='{"content": "a"}').err


# --- requests of Bedrock


def test_a_request_of_bedrock(call: Call) -> None:
    messages = [{"role": "user", "content": [{"text": "Hi."}]}]
    tools = {"tools": [{"toolSpec": {"name": "look", "inputSchema": {"json": {"type": "object"}}}}]}
    request = {"modelId": "anthropic.claude-sonnet-4-5", "system": [{"text": "Be brief."}], "messages": messages}
    text = json.dumps({**request, "toolConfig": tools, "inferenceConfig": {"maxTokens": 500}})
    assert call("count", "-", text=text).code == 0
    assert call("lint", "-", text=text).code == 0
    assert json.loads(call("trim", "-", "-b", "4000", text=text).out) == json.loads(text)


def test_count_takes_a_model(call: Call) -> None:
    """For texts and items as for messages; a counter that is named goes before it."""
    for text in ("hello", '{"content": "hello"}', '[{"role": "user", "content": "hello"}]'):
        counters = [
            json.loads(call("count", "-", "--json", *options, text=text).out)["counter"]
            for options in ((), ("--model", "gpt-4"), ("--model", "gpt-4", "--counter", "estimator"))
        ]
        assert "cl100k_base" in counters[1]
        assert counters[0] != counters[1]
        assert "estimator" in counters[2]


class TestImport:
    """`--import MODULE`: strategies that a module of the user registers."""

    POLICY = '{"scorers": [{"type": "%s"}], "slicerType": "greedy"}'

    @pytest.fixture(autouse=True)
    def _here(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "path", [each for each in sys.path if each])
        yield
        for name in ("my_scorers", "my_broken"):
            sys.modules.pop(name, None)
        # The registry has no way to forget a name, except where it keeps them.
        registered: Any = SCORERS
        registered._names.pop("shortestfirst", None)
        registered._entries.pop("shortestfirst", None)

    def test_its_strategies_can_be_named(self, call: Call, items: str, tmp_path: Path) -> None:
        (tmp_path / "my_scorers.py").write_text(
            "from pycupel.registry import SCORERS\n"
            "class ShortestFirst:\n"
            "    def score(self, item, all_items):\n"
            "        return -item.tokens\n"
            "SCORERS.register('shortestFirst', ShortestFirst)\n",
            encoding="utf-8",
        )
        (tmp_path / "own.json").write_text(self.POLICY % "shortestFirst", encoding="utf-8")
        done = call("select", items, "-b", "5", "-p", "own.json")
        assert done.code == 2
        assert "pass --import MODULE to the command line" in done.err
        assert "entry point in pycupel.scorers" in done.err
        for _ in range(2):
            assert call("select", items, "-b", "5", "-p", "own.json", "--import", "my_scorers").code == 0

    def test_a_misspelt_one_is_corrected_instead(self, call: Call, items: str, tmp_path: Path) -> None:
        (tmp_path / "own.json").write_text(self.POLICY % "recensy", encoding="utf-8")
        assert "--import" not in call("select", items, "-b", "5", "-p", "own.json").err

    def test_a_module_that_is_missing_is_a_mistake(self, call: Call, items: str, tmp_path: Path) -> None:
        done = call("select", items, "-b", "5", "--import", "no_such.thing")
        assert (done.code, done.err) == (
            2,
            "pycupel: --import no_such.thing: there is no such module here or among the installed ones\n",
        )
        (tmp_path / "my_broken.py").write_text("import no_such_either", encoding="utf-8")
        with pytest.raises(ModuleNotFoundError, match="no_such_either"):
            call("select", items, "-b", "5", "--import", "my_broken")
