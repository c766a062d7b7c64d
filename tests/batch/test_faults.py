"""What a batch promises when something breaks, with the real fault: killed processes, full disks, damaged files."""

from __future__ import annotations

import fcntl
import gzip
import json
import os
import signal
import subprocess
import sys
import time
from multiprocessing import active_children
from pathlib import Path
from typing import Any, NoReturn

import pytest

from pycupel import ContextItem, Policy
from pycupel.batch import chunks, run_batch, select_request
from pycupel.errors import CupelError, DocumentError, InvalidArgumentError
from tests.batch.faulty import POISON, Exiting, Killed
from tests.batch.requests import content_of, request, rows_in, write_log
from tests.cli.console import ROOT

pytestmark = pytest.mark.posix

# Nothing here takes long. It is how long to wait before calling something hung.
HANGING = 120.0


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "_REQUESTS", 7)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write_log(tmp_path / "log.jsonl", 40)


def poisoned(path: Path, line: int) -> Path:
    """A log of 40 requests, of which one has a content that faulty strategies look for."""
    rows = [json.dumps(request(n)) for n in range(0, 200, 5)]
    rows[line] = json.dumps({"id": "bad", "items": [{"content": POISON, "tokens": 1}], "budget": 9})
    path.write_text("\n".join(rows), encoding="utf-8")
    return path


def start(script: str, directory: Path, *arguments: object) -> subprocess.Popen[str]:
    """Start a script that can import the tests, and that a worker can import again."""
    path = directory / "job.py"
    path.write_text(script, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    command = [sys.executable, str(path), *map(str, arguments)]
    return subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def wait_for(condition: Any) -> None:
    deadline = time.monotonic() + HANGING
    while not condition():
        assert time.monotonic() < deadline, "it hangs"
        time.sleep(0.01)


# --- workers


def test_a_killed_worker_is_replaced_and_its_chunk_repeated(tmp_path: Path) -> None:
    """It was a BrokenProcessPool, and the end of the job."""
    log, marker = poisoned(tmp_path / "log.jsonl", 10), tmp_path / "killed"
    summary = run_batch([log], Policy(Killed(marker)), tmp_path / "out", workers=2)
    assert marker.exists()
    assert (summary.requests, summary.errors) == (40, 0)
    assert run_batch([log], Policy(Killed(marker)), tmp_path / "alone", workers=1) == summary
    assert content_of(tmp_path / "out") == content_of(tmp_path / "alone")


def test_a_chunk_that_kills_two_workers_is_an_error_and_finished_parts_are_kept(tmp_path: Path) -> None:
    log = poisoned(tmp_path / "log.jsonl", 37)
    with pytest.raises(CupelError) as caught:
        run_batch([log], Policy(Killed()), tmp_path / "out", workers=2)
    assert str(caught.value) == "two worker processes ended while they processed log.jsonl, from line 36 on"
    assert "resume the job with fewer workers" in caught.value.__notes__[0]
    assert not active_children()
    # Of six parts, the last is lost, and another one may not have been finished.
    kept = rows_in(tmp_path / "out")
    assert len(kept) >= 28
    expected = [select_request(request(n), Policy(Killed())) for n in range(0, 200, 5)]
    assert all(row in expected for row in kept)
    assert not (tmp_path / "out" / "running.lock").exists()


STUCK = """
import sys
from pathlib import Path
from pycupel import Policy
from pycupel.batch import run_batch
from tests.batch.faulty import Stuck

if __name__ == "__main__":
    log, directory = map(Path, sys.argv[1:])
    run_batch([log, log], Policy(Stuck(directory)), directory / "out", workers=2)
"""


def is_unlocked(path: Path) -> bool:
    with path.open("r+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


@pytest.mark.unmeasured
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
def test_workers_end_with_the_process_that_started_them(sent: signal.Signals, tmp_path: Path) -> None:
    """Even in a strategy that never returns, and although nobody tells them. They stayed for days."""
    job = start(STUCK, tmp_path, write_log(tmp_path / "log.jsonl", 2), tmp_path)
    wait_for(lambda: [each.read_bytes() for each in tmp_path.glob("stuck-*")] == [b"locked"] * 2)
    job.send_signal(sent)
    job.communicate(timeout=HANGING)
    for each in tmp_path.glob("stuck-*"):
        wait_for(lambda each=each: is_unlocked(each))


# --- strategies


class Raising:
    def score(self, item: ContextItem, all_items: object, /) -> NoReturn:
        raise ZeroDivisionError("no luck")


class Rubbish:
    def score(self, item: ContextItem, all_items: object, /) -> Any:
        return object()


@pytest.mark.parametrize(
    ("scorer", "error"),
    [
        (Raising(), "ZeroDivisionError: no luck"),
        (Rubbish(), "TypeError: the score that Rubbish returned must be a number"),
        (Exiting(), "SystemExit: enough"),
    ],
)
def test_a_strategy_that_raises_returns_rubbish_or_exits_is_an_error_row(
    scorer: Any, error: str, tmp_path: Path
) -> None:
    """`sys.exit` in a strategy ended the whole job."""
    log = poisoned(tmp_path / "log.jsonl", 3)
    run_batch([log], Policy(scorer), tmp_path / "out", workers=1)
    rows = rows_in(tmp_path / "out")
    assert len(rows) == 40
    assert next(row["error"] for row in rows if row["id"] == "bad").startswith(error)


# --- what is in the way of resuming


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:-1],
        lambda data: data[: len(data) // 2],
        lambda data: data + data,
        lambda data: data.replace(b"1", b"2", 1),
        lambda data: bytes(len(data)),
    ],
    ids=["emptied", "a byte short", "half", "twice", "changed", "zeros"],
)
def test_a_damaged_part_is_done_again(damage: Any, log: Path, tmp_path: Path) -> None:
    """An emptied one was taken for complete, and the summary counted its rows."""
    out = tmp_path / "out"
    expected = run_batch([log], "rag", out, workers=1)
    whole = content_of(out)
    for name in ("part-000002.jsonl", "part-000005.jsonl"):
        (out / name).write_bytes(damage(whole[name]))
    kept = (out / "part-000001.jsonl").stat().st_mtime_ns
    assert run_batch([log], "rag", out, workers=1, resume=True) == expected
    assert content_of(out) == whole
    assert (out / "part-000001.jsonl").stat().st_mtime_ns == kept, "it was not done again"


