"""`python -m tools.compare_models [REQUIREMENT]`: compare `tokens/data` with the table in litellm's wheel.

pip downloads the wheel (by default the newest) into a temporary directory; nothing of it is installed or run. Only what
the makers of the models serve counts, because a host may set any limit that it likes. A row is changed if all models
that it is for agree on other numbers. Everything else is only printed: models that differ from each other, models that
take more than our window, and models without a row. New rows and windows are for people to write.

Prices are rewritten as a whole, with the day and the page that litellm names. Models that it no longer has keep theirs.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from zipfile import ZipFile

from pycupel.model.budget import ModelLimits
from pycupel.tokens import models as limits
from pycupel.tokens.models import family_of, normalized_model

DATA = Path(limits.__file__).with_name("data") / "limits.txt"
PRICES = DATA.with_name("prices.txt")
TABLE = "litellm/model_prices_and_context_window_backup.json"
MODES = ("chat", "responses")
# Who serves the models of a family in litellm's table. Llama, Phi and others have no maker that serves them.
MAKERS = {
    "openai": ("openai", "azure"),
    "anthropic": ("anthropic",),
    "gemini": ("gemini",),
    "gemma": ("gemini",),
    "mistral": ("mistral",),
    "deepseek": ("deepseek",),
    "qwen": ("dashscope",),
    "kimi": ("moonshot",),
    "grok": ("xai",),
    "cohere": ("cohere_chat",),
    "glm": ("zai",),
    "nova": ("amazon_nova",),
    "jamba": ("ai21",),
    "minimax": ("minimax",),
    None: ("openai", "azure", "gemini", "mistral", "meta"),
}
# Since GPT-5, OpenAI takes at most the window without the longest reply. For some of these models, litellm has that as
# `max_input_tokens`, for others the window.
SINCE_GPT_5 = ("gpt-5", "gpt-6", "gpt-daybreak", "daybreak")
# A window of 256K may mean 256,000 or 262,144 tokens. More than that is a difference worth looking at.
SAME_WINDOW = 1.05


class Facts(NamedTuple):
    """What litellm's table has about a model."""

    input: int
    output: int | None


def main(requirement: str = "litellm") -> None:
    """Compare, print the differences, and change the rows."""
    wheel, table = download(requirement)
    facts = facts_of(table)
    lines, changes = compare(facts)
    text = DATA.read_text(encoding="utf-8")
    DATA.write_text("".join(rewritten(text.splitlines(keepends=True), changes)), encoding="utf-8")
    known = PRICES.read_text(encoding="utf-8").splitlines(keepends=True)
    lines += rewrite_prices(known, price_rows(table, wheel, datetime.now(UTC).date()))
    print(f"{wheel}: {len(facts)} chat models of their makers", *lines, sep="\n")  # noqa: T201


def price_rows(table: Mapping[str, Any], wheel: str, today: date) -> dict[str, str]:
    """Return a line for each model of a maker that has a price, by its normalised name."""
    rows: dict[str, str] = {}
    # Where dated names cost something else, the name without a date counts, which is the shortest.
    for name, entry in sorted(table.items(), key=lambda each: (len(each[0]), each[0])):
        maker = MAKERS.get(family_of(name), ("",))[0]
        numbers = [entry.get(f"{each}_token_cost") for each in ("cache_read_input", "cache_creation_input")]
        usual = [entry.get("input_cost_per_token"), entry.get("output_cost_per_token")]
        if entry.get("mode") in MODES and entry.get("litellm_provider") == maker and all(usual):
            key = normalized_model(name)
            cells = [f"{each * 1e6:.6g}" if each else "-" for each in (usual[0], *numbers, usual[1])]
            # A name is one word, and so is the address of a page.
            source = (entry.get("source") or "").split() or ["-".join(wheel.split("-")[:2])]
            rows.setdefault(key, f"{key:<36}{''.join(f'{cell:>9}' for cell in cells)}  {today}  {source[0]}\n")
    return rows


