"""Policies: presets, policy files, and a registry of policies by purpose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pycupel.lazy import load_when_used, public_names

if TYPE_CHECKING:
    from pycupel.policies.document import (
        policy_from_dict as policy_from_dict,
        policy_json_schema as policy_json_schema,
        policy_to_dict as policy_to_dict,
    )
    from pycupel.policies.files import (
        dump_policy as dump_policy,
        load_policy as load_policy,
        parse_policy as parse_policy,
        save_policy as save_policy,
    )
    from pycupel.policies.presets import (
        CHAT as CHAT,
        CODE_REVIEW as CODE_REVIEW,
        DEBUGGING as DEBUGGING,
        DOCUMENT_QA as DOCUMENT_QA,
        LONG_RUNNING as LONG_RUNNING,
        PRESETS as PRESETS,
        RAG as RAG,
        TOOL_USE as TOOL_USE,
        PolicyRegistry as PolicyRegistry,
        preset as preset,
    )
else:
    # Policy files need parsers, which a program that only selects does not need.
    _NAMES = {
        ".document": "policy_from_dict policy_json_schema policy_to_dict",
        ".files": "dump_policy load_policy parse_policy save_policy",
        ".presets": ("CHAT CODE_REVIEW DEBUGGING DOCUMENT_QA LONG_RUNNING PRESETS RAG TOOL_USE PolicyRegistry preset"),
    }
    __all__ = public_names(_NAMES)  # noqa: PLE0605 - by the table
    __getattr__, __dir__ = load_when_used(__name__, _NAMES)
