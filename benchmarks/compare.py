"""`make compare`: other libraries and pycupel on the same histories and questions.

    python -m benchmarks.compare            measures what this environment has, and prints a JSON line for each row
    python -m benchmarks.compare FILE...    writes these rows into docs/comparison.md

Histories: each session is sent call by call, as its agent would. Figures are of the calls whose whole history is
larger than the window, which is 30% of the session. A call needs a path or identifier if the agent writes it into the
arguments, a result had it before, and no message said it in between.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from itertools import pairwise, takewhile
from pathlib import Path
from statistics import mean
from time import process_time
from typing import Any, NamedTuple

from benchmarks import compare_histories as histories, compare_items as items
from benchmarks.compare_histories import Message, Peer, tokens
from benchmarks.quality import DATA, Question, read_set
from pycupel import scorers
from pycupel.messages import clear_caches, lint_messages
from pycupel.replay import read_log
from pycupel.replay.parts import pieces

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "comparison.md"
SHARED = ROOT.parent / "shared"
REAL = ("agent-1c12-anthropic.json.xz", "agent-b550-anthropic.json.xz")
WINDOW = 0.3
_WORDS = "the order request value returns after check which field still missing cache server reads every second".split()


# --- sessions


def session(seed: int, calls: int = 60) -> list[Message]:
    """An agent that reads, searches and edits files, and uses what it found: mostly just now, sometimes long ago."""
    source = random.Random(seed)
    messages: list[Message] = [{"role": "system", "content": _prose(source, 120)}]
    known = [_name(source) for _ in range(4)]
    number = 0
    while number < calls:
        messages.append(
            {"role": "user", "content": f"{_prose(source, source.randint(8, 40))} {source.choice(known[:4])}?"}
        )
        for _ in range(source.randint(2, 9)):
            size = source.choice((1, 1, 1, 2))
            uses = [_call(source, f"call_{number}_{n}", known) for n in range(size)]
            messages.append({"role": "assistant", "content": _prose(source, source.randint(0, 20)), "tool_calls": uses})
            messages += (
                {"role": "tool", "tool_call_id": each["id"], "content": _result(source, known)} for each in uses
            )
            number += 1
        messages.append({"role": "assistant", "content": _prose(source, source.randint(20, 90))})
    return messages


def _prose(source: random.Random, words: int) -> str:
    return " ".join(source.choices(_WORDS, k=words))


def _name(source: random.Random) -> str:
    return f"src/{source.choice(_WORDS)}/{source.choice(_WORDS)}_{source.randrange(10**6):06}.py"


def _call(source: random.Random, identity: str, known: list[str]) -> Message:
    # Most of what a call takes was found in the last results; a seventh is as old as anything.
    pool = known if source.random() < 1 / 7 else known[-30:]
    arguments = json.dumps({"path": source.choice(pool), "pattern": _prose(source, 2)})
    return histories.call(identity, source.choice(("read_file", "search", "edit")), arguments)


def _result(source: random.Random, known: list[str]) -> str:
    """Lines of which a tenth have a name; lengths spread widely, as those of real results do."""
    lines: list[str] = []
    for _ in range(int(source.paretovariate(1.1) * 6) % 300 + 1):
        lines.append(_prose(source, source.randint(3, 14)))
        if source.random() < 0.1:
            known.append(_name(source))
            lines[-1] += f" {known[-1]}"
    return "\n".join(lines)


def real_sessions() -> Iterator[list[Message]]:
    for name in REAL:
        histories = read_log(SHARED / "histories" / name).histories
        longest = max(histories, key=lambda each: len(each.messages))
        yield [*as_openai(json.loads(json.dumps(list(longest.messages))))]


def as_openai(messages: list[Any]) -> Iterator[Message]:
    """Anthropic's messages in the shape that all peers are given."""
    yield {"role": "system", "content": "You are a careful engineer."}
    for message in messages:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for block in blocks:
            if block["type"] == "tool_result":
                yield {
                    "role": "tool",
                    "tool_call_id": block["tool_use_id"],
                    "content": _text(block.get("content") or ""),
                }
        text = "\n".join(block["text"] for block in blocks if block["type"] == "text")
        uses = [each for each in blocks if each["type"] == "tool_use"]
        calls = [histories.call(each["id"], each["name"], each["input"]) for each in uses]
        if text or calls:
            yield {"role": message["role"], "content": text, **({"tool_calls": calls} if calls else {})}


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "\n".join(each.get("text", "") for each in content)