def test_a_part_in_the_place_of_another_is_done_again(log: Path, tmp_path: Path) -> None:
    """Copied with its tally, it is whole, but its rows are those of other requests."""
    out = tmp_path / "out"
    expected = run_batch([log], "rag", out, workers=1)
    whole = content_of(out)
    for name in ("part-000002.jsonl", "tally-000002.json"):
        (out / name).write_bytes(whole[name.replace("2", "3")])
    assert run_batch([log], "rag", out, workers=1, resume=True) == expected
    assert content_of(out) == whole


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: b"\xff" + data,
        lambda data: b"[" * 100_000,
        lambda data: b"[]",
        lambda data: b"{}",
        lambda data: data.replace(b'"counts": {', b'"counts": 5, "x": {'),
        lambda data: data.replace(b'"requests": 7', b'"requests": "7"'),
        lambda data: data.replace(b'"swings": {}', b'"swings": {"a": [1]}'),
        lambda data: data.replace(b'"swings": {}', b'"swings": []'),
        lambda data: data.replace(b'"first_error": null', b'"first_error": 5'),
        lambda data: data.replace(b'"part": {', b'"part": 5, "x": {'),
        # The figures of the summary would be wrong.
        lambda data: data.replace(b'"requests": 7', b'"requests": 6'),
        lambda data: data.replace(b'"tokens": ', b'"tokens": 1'),
        lambda data: b'{"swings": ' + b"[" * 500 + b"]" * 500 + b"}",
    ],
)
def test_a_damaged_tally_is_an_error_that_names_it(damage: Any, log: Path, tmp_path: Path) -> None:
    """It was a traceback: a JSONDecodeError, a KeyError or a TypeError; and another number was another summary."""
    out = tmp_path / "out"
    run_batch([log], "rag", out, workers=1)
    whole = content_of(out)
    tally = out / "tally-000001.json"
    tally.write_bytes(damage(whole[tally.name]))
    assert tally.read_bytes() != whole[tally.name]
    with pytest.raises(DocumentError) as caught:
        run_batch([log], "rag", out, workers=1, resume=True)
    assert str(caught.value) == f"{tally}: is damaged"
    assert caught.value.__notes__ == ["Delete it and resume: the requests of its part are selected again."]
    tally.unlink()
    run_batch([log], "rag", out, workers=1, resume=True)
    assert content_of(out) == whole


