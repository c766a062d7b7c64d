"""Say what a file seems to contain, and the verb that reads it."""

from __future__ import annotations

from typing import Any

from pycupel.cli.jsonstream import read_values
from pycupel.errors import DocumentError

__all__ = ["HISTORY", "ITEMS", "MESSAGE_KEYS", "REPORT", "REQUESTS", "TRANSCRIPT", "hint_at", "hint_in", "is_report"]

MESSAGE_KEYS = ("messages", "contents", "input")
"""Where requests have their messages, by the names of OpenAI and Anthropic, Gemini, and Responses."""

HISTORY = "This looks like a chat history, which `pycupel trim` reads."
ITEMS = "These look like items, which `pycupel select` reads."
REPORT = "This looks like a stored report, which `pycupel explain` reads."
REQUESTS = "These look like requests with items, which `pycupel batch` reads."
TRANSCRIPT = "This looks like an agent's transcript, which `pycupel context` reads."


def hint_at(record: Any, *expected: str) -> str:
    """Return a second line for an error about a record; empty if the record is as expected or unrecognised."""
    found = _hint_for(record) if record.__class__ is dict else ""
    return f"\n  {found}" if found and found not in expected else ""


def hint_in(line: bytes, *expected: str) -> str:
    """Return a second line for an error about a file, by its first line."""
    try:
        record = next(read_values([line.decode()]), None)
    except (DocumentError, UnicodeDecodeError):
        return ""
    return hint_at(record.value, *expected) if record else ""


def is_report(record: Any) -> bool:
    """Whether a record looks like a stored report."""
    return record.__class__ is dict and all(isinstance(record.get(key), list) for key in ("included", "excluded"))


def _hint_for(record: dict[str, Any]) -> str:
    if is_report(record):
        return REPORT
    if isinstance(record.get("message"), dict) or isinstance(record.get("payload"), dict):
        return TRANSCRIPT
    if isinstance(record.get("items"), list):
        return REQUESTS
    if "role" in record or any(isinstance(record.get(key), list) for key in MESSAGE_KEYS):
        return HISTORY
    return ITEMS if isinstance(record.get("content"), str) and "type" not in record else ""
