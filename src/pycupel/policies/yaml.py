"""Read and write YAML with PyYAML, with a limit on the expansion of aliases."""

from __future__ import annotations

from typing import Any

from pycupel.codecs.jsontext import reject_duplicate_keys
from pycupel.errors import DocumentError
from pycupel.extras import load_extra

__all__ = ["dump_yaml", "parse_yaml"]

_MAX_NODES = 10_000
_INFINITE = 10**9


def _yaml() -> Any:
    return load_extra("yaml", extra="yaml", package="PyYAML", purpose="a policy in YAML")


def parse_yaml(text: str) -> Any:
    """Parse a YAML text.

    Raises:
        DocumentError: it is not YAML, has a duplicate key, or its aliases expand too far.
        MissingExtraError: PyYAML is not installed.
    """
    yaml = _yaml()
    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        counts: dict[int, int] = {}
        if node is None:
            return None
        # `counts` has one entry per node, so a document without aliases is never over the limit.
        if _count_nodes(node, counts) <= max(_MAX_NODES, len(counts)):
            return loader.construct_document(node)
    except (yaml.YAMLError, ValueError) as error:
        raise DocumentError(f"is not YAML: {error}") from None
    raise DocumentError(f"has aliases that expand to more than {_MAX_NODES:,} nodes")


def _count_nodes(node: Any, counts: dict[int, int]) -> int:
    """Count the nodes after aliases are expanded. Duplicate keys are rejected, as in JSON."""
    if id(node) not in counts:
        parts: list[Any] = [] if isinstance(node.value, str) else node.value
        if node.id == "mapping":
            reject_duplicate_keys([(str(key.value), None) for key, _ in parts])
            parts = [part for pair in parts for part in pair]
        # If a node is reached again before its size is known, it contains itself.
        counts[id(node)] = _INFINITE
        counts[id(node)] = min(_INFINITE, 1 + sum([_count_nodes(part, counts) for part in parts]))
    return counts[id(node)]


def dump_yaml(document: dict[str, Any]) -> str:
    """Format a document as YAML."""
    yaml = _yaml()
    text: str = yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
    if yaml.safe_load(text) != document:
        # Unless they are escaped, PyYAML reads Unicode line breaks such as U+0085 as spaces.
        text = yaml.safe_dump(document, sort_keys=False)
    return text
