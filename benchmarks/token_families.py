"""`python -m benchmarks.token_families`: how far off the estimates for other families of models are.

Claude's is measured by the provider's own counts in the transcripts of `../shared/histories`: the difference between
two calls is the size of what was appended. Gemini's and Mistral's are measured by the vocabularies of Gemma 3
and Tekken, on the texts of `benchmarks.tokens`.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from benchmarks.token_corpus import Source, held_out
from benchmarks.tokens import quantile, windows
from pycupel.messages.providers.anthropic import ANTHROPIC
from pycupel.replay import History, read_log
from pycupel.tokens import get_counter, splintr
from pycupel.tokens.families import ESTIMATES

HISTORIES = Path(__file__).parents[2] / "shared/histories"
# Fitted to the first, tested on the second.
FITTED, TESTED = "coding-agent-ae4a.jsonl.xz", "coding-agent-258c.jsonl.xz"
MEDIAN = (0.90, 1.05)
MOST_P99 = 1.05


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


def print_vocabularies() -> bool:
    """A line for each family with a vocabulary, and whether the estimates are too low rarely enough."""
    print("\nothers: true/estimated, windows of 1,000 tokens")
    print(f"{'vocabulary':14}{'p1':>8}{'median':>8}{'p99':>8}")
    sources = held_out()
    good = True
    for vocabulary, family in (("gemma3", "gemini"), ("tekken", "mistral"), ("llama3", "llama"), ("qwen", "qwen")):
        ratios = family_ratios(sources, vocabulary, family)
        good &= quantile(ratios, 0.99) <= MOST_P99 or family not in ("gemini", "mistral")
        print(
            f"{vocabulary:14}{quantile(ratios, 0.01):8.2f}{statistics.median(ratios):8.2f}{quantile(ratios, 0.99):8.2f}"
        )
    return good


def family_ratios(sources: Sequence[Source], vocabulary: str, family: str) -> list[float]:
    """The vocabulary's count over the estimate, for each window."""
    estimate = ESTIMATES[family]
    exact = splintr.load(vocabulary)[0]
    return [window.tokens / estimate(window.text) for window in windows(sources, exact)]


def main() -> None:
    """Exit with 1 if a limit is exceeded."""
    good = print_claude(HISTORIES) if HISTORIES.is_dir() else True
    sys.exit(not (print_vocabularies() and good))


if __name__ == "__main__":
    main()
