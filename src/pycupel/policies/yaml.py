"""Reading and writing YAML, through PyYAML, with a limit on what aliases expand to."""

from __future__ import annotations

from typing import Any

from pycupel.codecs.jsontext import reject_duplicate_keys
from pycupel.errors import DocumentError
from pycupel.extras import load_extra

__all__ = ["dump_yaml", "parse_yaml"]

_MAX_NODES = 10_000


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
        if node is None or _is_bounded(node, yaml.MappingNode):
            return node and loader.construct_document(node)
    except (yaml.YAMLError, ValueError) as error:
        raise DocumentError(f"is not YAML: {error}") from None
    raise DocumentError(f"has aliases that expand to more than {_MAX_NODES:,} nodes")


def _is_bounded(root: Any, mapping: type[Any]) -> bool:
    """Refuse repeated keys, as in JSON, and tell whether the aliases expand to few nodes; to themselves is many."""
    # The nodes that each stands for. A node is counted when it comes up for the second time, after its parts.
    sizes: dict[int, int] = {}
    open_nodes: set[int] = set()
    stack = [root]
    while stack:
        node = stack[-1]
        parts = _parts(node, mapping)
        if id(node) in sizes:
            stack.pop()
        elif id(node) in open_nodes:
            sizes[id(node)] = 1 + sum(sizes[id(part)] for part in parts)
        else:
            open_nodes.add(id(node))
            if isinstance(node, mapping):
                reject_duplicate_keys([(str(key.value), None) for key, _ in node.value])
            if any(id(part) in open_nodes and id(part) not in sizes for part in parts):
                return False
            stack += parts
    # Without aliases a document has as many nodes as it needs.
    return sizes[id(root)] <= max(_MAX_NODES, len(sizes))


def _parts(node: Any, mapping: type[Any]) -> list[Any]:
    if isinstance(node, mapping):
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
