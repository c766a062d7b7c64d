"""`HeadAndTail`: the beginning and the end of a text."""

from __future__ import annotations

from dataclasses import dataclass, field

from pycupel.errors import InvalidArgumentError
from pycupel.model import ContextItem
from pycupel.model.checks import POSITIVE
from pycupel.model.version import make_version
from pycupel.protocols import ShortenContext
from pycupel.shorten._text import head_end, is_binary, tail_start
from pycupel.values import check_fields

_TRIES = 8


@dataclass(frozen=True, slots=True)
class HeadAndTail:
    """Keeps the beginning and the end of a text, with a line between them that says how much was left out.

    Cuts are made at the end of a line or word if one is near, and never inside a character or an escape
    sequence. A text that cannot be cut, such as binary content, has no version.

    Raises:
        TypeError: `tokens` is not an integer.
        InvalidArgumentError: `tokens` is not positive.
    """

    tokens: int = field(metadata=POSITIVE)
    """The maximum number of tokens of the version."""

    def __post_init__(self) -> None:
        check_fields(self, InvalidArgumentError)

    def shorten(self, item: ContextItem, context: ShortenContext, /) -> list[ContextItem]:
        """Make one version; none if the item already fits or cannot be cut."""
        text = item.content
        if item.tokens <= self.tokens or is_binary(text):
            return []
        room = self.tokens - context.count(item, _missing(text, 0, len(text)))
        each_side = len(text) * room // item.tokens // 2
        for _ in range(_TRIES):
            head, tail = head_end(text, each_side), tail_start(text, len(text) - each_side)
            if each_side <= 0 or not 0 < head < tail < len(text):
                break
            shown = f"{text[:head]}{_missing(text, head, tail)}{text[tail:]}"
            tokens = context.count(item, shown)
            if tokens <= self.tokens:
                return [make_version(item, shown, tokens, f"HeadAndTail({self.tokens})")]
            each_side = each_side * 3 // 4
        return []


def _missing(text: str, head: int, tail: int) -> str:
    lines = text.count("\n", head, tail)
    what = f"{lines:,} lines" if lines > 1 else f"{tail - head:,} characters"
    before = "" if text[:head].endswith("\n") or not head else "\n"
    return f"{before}[... {what} left out ...]\n"