@pytest.mark.posix
def test_a_pipe_is_an_error_that_says_what_to_do(log: Path, tmp_path: Path) -> None:
    """It is read twice. It was "File or stream is not seekable", without its name."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    # Opened for both, so that opening it for reading does not wait.
    writer = os.open(pipe, os.O_RDWR)
    try:
        with pytest.raises(InvalidArgumentError, match=r"pipe can be read only once; write it to a file$") as caught:
            run_batch([log, pipe], "rag", tmp_path / "out", workers=1)
    finally:
        os.close(writer)
    assert caught.value.argument == "inputs"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("manifest", [b"", b'{"complete": tr', b"\xff\xfe", b"[" * 100_000, b"null", b"5"])
def test_a_damaged_manifest_is_an_error_that_says_so(manifest: bytes, log: Path, tmp_path: Path) -> None:
    """Nested deeply, it was a RecursionError."""
    out = tmp_path / "out"
    run_batch([log], "rag", out, workers=1)
    (out / "manifest.json").write_bytes(manifest)
    with pytest.raises(
        InvalidArgumentError, match=r"^cannot resume .*out: its manifest\.json is damaged, or "
    ) as caught:
        run_batch([log], "rag", out, workers=1, resume=True)
    assert caught.value.__notes__ == ["Start over in another directory."]


def test_every_file_is_on_the_disk_before_it_gets_its_name(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """First a part, then its tally, and the manifest of the whole at last."""
    synced: list[str] = []
    named: list[str] = []
    fsync, replace = os.fsync, os.replace

    def fsync_and_note(file: int) -> None:
        fsync(file)
        synced.append(Path(f"/proc/self/fd/{file}").readlink().name)

    def replace_and_note(source: Any, target: Any) -> None:
        assert synced[-1] == Path(source).name
        replace(source, target)
        named.append(Path(target).name)

    monkeypatch.setattr("os.fsync", fsync_and_note)
    monkeypatch.setattr("os.replace", replace_and_note)
    run_batch([log], "rag", tmp_path / "out", workers=1)
    parts = [name for n in range(6) for name in (f"part-{n:06}.jsonl", f"tally-{n:06}.json")]
    assert named == ["manifest.json", *parts, "manifest.json"]


# --- disks


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is full")
@pytest.mark.parametrize("name", ["manifest.json", "part-000001.jsonl", "tally-000001.json"])
def test_a_full_disk_is_an_error_that_names_the_file(name: str, log: Path, tmp_path: Path) -> None:
    """The message was "no space left on device", of whatever."""
    out = tmp_path / "out"
    full = out / f"{name}.tmp"

    def fill(*_: object) -> None:
        full.unlink(missing_ok=True)
        full.symlink_to("/dev/full")

    out.mkdir()
    if name == "manifest.json":
        fill()
    with pytest.raises(OSError, match="No space left on device") as caught:
        run_batch([log], "rag", out, workers=1, progress=fill)
    assert caught.value.filename == str(out / name)
    full.unlink()
    run_batch([log], "rag", out, workers=1, resume=True)
    run_batch([log], "rag", tmp_path / "whole", workers=1)
    assert content_of(out) == content_of(tmp_path / "whole")


# --- two processes


WAITING = """
import sys
from pycupel.batch import chunks, run_batch
chunks._REQUESTS = 7

def wait(*_):
    print("running", flush=True)
    sys.stdin.readline()

if __name__ == "__main__":
    run_batch([sys.argv[1]], "rag", sys.argv[2], workers=1, progress=wait)
"""


@pytest.mark.unmeasured
def test_two_processes_do_not_write_to_one_output(log: Path, tmp_path: Path) -> None:
    """And a killed one leaves a file behind, but no lock."""
    out = tmp_path / "out"
    job = start(WAITING, tmp_path, log, out)
    assert job.stdout is not None
    assert job.stdout.readline() == "running\n"
    before = content_of(out)
    for resume in (False, True):
        with pytest.raises(InvalidArgumentError, match=rf"out is being written by process {job.pid} on \S") as caught:
            run_batch([log], "rag", out, workers=1, resume=resume)
        assert (caught.value.argument, content_of(out)) == ("output", before)
    job.kill()
    job.communicate(timeout=HANGING)
    assert (out / "running.lock").exists()
    run_batch([log], "rag", out, workers=1, resume=True)
    run_batch([log], "rag", tmp_path / "whole", workers=1)
    assert content_of(out) == content_of(tmp_path / "whole")


def test_an_output_in_which_only_a_lock_was_left_can_be_used(log: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "running.lock").write_text("99999 elsewhere\n")
    assert run_batch([log], "rag", tmp_path / "out", workers=1).requests == 40
    assert "running.lock" not in content_of(tmp_path / "out")


def test_a_lock_that_was_just_removed_is_taken_again(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other process may remove the file between the moments in which it is opened and locked here."""
    removed: list[Path] = []
    flock = fcntl.flock

    def flock_late(file: Any, operation: int) -> None:
        if len(removed) < 2:
            path = Path(file.name)
            path.unlink()
            if removed:
                path.write_text("")
            removed.append(path)
        flock(file, operation)

    monkeypatch.setattr("fcntl.flock", flock_late)
    assert run_batch([log], "rag", tmp_path / "out", workers=1).requests == 40
    assert len(removed) == 2


