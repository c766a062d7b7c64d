"""The files in `examples/`: each runs with one command, without keys or a network, and prints what it should."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
# A piece of what each prints.
PRINTED = {
    "agent_loop.py": "of them as in the last call, 12 shortened",
    "demo.py": "TOKENS, as shares of the target",
    "embedding_scorer.py": "embedding 1 texts\n  0.98 The retry limit is three.",
    "nightly_comparison.py": "of what was needed later",
    "otel_console.py": "cupel.pipeline",
    "rag_answer.py": "fused by rank",
    "test_prompt.py": "2 passed",
}
# Run in the environments of their libraries, by `tests/integrations_env`. Here they say what they need.
NEEDS = {
    "anthropic_service.py": "this example needs FastAPI and its test client: pip install fastapi httpx2",
    "langgraph_agent.py": "this example needs LangChain: pip install 'pycupel[langchain]'",
    "pydantic_ai_agent.py": "this example needs Pydantic AI: pip install 'pycupel[pydantic-ai]'",
}


def test_every_example_is_run() -> None:
    assert sorted([*PRINTED, *NEEDS]) == sorted(path.name for path in EXAMPLES.glob("*.py"))


@pytest.mark.parametrize("name", NEEDS)
def test_an_example_without_its_framework_says_what_to_install(name: str, tmp_path: Path) -> None:
    for library in ("fastapi", "langchain", "pydantic_ai"):
        (tmp_path / f"{library}.py").write_text("", encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, str(EXAMPLES / name)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stderr.strip()) == (1, NEEDS[name])


@pytest.mark.parametrize("name", PRINTED)
def test_an_example_prints_what_it_should(name: str) -> None:
    program = ["-m", "pytest", "-q", "-p", "no:cacheprovider"] if name.startswith("test_") else []
    command = [sys.executable, *program, str(EXAMPLES / name)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "COLUMNS": "80"}, check=False)
    assert done.returncode == 0, done.stderr
    assert PRINTED[name] in done.stdout


def test_the_cells_of_the_notebook_run() -> None:
    cells = json.loads((EXAMPLES / "notebook.ipynb").read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    space: dict[str, Any] = {}
    for each in code:
        *statements, last = ast.parse(each).body
        exec(compile(ast.Module(statements, []), "notebook", "exec"), space)  # noqa: S102 - our own example
        assert isinstance(last, ast.Expr)
        assert eval(compile(ast.Expression(last.value), "notebook", "eval"), space)  # noqa: S307 - our own example
    assert len(code) > 3


def test_an_example_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "opentelemetry").mkdir()
    (tmp_path / "opentelemetry" / "__init__.py").write_text("", encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, str(EXAMPLES / "otel_console.py")]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stderr.strip()) == (
        1,
        "this example needs OpenTelemetry's SDK: pip install 'pycupel[otel]' opentelemetry-sdk",
    )
