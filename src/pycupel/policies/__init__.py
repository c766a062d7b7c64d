"""Policies: presets, policy files, and a registry of policies by purpose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pycupel.lazy import load_when_used
from pycupel.policies.presets import (
    CHAT,
    CODE_REVIEW,
    DEBUGGING,
    DOCUMENT_QA,
    LONG_RUNNING,
    PRESETS,
    RAG,
    TOOL_USE,
    PolicyRegistry,
    preset,
)

if TYPE_CHECKING:
    from pycupel.policies.document import policy_from_dict, policy_json_schema, policy_to_dict
    from pycupel.policies.files import dump_policy, load_policy, parse_policy, save_policy
else:
    # Policy files need parsers, which a program that only selects does not need.
    __getattr__, __dir__ = load_when_used(
        __name__,
        {
            ".document": "policy_from_dict policy_json_schema policy_to_dict",
            ".files": "dump_policy load_policy parse_policy save_policy",
        },
    )


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
