"""Policies in files and texts: JSON and TOML by the standard library, YAML through an extra."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pycupel.errors import DocumentError, InvalidArgumentError
from pycupel.extras import load_extra
from pycupel.model.checks import checked_str
from pycupel.model.names import suggestion
from pycupel.pipeline import Policy
from pycupel.policies.document import combined, policy_from_dict, policy_to_dict
from pycupel.policies.toml import dump_toml
from pycupel.wire.documents import parse, unique

__all__ = ["dump_policy", "load_policy", "parse_policy", "save_policy"]


class _Format(NamedTuple):
    read: Callable[[str], Any]
    write: Callable[[dict[str, Any]], str]


def load_policy(path: str | os.PathLike[str]) -> Policy:
    """The policy in a file, by its suffix: .json, .toml, .yaml or .yml.

    Raises:
        DocumentError: the file holds no policy; the text names it, and `errors` holds all its mistakes.
        OSError: the file cannot be read.
        MissingExtraError: it is YAML, and PyYAML is not installed.
    """
    file = Path(path)
    form = _format_of(file)
    data = file.read_bytes()
    try:
        return parse_policy(_decoded(data), form)
    except DocumentError as error:
        raise DocumentError(f"{file}: {error}", errors=error.errors) from error


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise combined([DocumentError(f"is not UTF-8: {error.reason} at byte {error.start}")]) from error


def save_policy(policy: Policy, path: str | os.PathLike[str]) -> None:
    """Write a policy to a file, in the canonical form, by the suffix of its name."""
    file = Path(path)
    file.write_text(dump_policy(policy, _format_of(file)), encoding="utf-8")


def parse_policy(text: str, format: str = "json") -> Policy:  # noqa: A002 - that is what it is
    """The policy in a text: json, toml or yaml. Raises like `load_policy`."""
    read = _format(format).read
    if not checked_str("text", text).strip():
        raise combined([DocumentError(f"{format.upper()} input cannot be empty.")])
    try:
        data = read(text)
    except DocumentError as error:
        raise combined([error]) from None
    except RecursionError:
        raise combined([DocumentError("is nested too deeply")]) from None
    return policy_from_dict(data)


def dump_policy(policy: Policy, format: str = "json") -> str:  # noqa: A002 - that is what it is
    """A policy as a text: json, toml or yaml.

    Raises:
        DocumentError: something in it has no name in a file, because it is not registered.
        MissingExtraError: it is to be YAML, and PyYAML is not installed.
    """
    write = _format(format).write
    document = policy_to_dict(policy)
    try:
        return write(document)
    except (ValueError, RecursionError) as error:
        # Such as an integer with too many digits.
        raise DocumentError(f"cannot be written as {format.upper()}: {error}") from None


def _read_json(text: str) -> Any:
    data = parse(text, unique_keys=True)
    if data is None:
        raise DocumentError("Policy cannot be null. Received JSON literal 'null'.")
    return data


def _write_json(document: dict[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _read_toml(text: str) -> Any:
    try:
        return tomllib.loads(text)
    except ValueError as error:
        raise DocumentError(f"is not TOML: {error}") from None


def _yaml() -> Any:
    return load_extra("yaml", extra="yaml", package="PyYAML", purpose="a policy in YAML")


def _read_yaml(text: str) -> Any:
    yaml = _yaml()
    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        _refuse_duplicates(node, yaml.MappingNode)
        return None if node is None else loader.construct_document(node)
    except (yaml.YAMLError, ValueError) as error:
        raise DocumentError(f"is not YAML: {error}") from None


def _refuse_duplicates(root: Any, mapping: type[Any]) -> None:
    """As in JSON: of two members with one name, the parser takes the last and says nothing."""
    nodes, seen = [root], set[int]()
    for node in nodes:
        if id(node) in seen or not isinstance(getattr(node, "value", None), list):
            continue
        seen.add(id(node))
        if isinstance(node, mapping):
            unique([(str(name.value), None) for name, _ in node.value])
            nodes += [member for _, member in node.value]
        else:
            nodes += node.value


def _write_yaml(document: dict[str, Any]) -> str:
    yaml = _yaml()
    text: str = yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
    if yaml.safe_load(text) != document:
        # PyYAML takes the line breaks of Unicode, such as U+0085, for blanks. Escaped they come back.
        text = yaml.safe_dump(document, sort_keys=False)
    return text


_FORMATS: Mapping[str, _Format] = {
    "json": _Format(_read_json, _write_json),
    "toml": _Format(_read_toml, dump_toml),
    "yaml": _Format(_read_yaml, _write_yaml),
}
_SUFFIXES: Mapping[str, str] = {".json": "json", ".toml": "toml", ".yaml": "yaml", ".yml": "yaml"}


def _format(name: str) -> _Format:
    if name not in _FORMATS:
        near = suggestion(checked_str("format", name), _FORMATS)
        raise InvalidArgumentError(f"format must be one of {', '.join(_FORMATS)}, not {name!r}{near}")
    return _FORMATS[name]


def _format_of(file: Path) -> str:
    suffix = file.suffix.lower()
    if suffix not in _SUFFIXES:
        raise InvalidArgumentError(
            f"the name of a policy file must end with {', '.join(_SUFFIXES)}, not {file.name!r}", argument="path"
        )
    return _SUFFIXES[suffix]
