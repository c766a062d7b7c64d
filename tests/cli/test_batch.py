"""`pycupel batch` in this process; the files in `golden` show how it looks."""

from __future__ import annotations

import io
import json
import os
import signal
import threading
from pathlib import Path

import pytest

from pycupel.batch import chunks
from pycupel.batch.chunks import ChunkResult
from pycupel.batch.run import Output
from pycupel.cli import tools
from pycupel.cli.output import Screen
from tests.batch.requests import write_log
from tests.cli.calls import Call
from tests.cli.test_screen import Terminal


@pytest.fixture
def log(tmp_path: Path) -> str:
    return str(write_log(tmp_path / "log.jsonl", 10))


def test_a_summary_and_the_differences(call: Call, log: str, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    done = call("batch", log, "-p", "rag", "-o", out, "--workers", "1", "--compare", "chat")
    assert done.code == 0
    assert done.out.startswith("10 requests under rag\n  errors       0\n")
    assert "chat would select differently in" in done.out
    assert "slowest requests: " in done.err
    assert f"rows written to {out}" in done.err
    done = call("batch", log, "-p", "rag", "-o", out, "--workers", "1", "--compare", "chat", "--resume", "--json")
    assert json.loads(done.out)["requests"] == 10


def test_policies_that_agree(call: Call, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text('{"id": 1, "items": [{"content": "a", "tokens": 1}], "budget": 5}\nnot json\n', encoding="utf-8")
    done = call("batch", str(log), "-o", str(tmp_path / "out"), "--workers", "1", "--compare", "rag")
    assert "rag would select differently in 0 requests" in done.out
    assert "left out" not in done.out
    assert done.code == 0
    assert "pycupel: first error: DocumentError: log.jsonl, line 2: invalid JSON" in done.err


def test_a_log_of_which_every_request_fails(call: Call, tmp_path: Path) -> None:
    """Issue: it ended with exit code 0, and only the rows said why."""
    log = tmp_path / "log.jsonl"
    log.write_text('{"id": "r1", "budget": 5}\nnot json\n', encoding="utf-8")
    done = call("batch", str(log), "-o", str(tmp_path / "out"), "--workers", "1", "--quiet")
    assert done.code == 2
    assert done.out.startswith("2 requests under chat\n  errors       2\n")
    message = "every request failed; first error: id r1: DocumentError: a request must have either items or messages"
    assert done.err == f"pycupel: {message}\n"
    log.write_text("", encoding="utf-8")
    empty = call("batch", str(log), "-o", str(tmp_path / "empty"), "--workers", "1", "--quiet")
    assert (empty.code, empty.err) == (0, f"pycupel: warning: no requests in {log}\n")


@pytest.mark.parametrize(
    ("line", "hints"),
    [
        (b'{"content": "a", "tokens": 1}', ["  These look like items, which `pycupel select` reads."]),
        (
            b'{"type": "user", "message": {}}',
            ["  This looks like an agent's transcript, which `pycupel context` reads."],
        ),
        (b'{"items": []}', []),
        (b'{"messages": []}', []),
        (b"\xff", []),
    ],
)
def test_a_file_of_another_verb_gets_a_hint(call: Call, tmp_path: Path, line: bytes, hints: list[str]) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(line)
    done = call("batch", str(log), "-o", str(tmp_path / "out"), "--workers", "1", "--quiet")
    message, *more = done.err.splitlines()
    assert (done.code, more) == (2, hints)
    assert message.startswith("pycupel: every request failed; first error: ")


def test_stdin_is_refused_with_a_reason(call: Call, tmp_path: Path) -> None:
    done = call("batch", "-", "-o", str(tmp_path / "out"))
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("pycupel: batch cannot read stdin: pass a file")
    assert not (tmp_path / "out").exists()


def test_progress_on_a_terminal(log: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue: a progress bar with rate and remaining time on a terminal."""
    monkeypatch.setattr(chunks, "_REQUESTS", 4)
    screen = Screen(io.StringIO(), Terminal())
    options = batch_options(log, str(tmp_path / "out"))
    assert tools.run_batch_verb(options, screen) == 0
    shown = screen.err.getvalue().split("\r")  # type: ignore[attr-defined]
    assert shown[1].startswith("4 requests ########")
    assert "/s, " in shown[1]
    assert shown[1].rstrip().endswith(" s left")
    assert shown[3].startswith("10 requests ####################")
    assert not shown[4].strip(), "the bar goes when all is done"
    assert max(map(len, shown[:5])) < 80


def test_rate_and_remaining_time_are_those_of_this_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue: after --resume, what was done before counted as if it had just been done."""
    clock = iter([0.0, 1.0, 50.0, 60.0, 61.0, 70.0])
    monkeypatch.setattr(tools, "perf_counter", lambda: next(clock))
    screen = Screen(io.StringIO(), Terminal())
    bar = tools.BatchProgress(screen)
    for done, share in ((5_000, 0.0), (5_000, 0.5), (5_100, 0.6), (5_100, 0.7), (5_200, 0.8)):
        bar.show(done, share)
    screen.progress("")
    shown = [line.strip() for line in screen.err.getvalue().split("\r")]  # type: ignore[attr-defined]
    assert shown[1:] == [
        "5,000 requests",
        "5,000 requests ##########",
        "5,100 requests ############ 10/s, 40 s left",
        "5,100 requests ############## 9/s, 33 s left",
        "5,200 requests ################ 10/s, 20 s left",
        "",
        "",
    ]


def test_the_bar_goes_before_an_error_is_written(log: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "_REQUESTS", 4)
    write = Output.write

    def fail_later(output: Output, part: ChunkResult) -> None:
        if part.number:
            raise OSError("no space left")
        write(output, part)

    monkeypatch.setattr(Output, "write", fail_later)
    screen = Screen(io.StringIO(), Terminal())
    with pytest.raises(OSError, match="no space left"):
        tools.run_batch_verb(batch_options(log, str(tmp_path / "out")), screen)
    shown = screen.err.getvalue().split("\r")  # type: ignore[attr-defined]
    assert shown[1].startswith("4 requests")
    assert not shown[2].strip()


def test_an_interrupted_job_says_how_to_go_on(log: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(output: Output, part: ChunkResult) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Output, "write", interrupted)
    screen = Screen(io.StringIO(), io.StringIO())
    with pytest.raises(KeyboardInterrupt):
        tools.run_batch_verb(batch_options(log, str(tmp_path / "out")), screen)
    assert screen.err.getvalue() == "pycupel: interrupted; use --resume to continue\n"  # type: ignore[attr-defined]


def batch_options(*arguments: str) -> object:
    from pycupel.cli.parsers import load_verb, verb_parser  # noqa: PLC0415

    log, out = arguments
    return verb_parser("batch", load_verb("batch")).parse_args([log, "-o", out, "--workers", "1"])


def test_sigterm_is_left_alone_outside_of_the_main_thread_and_after_the_job(log: str, tmp_path: Path) -> None:
    """Python lets only the main thread handle signals, but a program may call `main` in another one."""
    codes: list[int] = []

    def run(*_: object) -> None:
        screen = Screen(io.StringIO(), io.StringIO())
        codes.append(tools.run_batch_verb(batch_options(log, str(tmp_path / f"out{len(codes)}")), screen))

    before = signal.getsignal(signal.SIGTERM)
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    run()
    assert codes == [0, 0]
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.posix
def test_sigterm_interrupts_the_job(log: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def terminated(output: Output, part: ChunkResult) -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(Output, "write", terminated)
    screen = Screen(io.StringIO(), io.StringIO())
    with pytest.raises(KeyboardInterrupt):
        tools.run_batch_verb(batch_options(log, str(tmp_path / "out")), screen)
    assert screen.err.getvalue() == "pycupel: interrupted; use --resume to continue\n"  # type: ignore[attr-defined]


@pytest.mark.parametrize("damaged", ["tally-000000.json", "manifest.json"])
def test_a_damaged_output_is_a_message_and_no_traceback(damaged: str, call: Call, log: str, tmp_path: Path) -> None:
    arguments = ("batch", log, "-o", str(tmp_path / "out"), "--workers", "1", "--quiet")
    assert call(*arguments).code == 0
    (tmp_path / "out" / damaged).write_text("{")
    done = call(*arguments, "--resume")
    assert (done.code, done.out) == (2, "")
    assert damaged in done.err
    assert "is damaged" in done.err


@pytest.mark.posix
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is full")
def test_a_full_disk_is_a_message_with_the_file(call: Call, log: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "manifest.json.tmp").symlink_to("/dev/full")
    done = call("batch", log, "-o", str(out), "--workers", "1")
    assert (done.code, done.err) == (2, f"pycupel: {out / 'manifest.json'}: no space left on device\n")
