"""Plug-ins that end the program, hang, or are rubbish: one error names them, and nothing else is affected."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread, enumerate as enumerate_threads
from typing import Any

import pytest

from pycupel import Policy, RecencyScorer, registry
from pycupel.errors import DocumentError, InvalidArgumentError
from pycupel.policies import parse_policy, policy_from_dict, policy_json_schema, policy_to_dict
from pycupel.registry import CLOCKS, Registry
from tests import registries

MODULES = {
    "leaves": "raise SystemExit(3)",
    "hangs": (
        "import time\nfrom pathlib import Path\n"
        "while not Path(__file__).with_name('go').exists():\n    time.sleep(0.01)"
    ),
    "interrupts": "raise KeyboardInterrupt",
    "number": "thing = 5",
    "registers": (
        "from pycupel.registry import SCORERS\nclass Thing:\n    def score(self, item, all_items): return 0.5\n"
        "SCORERS.register('registers', Thing)"
    ),
    "fine": "class Thing:\n    def score(self, item, all_items): return 0.5",
    "builtin": "thing = max",
    "unhashable": (
        "class Maker:\n    __hash__ = None\n    def __call__(self): return Thing()\n"
        "class Thing:\n    def score(self, item, all_items): return 0.5\nthing = Maker()"
    ),
    "signature": "class Thing:\n    __signature__ = 5\n    def score(self, item, all_items): return 0.5",
    "annotation": (
        "class Thing:\n    def __init__(self, x: '1 +' = 1): self.x = x\n"
        "    def score(self, item, all_items): return 0.5"
    ),
    "exits": "class Thing:\n    def __init__(self): raise SystemExit(4)",
    "array": (
        "class Array:\n    def __eq__(self, other): raise RuntimeError('no truth')\n    __hash__ = None\n"
        "class Thing:\n    def __init__(self, x=Array()): self.x = Array()\n"
        "    def score(self, item, all_items): return 0.5"
    ),
}


@pytest.fixture(autouse=True)
def _keep_the_registries(monkeypatch: pytest.MonkeyPatch) -> None:
    registries.keep(monkeypatch)


@pytest.fixture(autouse=True)
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package with a scorer in each module."""
    package = tmp_path / "hostile_scorers"
    package.mkdir()
    (package / "__init__.py").write_text("", encoding="utf-8")
    for name, text in MODULES.items():
        (package / f"{name}.py").write_text(text, encoding="utf-8")
    info = tmp_path / "hostile_scorers-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: hostile-scorers\nVersion: 1.0\n", encoding="utf-8")
    points = [
        f"{name} = hostile_scorers.{name}:{'thing' if 'thing =' in text else 'Thing'}" for name, text in MODULES.items()
    ]
    (info / "entry_points.txt").write_text("[pycupel.scorers]\n" + "\n".join(points), encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    for each in registries.REGISTRIES:
        monkeypatch.setattr(each, "_points", None)
    yield
    for name in [name for name in sys.modules if name.startswith("hostile_scorers")]:
        del sys.modules[name]


def reading(name: str) -> Policy:
    return policy_from_dict({"scorers": [{"type": name}]})


def check_that_it_cannot_be_loaded(name: str, message: str) -> None:
    for _ in range(2):
        with pytest.raises(InvalidArgumentError) as caught:
            reading(name)
        assert str(caught.value) == message
        assert caught.value.__notes__ == [f"Raised while loading the plug-in '{name}' (hostile_scorers.{name}:Thing)."]


@pytest.mark.parametrize(("name", "raised"), [("leaves", "SystemExit(3)"), ("interrupts", "KeyboardInterrupt()")])
def test_an_import_that_ends_the_program_is_an_error_of_ours(name: str, raised: str) -> None:
    check_that_it_cannot_be_loaded(name, f"hostile_scorers.{name} raised {raised} when it was imported")
    assert type(reading("fine").scorer).__name__ == "Thing"


def test_an_import_that_hangs_is_not_waited_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = {*enumerate_threads()}
    with monkeypatch.context() as patch:
        patch.setattr(registry, "_IMPORT_SECONDS", 0.1)
        check_that_it_cannot_be_loaded(
            "hangs", "importing hostile_scorers.hangs took longer than 0.1 seconds; uninstall it, or import it first"
        )
    assert type(reading("fine").scorer).__name__ == "Thing"
    # Otherwise it would go on during other tests.
    (tmp_path / "hostile_scorers" / "go").touch()
    waiting = {*enumerate_threads()} - before
    assert waiting
    for thread in waiting:
        thread.join()


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        (
            "number",
            TypeError,
            r"^the scorer 'number' must be a class or a function that builds an instance, not 5 \(int\)",
        ),
        (
            "builtin",
            InvalidArgumentError,
            "^<built-in function max> cannot be used in a policy file, because it has no readable",
        ),
        (
            "signature",
            InvalidArgumentError,
            r"^<class '.*'> cannot be used in a policy file, because it has no readable",
        ),
        ("exits", DocumentError, r"^scorers\[0\]: raised SystemExit\(4\) when it was built$"),
    ],
)
def test_rubbish_is_an_error_of_ours(name: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        reading(name)


@pytest.mark.parametrize("name", ["fine", "registers", "unhashable", "annotation", "array"])
def test_what_can_be_used_is_used(name: str) -> None:
    assert type(reading(name).scorer).__name__ == "Thing"


def test_an_option_that_cannot_be_compared_is_not_written() -> None:
    with pytest.raises(DocumentError, match=r"^scorers\[0\]: Thing cannot be written: RuntimeError\('no truth'\)$"):
        policy_to_dict(reading("array"))


def test_neither_a_schema_nor_a_dump_imports_what_it_does_not_need() -> None:
    cases = policy_json_schema()["$defs"]["scorer"]["allOf"]
    described = {case["if"]["properties"]["type"]["enum"][0]: case["then"] for case in cases}
    assert described["fine"] == {}
    assert described["recency"] != {}
    policy_to_dict(Policy(RecencyScorer()))
    parse_policy('{"scorers": [{"type": "kind"}]}')
    with pytest.raises(DocumentError, match="is not a registered scorer"):
        policy_to_dict(Policy(Mine()))
    assert [name for name in sys.modules if name.startswith("hostile_scorers.")] == []
    importlib.import_module("hostile_scorers.annotation")
    cases = policy_json_schema()["$defs"]["scorer"]["allOf"]
    described = {case["if"]["properties"]["type"]["enum"][0]: case["then"] for case in cases}
    assert list(described["annotation"]["properties"]) == ["x"]


def test_a_dump_finds_a_class_of_a_package_with_broken_plug_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_IMPORT_SECONDS", 0.1)
    module = importlib.import_module("hostile_scorers.fine")
    assert policy_to_dict(Policy(module.Thing()))["scorers"] == [{"type": "fine", "weight": 1}]


class Mine:
    def score(self, item: Any, all_items: Any) -> float:
        return 0.5


class Incomparable:
    """Is a clock, and raises when it is compared."""

    def now(self) -> Any:
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no")

    __hash__ = None  # type: ignore[assignment]


def test_a_clock_that_cannot_be_compared_does_not_hide_the_others() -> None:
    clock = Incomparable()
    CLOCKS.register("odd", clock)
    CLOCKS.register("odd", clock)
    with pytest.raises(InvalidArgumentError, match="the clock 'odd' is already registered, as <"):
        CLOCKS.register("odd", Incomparable())
    assert CLOCKS.name_of(clock) == "odd"
    assert CLOCKS.name_of(Incomparable()) is None


@pytest.mark.unmeasured
def test_threads_may_register_while_others_read() -> None:
    """What is found has a name, and no iteration breaks off."""
    table = Registry("tested", {"recency": RecencyScorer}, lambda _, entry: entry)
    classes = [type(f"Scorer{i}", (), {}) for i in range(2_000)]
    failures: list[BaseException] = []
    done: list[bool] = []

    def read() -> None:
        try:
            while not done:
                for name in table:
                    table[name]
                assert table.name_of(RecencyScorer) == "recency"
                assert table.name_of(object) is None
                assert len(table) >= 1
        except BaseException as error:  # noqa: BLE001 - told by the test
            failures.append(error)

    def register(part: list[type[Any]]) -> None:
        for each in part:
            table.register(each.__name__, each)
            assert table.canonical_name(each.__name__) == each.__name__

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        readers = [Thread(target=read) for _ in range(3)]
        writers = [Thread(target=register, args=(classes[i::4],)) for i in range(4)]
        for thread in (*readers, *writers):
            thread.start()
        for thread in writers:
            thread.join()
        done.append(True)
        for thread in readers:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert failures == []
    assert set(table) == {"recency", *(each.__name__ for each in classes)}


def test_only_one_of_two_threads_gets_a_name() -> None:
    def check(_: str, entry: Any) -> Any:
        time.sleep(0.001)
        return entry

    table = Registry("tested", {}, check)
    refused: list[InvalidArgumentError] = []

    def register(i: int) -> None:
        try:
            table.register("one", type(f"Scorer{i}", (), {}))
        except InvalidArgumentError as error:
            refused.append(error)

    threads = [Thread(target=register, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 7
