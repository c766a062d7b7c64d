"""`Stub`: one line in place of an item."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from pycupel.model import ContextItem
from pycupel.model.version import make_version
from pycupel.protocols import ShortenContext
from pycupel.shorten.superseded import arguments_of

# Metadata keys that say how to get an item again; the first one present is used.
_KEYS = ("key", "path", "file_path", "url", "uri", "id", "title", "name")
_LONGEST = 120
# The longest other argument of a call that is shown, and the most characters of all of them together.
_SHORT = 20
_LONGEST_OTHERS = 60


@dataclass(frozen=True, slots=True)
class Stub:
    """Replaces an item by one line: what it was, how large it was, and how to get it again.

    For the result of a call, that is the name of the call with its main argument, and with others if they are few and
    short. They are read from `call` in the item's metadata, with `name` and `arguments`. Without it, its `key`, `path`,
    `url`, `id`, `title` or `name` is shown, if there is one.
    """

    def shorten(self, item: ContextItem, context: ShortenContext, /) -> list[ContextItem]:
        """Make one version; none if it would be no shorter."""
        text = stub_text(item.kind.value, item.content, item.tokens, _origin(item))
        tokens = context.count(item, text)
        return [make_version(item, text, tokens, "Stub()")] if tokens < item.tokens else []


def stub_text(what: str, content: str, tokens: int, origin: str) -> str:
    """Write the line: `[ToolOutput left out: 120 lines, 3,400 tokens; again with Read(src/app.py)]`."""
    lines = content.count("\n") + (not content.endswith("\n"))
    size = f"{lines:,} lines, {tokens:,} tokens" if lines > 1 else f"{tokens:,} tokens"
    return f"[{what} left out: {size}{f'; {origin}' if origin else ''}]"


def call_origin(name: str, arguments: Any) -> str:
    """Say how to get a result again: the name of the call, its main argument, and others if they are few and short."""
    main, others = arguments_of(arguments)
    shown = "".join([f", {_line(key)}={_line(value)}" for key, value in others.items() if len(value) <= _SHORT])
    return f"again with {_line(name)}({_line(main)}{shown if len(shown) <= _LONGEST_OTHERS else ''})"


def _origin(item: ContextItem) -> str:
    given: Any = item.metadata.get("call")
    call = cast(Mapping[str, Any], given if isinstance(given, Mapping) else {})
    if isinstance(call.get("name"), str):
        return call_origin(call["name"], call.get("arguments"))
    for key in _KEYS:
        value: Any = item.metadata.get(key)
        if isinstance(value, (str, int)) and not isinstance(value, bool) and value != "":
            return f"{key}: {_line(str(value))}"
    return ""


def _line(text: str) -> str:
    """Put a text into one line, and cut it if it is long."""
    shown = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
    return "".join(character if character.isprintable() else " " for character in shown)
