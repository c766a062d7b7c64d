"""Worker processes: how they start, work and end. What happens when they are killed is in `test_faults`."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator
from multiprocessing import Pipe, active_children
from pathlib import Path

import pytest

from pycupel import Policy, ReflexiveScorer
from pycupel.batch import chunks, chunks as local
from pycupel.batch.chunks import Chunk, ChunkResult, Job, process, read_chunks
from pycupel.errors import CupelError, DocumentError
from tests.batch.requests import write_log

JOB = Job(Policy(ReflexiveScorer()), None, to_parquet=False)


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(chunks, "_REQUESTS", 7)
    return write_log(tmp_path / "log.jsonl", 40)


def chunks_of(log: Path) -> Iterator[Chunk]:
    return read_chunks([log], 1_000_000)


def is_held() -> bool:
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_workers_give_the_parts_of_this_process(log: Path) -> None:
    parts = sorted(local.run_local(chunks_of(log), JOB, 3), key=lambda part: part.number)
    assert not active_children(), "all workers have ended"
    alone = [*local.run_local(chunks_of(log), JOB, 1)]
    assert [part[:2] for part in parts] == [part[:2] for part in alone]
    assert len(parts) == 6


@pytest.mark.posix
def test_an_interrupt_waits_while_a_worker_starts() -> None:
    """Its process is not ready for it, and would print a traceback."""
    with local._interrupts_held():
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        assert signal.sigpending() == {signal.SIGINT}
        signal.sigwait({signal.SIGINT})
    assert not is_held()


@pytest.mark.posix
def test_an_interrupt_waits_for_the_first_worker_too() -> None:
    """With it, the process that tracks what processes share starts, and lets interrupts through: its start is first."""
    code = """if 1:
        import signal
        from multiprocessing import resource_tracker
        from pycupel.batch.chunks import _interrupts_held
        with _interrupts_held():
            resource_tracker.ensure_running()
            print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()))"""
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "True\n"


@pytest.mark.posix
def test_an_interrupt_does_not_wait_for_the_input() -> None:
    """Interrupts are held while workers are started, but not while a slow file is read."""
    held: list[bool] = []

    def slow() -> Iterator[Chunk]:
        held.append(is_held())
        yield from ()

    assert [*local.run_local(slow(), JOB, workers=2)] == []
    assert held == [False]


@pytest.mark.parametrize("error", [KeyboardInterrupt, DocumentError("damaged")])
def test_after_an_error_no_worker_is_left(log: Path, error: BaseException | type[BaseException]) -> None:
    def broken() -> Iterator[Chunk]:
        yield from list(chunks_of(log))[:3]
        raise error

    with pytest.raises(error if isinstance(error, type) else type(error)):
        list(local.run_local(broken(), JOB, 2))
    assert not active_children()


def serve(monkeypatch: pytest.MonkeyPatch, *sent: Chunk | None, closed: bool = False) -> list[object]:
    """What a worker answers, if it is this process."""
    monkeypatch.setattr(local, "_end_with", lambda _: None)
    before = signal.getsignal(signal.SIGINT)
    ours, theirs = Pipe()
    for each in sent:
        ours.send(each)
    answers: list[object] = []
    if closed:
        ours.close()
    try:
        local._serve(theirs, None, JOB)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN, "Ctrl-C is for the process that started it"
    finally:
        signal.signal(signal.SIGINT, before)
    while not closed and ours.poll():
        answers.append(ours.recv())
    ours.close()
    theirs.close()
    return answers


def test_a_worker_answers_each_chunk_with_its_part(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, *_ = chunks_of(log)
    ready, *parts = serve(monkeypatch, first, second, None)
    assert ready == "ready"
    assert [part[:2] for part in parts if isinstance(part, ChunkResult)] == [
        process(each, JOB)[:2] for each in (first, second)
    ]


def test_a_worker_without_the_other_process_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    assert serve(monkeypatch, closed=True) == []


def test_a_worker_sends_what_is_raised(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of ours is for the user, any other one for whoever reads its traceback."""
    for raised in (DocumentError("is damaged"), MemoryError("full")):

        def fail(*_: object, raised: Exception = raised) -> ChunkResult:
            raise raised

        monkeypatch.setattr(local, "process", fail)
        _, error = serve(monkeypatch, next(chunks_of(log)), None)
        assert isinstance(error, type(raised))
        assert any("in fail" in note for note in getattr(error, "__notes__", ())) is isinstance(raised, MemoryError)


class _Broken:
    """A connection to a worker that has an answer, or none because it is dead."""

    def __init__(self, answer: object) -> None:
        self.answer, self.closed = answer, False

    def recv(self) -> object:
        if self.answer is None:
            raise EOFError
        return self.answer

    def close(self) -> None:
        self.closed = True


def test_an_error_of_a_worker_is_raised_here() -> None:
    pool = local._Pool(JOB)
    pipe = _Broken(MemoryError("full"))
    pool._busy[pipe] = None
    with pytest.raises(MemoryError, match="full"):
        pool._received(pipe, deque())
    pool.end()


def test_a_worker_that_never_starts_says_what_to_do() -> None:
    """As in a script without `if __name__ == "__main__"`."""
    pool = local._Pool(JOB)
    pipe = _Broken(None)
    pool._busy[pipe] = None
    with pytest.raises(CupelError, match="a worker process ended before it was ready") as caught:
        pool._received(pipe, deque())
    assert pipe.closed
    assert caught.value.__notes__ == ["Call run_batch below `if __name__ == '__main__':`, or pass workers=1."]
    pool.end()


def test_a_worker_ends_with_the_process_that_started_it(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[int] = []
    monkeypatch.setattr("os._exit", ended.append)
    watched, life = Pipe(duplex=False)
    life.close()
    local._end_with(watched)
    watched.close()
    assert ended == [1]
