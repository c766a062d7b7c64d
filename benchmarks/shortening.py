"""`python -m benchmarks.shortening`: what shorter versions keep of what an agent needed later, and what choosing costs.

The measure is that of `../shared/histories/needed.py`: identifiers and paths that only tool results held before a cut,
and that the agent used itself after it. Maker and measure share a unit, so error lines, which are no identifiers, and
what was used in commands are shown apart.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

from benchmarks import workloads
from benchmarks.floor import best_of, floor_work
from pycupel import ContextItem, RecencyScorer
from pycupel.errors import UnitTooLargeError
from pycupel.kernels.versions import choose_versions
from pycupel.messages import count_messages, select_messages, set_memory_limit
from pycupel.messages.conversations import DEFAULT_LIMIT
from pycupel.pipeline import Pipeline
from pycupel.protocols import ShortenContext
from pycupel.replay import read_log
from pycupel.shorten import KeyLines
from pycupel.shorten.key_lines import units_of
from pycupel.tokens import estimate_tokens

HISTORIES = Path(__file__).parents[2] / "shared/histories"
SESSIONS = ("coding-agent-258c", "coding-agent-ae4a")
SHARES = (0.15, 0.30)
# What the mean over both sessions has to reach.
LEAST = {0.15: 0.75, 0.30: 0.92}
# The same for whole histories, and how much more it has to be than without shortening.
LEAST_IN_HISTORY = {0.15: 0.50, 0.30: 0.70}
MORE_THAN_WITHOUT = 0.20
HISTORY_WAYS: dict[str, dict[str, Any]] = {
    "whole messages": {"shorten": None, "too_large": "drop"},
    "too_large alone": {"shorten": None},
    "shorten, may raise": {"too_large": "drop"},
    "shorten": {},
}
# Of what an agent wrote and only results held, the mean that has to be in its prompt when it writes it; and the most
# that prompts may cost, as a share of what dropping costs (the aim is 1.05).
LEAST_AT_HAND = {0.15: 0.77, 0.30: 0.90}
MOST_COST = 1.10
# The most that the kernel may take for 1,000 items with three versions each, in floors.
MOST_FLOORS = 25.0

_ERROR = re.compile(r"(?:\b\w*(?:Error|Exception)\b|\berror|\bfailed|\bfatal|\bpanic)\b.*:", re.IGNORECASE)


def measure() -> Any:
    """The module `needed.py`, which is not part of the project."""
    spec = importlib.util.spec_from_file_location("needed", HISTORIES / "needed.py")
    assert spec is not None  # noqa: S101 - for type checkers
    assert spec.loader is not None  # noqa: S101 - likewise
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Cut(NamedTuple):
    """A point of a session: its results up to here, what else was said, and what was needed later."""

    results: list[ContextItem]
    said: list[str]
    needed: set[str]
    in_commands: set[str]
    error_lines: set[str]


def cuts(session: str, needed: Any) -> Iterator[Cut]:
    history = needed.read_transcript(HISTORIES / f"{session}.jsonl.xz")
    for cut in needed.cuts(history):
        blocks = [block for message in history[:cut] for block in message["content"]]
        texts = [needed.text_of(block.get("content")) for block in blocks if block["type"] == "tool_result"]
        said = [
            needed.text_of(block.get("text") or block.get("input") or "")
            for block in blocks
            if block["type"] != "tool_result"
        ]
        wanted = needed.needed_later(history, cut)
        later = [block.get("input", {}) for message in history[cut:] for block in message["content"]]
        commands = "\n".join(str(each["command"]) for each in later if "command" in each)
        errors = {line.strip() for text in texts for line in text.splitlines() if _ERROR.search(line)}
        results = [ContextItem(text, max(1, estimate_tokens(text))) for text in texts if text.strip()]
        yield Cut(results, said, wanted, wanted & needed.identifiers(commands), errors)


def newest_whole(cut: Cut, budget: int) -> list[str]:
    kept: list[str] = []
    for item in reversed(cut.results):
        if item.tokens > budget:
            break
        budget -= item.tokens
        kept.append(item.content)
    return kept


def key_lines_alone(cut: Cut, budget: int) -> list[str]:
    """Each line that says something new, the newest result first, without notes about what is left out."""
    seen = set().union(*map(units_of, cut.said))
    kept: list[str] = []
    for item in reversed(cut.results):
        for line in item.content.splitlines(keepends=True):
            new = {unit for unit, worth in units_of(line).items() if worth == 1.0} - seen
            cost = estimate_tokens(line) if new else budget + 1
            if cost <= budget:
                budget -= cost
                seen |= new
                kept.append(line)
    return kept


def choice_among_versions(cut: Cut, budget: int) -> list[str]:
    """`Pipeline(..., shorten=...)`, the newest result with the best score."""
    maker = KeyLines()
    context = ShortenContext(cut.results, cut.said, estimate_tokens)

    class Counted:
        def shorten(self, item: ContextItem, _: ShortenContext, /) -> Sequence[ContextItem]:
            return maker.shorten(item, context)

        def units(self, item: ContextItem, _: ShortenContext, /) -> float:
            return maker.units(item, context)

    pipeline = Pipeline(RecencyScorer(undated="position"), shorten=Counted(), deduplication=False)
    return [item.content for item in pipeline.run(cut.results, budget)]


WAYS: dict[str, Callable[[Cut, int], list[str]]] = {
    "newest whole": newest_whole,
    "key lines alone": key_lines_alone,
    "choice among versions": choice_among_versions,
}


def print_results_alone(needed: Any) -> bool:
    """Of all tokens of the results, a share; without the rest of the history."""
    passed = True
    print("\nResults alone: what is kept of what was needed later, mean over the cuts of a session")
    print(f"{'share of the tokens':22} {'way':24}" + "".join(f"{session:>20}" for session in SESSIONS) + "    mean")
    sessions = {session: list(cuts(session, needed)) for session in SESSIONS}
    for share in SHARES:
        means: dict[str, float] = {}
        for way, select in WAYS.items():
            kept: dict[str, list[tuple[float, float, float]]] = {
                session: [_kept(cut, select, share, needed) for cut in each] for session, each in sessions.items()
            }
            columns = [mean(row[0] for row in rows) for rows in kept.values()]
            means[way] = mean(columns)
            print(f"{share:<22.0%} {way:24}" + "".join(f"{each:20.0%}" for each in columns) + f"{means[way]:8.0%}")
            apart = [mean(row[i] for rows in kept.values() for row in rows) for i in (1, 2)]
            print(f"{'':22} {'':24} used in commands {apart[0]:.0%}, error lines {apart[1]:.0%}")
        best = means["choice among versions"]
        passed &= best >= LEAST[share] and best >= means["key lines alone"]
    return passed


def _kept(cut: Cut, select: Callable[[Cut, int], list[str]], share: float, needed: Any) -> tuple[float, float, float]:
    texts = select(cut, int(share * sum(item.tokens for item in cut.results)))
    words = set().union(*map(needed.identifiers, texts))
    lines = {line.strip() for text in texts for line in text.splitlines()}
    return tuple(  # type: ignore[return-value]
        len(wanted & found) / len(wanted) if wanted else 1.0
        for wanted, found in ((cut.needed, words), (cut.in_commands, words), (cut.error_lines, lines))
    )


def print_histories(needed: Any) -> bool:
    """Of all tokens of the history, a share: `select_messages` without and with `shorten="results"`."""
    print("\nHistories: what is kept of what was needed later, mean over the cuts of a session")
    print(f"{'share of the history':22} {'way':24}" + "".join(f"{session:>20}" for session in SESSIONS) + "    mean")
    passed = True
    sessions = [needed.read_transcript(HISTORIES / f"{session}.jsonl.xz") for session in SESSIONS]
    for share in SHARES:
        means: list[float] = []
        for way, options in HISTORY_WAYS.items():
            kept = [
                [_kept_in_history(history, cut, share, options, needed) for cut in needed.cuts(history)]
                for history in sessions
            ]
            columns = list(map(mean, kept))
            means.append(mean(columns))
            print(f"{share:<22.0%} {way:24}" + "".join(f"{each:20.0%}" for each in columns) + f"{means[-1]:8.1%}")
        without, *_, best = means
        passed &= best >= LEAST_IN_HISTORY[share] and best >= without + MORE_THAN_WITHOUT
    return passed


def _kept_in_history(history: list[Any], cut: int, share: float, options: dict[str, Any], needed: Any) -> float:
    messages = history[:cut]
    whole = select_messages(messages, 10**9, provider="anthropic").total_tokens
    try:
        selection = select_messages(messages, int(whole * share), provider="anthropic", **options)
    except UnitTooLargeError:
        # The agent would have ended here.
        return 0.0
    kept: float = needed.kept_share(needed.needed_later(history, cut), selection.messages)
    return kept


def print_stability(needed: Any) -> None:
    """Each session asked for a selection whenever its agent asked the model, with a window of 30 % of it."""
    print("\nPrefix reused and use of the window, in a window of 30 % of the session")
    for session in SESSIONS:
        history = needed.read_transcript(HISTORIES / f"{session}.jsonl.xz")
        budget = select_messages(history, 10**9, provider="anthropic").total_tokens * 3 // 10
        for way, options in HISTORY_WAYS.items():
            reused, sent, room = 0, 0, 0
            previous = None
            for end in [n for n, message in enumerate(history) if n and message["role"] == "assistant"]:
                try:
                    previous = select_messages(
                        history[:end], budget, provider="anthropic", previous=previous, **options
                    )
                except UnitTooLargeError:
                    continue
                reused += previous.stable_prefix_tokens
                sent += previous.total_tokens
                # Before the history has filled the window once, there is nothing to select.
                room += budget if previous.dropped or previous.shortened else previous.total_tokens
            print(f"{session:22} {way:24} prefix reused {reused / sent:4.0%}, window used {sent / room:4.0%}")


def print_at_hand(needed: Any) -> bool:
    """Each session replayed call by call, without and with shortening."""
    print("\nAt hand: of what the agent wrote and only results held, what was in the prompt of that call")
    print(f"{'window':8}{'session':24}{'dropping':>10}{'by default':>12}{'cost':>8}{'refused':>9}")
    passed = True
    for share in SHARES:
        rows: list[tuple[float, float, float]] = []
        for path in sorted({*HISTORIES.glob("*agent*.xz")}):
            provider, messages = needed.read_session(path)
            window = int(select_messages(messages, 10**9, provider=provider).total_tokens * share)
            dropping, usual = (_replayed(messages, provider, window, way, needed) for way in ({"shorten": None}, {}))
            rows.append((dropping["at_hand"], usual["at_hand"], usual["cost"] / dropping["cost"]))
            shown = "{:10.1%}{:12.1%}{:8.2f}".format(*rows[-1])
            print(f"{share:<8.0%}{path.name.partition('.')[0]:24}{shown}{usual['refused']:9}")
            passed &= not usual["refused"]
        _, at_hand, cost = means = [mean(column) for column in zip(*rows, strict=True)]
        print(f"{share:<8.0%}{'mean':24}" + "{:10.1%}{:12.1%}{:8.2f}".format(*means))
        passed &= at_hand >= LEAST_AT_HAND[share] and cost <= MOST_COST
    return passed


def _replayed(messages: list[Any], provider: Any, window: int, options: dict[str, Any], needed: Any) -> dict[str, Any]:
    def select(past: list[Any]) -> list[Any]:
        sent: list[Any] = select_messages(past, window, provider=provider, **options).messages
        return sent

    replayed: dict[str, Any] = needed.at_hand(messages, window, select, lambda message: len(str(message)) // 4)
    return replayed


def print_texts() -> bool:
    """At the first cut of each conversation of a booking agent, in a window of a half: the newest ten texts."""
    cuts = missing = 0
    for history in read_log(HISTORIES / "tau-airline.jsonl.xz").histories:
        messages = list(history.messages)
        window = count_messages(messages) // 2
        asked = [n for n in range(1, len(messages)) if messages[n - 1]["role"] != "assistant" == messages[n]["role"]]
        for end in asked:
            try:
                usual = select_messages(messages[:end], window)
            except UnitTooLargeError:
                break
            if usual.dropped or usual.shortened:
                kept = {*select_messages(messages[:end], window, shorten=None).kept}
                texts = [n for n, each in enumerate(messages[:end]) if each["role"] != "tool" and each["content"]]
                missing += len(kept.intersection(texts[-10:]).difference(usual.kept))
                cuts += 1
                break
    print(f"\nOf the newest ten texts that dropping keeps, {missing} are missing at {cuts} first cuts")
    return not missing


def print_kernel(seconds: float) -> bool:
    rows = workloads.items(1_000)
    sizes = [[row["tokens"], max(1, row["tokens"] * 2 // 5), max(1, row["tokens"] // 10)] for row in rows]
    total = sum(row["tokens"] for row in rows)
    works: dict[str, Callable[[], object]] = {"floor": floor_work(rows)}
    columns: dict[str, list[float]] = {
        "by priority": [row["priority"] / 100 for row in rows],
        "by hint": [row["future_relevance_hint"] for row in rows],
        "equal": [1.0] * len(rows),
    }
    for scores, column in columns.items():
        for units, held in {"share": (1.0, 0.4, 0.1), "root": (1.0, 0.63, 0.32)}.items():
            values = [[round(10_000 * each * (0.5 + 0.5 * score)) for each in held] for score in column]
            for share in (0.05, 0.15, 0.4, 0.7):
                name = f"scores {scores}, units by {units}, {share:.0%} of the tokens"
                works[name] = partial(choose_versions, sizes, values, int(total * share))
    best = best_of(works, seconds)
    floor = best.pop("floor")
    print(f"\nThe kernel, 1,000 items with three versions each (at most {MOST_FLOORS:.0f} floors)")
    for name, took in best.items():
        choice: Any = works[name]()
        print(f"{name:55} {took / floor:6.1f} floors, {choice.value / choice.bound:.3%} proved")
    return max(best.values()) / floor <= MOST_FLOORS


def main() -> int:
    # What the process remembers is measured by `benchmarks.growing`.
    set_memory_limit(0)
    passed = print_kernel(0.5)
    if HISTORIES.is_dir():
        passed &= print_results_alone(measure())
        passed &= print_histories(measure())
        passed &= print_texts()
        set_memory_limit(DEFAULT_LIMIT)
        passed &= print_at_hand(measure())
        set_memory_limit(0)
        print_stability(measure())
    else:
        print(f"\nno sessions in {HISTORIES}")
    print("\nall limits hold" if passed else "\na limit does not hold")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