# --- histories


def replay(peer: Peer, messages: list[Message]) -> list[dict[str, float]]:
    """Send a session call by call; what was measured at each call that needs trimming."""
    dialect = peer.dialect()
    window = int(WINDOW * tokens(messages))
    system = [each for each in messages if each["role"] == "system"]
    clear_caches()
    trim = peer.start(window - tokens(system) * dialect.is_system_beside, messages)
    starts = [n for n, each in enumerate(messages) if each["role"] == "assistant"]
    needs = needed_by_call(messages, starts)
    history: list[Any] = []
    prompt: list[Message] = []
    rows: list[dict[str, float]] = []
    for before, start in pairwise([0, *starts]):
        new = messages[before:start]
        history += dialect.write([each for each in new if not (dialect.is_system_beside and each in system)])
        began = process_time()
        sent = trim(history)
        took = process_time() - began
        previous, prompt = prompt, [*system * dialect.is_system_beside, *dialect.read(sent)]
        over = int(is_over(prompt, window))
        shrink = getattr(trim, "overflow", None)
        while shrink and is_over(prompt, window):
            began = process_time()
            try:
                sent = shrink(history)
            except Exception:  # noqa: BLE001 - it gives up: what it has is refused
                break
            took += process_time() - began
            prompt = [*system, *dialect.read(sent)]
            over += is_over(prompt, window)
        history = list(sent) if peer.keeps else history
        if tokens(messages[:start]) > window:
            text = json.dumps(prompt, ensure_ascii=False)
            rows.append({
                "invalid": bool(lint_messages(prompt, "openai")) or len(prompt) <= len(system),
                "over": over,
                "reused": tokens(common_start(previous, prompt)),
                "sent": tokens(prompt),
                "window": window,
                "needed": len(needs[start]),
                "kept": sum(each in text for each in needs[start]),
                "ms": 1e3 * took,
            })  # fmt: skip
    return rows


def common_start(one: list[Message], other: list[Message]) -> list[Message]:
    return [ours for ours, _ in takewhile(lambda pair: pair[0] == pair[1], zip(other, one, strict=False))]


def is_over(prompt: list[Message], window: int) -> bool:
    """By more than 2%, because libraries count the frames of messages differently."""
    return tokens(prompt) > 1.02 * window


def needed_by_call(messages: list[Message], starts: Sequence[int]) -> dict[int, set[str]]:
    """What each call of the model takes from results, and nobody said since."""
    held: set[str] = set()
    needs: dict[int, set[str]] = {}
    for n, message in enumerate(messages):
        said = pieces(message.get("content") or "")
        if message["role"] == "tool":
            held |= said
            continue
        arguments = " ".join(call["function"]["arguments"] for call in message.get("tool_calls") or ())
        if n in starts:
            needs[n] = pieces(arguments) & held
        held -= said | pieces(arguments)
    return needs


def history_row(peer: Peer, sessions: Iterable[list[Message]]) -> list[str]:
    rows = [row for each in sessions for row in replay(peer, each)]
    sums = {key: sum(row[key] for row in rows) for key in rows[0]}
    return [
        f"{sums['invalid'] / len(rows):.0%}",
        f"{sums['over'] / len(rows):.0%}",
        f"{sums['reused'] / sums['sent']:.0%}",
        f"{sums['kept'] / sums['needed']:.0%}",
        f"{sums['sent'] / sums['window']:.0%}",
        f"{sums['ms'] / len(rows):.1f}",
    ]


