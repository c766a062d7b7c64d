"""The same input gives the same answers: for every hash seed, zone and locale, in 32 threads, and on every Python.

Run as a module, this file prints the digest of its workload; it then needs nothing but pycupel.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from itertools import product
from pathlib import Path
from random import Random
from typing import Any
from unittest import SkipTest

from pycupel import (
    ContextBudget,
    ContextItem,
    GreedySlice,
    OverflowStrategy,
    Pipeline,
    Policy,
    PriorityScorer,
    QuotaEntry,
    QuotaSlice,
    ReflexiveScorer,
    SelectionReport,
    StreamSlice,
    select,
    wire,
)
from pycupel.analytics import find_min_budget_for, get_marginal_items, sweep_budgets
from pycupel.batch import select_request
from pycupel.errors import UnitTooLargeError
from pycupel.messages import lint_messages, select_messages
from pycupel.messages.options import ProviderName
from pycupel.policies import PRESETS, dump_policy, parse_policy
from pycupel.replay import read_log
from pycupel.shorten import ByFormat, HeadAndTail, KeyLines, Stub
from pycupel.tokens import estimate_tokens
from tests.samples import DAY, NOW, PLACERS, SCORERS, SLICERS

DIGEST = "825cb4687fdd882ed30b66d71d405c75b59c6823fda3de38f77296432ab13944"
ENVIRONMENTS = (
    {"PYTHONHASHSEED": "0"},
    {"PYTHONHASHSEED": "1", "TZ": "Asia/Kathmandu", "LC_ALL": "tr_TR.UTF-8"},
    {"PYTHONHASHSEED": "2", "TZ": "America/New_York", "LC_ALL": "C", "PYTHONUTF8": "0"},
    {"PYTHONHASHSEED": "12345", "TZ": "Pacific/Auckland", "LANG": "de_DE.UTF-8"},
)
PROVIDERS: tuple[ProviderName, ...] = ("anthropic", "gemini", "mistral", "openai", "responses")
CORPUS = Path(__file__).parent / "fuzz" / "corpus"

KINDS = ("Message", "Document", "ToolOutput", "Memory", "document", "note", "MEMORY")
TAGS = ("alpha", "beta", "Gamma", "gamma", "delta", "epsilon")
TRUSTS = ("0.85", "0.2", 0.5, 1, "high", None)


def items() -> list[ContextItem]:
    """Build 300 items with ties, duplicates and odd values; whole days make the powers of the decay curve exact."""
    random = Random(7)
    return [
        ContextItem(
            f"content {random.randrange(260)}",
            random.randrange(-1, 120) if random.random() < 0.9 else 0,
            kind=KINDS[random.randrange(len(KINDS))],
            priority=random.randrange(-5, 20) if random.random() < 0.8 else None,
            tags=[TAGS[random.randrange(len(TAGS))] for _ in range(random.randrange(4))],
            metadata={"cupel:trust": TRUSTS[random.randrange(len(TRUSTS))], "level": str(random.randrange(3))},
            timestamp=NOW - random.randrange(-2, 30) * DAY if random.random() < 0.9 else None,
            future_relevance_hint=random.random() * 1.2 - 0.1 if random.random() < 0.7 else None,
            pinned=random.random() < 0.02,
        )
        for _ in range(300)
    ]


def lines(report: SelectionReport, indices: dict[int, int]) -> Iterator[str]:
    """Tell of every decision, with items by their index in the input and scores to the last bit."""
    for item, score, reason in report.included:
        yield f"+{indices[id(item)]} {score.hex()} {reason}"
    for item, score, why in report.excluded:
        fields: Any = why
        # The fields of the specification: what a cap is by stands after them.
        yield f"-{indices[id(item)]} {score.hex()} {type(why).__name__} {tuple(fields)[:3]}"
    for kind, required, satisfied, _ in report.count_requirement_shortfalls:
        yield f"!{kind.value} {required} {satisfied}"


def digest() -> str:
    """Hash what all pipelines of the workload select, score and say."""
    candidates = items()
    indices = {id(item): i for i, item in enumerate(candidates)}
    budgets = (ContextBudget(3000, 2500, output_reserve=300), ContextBudget(900, reserved_slots={"note": 40}))
    hashed = sha256()
    for turn, (scorer, slicer) in enumerate(product(SCORERS, SLICERS)):
        pipeline = Pipeline(scorer, slicer, PLACERS[turn % 2], overflow_strategy=OverflowStrategy.TRUNCATE)
        report = pipeline.dry_run(candidates, budgets[turn // 2 % 2])
        hashed.update("\n".join(lines(report, indices)).encode())
    return hashed.hexdigest()


def answers() -> Iterator[str]:
    """Tell what else answers: questions, explanations, budgets that were tried, documents, logs."""
    candidates = items()
    indices = {id(item): i for i, item in enumerate(candidates)}
    budget = ContextBudget(3000, 2500)
    for name in ("chat", "rag", "document-qa"):
        query = "content 17 and 40" if name == "rag" else None
        report = select(candidates, budget, policy=name, query=query, explain=True).report
        yield from lines(report, indices)
        for item in candidates[::40]:
            why = report.why(item)
            yield f"{why.included} {why.rank} {why.min_budget} {[indices[id(each)] for each in why.instead]}"
            yield " ".join(f"{part.scorer} {part.weight.hex()} {part.score.hex()}" for part in why.parts)
        # Times differ from run to run.
        document = {**wire.to_dict(report), "events": [], "notes": []}
        yield json.dumps(wire.to_dict(wire.from_dict(SelectionReport, document)))
    pipeline = Pipeline(ReflexiveScorer())
    yield str([indices[id(item)] for item in get_marginal_items(pipeline, candidates, budget, 200)])
    yield str(find_min_budget_for(pipeline, candidates, candidates[5], 3000))
    for point in sweep_budgets(pipeline, candidates, range(100, 3000, 400)):
        yield f"{point.tokens} {point.score.hex()} {point.utilization.hex()}"
        yield str([indices[id(item)] for item in point.items])
    for policy in PRESETS.values():
        for form in ("json", "toml"):
            text = dump_policy(policy, form)
            yield f"{text}{parse_policy(text, form) == policy}"
    for file in sorted((CORPUS / "logs").iterdir()):
        yield repr(read_log(file.read_text(encoding="utf-8").splitlines()))


def histories() -> Iterator[str]:
    """Tell what is selected from chat histories."""
    for provider in PROVIDERS:
        messages = json.loads((CORPUS / "messages" / f"{provider}.json").read_text(encoding="utf-8"))
        for size in (150, 250, 1_000):
            try:
                selection = select_messages(messages, size, provider=provider, counter=len)
                yield f"{[each.index for each in selection.dropped]} {selection.messages}"
            except UnitTooLargeError as error:
                yield str(error)
        yield str([(finding.index, finding.rule) for finding in lint_messages(messages)])


def texts() -> list[ContextItem]:
    random = Random(11)
    return [
        ContextItem(
            "\n".join(f"value_{random.randrange(90)} = {random.randrange(9)}  # see path/to/{i}.py" for _ in range(25)),
            400,
            priority=random.randrange(5),
        )
        for i in range(30)
    ]


def arrivals() -> Iterator[str]:
    """Tell of versions, streams, batches and estimates."""
    for shortener in (ByFormat(), KeyLines(), HeadAndTail(50), Stub()):
        for slicer in (GreedySlice(), QuotaSlice([QuotaEntry("Document", require=10)])):
            result = select(texts(), 3000, Policy(PriorityScorer(), slicer, shorten=shortener))
            yield str([(item.tokens, item.content) for item in result.items])
    candidates = items()
    for replace in (False, True):
        pipeline = Pipeline(
            ReflexiveScorer(), StreamSlice(16, replace=replace), overflow_strategy=OverflowStrategy.PROCEED
        )
        yield str([(item.content, item.tokens) for item in pipeline.run_stream_sync(candidates, 900)])
    records = [wire.to_dict(item) for item in candidates if not item.pinned]
    for policy in PRESETS.values():
        yield json.dumps(select_request({"id": 1, "items": records, "budget": 900, "query": "content 40"}, policy))
    yield str([estimate_tokens(item.content) for item in (*candidates, *texts())])


def digest_of(told: Iterator[str]) -> str:
    return sha256("\n".join(told).encode()).hexdigest()


def new_digests() -> list[str]:
    return [digest_of(answers()), digest_of(histories()), digest_of(arrivals())]


def all_digests() -> list[str]:
    return [digest(), *new_digests()]


def start_elsewhere(environment: dict[str, str], python: str = sys.executable) -> subprocess.Popen[str]:
    """Start this module in a new process."""
    root = Path(__file__).parents[1]
    variables = {**os.environ, "PYTHONPATH": str(root / "src"), **environment}
    command = [python, "-m", "tests.test_determinism"]
    return subprocess.Popen(command, cwd=root, env=variables, stdout=subprocess.PIPE, text=True, encoding="utf-8")


def other_pythons() -> Iterator[str]:
    """Give the other interpreters that are installed; a version manager's shim may be on PATH and still not run."""
    for version in {"3.11", "3.12", "3.13"} - {f"{sys.version_info.major}.{sys.version_info.minor}"}:
        found = shutil.which(f"python{version}")
        # The interpreters behind a shim are beside its directory.
        roots = [Path.home() / ".pyenv", *([Path(found).parents[1]] if found else [])]
        managed = [str(python) for root in roots for python in root.glob(f"versions/{version}.*/bin/python")]
        for python in ([found] if found else []) + managed:
            if subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0:
                yield python
                break


