"""Random trims of random histories, checked by rules that share nothing with the library.

`python -m tests.fuzz.histories --trims 20000 --minutes 2` makes that many trims for each provider, unless time is up.
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from random import Random
from typing import Any

from pycupel.errors import InvalidArgumentError, UnitTooLargeError
from pycupel.messages import Shorten, Summarize, select_messages, to_items
from pycupel.messages.options import ProviderName
from pycupel.model.budget import ModelLimits
from pycupel.policies import CHAT
from tests.messages.histories import PROVIDERS, Message, author, break_history, compact
from tests.messages.independent import rejected, rejected_as_sent, torn

# How many budgets each history is trimmed to.
BUDGETS = 8
_PROCESSES = 2
_SUMMARY = Summarize(lambda _dropped, _last: "So far.", tokens=20)


def trims(provider: ProviderName, count: int, seed: int, deadline: float = float("inf")) -> tuple[int, int]:
    """Trim, and return how many trims were made, and how many of them dropped something."""
    random = Random(seed)
    made = cut = 0
    while made < count and time.monotonic() < deadline:
        messages = author(provider, random)
        for _ in range(random.choice((0, 0, 1, 3))):
            break_history(random, messages)
        if random.random() < 0.25:
            compact(provider, random, messages)
        items = to_items(messages, provider, counter=len)
        must, size = (sum(item.tokens for item in items if item.pinned or every) for every in (False, True))
        for _ in range(min(BUDGETS, count - made)):
            budget = must + int((size - must) * random.random()) + random.randint(0, 9)
            made += 1
            cut += trim(provider, messages, budget, random)
    return made, cut


def trim(provider: ProviderName, messages: list[Message], budget: int, random: Random) -> bool:
    """Trim once, and check what is sent. Returns whether something was dropped to make it fit."""
    options: dict[str, Any] = random.choice(({}, {}, {"unit": "turn"}, {"shorten": Shorten(keep=1)}, {"stable": False}))
    options |= random.choice(({}, {"too_large": "shorten"}, {"too_large": "drop"}))
    options |= random.choice(({}, {}, {"pin": [random.randrange(max(1, len(messages)))]}, {"summarize": _SUMMARY}))
    given = budget
    if random.random() < 0.25:
        # The model takes less than the caller allows.
        given, limits = 3 * budget, ModelLimits(4 * budget + 1, max(1, budget), None)
        options |= {"model": "limited", "policy": replace(CHAT, models={"limited": limits})}
    try:
        selection = select_messages(messages, given, provider=provider, counter=len, **options)
    except (UnitTooLargeError, InvalidArgumentError):
        # What must stay does not fit, or nothing is whole.
        return False
    problem = rejected_as_sent(provider, selection.messages)
    if rejected(provider, messages) is None:
        problem = problem or torn(provider, messages, selection.kept)
    assert problem is None, f"{provider}, {budget} tokens, {options}: {problem}\n{messages}"
    assert selection.total_tokens <= budget, (provider, options)
    return bool(selection.dropped)


def main() -> None:
    parser = argparse.ArgumentParser(description="Trim random histories of every provider.")
    parser.add_argument("--trims", type=int, default=20_000)
    parser.add_argument("--minutes", type=float, default=6.0, help="for all providers together")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    # Each provider may take as long as all of them in a row, on two processors.
    seconds = options.minutes * 60 * _PROCESSES / len(PROVIDERS)
    with ProcessPoolExecutor(_PROCESSES) as pool:
        done = [pool.submit(_trims, each, options.trims, options.seed + n, seconds) for n, each in enumerate(PROVIDERS)]
        for provider, future in zip(PROVIDERS, done, strict=True):
            made, cut = future.result()
            print(f"{provider}: {made:,} trims, {cut:,} of which dropped something; none is invalid")  # noqa: T201


def _trims(provider: ProviderName, count: int, seed: int, seconds: float) -> tuple[int, int]:
    return trims(provider, count, seed, time.monotonic() + seconds)


if __name__ == "__main__":
    main()
