"""Lists and objects of values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pycupel.policies.values import BAD, Problems, Schema, Value
from pycupel.wire.values import found, joined, step

__all__ = ["ListOf", "MapOf"]


@dataclass(frozen=True, slots=True)
class ListOf:
    element: Value
    at_least: int = 0
    collect: Callable[[list[Any]], Any] = tuple

    def read(self, value: Any, path: str, problems: Problems, /) -> Any:
        if not isinstance(value, (list, tuple)):
            return problems.add(path, f"must be a list, not {found(value)}")
        elements: list[Any] = list(value)  # pyright: ignore[reportUnknownArgumentType] - from outside
        if len(elements) < self.at_least:
            return problems.add(path, f"must have at least {self.at_least} entry")
        read = [self.element.read(each, f"{path}[{i}]", problems) for i, each in enumerate(elements)]
        return BAD if any(each is BAD for each in read) else self.collect(read)

    def write(self, value: Any, path: str, /) -> Any:
        return [self.element.write(each, f"{path}[{i}]") for i, each in enumerate(value)]

    def schema(self) -> Schema:
        minimum = {"minItems": self.at_least} if self.at_least else {}
        return {"type": "array", "items": self.element.schema(), **minimum}


@dataclass(frozen=True, slots=True)
class MapOf:
    """An object whose keys the author chooses."""

    key: Value
    value: Value

    def read(self, value: Any, path: str, problems: Problems, /) -> Any:
        if not isinstance(value, Mapping):
            return problems.add(path, f"must be an object, not {found(value)}")
        members: Mapping[Any, Any] = value  # pyright: ignore[reportUnknownVariableType] - from outside
        read = [
            (self.key.read(key, path, problems), self.value.read(member, joined(path, step(key)), problems))
            for key, member in members.items()
        ]
        if any(part is BAD for pair in read for part in pair):
            return BAD
        result = dict(read)
        if len(result) < len(read):
            # Only kinds can be equal: a document has each name once.
            kind = Counter(key for key, _ in read).most_common(1)[0][0]
            return problems.add(path, f"names the kind '{kind}' twice; kinds do not differ by case")
        return result

    def write(self, value: Any, path: str, /) -> Any:
        return {
            self.key.write(key, path): self.value.write(member, joined(path, step(key)))
            for key, member in value.items()
        }

    def schema(self) -> Schema:
        names = {name: rule for name, rule in self.key.schema().items() if name != "type"}
        return {
            "type": "object",
            "additionalProperties": self.value.schema(),
            **({"propertyNames": names} if names else {}),
        }
