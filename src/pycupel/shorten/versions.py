"""`Versions`: an item with existing shorter versions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from pycupel.errors import InvalidArgumentError
from pycupel.model import ContextItem
from pycupel.model.checks import checked_iterable, wrong_type
from pycupel.model.version import make_version
from pycupel.protocols import ShortenContext, Shortener
from pycupel.text import number_text
from pycupel.values import hold


@dataclass(frozen=True, slots=True, init=False)
class Versions:
    """An item and shorter versions of it, for `select` to choose from: `select([Versions(item, [summary])], 8_000)`.

    Raises:
        TypeError: something is not a `ContextItem`.
        InvalidArgumentError: a version does not have fewer tokens than the item.
    """

    item: ContextItem
    """The whole item. Its score counts for all versions."""

    shorter: tuple[ContextItem, ...]
    """The versions.

    One without `original_tokens` is copied, with them and a mark in its metadata; one that has them is used as it is.
    """

    def __init__(self, item: ContextItem, shorter: Iterable[ContextItem]) -> None:
        versions: list[ContextItem] = []
        if not isinstance(cast(Any, item), ContextItem):
            raise wrong_type("item", "a ContextItem", item)
        for i, version in enumerate(checked_iterable("shorter", "an iterable of ContextItem", shorter)):
            if not isinstance(version, ContextItem):
                raise wrong_type(f"shorter[{i}]", "a ContextItem", version)
            if not 0 <= version.tokens < item.tokens:
                raise InvalidArgumentError(
                    f"shorter[{i}] must have fewer tokens than the item, which has {number_text(item.tokens)}, "
                    f"but has {number_text(version.tokens)}",
                    argument="shorter",
                    value=version,
                )
            versions.append(version if version.original_tokens is not None else _completed(item, version))
        hold(self, item=item, shorter=tuple(versions))


def unpacked(items: Sequence[Any], shortener: Shortener | None) -> tuple[list[Any], Shortener]:
    """Return the whole items, and a shortener that returns existing versions, or else those of `shortener`."""
    given = {id(each.item): each.shorter for each in items if isinstance(each, Versions)}
    return [each.item if isinstance(each, Versions) else each for each in items], _WithVersions(given, shortener)


class _WithVersions:
    """Returns existing versions, and uses a shortener for the other items."""

    def __init__(self, versions: Mapping[int, tuple[ContextItem, ...]], shortener: Any) -> None:
        self._versions = versions
        self._shortener = shortener
        self.shortener_name = type(shortener or self).__name__

    def shorten(self, item: ContextItem, context: ShortenContext, /) -> Sequence[ContextItem]:
        if id(item) in self._versions:
            return self._versions[id(item)]
        made: Sequence[ContextItem] = () if self._shortener is None else self._shortener.shorten(item, context)
        return made

    def units(self, item: ContextItem, context: ShortenContext, /) -> float:
        own: Callable[..., float] | None = getattr(self._shortener, "units", None)
        return 1.0 if own is None else own(item, context)


def _completed(item: ContextItem, version: ContextItem) -> ContextItem:
    return make_version(item, version.content, version.tokens, "given")
