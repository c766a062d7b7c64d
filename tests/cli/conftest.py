"""What the tests of the command line share."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.cli.calls import Call
from tests.cli.console import ROOT, Shell, write_program
from tests.cli.preloaded import running_server, write_client


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    return Call(monkeypatch, capsys)


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A shell whose `pycupel` is that of this tree."""
    program = tmp_path / "bin" / "pycupel"
    program.parent.mkdir()
    write_program(program, f'env PYTHONPATH="{ROOT}/src" "{sys.executable}" -m pycupel')
    return Shell(tmp_path, program)


@pytest.fixture(scope="session")
def preloaded() -> Iterator[Path]:
    with TemporaryDirectory(prefix="pycupel-") as name:
        folder = Path(name)
        program = folder / "bin" / "pycupel"
        program.parent.mkdir()
        write_client(program, folder)
        with running_server(folder):
            yield program


@pytest.fixture
def quick_shell(tmp_path: Path, preloaded: Path) -> Shell:
    """A shell whose `pycupel` starts at once, for the tests with hundreds of commands."""
    return Shell(tmp_path, preloaded)
