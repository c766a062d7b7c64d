"""What the verbs make of files: right ones, and wrong ones."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tests.cli.calls import Call

ITEM = '{"content": "a", "tokens": 3}'


@pytest.mark.parametrize(
    "text", [ITEM, f"{ITEM}\n", f"[{ITEM}]", f"[\n{ITEM}\n]\n", f"\ufeff{ITEM}", f"\n\n{ITEM}\n\n"]
)
def test_arrays_and_lines_are_told_apart(call: Call, text: str) -> None:
    done = call("select", "-", "-b", "5", "--quiet", text=text)
    assert (done.code, json.loads(done.out)["content"], done.err) == (0, "a", "")


def test_files_may_be_compressed(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl.gz"
    path.write_bytes(gzip.compress(ITEM.encode()))
    assert call("select", str(path), "-b", "5").code == 0
    path.write_bytes(b"not compressed")
    assert call("select", str(path), "-b", "5").err.startswith(f"pycupel: {path}: cannot be decompressed: ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "stdin: is empty"),
        (" \n", "stdin: is empty"),
        ("[]", "stdin: is empty"),
        (b"\xff\xfe\x00", "stdin: is not a UTF-8 text file: invalid start byte"),
        (b'{"content": "\x00"}', "stdin: is not a text file: it contains NUL characters"),
        ("hello", "stdin: invalid JSON: Expecting value at line 1, column 1"),
        (f"{ITEM}\n{{", "stdin: invalid JSON: Expecting property name enclosed in double quotes at line 2, column 2"),
        ("7", "stdin: record 1, line 1: must be an object, not 7 (int)"),
        (f"[{ITEM},\n7]", "stdin: record 2, line 2: must be an object, not 7 (int)"),
        ('{"content": 7}', "stdin: record 1, line 1: content: must be a string, not 7 (int)"),
        ('{"tokens": 7}', "stdin: record 1, line 1: content: is missing"),
        (
            '{"contents": "a", "tokens": 7}',
            "stdin: record 1, line 1: content: is missing; 'contents' is unknown: did you mean 'content'?",
        ),
        (
            f'{ITEM}\n{{"content": "a", "tokens": 1, "pinned": "x"}}',
            "stdin: record 2, line 2: pinned: must be true or false, not 'x' (str)",
        ),
    ],
)
def test_a_wrong_input_is_one_message(call: Call, text: str | bytes, message: str) -> None:
    done = call("select", "-", "-b", "5", text=text)
    assert (done.code, done.out, done.err) == (2, "", f"pycupel: {message}\n")


READERS = {
    "trim": ['[{"role": "user", "content": ""}]', '{"messages": []}', '{"contents": [], "model": "gemini"}'],
    "context": ['{"type": "user", "message": {}}', '{"type": "response_item", "payload": {}}'],
    "batch": ['{"id": 1, "items": [], "budget": 5}'],
    "select": [ITEM, f"[{ITEM}]"],
    "explain": ['{"included": [], "excluded": []}'],
}
"""Files by the verb that reads them."""


@pytest.mark.parametrize(("reader", "text"), [(verb, text) for verb, texts in READERS.items() for text in texts])
def test_an_error_names_the_verb_that_reads_such_a_file(call: Call, reader: str, text: str) -> None:
    """Issue: `select` on a chat history said only that a content is empty, `trim` on items that a role is missing."""
    for verb, arguments in {"select": ("-b", "5"), "trim": ("-b", "5"), "lint": ()}.items():
        if reader == verb or (reader, verb) == ("trim", "lint"):
            continue
        done = call(verb, "-", *arguments, text=text)
        assert (done.code, done.out) == (2, "")
        assert done.err.endswith(f", which `pycupel {reader}` reads.\n")


def test_a_history_that_could_be_items_is_a_warning(call: Call) -> None:
    done = call("select", "-", "-b", "5", "--quiet", text='{"role": "user", "content": "a", "tokens": 1}')
    assert done.code == 0
    assert done.err == (
        "pycupel: warning: unknown key 'role', first in record 1\n"
        "  This looks like a chat history, which `pycupel trim` reads.\n"
    )


def test_items_without_tokens_are_counted_and_it_is_said_by_what(call: Call) -> None:
    text = f'{{"content": "How many tokens is this?"}}\n{{"content": "b", "tokens": null}}\n{ITEM}'
    done = call("select", "-", "-b", "50", "--counter", "estimator", text=text)
    assert [json.loads(line)["tokens"] for line in done.out.splitlines()] == [6, 1, 3]
    assert done.err == (
        "pycupel: counted the tokens of 2 items without a token count, with estimator (pycupel 2)\n"
        "pycupel: 3 of 3 items, 10 of 50 tokens\n"
    )


def test_items_without_tokens_are_counted_for_the_model(call: Call) -> None:
    text = '["How many tokens is this?"]'
    for options in (["--model", "claude-sonnet-4-5"], ["--counter", "claude-sonnet-4-5"]):
        done = call("select", "-", "-b", "50", *options, text=text)
        assert "without a token count, with estimator for anthropic (pycupel 2)\n" in done.err


def test_a_pair_of_a_document_and_a_score_is_refused_with_a_remedy(call: Call) -> None:
    done = call("select", "-", "-b", "50", text='[["a text", 0.5]]')
    assert done.code == 2
    assert done.err.startswith(
        "pycupel: stdin: record 1, line 1 is a pair of a document and something else; put a score into a hint: pass a "
        "dict with text and score"
    )


def test_a_wrong_counter_is_an_error_even_if_nothing_is_counted(call: Call) -> None:
    done = call("select", "-", "-b", "50", "--counter", "nope", text=ITEM)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("pycupel: unknown counter 'nope'; choose from auto, estimator, ")
    assert call("select", "-", "-b", "50", "--counter", "estimator", text=ITEM).code == 0


def test_an_unknown_key_is_one_warning(call: Call) -> None:
    text = "\n".join(f'{{"content": "{n}", "tokens": 1, "kinds": 1, "x{n}": 1}}' for n in range(6))
    done = call("select", "-", "-b", "5", "--quiet", text=text)
    warnings = done.err.splitlines()
    assert (done.code, len(warnings)) == (0, 6)
    assert "pycupel: warning: unknown key 'kinds', first in record 1; did you mean 'kind'?" in warnings
    assert warnings[-1] == "pycupel: warning: 2 more unknown keys"


def test_strict_refuses_an_unknown_key(call: Call) -> None:
    done = call("select", "-", "-b", "5", "--strict", text='{"content": "a", "tokens": 1, "kinds": 1}')
    assert done.code == 2
    assert done.err == "pycupel: stdin: record 1, line 1: 'kinds': unknown key; did you mean 'kind'?\n"


@pytest.mark.parametrize("verb", ["select", "explain", "sweep", "context", "replay", "count", "trim", "lint"])
def test_missing_files_and_directories_are_one_message(call: Call, tmp_path: Path, verb: str) -> None:
    budget = [] if verb in {"count", "lint"} else ["-b", "10"]
    # Of a folder, `context` shows the newest session.
    folder = "no sessions (*.jsonl) found" if verb == "context" else "is a directory"
    for path, problem in ((tmp_path / "nothing", "no such file or directory"), (tmp_path, folder)):
        done = call(verb, str(path), *budget)
        assert (done.code, done.err) == (2, f"pycupel: {path}: {problem}\n")


MESSAGE = {"role": "user", "content": "hello"}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([MESSAGE]),
        json.dumps(MESSAGE),
        json.dumps({"model": "gpt-4o", "messages": [MESSAGE]}),
        json.dumps({"model": "gpt-4o", "messages": [MESSAGE]}, indent=2),
        json.dumps({"input": [MESSAGE]}),
        json.dumps({"contents": [{"role": "user", "parts": [{"text": "hello"}]}]}),
        f"{json.dumps(MESSAGE)}\n{json.dumps(MESSAGE)}\n",
    ],
)
def test_a_history_is_written_in_the_shape_in_which_it_came(call: Call, text: str) -> None:
    done = call("trim", "-", "-b", "100", text=text)
    assert done.code == 0
    given = [json.loads(line) for line in text.splitlines()] if text.count("\n") == 2 else [json.loads(text)]
    expected = [[MESSAGE]] if given == [MESSAGE] else given
    assert [json.loads(line) for line in done.out.splitlines()] == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1]", "stdin: record 1, line 1: a message or a request must be an object"),
        ('{"messages": []}\n{"message": []}', "stdin: record 2, line 2: has no messages, but other records do"),
        (
            '{"messages": []}\n{"messages": []}',
            "stdin: has 2 requests, but trim takes one\n  `pycupel batch` selects for every request of a log.",
        ),
    ],
)
def test_what_is_no_history(call: Call, text: str, message: str) -> None:
    assert call("trim", "-", "-b", "100", text=text)[::2] == (2, f"pycupel: {message}\n")


STREAMING = [
    ("select", "-b", "5"),
    ("explain", "-b", "5"),
    ("sweep", "-b", "5"),
    ("diff", "-b", "5", "-p", "chat", "-p", "rag"),
    ("trim", "-b", "5"),
    ("lint",),
    ("count",),
    ("context",),
    ("replay", "-b", "5"),
]


@pytest.mark.parametrize("verb", STREAMING, ids=lambda verb: verb[0])
def test_an_endless_line_is_an_error(call: Call, tmp_path: Path, verb: tuple[str, ...]) -> None:
    """`/dev/zero` and an archive of a few kilobytes filled the memory."""
    bomb = tmp_path / "bomb.jsonl.gz"
    bomb.write_bytes(gzip.compress(b'{"content": "' + b"x" * 2_000_000))
    for path in ["/dev/zero"] * Path("/dev/zero").exists() + [str(bomb)]:
        done = call(verb[0], path, *verb[1:], "--max-line", "100000")
        assert (done.code, done.out) == (2, "")
        assert done.err == (
            f"pycupel: {path}: line 1 is longer than 100,000, the limit for a line\n"
            "  Raise the limit with max_line= or --max-line if it has to be that long.\n"
        )


def test_the_longest_line_may_be_chosen(call: Call) -> None:
    line = json.dumps({"content": "x" * 50, "tokens": 3})
    for longest, code in ((len(line), 0), (len(line) - 1, 2), (10**30, 0)):
        assert call("select", "-", "-b", "5", "--max-line", str(longest), text=line).code == code
    for longest in (0, -1):
        done = call("select", "-", "-b", "5", f"--max-line={longest}", text=line)
        assert (done.code, done.err) == (2, f"pycupel: --max-line must be 1 or more, not {longest}\n")
    assert "--max-line N" in call("select", "--help").out
    assert "default: 256 MiB" in call("select", "--help").out


@pytest.mark.parametrize("verb", [("trim", "-b", "50"), ("lint",), ("count",)], ids=lambda verb: verb[0])
@pytest.mark.parametrize("key", ["system", "instructions", "systemInstruction"])
def test_a_system_prompt_that_is_none_is_an_error(call: Call, verb: tuple[str, ...], key: str) -> None:
    """It was a traceback."""
    text = json.dumps({"messages": [{"role": "user", "content": "a"}], key: 5})
    done = call(verb[0], "-", *verb[1:], text=text)
    assert (done.code, done.out, done.err) == (
        2,
        "",
        "pycupel: stdin: record 1: the system prompt must be a string, blocks or a message, not 5 (int)\n",
    )


@pytest.mark.parametrize("verb", ["context", "replay"])
@pytest.mark.parametrize("system", [5, True, 0.5])
def test_a_logged_request_with_such_a_system_prompt_is_skipped(call: Call, verb: str, system: object) -> None:
    """It was a traceback, too."""
    sound = {"model": "gpt-5", "messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}
    lines = [json.dumps(each) for each in (sound, {**sound, "system": system})]
    budget = ("-b", "100") if verb == "replay" else ()
    assert call(verb, "-", *budget, text="\n".join(lines)) == call(verb, "-", *budget, text=lines[0])
    done = call(verb, "-", *budget, text=lines[1])
    assert (done.code, done.out) == (2, "")
