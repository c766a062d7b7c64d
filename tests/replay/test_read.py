"""Reading a log: from paths and lines, torn or compressed, and real ones where they are beside the project."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from collections.abc import Callable
from functools import partial
from inspect import signature
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from pycupel.codecs.json_values import MAX_LINE, limited_lines
from pycupel.errors import DocumentError
from pycupel.messages import lint_messages
from pycupel.replay import History, Log, read_log

HELLO = {"role": "user", "content": "hello ä"}
LINE = json.dumps({"messages": [HELLO]}, ensure_ascii=False)
HISTORIES = sorted((Path(__file__).parents[3] / "shared/histories").glob("*.jsonl.xz"))


@pytest.mark.parametrize(
    ("suffix", "pack"), [("", bytes), (".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)]
)
def test_a_file_may_be_compressed(tmp_path: Path, suffix: str, pack: Callable[[bytes], bytes]) -> None:
    path = tmp_path / f"log.jsonl{suffix}"
    path.write_bytes(pack(LINE.encode()))
    assert read_log(path) == read_log(str(path)) == Log((History((HELLO,), "openai"),))


def test_lines_may_be_str_or_bytes() -> None:
    assert read_log([LINE]) == read_log([LINE.encode()]) == Log((History((HELLO,), "openai"),))


def test_lines_that_are_no_objects_are_counted_and_skipped() -> None:
    torn = LINE.encode()[:-8]
    lines = [torn, b"", b" \n", b"[]", b"7", b'{"a": "\xff"}', b"[" * 100_000, LINE.encode(), torn[:-14]]
    log = read_log(lines)
    assert [history.messages for history in log.histories] == [(HELLO,)]
    assert log.skipped_lines == 6


def test_a_line_that_is_nested_too_deeply_is_skipped_wherever_that_is_found() -> None:
    """In parsing it, or in telling conversations apart; how deep that is depends on the stack."""
    for depth in (10, *range(600, 1_000, 3), 100_000):
        line = f'{{"messages": [{{"role": "user", "content": {"[" * depth}{"]" * depth}}}]}}'
        log = read_log([LINE, line])
        assert (HELLO,) in [history.messages for history in log.histories]
        assert log.skipped_lines + len(log.histories) == 2


def test_a_row_that_a_reader_cannot_walk_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pycupel.replay.log.json.dumps", endless)
    log = read_log([LINE])
    assert log == Log((), skipped_lines=1)


def endless(*_: Any, **__: Any) -> str:
    raise RecursionError


@pytest.mark.parametrize("odd", [[], {}, 5, None, True, [["x"]]])
def test_ids_and_types_may_be_anything(odd: Any) -> None:
    """No list in a set: what is no string is no id."""
    call = {"type": "tool_use", "id": odd, "name": "look", "input": {}}
    rows = [
        {"type": odd, "sessionId": odd, "message": {"content": "x"}},
        {"type": "user", "sessionId": odd, "uuid": odd, "message": {"role": "user", "content": "go"}},
        {"type": "assistant", "sessionId": odd, "uuid": odd, "message": {"id": odd, "content": [call, {"type": odd}]}},
        {
            "type": "user",
            "isSidechain": True,
            "uuid": odd,
            "parentUuid": odd,
            "agentId": odd,
            "message": {"content": "a"},
        },
        {"type": "user", "sessionId": odd, "message": {"content": [{"type": "tool_result", "tool_use_id": odd}]}},
        {"messages": [{"role": odd, "content": [{"type": odd}]}], "model": odd, "id": odd},
        {"type": "message", "role": "user", "content": [{"type": odd}]},
        {"type": "response_item", "payload": {"type": "function_call", "call_id": odd}},
        {"type": "response_item", "payload": {"type": "function_call_output", "call_id": odd}},
        {"type": odd, "payload": odd},
    ]
    assert read_log(map(json.dumps, rows)).skipped_lines == 0


def test_an_empty_log_has_no_histories() -> None:
    assert read_log([]) == Log(())


@pytest.mark.parametrize("source", [None, 7, b"log.jsonl"])
def test_anything_else_is_refused(source: Any) -> None:
    with pytest.raises(TypeError, match="source must be a path or an iterable of lines"):
        read_log(source)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_log(tmp_path / "nothing.jsonl")


@pytest.mark.skipif(not HISTORIES, reason="the histories are not beside the project")
def test_real_logs_hold_histories_that_their_providers_accept() -> None:
    for path in HISTORIES:
        log = read_log(path)
        assert log.histories
        assert log.skipped_lines == 0
        for history in log.histories:
            findings = lint_messages(history.messages, history.provider)
            assert [finding for finding in findings if finding.severity == "error"] == [], (path.name, history.id)
            assert all(history.messages[call.index]["role"] == "assistant" for call in history.calls)


@pytest.mark.skipif(not HISTORIES, reason="the histories are not beside the project")
def test_prompts_of_real_sessions_grow_between_compactions() -> None:
    """By what was appended, so the provider's counts belong to the calls."""
    for path in HISTORIES:
        for history in read_log(path).histories:
            if not history.is_sidechain and history.calls:
                assert_growth(history)


def assert_growth(history: History) -> None:
    counts = [call.prompt_tokens for call in history.calls if call.prompt_tokens is not None]
    assert len(counts) == len(history.calls)
    shrunk = sum(after < before for before, after in pairwise(counts))
    assert shrunk <= len(history.compactions) + 0.05 * len(counts)


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)])
def test_a_damaged_archive_is_an_error_of_ours(tmp_path: Path, suffix: str, pack: Callable[[bytes], bytes]) -> None:
    """It was an EOFError, a zlib.error, an LZMAError or an OSError without a name."""
    path = tmp_path / f"log.jsonl{suffix}"
    packed = pack(LINE.encode() * 100)
    for damaged in (packed[:-9], packed[:15] + b"\0\1\2\3" + packed[19:], b"not compressed"):
        path.write_bytes(damaged)
        with pytest.raises(DocumentError) as caught:
            read_log(path)
        assert str(caught.value).startswith(f"{path}: cannot be decompressed: ")


def test_an_endless_line_is_an_error_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is 256 MiB; a test need not read as much."""
    path = tmp_path / "log.jsonl.gz"
    path.write_bytes(gzip.compress(LINE.encode() + b"\n" + b" " * 2_000_000))
    monkeypatch.setattr("pycupel.replay.transcripts.limited_lines", partial(limited_lines, limit=100_000))
    with pytest.raises(DocumentError) as caught:
        read_log(path)
    assert str(caught.value) == f"{path}: line 2 is longer than 100,000, the limit for a line"
    assert signature(limited_lines).parameters["limit"].default == MAX_LINE == 256 * 2**20


def test_a_log_that_cannot_be_read_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_log(tmp_path / "missing.jsonl")
    with pytest.raises(IsADirectoryError):
        read_log(tmp_path)
