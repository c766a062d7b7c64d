"""Files of requests in, a directory of rows out: the same for every engine, resumable, never a failed job."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import pytest

from pycupel import ContextItem, KnapsackSlice, Policy, ReflexiveScorer
from pycupel.batch import BatchSummary, chunks, run_batch, select_request
from pycupel.batch.chunks import Chunk, ChunkResult, Job, process
from pycupel.batch.run import Output
from pycupel.errors import DocumentError, InvalidArgumentError, MissingExtraError
from tests.batch.requests import content_of, request, rows_in, write_log

SMALL = 7


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "_REQUESTS", SMALL)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write_log(tmp_path / "log.jsonl", 40)


def test_rows_are_those_of_select_request_in_input_order(log: Path, tmp_path: Path) -> None:
    """Issue: rows are in input order; ids may repeat."""
    again = write_log(tmp_path / "again.jsonl", 3)
    summary = run_batch([log, str(again)], "rag", tmp_path / "out", workers=1)
    rows = rows_in(tmp_path / "out")
    assert rows == [select_request(request(n), "rag") for n in [*range(40), *range(3)]]
    assert (summary.requests, summary.errors) == (43, 0)
    assert summary.tokens == sum(row["tokens"] for row in rows)
    assert summary.utilization == pytest.approx(sum(row["utilization"] for row in rows) / 43, abs=1e-6)
    assert sum(summary.tenths) == 43
    reasons = [each["reason"] for row in rows for each in row["excluded"]]
    assert summary.reasons == {name: reasons.count(name) for name in summary.reasons}
    assert sum(summary.reasons.values()) == len(reasons)
    assert 0 < len(summary.slowest) <= 10
    assert [seconds for _, seconds in summary.slowest] == sorted((s for _, s in summary.slowest), reverse=True)


@pytest.mark.unmeasured
def test_the_output_does_not_depend_on_the_number_of_workers(log: Path, tmp_path: Path) -> None:
    """Issue: rows do not depend on the number of workers, and a re-run is byte-identical; the pool is spawned."""
    one = run_batch([log], "rag", tmp_path / "one", workers=1, compare="chat")
    two = run_batch([log], "rag", tmp_path / "two", workers=2, compare="chat")
    assert not active_children(), "all workers have ended"
    assert content_of(tmp_path / "one") == content_of(tmp_path / "two")
    assert one == two


def test_a_poisoned_request_is_one_error_row(tmp_path: Path) -> None:
    """Issue: a poisoned request is one error row, with the line where it is; blank lines are skipped."""
    log = tmp_path / "log.jsonl"
    lines = [json.dumps(request(n)) for n in range(12)]
    lines[3], lines[5], lines[8] = '{"id": 3, "items": [', "", '{"id": "big", "items": [], "budget": 1e999}'
    log.write_text("\n".join(lines), encoding="utf-8")
    summary = run_batch([log], "rag", tmp_path / "out", workers=1)
    rows = rows_in(tmp_path / "out")
    broken = [row for row in rows if row["error"] is not None]
    assert (len(rows), summary.requests, summary.errors, len(broken)) == (11, 11, 2, 2)
    assert broken[0]["error"] == "DocumentError: log.jsonl, line 4: invalid JSON: Expecting value at column 21"
    assert broken[1]["id"] == "big"
    assert summary.first_error == broken[0]["error"]


def test_numbers_too_long_to_write_are_error_rows(tmp_path: Path) -> None:
    """Issue: never a failed job. Each can be read, but their sum has more digits than Python writes."""
    log = tmp_path / "log.jsonl"
    most = "9" * 4_300
    log.write_text(f'{{"budget": {most}, "items": [{{"content": "x", "tokens": {most}}}]}}\n' * 2, encoding="utf-8")
    summary = run_batch([log], "rag", tmp_path / "out", workers=1)
    assert (summary.requests, summary.errors) == (2, 2)


def test_a_request_without_an_id_is_named_by_its_line(tmp_path: Path) -> None:
    """Issue: the first error did not say where it was, and the slowest request was called None."""
    log = tmp_path / "log.jsonl"
    log.write_text('\n{"items": [], "budget": 5}\n{"items": [], "budget": -1}\n', encoding="utf-8")
    summary = run_batch([log], "rag", tmp_path / "out", workers=1)
    assert [name for name, _ in summary.slowest] == ["log.jsonl, line 2"]
    assert summary.first_error == "log.jsonl, line 3: InvalidBudgetError: budget must be 0 or more, not -1"


def test_what_is_nested_too_deeply_is_one_error_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue: never a failed job. The two readers have different limits."""
    log = tmp_path / "log.jsonl"
    served = {"items": [{"content": "x", "tokens": 1}], "budget": 5}
    deep = '{"id": ' + "[" * 500 + "]" * 500 + "}"
    log.write_text("\n".join([json.dumps({"id": 1, **served}), "[" * 100_000, deep]), encoding="utf-8")
    for name, loads in (("fastest", chunks.fastest_loads()), ("standard", json.loads)):
        monkeypatch.setattr(chunks, "fastest_loads", lambda loads=loads: loads)
        run_batch([log], "rag", tmp_path / name, workers=1)
        errors = [row["error"] for row in rows_in(tmp_path / name)]
        assert errors[0] is None
        assert errors[1] == "DocumentError: log.jsonl, line 2: cannot be read as JSON: it is nested too deeply"
        assert errors[2] == "DocumentError: id: is nested more than 64 levels deep"


