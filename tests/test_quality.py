"""`python -m benchmarks.quality` on anyone's data."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from shlex import quote
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
# Vectors with one number for each letter.
EMBED = f"""{quote(sys.executable)} -c 'import json, sys
print(json.dumps([[text.count(c) for c in "abcdefghijklmnopqrstuvwxyz"] for text in json.load(sys.stdin)]))'"""


def question(subject: str) -> dict[str, Any]:
    others = [{"content": f"Something about topic {i}.", "tokens": 20, "role": "user"} for i in range(30)]
    gold = {"content": f"The {subject} was found in the harbour.", "tokens": 20, "timestamp": "2026-01-01T00:00:00Z"}
    return {"id": subject, "query": f"Where was the {subject}?", "gold": [7], "items": [*others[:7], gold, *others[7:]]}


def measured(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks.quality", "--data", str(folder), "--samples", "50", *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False)


def test_own_data_are_measured_beside_the_baselines(tmp_path: Path) -> None:
    lines = "".join(json.dumps(question(subject)) + "\n" for subject in ("compass", "lantern", "anchor"))
    (tmp_path / "harbour.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    result = measured(tmp_path, "--questions", "2", "--embed", EMBED)
    assert result.returncode == 0, result.stderr
    assert "harbour: 2 questions" in result.stdout
    rows = {line[:20].strip(): line[20:].split() for line in result.stdout.split("all of the evidence")[0].splitlines()}
    # 5 % of 31 items of 20 tokens has room for one.
    assert rows["rag, query"][1] == rows["hybrid"][1] == rows["words"][1] == "100.0"
    assert rows["newest first"][1] == "0.0"
    assert {"BM25 by score", "random", "chat", "document-qa, query", "embeddings"} <= rows.keys()
    assert result.stderr == "", "no progress bar where there is no terminal"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "JSONDecodeError"),
        ('{"query": "?", "gold": [0]}', "KeyError: 'items'"),
        ('{"query": "?", "gold": [1], "items": [{"content": "a", "tokens": 1}]}', "gold must be indices of items"),
        ('{"query": "?", "gold": [0], "items": [{"content": "", "tokens": 1}]}', "content must not be empty"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, line: str, problem: str) -> None:
    (tmp_path / "a.jsonl").write_text(f"{json.dumps(question('compass'))}\n{line}\n")
    result = measured(tmp_path)
    assert result.returncode == 1
    assert "a.jsonl, line 2: " in result.stderr
    assert problem in result.stderr


def test_a_folder_without_data_is_refused(tmp_path: Path) -> None:
    result = measured(tmp_path)
    assert result.returncode == 2
    assert "choose a folder with --data" in result.stderr
