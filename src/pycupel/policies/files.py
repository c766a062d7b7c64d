"""Read and write policies as JSON, TOML, or, with an extra, YAML."""

from __future__ import annotations

import os
from pathlib import Path

from pycupel.codecs.jsontext import TOO_DEEP, check_depth
from pycupel.errors import DocumentError, InvalidArgumentError
from pycupel.model.checks import checked_name, checked_path, checked_str
from pycupel.pipeline import Policy
from pycupel.pipeline.policy import PresetName
from pycupel.policies.document import combine_mistakes, policy_from_dict, policy_to_dict
from pycupel.policies.formats import MAX_BYTES, READERS, WRITERS, PolicyFormat
from pycupel.text import quoted

__all__ = ["PolicyFormat", "dump_policy", "load_policy", "parse_policy", "save_policy"]


def load_policy(path: str | os.PathLike[str]) -> Policy:
    """Load a policy from a file.

    Args:
        path: The file. The suffix determines the format: .json, .toml, .yaml or .yml.

    Raises:
        TypeError: `path` is not a path.
        DocumentError: the file does not contain a valid policy. The text names the file; `errors` lists all mistakes.
        InvalidArgumentError: the suffix is not supported.
        OSError: the file cannot be read.
        MissingExtraError: the format is YAML, and PyYAML is not installed.
    """
    file = Path(checked_path("path", path))
    file_format = _format_of(file)
    with file.open("rb") as stream:
        # One byte over the limit is enough to tell that the file is too large.
        data = stream.read(MAX_BYTES[file_format] + 1)
    try:
        _check_size(len(data), file_format)
        return parse_policy(data.decode("utf-8-sig"), file_format)
    except UnicodeDecodeError as error:
        mistake = DocumentError(f"is not UTF-8: {error.reason} at byte {error.start}")
    except DocumentError as error:
        mistake = error
    raise DocumentError(f"{file}: {mistake}", errors=mistake.errors or (mistake,)) from mistake


def save_policy(policy: Policy | PresetName, path: str | os.PathLike[str]) -> None:
    """Save a policy to a file, in the canonical form.

    Args:
        policy: A policy, a pipeline, or the name of a preset.
        path: The file. The suffix determines the format: .json, .toml, .yaml or .yml.

    Raises:
        TypeError: an argument has the wrong type.
        DocumentError: a part of the policy cannot be written, for example because it is not registered.
        InvalidArgumentError: the suffix is not supported, or there is no such preset.
        MissingExtraError: the format is YAML, and PyYAML is not installed.
        OSError: the file cannot be written.
    """
    file = Path(checked_path("path", path))
    file.write_text(dump_policy(policy, _format_of(file)), encoding="utf-8")


def parse_policy(text: str, format: PolicyFormat = "json") -> Policy:  # noqa: A002 - the natural name
    """Parse a policy.

    Args:
        text: The text.
        format: `json`, `toml` or `yaml`.

    Raises:
        TypeError: an argument has the wrong type.
        DocumentError: the text does not contain a valid policy; `errors` lists all mistakes.
        InvalidArgumentError: there is no such format.
        MissingExtraError: the format is YAML, and PyYAML is not installed.
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
    """Format a policy as text, in the canonical form.

    Args:
        policy: A policy, a pipeline, or the name of a preset.
        format: `json`, `toml` or `yaml`.

    Raises:
        TypeError: an argument has the wrong type.
        DocumentError: a part of the policy cannot be written, for example because it is not registered.
        InvalidArgumentError: there is no such format or preset.
        MissingExtraError: the format is YAML, and PyYAML is not installed.
    """
    name = checked_name("format", format, READERS)
    document = policy_to_dict(policy)
    check_depth(document)
    try:
        return WRITERS[name](document)
    except (ValueError, RecursionError) as error:
        # For example, an integer has too many digits.
        raise DocumentError(f"cannot be written as {name.upper()}: {error}") from None


def _check_size(size: int, name: str) -> None:
    if size > MAX_BYTES[name]:
        raise DocumentError(f"is larger than {MAX_BYTES[name]:,} bytes, the limit for a policy in {name.upper()}")


_SUFFIXES: dict[str, PolicyFormat] = {".json": "json", ".toml": "toml", ".yaml": "yaml", ".yml": "yaml"}


def _format_of(file: Path) -> PolicyFormat:
    suffix = file.suffix.lower()
    if suffix not in _SUFFIXES:
        raise InvalidArgumentError(
            f"the name of a policy file must end with {', '.join(_SUFFIXES)}, not {quoted(file.name or str(file))}",
            argument="path",
        )
    return _SUFFIXES[suffix]