# --- items


def item_row(peer: items.Peer, questions: Sequence[Question]) -> list[str]:
    """Recall at 2, 5, 10 and 20% of the tokens, and the milliseconds of a question, of which nothing is known."""
    select = peer.start()
    recalls: list[float] = []
    began = process_time()
    for question in questions:
        scorers.clear_caches()
        selected = select(question)[:-1]
        recalls += [len(each & question.gold) / len(question.gold) for each in selected]
    took = process_time() - began
    return [f"{mean(recalls):.0%}", f"{1e3 * took / len(questions):.1f}"]


# --- tables


class Table(NamedTuple):
    """A title, the names of the columns, the peers, what makes a row, and what it is given."""

    title: str
    columns: str
    peers: Sequence[Peer] | Sequence[items.Peer]
    row: Callable[..., list[str]]
    data: Callable[[], Sequence[Any]]


HISTORIES = "invalid | over the window | prefix reused | needed later, kept | window used | ms of CPU"
ITEMS = "recall | ms of CPU"


def tables() -> Iterator[Table]:
    yield Table(
        "Histories: five generated sessions",
        HISTORIES,
        histories.PEERS,
        history_row,
        lambda: list(map(session, range(5))),
    )
    if SHARED.is_dir():
        yield Table(
            "Histories: two real sessions of coding agents, which are not part of the project",
            HISTORIES, histories.PEERS, history_row, lambda: list(real_sessions()),
        )  # fmt: skip
    yield Table(
        "Documents: 60 generated questions", ITEMS, items.PEERS, item_row, lambda: list(map(items.pool, range(60)))
    )
    if DATA.is_dir():
        yield Table(
            "Documents: 100 questions of MuSiQue, which are not part of the project",
            ITEMS, items.PEERS, item_row, lambda: list(read_set(DATA / "musique.jsonl.xz")),
        )  # fmt: skip


def print_rows(only: str) -> None:
    """Print a JSON line for each row that this environment can measure, of packages whose name has this text."""
    for table in tables():
        data = table.data()
        for peer in table.peers:
            if only not in peer.package:
                continue
            try:
                row = [version(peer.package) if peer.package else "", *table.row(peer, data)]
            except (ImportError, PackageNotFoundError):
                continue
            print(json.dumps([table.title, peer.name, peer.package, row]), flush=True)


def read_rows(paths: Sequence[str]) -> dict[tuple[str, str, str], list[str]]:
    """The rows, by table, name and package: of the first environment that has the package."""
    rows: dict[tuple[str, str, str], list[str]] = {}
    for path in paths:
        for line in Path(path).read_text(encoding="utf-8").splitlines():
            title, name, package, row = json.loads(line)
            rows.setdefault((title, name, package), row)
    return rows


def markdown(rows: dict[tuple[str, str, str], list[str]]) -> str:
    lines = [f"Measured on {datetime.now(UTC):%-d %B %Y}, Python {platform.python_version()}, {platform.system()}."]
    for table in tables():
        columns = table.columns.split(" | ")
        lines += ["", f"### {table.title}", "", f"| | | {table.columns} |", f"|---|---|{'--:|' * len(columns)}"]
        for peer in table.peers:
            row = rows.get((table.title, peer.name, peer.package))
            version, *cells = row or ["", "not run", *[""] * (len(columns) - 1)]
            lines.append(f"| {f'{peer.package} {version}'.strip() or 'by hand'} | {peer.name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", help="the rows of several environments")
    parser.add_argument("--only", default="", help="measure only packages whose name contains this")
    options = parser.parse_args()
    if not options.files:
        print_rows(options.only)
        return
    text = markdown(read_rows(options.files))
    print(text)
    page = PAGE.read_text(encoding="utf-8")
    begin, end = "<!-- measured -->\n", "\n<!-- end -->"
    head, _, rest = page.partition(begin)
    PAGE.write_text(f"{head}{begin}{text}{end}{rest.partition(end)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()
