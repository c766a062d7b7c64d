"""Sessions that coding agents have logged on this machine."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pycupel.replay.transcripts import newest_session, sessions_in


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    return tmp_path


def write(path: Path, directory: str, *times: str, escaped: bool = True) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [
        {"cwd": directory, "message": {"content": '{"timestamp": "2999-01-01T00:00:00Z"}'}, "timestamp": time}
        for time in times
    ]
    path.write_text("".join(json.dumps(row, ensure_ascii=escaped) + "\n" for row in rows), encoding="utf-8")
    return path


def test_the_newest_by_its_last_row_comes_first(home: Path) -> None:
    """Not by the file's time, which a copy or a backup changes."""
    old = write(home / "claude/projects/a/1.jsonl", "/a", "2026-01-01T08:00:00Z", "2026-01-01T09:00:00Z")
    new = write(home / "codex/sessions/2026/01/01/rollout-1.jsonl", "/b", "2026-01-01T09:00:01.5+00:00")
    os.utime(new, (0, 0))
    assert [each.path for each in sessions_in()] == [new, old]
    assert sessions_in()[1].time == datetime(2026, 1, 1, 9, tzinfo=UTC)
    assert [each.path for each in sessions_in(home / "claude")] == [old]


def test_files_of_subagents_are_left_out(home: Path) -> None:
    write(home / "claude/projects/a/agent-1.jsonl", "/a", "2026-01-01T08:00:00Z")
    write(home / "claude/projects/a/1/subagents/x.jsonl", "/a", "2026-01-01T08:00:00Z")
    (home / "claude/projects/a/folder.jsonl").mkdir()
    assert sessions_in() == []
    assert newest_session(Path("/a")) is None


@pytest.mark.parametrize("escaped", [True, False])
def test_the_session_of_this_directory_goes_before_newer_ones(home: Path, *, escaped: bool) -> None:
    here = write(home / "claude/projects/a/1.jsonl", "/Büro", "2026-01-01T08:00:00Z", escaped=escaped)
    other = write(home / "claude/projects/b/1.jsonl", "/b", "2026-01-01T09:00:00Z")
    assert newest_session(Path("/Büro")) == here
    assert newest_session(Path("/elsewhere")) == other


@pytest.mark.parametrize("text", ["", '{"timestamp": "yesterday"}\n', "no JSON"])
def test_without_a_time_in_its_rows_a_file_has_its_own(home: Path, text: str) -> None:
    path = home / "claude/projects/a/1.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    os.utime(path, (60, 60))
    assert [each.time for each in sessions_in()] == [datetime(1970, 1, 1, 0, 1, tzinfo=UTC)]
    assert newest_session(home) == path


def test_a_time_without_a_zone_is_utc(home: Path) -> None:
    write(home / "claude/projects/a/1.jsonl", "/a", "2026-01-01T08:00:00")
    assert sessions_in()[0].time == datetime(2026, 1, 1, 8, tzinfo=UTC)


def test_the_homes_are_below_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    path = write(tmp_path / ".codex/sessions/2026/01/01/rollout-1.jsonl", "/a", "2026-01-01T08:00:00Z")
    assert newest_session(tmp_path) == path
