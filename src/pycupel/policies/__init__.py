"""Policies: presets, files, and which one an application uses for which purpose."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pycupel.policies.intents import PolicyRegistry
from pycupel.policies.presets import (
    CHAT,
    CODE_REVIEW,
    DEBUGGING,
    DOCUMENT_QA,
    LONG_RUNNING,
    PRESETS,
    RAG,
    TOOL_USE,
    preset,
)

if TYPE_CHECKING:
    from pycupel.policies.document import policy_from_dict, policy_json_schema, policy_to_dict
    from pycupel.policies.files import dump_policy, load_policy, parse_policy, save_policy

__all__ = [
    "CHAT",
    "CODE_REVIEW",
    "DEBUGGING",
    "DOCUMENT_QA",
    "LONG_RUNNING",
    "PRESETS",
    "RAG",
    "TOOL_USE",
    "PolicyRegistry",
    "dump_policy",
    "load_policy",
    "parse_policy",
    "policy_from_dict",
    "policy_json_schema",
    "policy_to_dict",
    "preset",
    "save_policy",
]

# Files need parsers, which whoever only selects never does.
_HOME = {
    "policy_from_dict": "document",
    "policy_json_schema": "document",
    "policy_to_dict": "document",
    "dump_policy": "files",
    "load_policy": "files",
    "parse_policy": "files",
    "save_policy": "files",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'pycupel.policies' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"pycupel.policies.{_HOME[name]}"), name)
    return value
