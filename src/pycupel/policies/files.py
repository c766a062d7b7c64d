"""Read and write policy files: JSON, TOML and YAML."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal, cast

from pycupel.codecs.base import TOO_DEEP, check_depth, escape_json, parse_json, reject_duplicate_keys
from pycupel.errors import DocumentError, InvalidArgumentError
from pycupel.extras import load_extra
from pycupel.model.checks import checked_name, checked_path, checked_str
from pycupel.pipeline import Policy
from pycupel.pipeline.policy import PresetName
from pycupel.policies.document import combine_mistakes, hint_of, policy_from_dict, policy_to_dict
from pycupel.text import quoted, shortened

PolicyFormat = Literal["json", "toml", "yaml"]
"""A format of policy files."""

MAX_FILE_BYTES: dict[str, int] = {"json": 1_000_000, "toml": 1_000_000, "yaml": 100_000}
"""The size of the largest policy in each format. PyYAML needs seconds for what others read in milliseconds."""

# --- JSON


def _read_json(text: str) -> Any:
    data = parse_json(text)
    if data is None:
        raise DocumentError("Policy cannot be null. Received JSON literal 'null'.")
    return data


# --- TOML

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_MAX_DOTS = 64
STRINGS_AND_COMMENTS = (
    # A string that is not closed matches, too: searching it again from each of its quotes would take minutes.
    r'(?s:"""(?:[^\\]|\\.)*?(?:"{3,5}|\Z)|\'\'\'.*?(?:\'{3,5}|\Z)|"(?:[^"\\\n]|\\.)*"?|\'[^\'\n]*\'?|#[^\n]*)'
)
"""A pattern for what no search in a TOML text may look into."""

_STRINGS_AND_COMMENTS = re.compile(STRINGS_AND_COMMENTS)
_DOTTED_KEY = re.compile(r"(?<![\w-])[\w-]++(?:[ \t]*+\.[ \t]*+[\w-]++)+")


def parse_toml(text: str) -> dict[str, Any]:
    """Parse a TOML document."""
    # A key with too many parts, such as `a.a.a`, would take the standard library minutes.
    if text.count(".") > _MAX_DOTS:
        # Dots in strings and comments do not count.
        keys = _STRINGS_AND_COMMENTS.sub(lambda match: "" if match[0].startswith("#") else "s", text)
        for key in _DOTTED_KEY.finditer(keys):
            if key[0].count(".") > _MAX_DOTS:
                raise DocumentError(f"a key has more than {_MAX_DOTS} dots: {quoted(key[0])}")
    try:
        document = tomllib.loads(text)
        # An integer may have more digits than Python prints, if it is hexadecimal: then `str` raises. Not by recursion,
        # because the depth has not been checked yet.
        values: list[Any] = [document]
        for value in values:
            if _is_table(value):
                values += value.values()
            elif isinstance(value, list):
                values += value
            elif isinstance(value, int):
                str(value)
    except ValueError as error:
        raise DocumentError(f"invalid TOML: {error}") from None
    return document


def _write_toml(document: dict[str, Any]) -> str:
    """Format scalars first, then objects as tables, then lists of objects. Anything nested deeper is inline."""
    tables = {name: value for name, value in document.items() if _is_table(value)}
    lists: dict[str, list[Any]] = {
        name: value
        for name, value in document.items()
        if isinstance(value, list) and value and all(map(_is_table, cast(Any, value)))
    }
    scalars = {name: value for name, value in document.items() if name not in tables and name not in lists}
    blocks = [_members(scalars)] if scalars else []
    blocks += [[f"[{_key(name)}]", *_members(table)] for name, table in tables.items()]
    blocks += [[f"[[{_key(name)}]]", *_members(table)] for name, tables in lists.items() for table in tables]
    return "\n".join("".join(f"{line}\n" for line in block) for block in blocks)


def _is_table(value: Any) -> bool:
    return isinstance(value, dict)


def _members(table: dict[str, Any]) -> list[str]:
    return [f"{_key(name)} = {_inline(value)}" for name, value in table.items()]


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _inline(name)


def _inline(value: Any) -> str:
    if _is_table(value):
        return f"{{ {', '.join(_members(value))} }}" if value else "{}"
    if isinstance(value, list):
        elements: list[Any] = value  # pyright: ignore[reportUnknownVariableType] - from outside
        return f"[{', '.join(map(_inline, elements))}]"
    if not isinstance(value, (bool, int, float, str)):
        raise DocumentError(f"TOML cannot express {shortened(value)}")
    # Scalars are written as in JSON, but TOML has another escape for characters beyond the first 65,536.
    text = json.dumps(value, ensure_ascii=False)
    return "".join(each if each.isprintable() else f"\\U{ord(each):08x}" for each in text)


# --- YAML

_MAX_NODES = 10_000
_LONGEST_PROBLEM = 1_000
_INFINITE = 10**9
_TAG = "tag:yaml.org,2002:"
# The plain scalars that are not texts, with their first characters: the words and numbers of JSON, YAML's two other
# spellings of null, and merge keys. PyYAML has many more, such as `yes`, dates and numbers with base 60, which surprise
# whoever writes them, raise foreign exceptions or take minutes to read.
_PLAIN = {
    "null": (re.compile(r"(?:null|~|)\Z"), ("n", "~", "")),
    "bool": (re.compile(r"(?:true|false)\Z"), "tf"),
    "int": (re.compile(r"-?(?:0|[1-9][0-9]*)\Z"), "-0123456789"),
    "float": (re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?\Z"), "-0123456789"),
    "merge": (re.compile(r"<<\Z"), "<"),
}


def _yaml() -> Any:
    return load_extra("yaml", extra="yaml", package="PyYAML", purpose="a policy in YAML")


@cache
def _loader_class() -> Any:
    """Return PyYAML's safe loader, restricted to the values of JSON."""
    safe = _yaml().SafeLoader
    # Without a constructor, a tag is an error of PyYAML's. The one for None raises it.
    tags = (None, f"{_TAG}str", f"{_TAG}seq", f"{_TAG}map")
    constructors = {tag: safe.yaml_constructors[tag] for tag in tags}
    constructors |= {f"{_TAG}{name}": _construct_scalar for name in _PLAIN if name != "merge"}
    loader: Any = type("Loader", (safe,), {"yaml_implicit_resolvers": {}, "yaml_constructors": constructors})
    return _with_plain_scalars(loader)


@cache
def _dumper_class() -> Any:
    """Return PyYAML's safe dumper, which also quotes texts such as `1e5`: it would not read them as numbers."""
    return _with_plain_scalars(type("Dumper", (_yaml().SafeDumper,), {}))


def _with_plain_scalars(resolver: Any) -> Any:
    for name, (pattern, first) in _PLAIN.items():
        resolver.add_implicit_resolver(f"{_TAG}{name}", pattern, first)
    return resolver


def _construct_scalar(loader: Any, node: Any) -> Any:
    """Read a scalar that is not a text, by its looks or by its tag."""
    text, name = loader.construct_scalar(node), node.tag.removeprefix(_TAG)
    if not _PLAIN[name][0].match(text):
        raise DocumentError(f"{quoted(text)} has the tag {name}, but is not written like one")
    return None if name == "null" else json.loads(text)


def _read_yaml(text: str) -> Any:
    yaml = _yaml()
    try:
        loader = _loader_class()(text)
        node = loader.get_single_node()
        counts: dict[int, int] = {}
        if node is None:
            return None
        # `counts` has one entry per node, so a document without aliases is never over the limit.
        if _count_nodes(node, counts) <= max(_MAX_NODES, len(counts)):
            return loader.construct_document(node)
    except (yaml.YAMLError, ValueError) as error:
        # It may quote a name of any length.
        raise DocumentError(f"invalid YAML: {str(error)[:_LONGEST_PROBLEM]}") from None
    raise DocumentError(f"aliases expand to more than {_MAX_NODES:,} nodes")


def _count_nodes(node: Any, counts: dict[int, int]) -> int:
    """Count the nodes after aliases are expanded. Duplicate keys are rejected, as in JSON."""
    if id(node) not in counts:
        parts: list[Any] = [] if isinstance(node.value, str) else node.value
        if node.id == "mapping":
            # A key that is a list or an object cannot be constructed, and showing it would expand its aliases.
            reject_duplicate_keys([(key.value, None) for key, _ in parts if isinstance(key.value, str)])
            parts = [part for pair in parts for part in pair]
        # If a node is reached again before its size is known, it contains itself.
        counts[id(node)] = _INFINITE
        counts[id(node)] = min(_INFINITE, 1 + sum([_count_nodes(part, counts) for part in parts]))
    return counts[id(node)]


def _write_yaml(document: dict[str, Any]) -> str:
    dump = partial(_yaml().dump, document, Dumper=_dumper_class(), sort_keys=False)
    text: str = dump(allow_unicode=True)
    if not text.replace("\n", "").isprintable() or _read_yaml(text) != document:
        # A terminal may interpret the characters of a text, and PyYAML reads line breaks such as U+0085 as spaces.
        text = dump()
    return text


READERS: dict[str, Callable[[str], Any]] = {"json": _read_json, "toml": parse_toml, "yaml": _read_yaml}
"""The function that parses the text of each format, or raises a DocumentError."""

WRITERS: dict[str, Callable[[Any], str]] = {
    "json": lambda document: escape_json(json.dumps(document, ensure_ascii=False, indent=2)) + "\n",
    "toml": _write_toml,
    "yaml": _write_yaml,
}
"""The function that formats a document in each format."""


# Read and write policies as JSON, TOML, or, with an extra, YAML.


def load_policy(path: str | os.PathLike[str]) -> Policy:
    """Load a policy from a file.

    Args:
        path: The file. The suffix determines the format: .json, .toml, .yaml or .yml.

    Raises:
        DocumentError: the file does not contain a valid policy. The text names the file; `errors` lists all mistakes.
    """
    file = Path(checked_path("path", path))
    file_format = _format_of(file)
    with file.open("rb") as stream:
        # One byte over the limit is enough to tell that the file is too large.
        data = stream.read(MAX_FILE_BYTES[file_format] + 1)
    try:
        _check_size(len(data), file_format)
        return parse_policy(data.decode("utf-8-sig"), file_format)
    except UnicodeDecodeError as error:
        mistake = DocumentError(f"is not UTF-8: {error.reason} at byte {error.start}")
    except DocumentError as error:
        mistake = error
    errors = mistake.errors or (mistake,)
    raise DocumentError(f"{file}: {mistake}", errors=errors, hint=hint_of(errors)) from mistake


def save_policy(policy: Policy | PresetName, path: str | os.PathLike[str]) -> None:
    """Save a policy to a file, in the canonical form of `policy_to_dict`, and in the format that its suffix names."""
    file = Path(checked_path("path", path))
    file.write_text(dump_policy(policy, _format_of(file)), encoding="utf-8")


def parse_policy(text: str, format: PolicyFormat = "json") -> Policy:  # noqa: A002 - the natural name
    """Parse a policy.

    Raises:
        DocumentError: the text does not contain a valid policy; `errors` lists all mistakes.
    """
    name = checked_name("format", format, READERS)
    checked_str("text", text)
    try:
        if not text.strip():
            raise DocumentError(f"{name.upper()} input cannot be empty.")  # noqa: TRY301
        _check_size(len(text.encode(errors="surrogatepass")), name)
        data = READERS[name](text)
        check_depth(data)
    except DocumentError as error:
        raise combine_mistakes(error) from None
    except RecursionError:
        raise combine_mistakes(DocumentError(TOO_DEEP)) from None
    return policy_from_dict(data)


def dump_policy(policy: Policy | PresetName, format: PolicyFormat = "json") -> str:  # noqa: A002 - the natural name
    """Format a policy as text, in the canonical form of `policy_to_dict`."""
    name = checked_name("format", format, READERS)
    document = policy_to_dict(policy)
    check_depth(document)
    try:
        return WRITERS[name](document)
    except (ValueError, RecursionError) as error:
        # For example, an integer has too many digits.
        raise DocumentError(f"cannot be written as {name.upper()}: {error}") from None


def _check_size(size: int, name: str) -> None:
    if size > MAX_FILE_BYTES[name]:
        raise DocumentError(f"is larger than {MAX_FILE_BYTES[name]:,} bytes, the limit for a policy in {name.upper()}")


_SUFFIXES: dict[str, PolicyFormat] = {".json": "json", ".toml": "toml", ".yaml": "yaml", ".yml": "yaml"}


def _format_of(file: Path) -> PolicyFormat:
    suffix = file.suffix.lower()
    if suffix not in _SUFFIXES:
        raise InvalidArgumentError(
            f"the name of a policy file must end with {', '.join(_SUFFIXES)}, not {quoted(file.name or str(file))}",
            argument="path",
        )
    return _SUFFIXES[suffix]
