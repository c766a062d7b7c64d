"""`make mutate`: change the code in thousands of ways, one at a time, and list the changes that no test notices.

`python -m tools.mutate [--others] [--draw 1500 --seed 1] [NAME ...]`, in an environment with mutmut, which makes the
mutants and says which tests call a function. Tests are collected once; every mutant is a fork that runs the quickest of
them first, up to the first that fails. What was judged stands in `mutants/judged.jsonl`, so that a run can be
interrupted.

What is mutated, and by which tests it is judged, stands in pyproject.toml: the core under [tool.mutmut], and what
`--others` judges under [tool.mutate-others]. Not counted are reprs,
what an error says (what a `raise` of an error that is nothing but text has in its brackets, the texts that a check is
given for it, and notes), types that only type checkers read, and whether `zip` would notice a mistake.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import resource
import signal
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import partial
from importlib import import_module, metadata
from math import inf, sqrt
from pathlib import Path
from random import Random
from typing import Any

import pytest

# It is in no environment but its own.
mutmut: Any = import_module("mutmut.__main__")
set_mutant_under_test: Any = mutmut.set_mutant_under_test

ROOT = Path(__file__).parents[1]
TREE = ROOT / "mutants"
JUDGED = TREE / "judged.jsonl"

# A mutant that takes this many times longer than the code, and some seconds, has been noticed: it never ends.
PATIENCE, SECONDS = 10, 5
MAX_BYTES = 4 * 2**30

# With `--seconds`, it has survived the quickest tests. The next run without it asks the others.
UNDECIDED = "undecided"
LOST = ("survived", "no tests", UNDECIDED)


def generate() -> list[str]:
    """Write the mutants of all configured modules, and return their names."""
    TREE.mkdir(exist_ok=True)
    set_mutant_under_test("mutant_generation")
    mutmut.copy_src_dir()
    mutmut.copy_also_copy_files()
    mutmut.setup_source_paths()
    mutmut.create_mutants(1)
    mutants, _ = mutmut.collect_source_file_mutation_data(mutant_names=())
    not_counted = {*_not_counted()}
    return [name for _, name, _ in mutants if name not in not_counted and "__repr__" not in name]


class _Counted(ast.NodeTransformer):
    """Removes from a function what is not counted, so that mutants of nothing else are equal to their original."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        called = ast.unparse(node.func).rpartition(".")[2]
        if called == "cast":
            return node.args[-1]
        if re.search("^check|^wrong_|^duplicate_|^add_note$|Error$", called):
            # A mutant may have None in place of a text, or nothing at all.
            node.args = [each for each in node.args if not _is_text(each)]
            node.keywords = [each for each in node.keywords if each.arg not in ("argument", "value", "hint")]
        if called == "zip":
            node.keywords = []
        return node


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str | None))


def _not_counted() -> Iterator[str]:
    """Find the mutants that differ from their original only in what is not counted, where mutmut wrote them."""
    for path in (TREE / "src").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "__mutmut_orig" not in text:
            continue
        module = ".".join(path.relative_to(TREE / "src").with_suffix("").parts)
        originals: dict[str, str] = {}
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef) and "__mutmut_" in node.name:
                function, _, number = node.name.rpartition("__mutmut_")
                written = "\n".join(ast.unparse(_Counted().visit(each)) for each in node.body)
                if originals.setdefault(function, written) == written and number != "orig":
                    yield f"{module}.{node.name}"


def function_of(mutant: str) -> str:
    """The function that a mutant is of, as mutmut names it."""
    return mutant.rpartition("__mutmut_")[0]


def judged() -> dict[str, str]:
    """The results so far, by mutant."""
    lines = JUDGED.read_text(encoding="utf-8").splitlines() if JUDGED.exists() else []
    return dict(map(json.loads, lines))


class Judge:
    """A plug-in for pytest that runs the collected tests once for each mutant, instead of once."""

    def __init__(self, mutants: Iterable[str], calls: Path, children: int, budget: float) -> None:
        self.mutants = [*mutants]
        self.calls = calls
        self.children = children
        self.budget = budget
        self.seconds: dict[str, float] = {}
        self.callers: dict[str, list[pytest.Item]] = {}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if not self.calls.exists():
            self._fork(session, lambda: _measure(session, self.calls))
            os.wait()
        calls: dict[str, tuple[float, list[str]]] = json.loads(self.calls.read_text(encoding="utf-8"))
        self.seconds = {test: seconds for test, (seconds, _) in calls.items()}
        for item in sorted(session.items, key=lambda item: self.seconds.get(item.nodeid, 0)):
            for function in calls.get(item.nodeid, (0, []))[1]:
                self.callers.setdefault(function, []).append(item)
        for function in {*map(function_of, self.mutants[:1])}:
            self._fork(session, partial(self._judge, session, f"{function}__mutmut_0"))
            if os.waitstatus_to_exitcode(os.wait()[1]) not in (0, 6):
                pytest.exit("a mutant that changes nothing was killed, so that no result would mean anything", 1)
        running: dict[int, str] = {}
        for mutant in self.mutants:
            if len(running) == self.children:
                self._wait(running)
            running[self._fork(session, partial(self._judge, session, mutant))] = mutant
        while running:
            self._wait(running)
        return True

    def _fork(self, session: pytest.Session, work: Callable[[], object]) -> int:
        pid = os.fork()
        if not pid:
            code = 3
            # One dot for each test of each mutant says nothing.
            session.config.pluginmanager.unregister(name="terminalreporter")
            try:
                work()
                code = 0
            finally:
                # Whatever happens, it never gets back into the loop of its parent.
                os._exit(code)
        return pid

    def _judge(self, session: pytest.Session, mutant: str) -> None:
        set_mutant_under_test(mutant)
        resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, MAX_BYTES))
        items = self.callers.get(function_of(mutant), [])
        if not items:
            os._exit(5)
        spent = 0.0
        for item in items:
            spent += self.seconds[item.nodeid]
            if spent > self.budget:
                os._exit(6)
            # Processor time, because other programs run beside it. The signal ends the process.
            signal.setitimer(signal.ITIMER_PROF, SECONDS + PATIENCE * self.seconds[item.nodeid])
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
            if session.testsfailed:
                os._exit(1)

    @staticmethod
    def _wait(running: dict[int, str]) -> None:
        pid, status = os.wait()
        code = os.waitstatus_to_exitcode(status)
        result = {0: "survived", 1: "killed", 5: "no tests", 6: UNDECIDED}.get(
            code, "never ends" if code < 0 else "killed"
        )
        with JUDGED.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps([running.pop(pid), result])}\n")


