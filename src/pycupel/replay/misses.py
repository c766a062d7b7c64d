"""Which calls lost the provider's prompt cache, why, and at what cost: from the log alone."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from pycupel.messages.counting import IMAGES
from pycupel.replay.log import Call, History
from pycupel.replay.parts import Prompts
from pycupel.replay.run import DEFAULT_RATES
from pycupel.replay.usage import NOT_IN_FILE, ContextUsage

CAUSES = {
    "model_changed": "another model has a cache of its own",
    "system_changed": "the system prompt was another one",
    "tools_changed": "the definitions of tools were others",
    "tool_choice_changed": "the choice of tools was another one",
    "images_changed": "the first images came, or the last ones went",
    "messages_changed": "an earlier message was changed or dropped, such as by a compaction",
    "expired": "the last call was longer ago than the cache lasts",
    NOT_IN_FILE: "nothing in the file has changed",
}
"""Why a cache was lost: what changed, by the names of Anthropic's diagnostics, and two causes that those cannot see."""

# Less is no loss: providers cache whole blocks, and nothing shorter than this.
_LEAST_TOKENS, _LEAST_SHARE = 1_024, 0.05
_LIFETIME = 300


class CacheMiss(NamedTuple):
    """A call that lost the cache."""

    call: int
    """Which call it was, from 1."""

    cause: str
    """Why: a name in `CAUSES`."""

    tokens: int
    """The tokens of the previous prompt that were not read from the cache."""

    is_measured: bool
    """Whether the log has the tokens that were read; if not, the loss is likely, and the tokens are all there were."""

    @property
    def cost(self) -> int:
        """What the loss cost, in tokens at the usual price: they were written to the cache instead of read from it."""
        return round(self.tokens * (DEFAULT_RATES.write - DEFAULT_RATES.read))


def cache_misses(usage: ContextUsage) -> list[CacheMiss]:
    """Find the calls of a session that lost the cache.

    If the log says how much a call read from the cache, that is compared with the previous prompt. If not, a call has
    likely lost it if something changed that the cache depends on.
    """
    history = usage.history
    calls = [call for call in history.calls if call.index]
    images = {part.message for part in Prompts(history, usage.counter).parts if part.kind == IMAGES}
    misses: list[CacheMiss] = []
    for number, ((before, after), sent) in enumerate(zip(pairwise(calls), usage.growth, strict=False), 2):
        cause = _cause(history, before, after, images)
        read = after.cache_read_tokens
        lost = sent.tokens - (read or 0)
        is_lost = cause != NOT_IN_FILE if read is None else lost > max(_LEAST_TOKENS, _LEAST_SHARE * sent.tokens)
        if is_lost:
            misses.append(CacheMiss(number, cause, lost, read is not None))
    return misses


def _cause(history: History, before: Call, after: Call, images: set[int]) -> str:
    """Find what changed between two calls: of several things, the one that stands first in a prompt."""
    if before.model != after.model:
        return "model_changed"
    if after.changed:
        return after.changed
    if any(before.index < each.index <= after.index for each in history.compactions):
        return "messages_changed"
    if before.time and after.time and (after.time - before.time).total_seconds() > (before.cache_seconds or _LIFETIME):
        return "expired"
    # With images in the messages for the first time, those before them are read anew, too.
    if any(before.index <= n < after.index for n in images) and not any(n < before.index for n in images):
        return "images_changed"
    return NOT_IN_FILE