def rewrite_prices(known: Sequence[str], rows: Mapping[str, str]) -> list[str]:
    """Write the table of prices, and return a line for each figure that is another one."""
    comments = [line for line in known if line.startswith("#")]
    before = {line.split()[0]: line for line in known if not line.startswith("#")}
    merged = {**before, **rows}
    PRICES.write_text("".join([*comments, *(merged[name] for name in sorted(merged))]), encoding="utf-8")
    figures = {name: (before.get(name, "").split()[1:5], line.split()[1:5]) for name, line in rows.items()}
    return [f"price: {name} from {old or 'nothing'} to {new}" for name, (old, new) in figures.items() if old != new]


def download(requirement: str) -> tuple[str, Mapping[str, Any]]:
    """Return the name of litellm's wheel, and its table."""
    with TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest", folder]
        subprocess.run([*pip, requirement], check=True)  # noqa: S603 - this very interpreter
        (wheel,) = Path(folder).glob("*.whl")
        with ZipFile(wheel) as archive:
            return wheel.name, json.loads(archive.read(TABLE))


def facts_of(table: Mapping[str, Any]) -> dict[str, Facts]:
    """Return the facts of the chat models that their makers serve."""
    return {
        name: Facts(entry["max_input_tokens"], entry.get("max_output_tokens"))
        for name, entry in table.items()
        if entry.get("mode") in MODES
        and entry.get("litellm_provider") in MAKERS.get(family_of(name), ())
        and isinstance(entry.get("max_input_tokens"), int)
        # An embedding or a picture may be filed as a chat, with 0 tokens.
        and entry["max_input_tokens"] > 0
    }


def compare(facts: Mapping[str, Facts]) -> tuple[list[str], dict[str, ModelLimits]]:
    """Return a line for each difference, and the rows to change."""
    lines: list[str] = []
    changes: dict[str, ModelLimits] = {}
    rows: dict[str, dict[str, Facts]] = defaultdict(dict)
    for name, found in sorted(facts.items()):
        rows[limits.row_of(normalized_model(name)) or ""][name] = found
    for name, found in rows.pop("", {}).items():
        lines.append(f"no row: {name} has {found.input:_} and {found.output or 0:_}")
    for row, models in sorted(rows.items()):
        ours = changed = limits.limits_table()[row]
        larger = {name: found.input for name, found in models.items() if found.input > SAME_WINDOW * ours.window}
        if larger:
            lines.append(f"more than the window: {row} has {ours.window:_}, but {described(larger)}")
        theirs = {name: expected(name, ours.window, found) for name, found in models.items()}
        for field in ("input", "output"):
            numbers = {name: getattr(each, field) for name, each in theirs.items() if getattr(each, field)}
            if len({*numbers.values()}) == 1:
                changed = changed._replace(**{field: min(numbers.values())})
            elif numbers and getattr(ours, field) != min(numbers.values()):
                lines.append(f"{field} differs: {row} has {getattr(ours, field)}, but {described(numbers)}")
        if changed != ours:
            lines.append(f"changed: {row} from {tuple(ours)} to {tuple(changed)}, as {next(iter(models))}")
            changes[row] = changed
    return lines, changes


def described(numbers: Mapping[str, int]) -> str:
    """Return each number with one of the models that have it."""
    examples = {number: name for name, number in numbers.items()}
    return ", ".join(f"{examples[number]} has {number:_}" for number in sorted(examples))


def expected(name: str, window: int, found: Facts) -> ModelLimits:
    """Return the limits of a model of that window."""
    output = found.output and min(found.output, window)
    most = min(found.input, window)
    if normalized_model(name).startswith(SINCE_GPT_5) and most == window and output:
        most = window - output
    return ModelLimits(window, most, output)


def rewritten(lines: Iterable[str], changes: Mapping[str, ModelLimits]) -> Iterator[str]:
    """Return the lines of the data file with the changed rows."""
    for line in lines:
        name = line.partition(" ")[0]
        yield row_text(name, changes[name]) if name in changes else line


def row_text(name: str, row: ModelLimits) -> str:
    """Format a row. What can be left out is left out: an unknown reply, and an input limit that is the window."""
    numbers = [row.window] if row.input == row.window and row.output is None else [row.window, row.input]
    numbers += [] if row.output is None else [row.output]
    return f"{name:<30}{''.join(f'{number:>12_}' for number in numbers)}\n"


if __name__ == "__main__":
    main(*sys.argv[1:])