def _measure(session: pytest.Session, path: Path) -> None:
    """Write how long each test takes, and what it calls. A test that fails is no judge."""
    set_mutant_under_test("stats")
    calls: dict[str, tuple[float, list[str]]] = {}
    for item in session.items:
        mutmut.state()._stats.clear()  # noqa: SLF001 - mutmut has no other way
        failed, start = session.testsfailed, time.process_time()
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        if session.testsfailed == failed:
            calls[item.nodeid] = time.process_time() - start, sorted(mutmut.state()._stats)  # noqa: SLF001
    path.write_text(json.dumps(calls), encoding="utf-8")


def interval(share: float, count: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share that was found in so many drawn."""
    z = 1.96
    middle, spread = share + z * z / (2 * count), z * sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    return (middle - spread) / (1 + z * z / count), (middle + spread) / (1 + z * z / count)


def report(mutants: list[str], drawn: list[str], results: dict[str, str]) -> Iterator[str]:
    """Return the score of each module, and every mutant that survived."""
    yield f"mutmut {metadata.version('mutmut')}, Python {sys.version.split()[0]}, {time.strftime('%Y-%m-%d')}"
    yield f"{'module':34} {'mutants':>8} {'judged':>7} {'killed':>7} {'survived':>9} {'score':>7}"
    found = Counter((_module_of(name), results[name]) for name in drawn if name in results)
    for module, count in sorted(Counter(map(_module_of, mutants)).items()):
        yield from _row(module, count, {result: number for (where, result), number in found.items() if where == module})
    yield from _row("all", len(mutants), Counter(results[name] for name in drawn if name in results))
    for name in drawn:
        if results.get(name) in LOST:
            changed = [line for line in mutmut.get_diff_for_mutant(name).splitlines() if line[:1] in "+-"]
            yield "\n".join([f"\n# {name}: {results[name]}", *changed[2:]])


def _module_of(mutant: str) -> str:
    return mutant.rpartition(".")[0]


def _row(name: str, count: int, row: Mapping[str, int]) -> Iterator[str]:
    size, lost = sum(row.values()), sum(row.get(result, 0) for result in LOST)
    if size:
        low, high = interval(1 - lost / size, size)
        between = "" if size == count else f" ({low:.1%} to {high:.1%})"
        yield f"{name:34} {count:>8,} {size:>7,} {size - lost:>7,} {lost:>9,} {1 - lost / size:>7.1%}{between}"


def main(arguments: list[str] | None = None) -> int:
    """Judge mutants; the exit code is 0 if all that were asked for are judged."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="only mutants whose names match, like 'pycupel.kernels.order*'")
    parser.add_argument("--draw", type=int, help="only so many of them, drawn at random")
    parser.add_argument("--others", action="store_true", help="not the core, but model, messages and others")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--children", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=inf, help="only the quickest tests, up to so many seconds")
    parser.add_argument("--again", action="store_true", help="only those that survived, after tests were added")
    parser.add_argument("--report", action="store_true", help="judge nothing, print what was judged")
    options = parser.parse_args(arguments)
    os.chdir(ROOT)
    config = mutmut.config()
    if options.others:
        others = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["tool"]["mutate-others"]
        config.only_mutate, config.pytest_add_cli_args_test_selection = others["only_mutate"], others["tests"]
    mutants = [
        name for name in generate() if not options.names or any(fnmatchcase(name, each) for each in options.names)
    ]
    drawn = mutants
    if options.draw is not None and options.draw < len(mutants):
        drawn = Random(options.seed).sample(mutants, options.draw)  # noqa: S311 - no secret
    known = judged()
    if not options.report:
        os.chdir(TREE)
        open_results = LOST if options.again else (None, UNDECIDED)
        left = [name for name in drawn if known.get(name) in open_results]
        chosen = config.pytest_add_cli_args_test_selection
        calls = TREE / ("calls-others.json" if options.others else "calls.json")
        if options.again:
            # New tests have to be measured.
            calls.unlink(missing_ok=True)
        judge = Judge(left, calls, options.children, options.seconds)
        pytest.main(["-q", "-p", "no:cacheprovider", *chosen], plugins=[judge])
        os.chdir(ROOT)
        known = judged()
    print(*report(mutants, drawn, known), sep="\n")  # noqa: T201
    return 0 if all(known.get(name, UNDECIDED) != UNDECIDED for name in drawn) else 1


if __name__ == "__main__":
    sys.exit(main())