@pytest.mark.unmeasured
@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz"])
def test_compressed_logs_have_the_same_rows(suffix: str, log: Path, tmp_path: Path) -> None:
    packed = tmp_path / f"{log.name}{suffix}"
    packed.write_bytes({".gz": gzip, ".bz2": bz2, ".xz": lzma}[suffix].compress(log.read_bytes()))
    shares: list[float] = []
    run_batch([log], "rag", tmp_path / "plain", workers=1)
    run_batch([packed], "rag", tmp_path / "packed", workers=1, progress=lambda _, share: shares.append(share))
    assert rows_in(tmp_path / "packed") == rows_in(tmp_path / "plain")
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_a_damaged_log_is_named(log: Path, tmp_path: Path) -> None:
    packed = tmp_path / "log.jsonl.gz"
    packed.write_bytes(gzip.compress(log.read_bytes())[:-20])
    with pytest.raises(DocumentError, match=r"log\.jsonl\.gz: cannot be decompressed: Compressed file ended"):
        run_batch([packed], "rag", tmp_path / "out", workers=1)


def test_a_log_that_cannot_be_read_is_an_error_of_the_system(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> bytes:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(chunks, "limited_lines", fail)
    with pytest.raises(OSError, match="Input/output error"):
        run_batch([log], "rag", tmp_path / "out", workers=1)


def test_a_chunk_is_limited_in_bytes(monkeypatch: pytest.MonkeyPatch, log: Path, tmp_path: Path) -> None:
    monkeypatch.setattr(chunks, "_BYTES", 1000)
    run_batch([log], "rag", tmp_path / "out", workers=1)
    assert len(list((tmp_path / "out").glob("part-*"))) == 40


def test_progress_is_told(log: Path, tmp_path: Path) -> None:
    told: list[tuple[int, float]] = []
    run_batch([log], "rag", tmp_path / "out", workers=1, progress=lambda *progress: told.append(progress))
    assert [count for count, _ in told] == [7, 14, 21, 28, 35, 40]
    assert [share for _, share in told] == sorted(share for _, share in told)
    assert told[-1][1] == 1.0


def test_progress_after_a_resume_never_goes_back(log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue: parts that finish out of order, and those that were done before."""
    run_batch([log], "rag", tmp_path / "out", workers=1)
    for number in (1, 2, 4):
        (tmp_path / "out" / f"part-{number:06}.jsonl").unlink()

    def run_backwards(remaining: Iterable[Chunk], job: Job, _workers: int) -> Iterator[ChunkResult]:
        for chunk in [*remaining][::-1]:
            yield process(chunk, job)

    monkeypatch.setattr("pycupel.batch.run.run_local", run_backwards)
    told: list[tuple[int, float]] = []
    run_batch([log], "rag", tmp_path / "out", resume=True, progress=lambda *progress: told.append(progress))
    assert told[0] == (19, 0.0)
    assert [count for count, _ in told] == [19] * 4 + [26, 33, 40]
    assert [share for _, share in told] == sorted(share for _, share in told)
    # What is read and not done yet does not count.
    assert [share for _, share in told] == pytest.approx([n / 40 for n in (0, 7, 14, 19, 26, 33, 40)], abs=0.02)
    assert told[-1][1] == 1.0


def test_nothing_is_overwritten(log: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "precious").write_text("data")
    with pytest.raises(InvalidArgumentError, match="is not empty; choose another directory, or resume what is there"):
        run_batch([log], "rag", tmp_path / "out")
    assert content_of(tmp_path / "out") == {"precious": b"data"}
    with pytest.raises(InvalidArgumentError, match="precious is a file; choose a directory"):
        run_batch([log], "rag", tmp_path / "out" / "precious")


def test_a_killed_job_resumes_without_losing_or_repeating(log: Path, tmp_path: Path) -> None:
    """Issue: output in chunks with atomic renames and a manifest."""
    expected = run_batch([log], "rag", tmp_path / "whole", workers=1, compare="chat")
    out = tmp_path / "out"
    run_batch([log], "rag", out, workers=1, compare="chat")
    # As it may be after a crash: parts missing, a tally without its part, and files that were being written.
    for name in ("part-000001.jsonl", "tally-000001.json", "part-000004.jsonl", "tally-000003.json"):
        (out / name).unlink()
    (out / "part-000005.jsonl.tmp").write_text("half a li")
    before = (out / "part-000002.jsonl").stat().st_mtime_ns
    assert run_batch([log], "rag", out, workers=1, resume=True, compare="chat") == expected
    assert content_of(out) == content_of(tmp_path / "whole")
    assert (out / "part-000002.jsonl").stat().st_mtime_ns == before, "it was not done again"


def test_resuming_leaves_the_files_of_others_alone(log: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "notes.tmp").write_text("mine")
    with pytest.raises(InvalidArgumentError, match="is not empty and has no manifest, so there is nothing to resume"):
        run_batch([log], "rag", out, workers=1, resume=True)
    assert content_of(out) == {"notes.tmp": b"mine"}
    (out / "notes.tmp").unlink()
    (out / "manifest.json.tmp").write_text("half a manife")
    run_batch([log], "rag", out, "local", 1, True)
    whole = content_of(out)
    others = dict.fromkeys(("notes.tmp", "part-of-me.jsonl", "part-of-me.jsonl.tmp", "manifest.tmp"), b"mine")
    for name, content in others.items():
        (out / name).write_bytes(content)
    for name in ("part-000001.jsonl.tmp", "tally-000001.json.tmp"):
        (out / name).write_text("half a li")
    run_batch([log], "rag", out, workers=1, resume=True)
    assert content_of(out) == {**whole, **others}


@pytest.mark.parametrize(
    ("manifest", "problem"),
    [
        ("{}", "it was written with another format and another policy"),
        ("[]", r"its manifest\.json is damaged, or belongs to another program"),
        ("not json", r"its manifest\.json is damaged, or belongs to another program"),
    ],
)
def test_a_manifest_of_something_else_is_not_resumed(manifest: str, problem: str, log: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "manifest.json").write_text(manifest)
    with pytest.raises(InvalidArgumentError, match=problem):
        run_batch([log], "rag", tmp_path / "out", resume=True)
    assert content_of(tmp_path / "out") == {"manifest.json": manifest.encode()}


def test_resuming_nothing_begins(log: Path, tmp_path: Path) -> None:
    run_batch([log], "rag", tmp_path / "out", workers=1, resume=True)
    assert len(rows_in(tmp_path / "out")) == 40


def test_another_job_cannot_be_resumed(log: Path, tmp_path: Path) -> None:
    run_batch([log], "rag", tmp_path / "out", workers=1)
    with pytest.raises(InvalidArgumentError, match=r"^cannot resume .*out: it was written with another policy$"):
        run_batch([log], "chat", tmp_path / "out", resume=True)
    write_log(log, 41)
    with pytest.raises(InvalidArgumentError, match="it was written with other inputs"):
        run_batch([log], "rag", tmp_path / "out", resume=True)


def test_a_log_that_was_edited_in_the_middle_cannot_be_resumed(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Old and new rows would mix. A complete output holds no times, so it does not depend on those of its inputs."""
    monkeypatch.setattr("pycupel.batch.run._SAMPLE", 100)
    whole, out = tmp_path / "whole", tmp_path / "out"
    run_batch([log], "rag", whole, workers=1)

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_batch([log], "rag", out, workers=1, progress=interrupt)
    before = log.stat()
    log.write_bytes(log.read_bytes().replace(b'"tokens": 5', b'"tokens": 6'))
    os.utime(log, ns=(before.st_atime_ns, before.st_mtime_ns + 1_000_000))
    assert log.stat().st_size == before.st_size
    with pytest.raises(InvalidArgumentError, match="it was written with inputs that have changed since"):
        run_batch([log], "rag", out, workers=1, resume=True)
    known = content_of(whole)
    run_batch([log], "rag", whole, workers=1, resume=True)
    assert content_of(whole) == known


class Custom:
    """A scorer that has no name in a file."""

    def score(self, item: ContextItem, all_items: object, /) -> float:
        return 0.5


def test_a_policy_that_cannot_be_written_to_a_file_cannot_be_resumed(log: Path, tmp_path: Path) -> None:
    """Two of them have no hash that tells them apart, so their rows could mix."""
    unknown = Policy(Custom())
    run_batch([log], unknown, tmp_path / "new", workers=1, resume=True)
    with pytest.raises(InvalidArgumentError, match=r"its policy cannot be compared .*: .*register it") as caught:
        run_batch([log], Policy(Custom()), tmp_path / "new", workers=1, resume=True)
    assert caught.value.argument == "policy"
    run_batch([log], "rag", tmp_path / "compared", workers=1, compare=unknown)
    with pytest.raises(InvalidArgumentError, match=r"its second policy cannot be compared .*: .*register it"):
        run_batch([log], "rag", tmp_path / "compared", workers=1, compare=unknown, resume=True)
    with pytest.raises(InvalidArgumentError, match="it was written with another policy to compare with"):
        run_batch([log], "rag", tmp_path / "compared", workers=1, resume=True)


# A job that kills itself and its workers, as soon as four of its parts are done.
KILLED = """
import os, signal, sys
from pycupel.batch import chunks, run_batch
chunks._REQUESTS = 7

def kill(count, share):
    if count >= 28:
        os.killpg(0, signal.SIGKILL)

if __name__ == "__main__":
    run_batch([sys.argv[1]], "rag", sys.argv[2], workers=2, progress=kill)
"""


@pytest.mark.unmeasured
@pytest.mark.posix
def test_a_whole_job_killed_and_resumed_gives_the_same_output(tmp_path: Path) -> None:
    """Issue: the whole local job killed and resumed gives the exact same output."""
    log = write_log(tmp_path / "log.jsonl", 400)
    script = tmp_path / "job.py"
    script.write_text(KILLED, encoding="utf-8")
    out = tmp_path / "out"
    job = subprocess.run([sys.executable, script, log, out], start_new_session=True, check=False, timeout=120)
    assert job.returncode == -signal.SIGKILL
    assert 3 < len(list(out.glob("part-*.jsonl"))) < 58
    assert not json.loads((out / "manifest.json").read_text())["complete"]
    run_batch([log], "rag", out, workers=1, resume=True)
    run_batch([log], "rag", tmp_path / "whole", workers=1)
    assert content_of(out) == content_of(tmp_path / "whole")


def test_two_policies_over_a_whole_log(log: Path, tmp_path: Path) -> None:
    """Issue: the differences between two policies, with the items that swing most."""
    summary = run_batch([log], "rag", tmp_path / "out", workers=1, compare="chat")
    first = [select_request(request(n), "rag") for n in range(40)]
    second = [select_request(request(n), "chat") for n in range(40)]
    assert summary.other_tokens == sum(row["tokens"] for row in second)
    pairs = list(zip(first, second, strict=True))
    assert summary.differing == sum(set(a["selected"]) != set(b["selected"]) for a, b in pairs) > 0
    swings: dict[str, list[int]] = {}
    for n, (a, b) in enumerate(pairs):
        asked = request(n)
        for i in set(a["selected"]) ^ set(b["selected"]):
            text = asked["items"][i]["content"] if "items" in asked else json.dumps(asked["messages"][i])
            swings.setdefault(text[:80], [0, 0])[i not in a["selected"]] += 1
    most = max(map(sum, swings.values()))
    assert sum(summary.swings[0][1:]) == most
    for swing in summary.swings:
        assert [swing.only_first, swing.only_second] == swings[swing.content]
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert (manifest["complete"], manifest["summary"]["differing"]) == (True, summary.differing)
    assert "slowest" not in manifest["summary"], "it holds no times"


def test_messages_that_swing_are_told_by_their_beginning(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(json.dumps(request(4)), encoding="utf-8")
    summary = run_batch([log], "chat", tmp_path / "out", workers=1, compare=Policy(ReflexiveScorer(), KnapsackSlice()))
    assert summary.differing == 1
    assert all(swing.content.startswith('{"role": ') for swing in summary.swings)


def test_an_error_under_one_policy_only_is_a_difference(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    asked = {"id": 1, "items": [{"content": "a", "tokens": 1}], "budget": 5}
    log.write_text(json.dumps(asked) + "\nnot json\n", encoding="utf-8")
    summary = run_batch([log], "rag", tmp_path / "out", workers=1, compare="chat")
    assert (summary.errors, summary.differing, summary.swings) == (1, 0, ())


def test_items_that_swing_are_forgotten_before_they_fill_the_memory(
    monkeypatch: pytest.MonkeyPatch, log: Path, tmp_path: Path
) -> None:
    monkeypatch.setattr("pycupel.batch.request._MAX_SWINGS", 6)
    summary = run_batch([log], "rag", tmp_path / "out", workers=1, compare="chat")
    assert 0 < len(summary.swings) <= 6
    before = content_of(tmp_path / "out")
    for part in sorted((tmp_path / "out").glob("part-*"))[:3]:
        part.unlink()
    resumed = run_batch([log], "rag", tmp_path / "out", workers=1, compare="chat", resume=True)
    assert (resumed, content_of(tmp_path / "out")) == (summary, before), "whichever came first"


def test_the_standard_library_reads_what_the_fastest_reader_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both readers give the same rows; NaN and what orjson refuses is read by the other one."""
    payload = (json.dumps(request(1)) + '\n{"id": NaN, "items": [], "budget": 1}\n').encode()
    chunk = chunks.Chunk(0, "log", 1, payload, is_arrow=False, share=1.0)
    fast = list(chunks._requests(chunk))
    monkeypatch.setattr(chunks, "fastest_loads", lambda: json.loads)
    assert repr(list(chunks._requests(chunk))) == repr(fast)
    assert len(fast) == 2


@pytest.mark.parametrize(
    "line",
    [
        '{"id": 340282366920938463463374607431768211455, "items": [], "budget": 1}',
        '{"id": [-9223372036854775809, 18446744073709551616], "items": [], "budget": 1}',
        '{"id": 1, "items": [], "budget": {"maxTokens": 18446744073709551617, "targetTokens": 1}}',
        '{"id": 0.1234567890123456789, "items": [], "budget": 1}',
        '{"id": NaN, "id": 2, "items": [], "budget": 1}',
        '{"id": "\\ud800", "items": [], "budget": 1}',
        '{"id": 1' + "0" * 5000 + "}",
    ],
)
def test_rows_do_not_depend_on_the_reader(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Large integers keep their digits, wherever they are in a chunk."""
    log = tmp_path / "log.jsonl"
    for shift in range(4):
        log.write_text(json.dumps(request(0)) + "\n" + " " * shift + line + "\n", encoding="utf-8")
        fast, standard = tmp_path / f"fast{shift}", tmp_path / f"standard{shift}"
        run_batch([log], "rag", fast, workers=1)
        with monkeypatch.context() as patch:
            patch.setattr(chunks, "fastest_loads", lambda: json.loads)
            run_batch([log], "rag", standard, workers=1)
        assert content_of(fast) == content_of(standard)


def test_large_ids_are_not_rounded(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    ids = [2**128 - 1, 2**128 - 2]
    log.write_text("".join(json.dumps({**request(0), "id": each}) + "\n" for each in ids), encoding="utf-8")
    run_batch([log], "rag", tmp_path / "out", workers=1)
    assert [row["id"] for row in rows_in(tmp_path / "out")] == ids


def test_without_the_extra_the_standard_library_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    chunks.fastest_loads.cache_clear()
    monkeypatch.setitem(sys.modules, "orjson", None)
    assert chunks.fastest_loads() is json.loads
    chunks.fastest_loads.cache_clear()


def test_wrong_arguments(log: Path, tmp_path: Path) -> None:
    def refused(match: str, *inputs: Any, **options: Any) -> None:
        with pytest.raises(InvalidArgumentError, match=match):
            run_batch(inputs, "rag", tmp_path / "out", **options)
        assert not (tmp_path / "out").exists()

    refused("inputs must contain at least one path")
    refused("engine must be one of local, dask, not 'spark'", log, engine="spark")
    refused('scheduler requires engine="dask"', log, engine="Local", scheduler="tcp://127.0.0.1:1")
    refused("workers must be greater than 0", log, workers=0)
    refused("workers must be at most 1,000, not 1001", log, workers=1_001)
    refused("workers must be at most 1,000, not <5001 digits>", log, workers=10**5000)
    refused('scheduler requires engine="dask"', log, scheduler="tcp://127.0.0.1:1")
    one: Any
    for one in (str(log), log):
        with pytest.raises(TypeError, match="inputs must be an iterable of paths, not "):
            run_batch(one, "rag", tmp_path / "out")
    refused("max_line must be greater than 0, not -1", log, max_line=-1)
    with pytest.raises(FileNotFoundError):
        run_batch([tmp_path / "missing"], "rag", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("argument", ["policy", "compare"])
def test_a_policy_that_cannot_be_pickled_runs_only_in_this_process(argument: str, log: Path, tmp_path: Path) -> None:
    class Local(Custom):
        pass

    policies: Any = {"policy": "rag", argument: Policy(Local())}
    with pytest.raises(InvalidArgumentError, match=f"^{argument} cannot be sent to worker processes: ") as caught:
        run_batch([log], output=tmp_path / "out", workers=2, **policies)
    assert caught.value.argument == argument
    assert caught.value.__notes__ == ["Define its classes and functions at the top of a module, or pass workers=1."]
    assert not (tmp_path / "out").exists()
    assert run_batch([log], output=tmp_path / "out", workers=1, **policies).requests


def test_engines_need_their_extras(monkeypatch: pytest.MonkeyPatch, log: Path, tmp_path: Path) -> None:
    for name in ("distributed", "pyarrow"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError, match=r"pycupel\[dask\]"):
        run_batch([log], "rag", tmp_path / "out", "dask")
    (tmp_path / "log.parquet").write_bytes(b"")
    with pytest.raises(MissingExtraError, match=r"pycupel\[batch\]"):
        run_batch([tmp_path / "log.parquet"], "rag", tmp_path / "other", workers=1)


def test_an_empty_log_has_an_empty_output(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_bytes(b"")
    summary = run_batch([tmp_path / "log.jsonl"], "rag", tmp_path / "out", workers=1)
    assert summary == BatchSummary(0, 0, 0, 0.0, (0,) * 10, {})
    assert [*content_of(tmp_path / "out")] == ["manifest.json"]


def test_an_output_that_was_never_begun_has_no_parts(log: Path, tmp_path: Path) -> None:
    job = chunks.Job(policy=__import__("pycupel.policies").policies.preset("rag"), other=None, to_parquet=False)
    output = Output(tmp_path / "new", [log], job)
    with output.locked():
        assert output.open(resume=True) == {}
