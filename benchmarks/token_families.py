"""`python -m benchmarks.token_families`: how far off the estimates for other families of models are.

Claude's is measured by the provider's own counts in the transcripts of `../shared/histories`: the difference between
two calls is the size of what was appended. The others are measured by their vocabularies, on the texts and the
languages of `benchmarks.tokens`.
"""

from __future__ import annotations

import statistics
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from benchmarks.token_catalogues import LOCALES, languages
from benchmarks.token_corpus import Source, held_out
from benchmarks.tokens import FEWEST_WINDOWS, quantile, windows
from pycupel.messages.providers.anthropic import ANTHROPIC
from pycupel.replay import History, read_log
from pycupel.tokens import families, get_counter
from pycupel.tokens.families import ESTIMATES

HISTORIES = Path(__file__).parents[2] / "shared/histories"
# Fitted to the first, tested on the second.
FITTED, TESTED = "coding-agent-ae4a.jsonl.xz", "coding-agent-258c.jsonl.xz"
MEDIAN = (0.90, 1.05)
# The truth over the estimate and its margin.
MOST_P99 = 1.05
# Vocabularies, and the families whose estimates are fitted to them.
VOCABULARIES = {
    "o200k_base": "openai",
    "cl100k_base": "cl100k_base",
    "llama3": "llama",
    "llama2": "llama2",
    "qwen": "qwen",
    "deepseek_v3": "deepseek",
    "gemma3": "gemma",
    "gemma2": "gemma2",
    "tekken": "mistral",
    "mistral_v2": "mistral_v2",
    "glm4": "glm",
    "kimi_k2": "kimi",
    "phi4": "phi",
}
PRECISE = ("prose", "markdown", "code")
WORST = 3


def claude_ratios(history: History) -> Iterator[float]:
    """The provider's count over ours for what was appended between two calls."""
    count = get_counter("claude")
    compacted = [each.index for each in history.compactions]
    for before, after in pairwise(call for call in history.calls if call.prompt_tokens):
        if not any(before.index < index <= after.index for index in compacted):
            appended = history.messages[before.index : after.index]
            reported = (after.prompt_tokens or 0) - (before.prompt_tokens or 0)
            yield reported / ANTHROPIC.price(appended, count)


def print_claude(directory: Path) -> bool:
    """A line for each session, and whether the median of the one that was not fitted is within the limits."""
    print("Claude: true/estimated between calls")
    print(f"{'session':30}{'calls':>8}{'p10':>8}{'median':>8}{'p90':>8}")
    median = 1.0
    for name in (FITTED, TESTED):
        main, *_ = read_log(directory / name).histories
        ratios = list(claude_ratios(main))
        median = statistics.median(ratios)
        print(f"{name:30}{len(ratios):>8}{quantile(ratios, 0.1):8.2f}{median:8.2f}{quantile(ratios, 0.9):8.2f}")
    return MEDIAN[0] <= median <= MEDIAN[1]


class Row(NamedTuple):
    """How far off the estimates for a vocabulary are."""

    p99: float
    vocabulary: str
    margin: float
    p1: float
    precise: float
    worst: list[tuple[float, str]]


def measured(sources: Sequence[Source], vocabulary: str) -> Row:
    estimate = ESTIMATES[VOCABULARIES[vocabulary]]
    ratios: dict[str, list[float]] = defaultdict(list)
    for window in windows(sources, families.load_splintr(vocabulary)[0]):
        ratios[window.kind].append(window.tokens / estimate(window.text))
    together = [ratio for each in ratios.values() for ratio in each]
    precise = statistics.median(1 / ratio for kind in PRECISE for ratio in ratios[kind])
    margin = 1 + estimate.margin_percent / 100
    worst = sorted(
        (-quantile(each, 0.99) / margin, kind) for kind, each in ratios.items() if len(each) >= FEWEST_WINDOWS
    )
    return Row(
        quantile(together, 0.99) / margin,
        vocabulary,
        estimate.margin_percent,
        quantile(together, 0.01),
        precise,
        [(-ratio, kind) for ratio, kind in worst[:WORST]],
    )


def print_vocabularies() -> bool:
    """A line for each vocabulary, worst first, and whether the estimates are too low rarely enough."""
    print("\nothers: windows of 1,000 tokens, all texts and languages of `benchmarks.tokens`")
    print("| vocabulary | margin | true / (estimate and margin): p99 | worst | true / estimate: p1 | English, code |")
    print("|---|---|---|---|---|---|")
    sources = [*held_out(), *languages(LOCALES, even=False)]
    rows = sorted((measured(sources, vocabulary) for vocabulary in VOCABULARIES), reverse=True)
    for p99, vocabulary, margin, p1, precise, worst in rows:
        kinds = ", ".join(f"{kind} {ratio:.2f}" for ratio, kind in worst)
        print(f"| {vocabulary} | {margin:g} % | {p99:.2f} | {kinds} | {p1:.2f} | {precise:.2f} |")
    return rows[0].p99 <= MOST_P99


def main() -> None:
    """Exit with 1 if a limit is exceeded."""
    good = print_claude(HISTORIES) if HISTORIES.is_dir() else True
    sys.exit(not (print_vocabularies() and good))


if __name__ == "__main__":
    main()