def test_no_hash_seed_zone_or_locale_changes_an_answer() -> None:
    """PY-16: no set ever decides an order; PY-01 and META-08: no sum depends on the version of Python."""
    processes = [start_elsewhere(environment) for environment in ENVIRONMENTS]
    digests = [process.communicate()[0].split() for process in processes]
    assert digests == [[DIGEST, *new_digests()]] * len(ENVIRONMENTS)


def test_no_version_of_python_changes_an_answer() -> None:
    processes = [start_elsewhere({"PYTHONHASHSEED": "7"}, python) for python in other_pythons()]
    if not processes:
        raise SkipTest("no other Python than this one is installed")
    digests = [process.communicate()[0].split() for process in processes]
    assert digests == [[DIGEST, *new_digests()]] * len(processes)


def test_32_threads_get_the_same_answers() -> None:
    with ThreadPoolExecutor(32) as pool:
        futures = [pool.submit(digest_of, told()) for _ in range(11) for told in (answers, histories, arrivals)]
    assert [future.result() for future in futures] == new_digests() * 11


def test_a_process_with_a_past_gives_the_same() -> None:
    """PB-04: nothing of other runs stays behind, in caches neither."""
    for slicer in SLICERS:
        Pipeline(ReflexiveScorer(), slicer, overflow_strategy=OverflowStrategy.PROCEED).run(items(), ContextBudget(500))
    assert digest() == DIGEST


def test_the_workload_is_worth_the_effort() -> None:
    """PY-16: it has duplicates, invalid and pinned items, and pipelines that select something but not everything."""
    candidates = items()
    assert len(candidates) == 300
    assert len({item.content for item in candidates}) < 250
    assert any(item.tokens < 0 for item in candidates)
    assert any(item.pinned for item in candidates)
    for slicer in SLICERS:
        pipeline = Pipeline(ReflexiveScorer(), slicer, overflow_strategy=OverflowStrategy.TRUNCATE)
        assert 20 < len(pipeline.run(candidates, ContextBudget(3000))) < 250


if __name__ == "__main__":
    sys.stdout.write("\n".join(all_digests()) + "\n")