def test_a_file_system_without_locks_is_no_obstacle(log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> NoReturn:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr("fcntl.flock", refuse)
    assert run_batch([log], "rag", tmp_path / "out", workers=1).requests == 40


def test_a_lock_without_a_name_in_it_is_a_lock(log: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    with (out / "running.lock").open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(InvalidArgumentError, match="out is being written by process unknown on this machine"):
            run_batch([log], "rag", out, workers=1)


# --- inputs


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no endless file")
def test_an_endless_line_is_an_error(tmp_path: Path) -> None:
    """It filled the memory."""
    with pytest.raises(DocumentError) as caught:
        run_batch(["/dev/zero"], "rag", tmp_path / "out", workers=1, max_line=100_000)
    assert str(caught.value) == "/dev/zero: line 1 is longer than 100,000, the limit for a line"
    assert caught.value.__notes__ == ["Raise the limit with max_line= or --max-line if it has to be that long."]


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_a_long_line_is_an_error_with_its_number(suffix: str, log: Path, tmp_path: Path) -> None:
    """An archive of a few kilobytes may expand to gigabytes. The parts before it are kept."""
    longest = max(map(len, log.read_bytes().splitlines(keepends=True)))
    bomb = tmp_path / f"bomb.jsonl{suffix}"
    data = log.read_bytes() + b" " * 3_000_000
    bomb.write_bytes(gzip.compress(data) if suffix else data)
    with pytest.raises(DocumentError, match=r"bomb\.jsonl(\.gz)?: line 41 is longer than") as caught:
        run_batch([bomb], "rag", tmp_path / "out", workers=1, max_line=longest)
    assert f"{longest:,}" in str(caught.value)
    assert len(rows_in(tmp_path / "out")) == 35
    assert run_batch([log], "rag", tmp_path / "whole", workers=1, max_line=longest).requests == 40


@pytest.mark.parametrize("name", ["NaN", "-Infinity", "1e999", '["a", NaN]', '{"a": {"b": Infinity}}'])
def test_an_id_that_is_not_json_is_an_error_row_that_is(name: str, tmp_path: Path) -> None:
    """Python reads NaN, and wrote it to the row, which no other reader of JSON accepts."""
    log = tmp_path / "log.jsonl"
    log.write_text(f'{{"id": {name}, "items": [], "budget": 1}}\n', encoding="utf-8")
    summary = run_batch([log], "rag", tmp_path / "out", workers=1)

    def refuse(constant: str) -> NoReturn:
        raise AssertionError(constant)

    [line] = (tmp_path / "out" / "part-000000.jsonl").read_text().splitlines()
    row = json.loads(line, parse_constant=refuse)
    assert (row["id"], row["error"]) == (None, "DocumentError: id: must not contain NaN or an infinite number")
    assert summary.first_error == f"log.jsonl, line 1: {row['error']}"


def test_a_long_id_is_cut_in_the_summary(tmp_path: Path) -> None:
    """But not in its row."""
    log = tmp_path / "log.jsonl"
    long = "\x1b" + "x" * 100_000
    rows = [{"id": long, "items": [], "budget": -1}, {"id": [long], "items": [], "budget": 1}]
    log.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    summary = run_batch([log], "rag", tmp_path / "out", workers=1)
    assert summary.first_error is not None
    assert summary.first_error.startswith("id \\x1b" + "x" * 199 + "...: InvalidBudgetError: ")
    assert len(summary.slowest[0][0]) < 220
    assert [row["id"] for row in rows_in(tmp_path / "out")] == [long, [long]]
