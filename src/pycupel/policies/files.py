"""Policies in files and texts: JSON and TOML by the standard library, YAML through an extra."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pycupel.codecs.jsontext import parse_json, reject_duplicate_keys
from pycupel.errors import DocumentError, InvalidArgumentError
from pycupel.extras import load_extra
from pycupel.model.checks import checked_str
from pycupel.model.names import name_key, suggestion
from pycupel.pipeline import Policy
from pycupel.pipeline.policy import PresetName
from pycupel.policies.document import combined, policy_from_dict, policy_to_dict
from pycupel.policies.toml import dump_toml

__all__ = ["PolicyFormat", "dump_policy", "load_policy", "parse_policy", "save_policy"]

PolicyFormat = Literal["json", "toml", "yaml"]
"""The formats of policies in texts."""


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
    data = file.read_bytes()
    try:
        return parse_policy(_decoded(data), file_format)
    except DocumentError as error:
        raise DocumentError(f"{file}: {error}", errors=error.errors) from error


def _decoded(data: bytes) -> str:
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
        data = chosen.read(text)
    except DocumentError as error:
        raise combined([error]) from None
    except RecursionError:
        raise combined([DocumentError("is nested too deeply")]) from None
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
    try:
        return chosen.write(document)
    except (ValueError, RecursionError) as error:
        # Such as an integer with too many digits.
        raise DocumentError(f"cannot be written as {chosen.label}: {error}") from None


def _read_json(text: str) -> Any:
    data = parse_json(text, unique_keys=True)
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
        _reject_duplicates(node, yaml.MappingNode)
        return None if node is None else loader.construct_document(node)
    except (yaml.YAMLError, ValueError) as error:
        raise DocumentError(f"is not YAML: {error}") from None


def _reject_duplicates(root: Any, mapping: type[Any]) -> None:
    """Refuse repeated keys, as in JSON. Nodes may be shared, and a node may even contain itself."""
    nodes, seen = [root], set[int]()
    for node in nodes:
        if id(node) in seen or not isinstance(getattr(node, "value", None), list):
            continue
        seen.add(id(node))
        if isinstance(node, mapping):
            reject_duplicate_keys([(str(key.value), None) for key, _ in node.value])
            nodes += [member for _, member in node.value]
        else:
            nodes += node.value


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
        f"format must be one of {', '.join(_FORMATS)}, not {name!r}{near}", argument="format", value=name
    )


def _format_of(file: Path) -> PolicyFormat:
    suffix = file.suffix.lower()
    if suffix not in _SUFFIXES:
        raise InvalidArgumentError(
            f"the name of a policy file must end with {', '.join(_SUFFIXES)}, not {file.name!r}", argument="path"
        )
    return _SUFFIXES[suffix]
