"""The estimates for other families than OpenAI's, by the provider's own counts or by a vocabulary."""

from __future__ import annotations

import random
import statistics
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from benchmarks import token_records
from benchmarks.token_families import VOCABULARIES
from pycupel.messages import count_messages
from pycupel.replay import History, read_log
from pycupel.tokens import families
from pycupel.tokens.families import ESTIMATES

ROOT = Path(__file__).parents[2]
SESSIONS = sorted((ROOT.parent / "shared/histories").glob("coding-agent-*.jsonl.xz"))
# The windows of the benchmark are from other texts than these.
TEXTS = {
    "JSON": token_records.json_records(random.Random(7)),
    "calls": token_records.json_calls(random.Random(7)),
    "logs": token_records.server_log(random.Random(7)),
    "code": "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "src/pycupel/messages").glob("*.py"))),
    "prose": "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("*.md"))),
}


def ratios(history: History) -> Iterator[float]:
    """Claude's own count over ours, for what was appended between two calls."""
    compacted = [each.index for each in history.compactions]
    for before, after in pairwise(history.calls):
        if not any(before.index < index <= after.index for index in compacted):
            appended = history.messages[before.index : after.index]
            assert before.prompt_tokens is not None
            assert after.prompt_tokens is not None
            counted = count_messages(appended, "anthropic") - count_messages([], "anthropic")
            yield (after.prompt_tokens - before.prompt_tokens) / counted


@pytest.mark.skipif(not SESSIONS, reason="the transcripts in ../shared/histories are not here")
@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.name)
def test_claude_by_its_own_counts(path: Path) -> None:
    """The factor and the price of a call are fitted to one of the sessions."""
    main, *_ = read_log(path).histories
    found = sorted(ratios(main))
    assert 0.90 <= statistics.median(found) <= 1.05
    assert found[len(found) // 10] > 0.75


@pytest.mark.unmeasured
@pytest.mark.parametrize(("vocabulary", "family"), VOCABULARIES.items())
@pytest.mark.parametrize("kind", TEXTS)
def test_others_by_a_vocabulary(vocabulary: str, family: str, kind: str) -> None:
    """Too high rather than too low, but never by much."""
    text = TEXTS[kind]
    assert 0.75 <= families.load_splintr(vocabulary)[0](text) / ESTIMATES[family](text) <= 1.05


def test_without_a_factor_logs_would_be_far_too_low() -> None:
    """What makes digits tokens of their own needs more than a factor could give."""
    text = TEXTS["logs"]
    tokens = families.load_splintr("tekken")[0](text)
    assert tokens / ESTIMATES["openai"](text) > 1.2
    assert tokens / families.load_splintr("o200k_base")[0](text) > 1.3
