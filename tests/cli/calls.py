"""Calls of `main` in this process: what they write and return."""

from __future__ import annotations

import io
from typing import NamedTuple

import pytest

from pycupel.cli import main

# A day on which the known prices are new.
PRICED = "1795000000"


class Done(NamedTuple):
    code: int
    out: str
    err: str


class Call:
    """`call("select", "-", "-b", "10", text=...)`: stdin is the text or the bytes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch, self._capsys = monkeypatch, capsys
        monkeypatch.setenv("COLUMNS", "80")
        monkeypatch.setenv("SOURCE_DATE_EPOCH", PRICED)

    def __call__(self, *arguments: str, text: str | bytes = "") -> Done:
        data = text.encode() if isinstance(text, str) else text
        self._monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        self._capsys.readouterr()
        code = main(arguments)
        return Done(code, *self._capsys.readouterr())
