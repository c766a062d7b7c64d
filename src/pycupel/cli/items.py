"""Read items from a JSON array or JSON lines, with errors that name record, line and field."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from pycupel.cli.hints import HISTORY, ITEMS, hint_at
from pycupel.cli.inputs import location_of, open_text, values_in
from pycupel.cli.jsonstream import Located
from pycupel.cli.output import Screen, visible
from pycupel.codecs.base import Context
from pycupel.errors import DocumentError
from pycupel.model import ContextItem
from pycupel.model.names import suggestion

__all__ = ["items_in", "items_of", "read_items", "shown_items"]

_AUTO = "auto"
_MAX_WARNINGS = 5


def read_items(options: Any, screen: Screen) -> list[ContextItem]:
    """Read the items in `options.file`. Items without tokens are counted, and a note names the counter."""
    with open_text(options.file, options.max_line) as lines:
        return items_in(lines, options, screen)


def shown_items(items: list[ContextItem], options: Any) -> list[ContextItem]:
    """Make control characters in the contents visible, unless for JSON or a page, which do that themselves."""
    if options.json or options.html is not None:
        return items
    return [
        item if item.content.isprintable() else replace(item, content=visible(item.content, laid_out=True))
        for item in items
    ]


def items_in(lines: Iterable[str], options: Any, screen: Screen) -> list[ContextItem]:
    """Read the items in the lines of a file.

    Raises:
        DocumentError: there is something other than items.
    """
    return items_of(values_in(lines), options, screen)


def items_of(values: Iterable[Located], options: Any, screen: Screen) -> list[ContextItem]:
    """Read the items in the JSON values of a file, as `items_in` does."""
    reader = _ItemReader(options)
    items = [reader.read(number, located) for number, located in enumerate(values, 1)]
    reader.report(screen)
    return items


class _ItemReader:
    def __init__(self, options: Any) -> None:
        from pycupel.wire.items import ITEM  # noqa: PLC0415 - not every verb reads items

        self._item = ITEM
        self._context = Context()
        self._strict = options.strict
        self._names = [field.name for field in ITEM.fields]
        self._known = {name for field in ITEM.fields for name in field.spellings}
        # The default is loaded when an item needs it, but a name is checked even if none does.
        self._counter = None if options.counter == _AUTO else _counter(options.counter)
        self._counted = 0
        # The first record with each unknown key.
        self._unknown: dict[str, int] = {}

    def read(self, number: int, located: Located) -> ContextItem:
        row = located.value
        try:
            if row.__class__ is dict:
                self._note_unknown(number, row)
                if row.get("tokens") is None and isinstance(row.get("content"), str):
                    row = {**row, "tokens": self._count(row["content"])}
            item: ContextItem = self._item.read(row, self._context)
        except DocumentError as error:
            raise DocumentError(f"{location_of(number, located)}: {error}{hint_at(row, ITEMS)}") from None
        return item

    def _count(self, content: str) -> int:
        if self._counter is None:
            self._counter = _counter(_AUTO)
        self._counted += 1
        tokens: int = self._counter(content)
        return tokens

    def _note_unknown(self, number: int, row: dict[str, Any]) -> None:
        for key in row.keys() - self._known:
            if self._strict:
                raise DocumentError(f"unknown key{suggestion(key, self._names)}", path=repr(key))
            self._unknown.setdefault(key, number)

    def report(self, screen: Screen) -> None:
        for key, number in [*self._unknown.items()][:_MAX_WARNINGS]:
            near = suggestion(key, self._names) or (f"\n  {HISTORY}" if key == "role" else "")
            screen.warn(f"unknown key {key!r}, first in record {number}{near}")
        if len(self._unknown) > _MAX_WARNINGS:
            screen.warn(f"{len(self._unknown) - _MAX_WARNINGS} more unknown keys")
        if self._counted:
            items = "item" if self._counted == 1 else "items"
            screen.note(f"counted the tokens of {self._counted:,} {items} without a token count, with {self._counter}")


def _counter(name: str) -> Any:
    from pycupel.tokens.counters import get_counter  # noqa: PLC0415 - most items have their tokens

    return get_counter(name)
