"""Reading and writing YAML, through PyYAML, with a limit on what aliases expand to."""

from __future__ import annotations

from typing import Any

from pycupel.codecs.jsontext import reject_duplicate_keys
from pycupel.errors import DocumentError
from pycupel.extras import load_extra

__all__ = ["dump_yaml", "parse_yaml"]

_MAX_NODES = 10_000
_ENDLESS = 10**9


def _yaml() -> Any:
    return load_extra("yaml", extra="yaml", package="PyYAML", purpose="a policy in YAML")


def parse_yaml(text: str) -> Any:
    """The value that a YAML text holds.

    Raises:
        DocumentError: it is not YAML, repeats a key, or its aliases expand too far.
        MissingExtraError: PyYAML is not installed.
    """
    yaml = _yaml()
    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        sizes: dict[int, int] = {}
        # Without aliases a document has as many nodes as it needs.
        if node is None or _size(node, yaml.MappingNode, sizes) <= max(_MAX_NODES, len(sizes)):
            return node and loader.construct_document(node)
    except (yaml.YAMLError, ValueError) as error:
        raise DocumentError(f"is not YAML: {error}") from None
    raise DocumentError(f"has aliases that expand to more than {_MAX_NODES:,} nodes")


def _size(node: Any, mapping: type[Any], sizes: dict[int, int]) -> int:
    """The nodes that a node stands for: those of an alias each time again, endlessly many if it is inside itself."""
    if id(node) not in sizes:
        sizes[id(node)] = _ENDLESS
        sizes[id(node)] = min(_ENDLESS, 1 + sum([_size(part, mapping, sizes) for part in _parts(node, mapping)]))
    return sizes[id(node)]


def _parts(node: Any, mapping: type[Any]) -> list[Any]:
    """The nodes inside a node. Repeated keys are refused, as in JSON."""
    if isinstance(node, mapping):
        reject_duplicate_keys([(str(key.value), None) for key, _ in node.value])
        return [part for pair in node.value for part in pair]
    held: Any = node.value
    return [] if isinstance(held, str) else held


def dump_yaml(document: dict[str, Any]) -> str:
    """A document as YAML."""
    yaml = _yaml()
    text: str = yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
    if yaml.safe_load(text) != document:
        # PyYAML reads the line breaks of Unicode, such as U+0085, as spaces, unless they are escaped.
        text = yaml.safe_dump(document, sort_keys=False)
    return text
