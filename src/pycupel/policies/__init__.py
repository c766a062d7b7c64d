"""Policies: presets, files, and which one an application uses for which purpose."""

from __future__ import annotations

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
else:
    # Files need parsers, which a program that only selects does not. Type checkers must not see this function: for
    # them it would make any name one that exists.
    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module 'pycupel.policies' has no attribute {name!r}")
        from pycupel.policies import document, files  # noqa: PLC0415

        value = globals()[name] = getattr(document if name in document.__all__ else files, name)
        return value


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
