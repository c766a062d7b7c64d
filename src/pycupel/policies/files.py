"""Policies in files and texts: JSON and TOML by the standard library, YAML through an extra."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pycupel.codecs.jsontext import parse_json, reject_duplicate_keys
from pycupel.codecs.limits import TOO_DEEP, check_depth
from pycupel.errors import DocumentError, InvalidArgumentError
from pycupel.extras import load_extra
from pycupel.model.checks import checked_str, quoted
from pycupel.model.names import name_key, suggestion
from pycupel.pipeline import Policy
from pycupel.pipeline.policy import PresetName
from pycupel.policies.document import combined, policy_from_dict, policy_to_dict
from pycupel.policies.toml import dump_toml

__all__ = ["PolicyFormat", "dump_policy", "load_policy", "parse_policy", "save_policy"]

PolicyFormat = Literal["json", "toml", "yaml"]
"""The formats of policies in texts."""

_MAX_BYTES = 1_000_000
_MAX_NODES = 10_000
_MAX_DOTS = 64
_TOML_STRINGS_AND_COMMENTS = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*', re.DOTALL
)
_TOML_DOTTED_KEY = re.compile(r"[\w-]++(?:[ \t]*+\.[ \t]*+[\w-]++)+")


def load_policy(path: str | os.PathLike[str]) -> Policy:
    """Return the policy in a file.

    Args:
        path: The file. Its suffix is its format: .json, .toml, .yaml or .yml.

    Raises:
        DocumentError: the file does not hold a policy; the text names it, and `errors` holds all its mistakes.
        InvalidArgumentError: the suffix is another one.
        OSError: the file cannot be read.
        MissingExtraError: it is YAML, and PyYAML is not installed.
    """
    file = Path(path)
    file_format = _format_of(file)
    with file.open("rb") as stream:
        # One byte more than is allowed is enough to know.
        data = stream.read(_MAX_BYTES + 1)
    try:
        return parse_policy(_decoded(data), file_format)
    except DocumentError as error:
        raise DocumentError(f"{file}: {error}", errors=error.errors) from error


def _decoded(data: bytes) -> str:
    if len(data) > _MAX_BYTES:
        raise combined([_too_large()])
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise combined([DocumentError(f"is not UTF-8: {error.reason} at byte {error.start}")]) from error


def save_policy(policy: Policy | PresetName, path: str | os.PathLike[str]) -> None:
    """Write a policy to a file, in the canonical form.

    Args:
        policy: A policy, a pipeline, or the name of a preset.
        path: The file. Its suffix is its format: .json, .toml, .yaml or .yml.

    Raises:
        InvalidArgumentError: the suffix is another one, or there is no such preset.
        OSError: the file cannot be written. Otherwise raises like `dump_policy`.
    """
    file = Path(path)
    file.write_text(dump_policy(policy, _format_of(file)), encoding="utf-8")


def parse_policy(text: str, format: PolicyFormat = "json") -> Policy:  # noqa: A002 - the natural name
    """Return the policy in a text.

    Args:
        text: The text.
        format: `json`, `toml` or `yaml`.

    Raises:
        DocumentError: the text does not hold a policy; `errors` holds all its mistakes.
        InvalidArgumentError: there is no such format.
        MissingExtraError: it is YAML, and PyYAML is not installed.
    """
    chosen = _format(format)
    if not checked_str("text", text).strip():
        raise combined([DocumentError(f"{chosen.label} input cannot be empty.")])
    try:
        if len(text) > _MAX_BYTES or len(text.encode(errors="surrogatepass")) > _MAX_BYTES:
            raise _too_large()
        data = chosen.read(text)
        check_depth(data)
    except DocumentError as error:
        raise combined([error]) from None
    except RecursionError:
        raise combined([DocumentError(TOO_DEEP)]) from None
    return policy_from_dict(data)


def dump_policy(policy: Policy | PresetName, format: PolicyFormat = "json") -> str:  # noqa: A002 - the natural name
    """Return a policy as a text, in the canonical form.

    Args:
        policy: A policy, a pipeline, or the name of a preset.
        format: `json`, `toml` or `yaml`.

    Raises:
        DocumentError: a part of the policy has no name in a file, because it is not registered.
        InvalidArgumentError: there is no such format or preset.
        MissingExtraError: it is to be YAML, and PyYAML is not installed.
    """
    chosen = _format(format)
    document = policy_to_dict(policy)
    check_depth(document)
    try:
        return chosen.write(document)
    except (ValueError, RecursionError) as error:
        # Such as an integer with too many digits.
        raise DocumentError(f"cannot be written as {chosen.label}: {error}") from None


def _too_large() -> DocumentError:
    return DocumentError(f"is larger than {_MAX_BYTES:,} bytes, the limit for a policy")


def _read_json(text: str) -> Any:
    data = parse_json(text)
    if data is None:
        raise DocumentError("Policy cannot be null. Received JSON literal 'null'.")
    return data


def _write_json(document: dict[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _read_toml(text: str) -> Any:
    _check_dots(text)
    try:
        return tomllib.loads(text)
    except ValueError as error:
        raise DocumentError(f"is not TOML: {error}") from None


def _check_dots(text: str) -> None:
    """Refuse a key with very many parts, such as `a.a.a`: for those the standard library needs minutes."""
    if text.count(".") > _MAX_DOTS:
        # Strings and comments may have as many dots as they like.
        keys = _TOML_STRINGS_AND_COMMENTS.sub(lambda match: "" if match[0].startswith("#") else "s", text)
        for key in _TOML_DOTTED_KEY.finditer(keys):
            if key[0].count(".") > _MAX_DOTS:
                raise DocumentError(f"a key has more than {_MAX_DOTS} dots: {quoted(key[0])}")


def _yaml() -> Any:
    return load_extra("yaml", extra="yaml", package="PyYAML", purpose="a policy in YAML")


def _read_yaml(text: str) -> Any:
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


def _write_yaml(document: dict[str, Any]) -> str:
    yaml = _yaml()
    text: str = yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
    if yaml.safe_load(text) != document:
        # PyYAML reads the line breaks of Unicode, such as U+0085, as spaces, unless they are escaped.
        text = yaml.safe_dump(document, sort_keys=False)
    return text


class _Format(NamedTuple):
    label: str
    read: Callable[[str], Any]
    write: Callable[[dict[str, Any]], str]


_FORMATS: dict[PolicyFormat, _Format] = {
    "json": _Format("JSON", _read_json, _write_json),
    "toml": _Format("TOML", _read_toml, dump_toml),
    "yaml": _Format("YAML", _read_yaml, _write_yaml),
}
_SUFFIXES: dict[str, PolicyFormat] = {".json": "json", ".toml": "toml", ".yaml": "yaml", ".yml": "yaml"}


def _format(name: str) -> _Format:
    key = name_key(checked_str("format", name))
    for known, chosen in _FORMATS.items():
        if known == key:
            return chosen
    near = suggestion(name, _FORMATS)
    raise InvalidArgumentError(
        f"format must be one of {', '.join(_FORMATS)}, not {quoted(name)}{near}", argument="format", value=name
    )


def _format_of(file: Path) -> PolicyFormat:
    suffix = file.suffix.lower()
    if suffix not in _SUFFIXES:
        raise InvalidArgumentError(
            f"the name of a policy file must end with {', '.join(_SUFFIXES)}, not {quoted(file.name)}", argument="path"
        )
    return _SUFFIXES[suffix]
