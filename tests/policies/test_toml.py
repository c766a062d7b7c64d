"""Writing TOML: what is written is read back by the standard library."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from pycupel.errors import DocumentError
from pycupel.policies.files import WRITERS

dump_toml = WRITERS["toml"]


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"name": "a"},
        {"flag": True, "other": False},
        {"whole": 1, "negative": -5, "half": 0.5, "small": 1e-07, "large": 1e300, "huge": 10**30},
        {"table": {}},
        {"table": {"inner": {"inner": {"list": [{}, {"a": [1, [2, [3]]]}]}}}},
        {"list": [{"a": 1}, {"a": 2}]},
        {"list": []},
        {"list": [1, 2.5, "a", True]},
        {"mixed": [{"a": 1}, 2]},
        {"table": {"a": 1}, "scalar": 1, "list": [{"b": 1}], "another": "last"},
        {"key with blanks": {"": {'quo"te': 1, "back\\slash": 2, "dot.ted": 3, "ümlaut": 4}}},
        {"text": "".join(map(chr, range(0xA1))) + "\u2028\u2029\ufeff\ufffd\U0001f600\\u0041 '''\"\"\""},
    ],
)
def test_what_is_written_is_read_back(document: dict[str, Any]) -> None:
    assert tomllib.loads(dump_toml(document)) == document


def test_scalars_come_first_then_tables_then_lists_of_tables() -> None:
    """TOML gives what follows a table to the table, so its scalars have to come before."""
    document = {
        "scorers": [{"type": "recency", "weight": 2}, {"type": "kind", "kindWeights": {"Note": 0.5, "to do": 1}}],
        "slicer": {"type": "countQuota", "entries": [{"kind": "Note", "capCount": 1}], "inner": {"type": "greedy"}},
        "name": "Notes",
        "deduplicationEnabled": True,
    }
    assert dump_toml(document) == (
        'name = "Notes"\n'
        "deduplicationEnabled = true\n"
        "\n"
        "[slicer]\n"
        'type = "countQuota"\n'
        'entries = [{ kind = "Note", capCount = 1 }]\n'
        'inner = { type = "greedy" }\n'
        "\n"
        "[[scorers]]\n"
        'type = "recency"\n'
        "weight = 2\n"
        "\n"
        "[[scorers]]\n"
        'type = "kind"\n'
        'kindWeights = { Note = 0.5, "to do" = 1 }\n'
    )


@pytest.mark.parametrize("value", [None, [None], {"a": None}, b"bytes"])
def test_what_toml_cannot_express_is_refused(value: Any) -> None:
    """TOML has no null."""
    with pytest.raises(DocumentError, match=r"^TOML cannot express (None|b'bytes')$"):
        dump_toml({"value": value})
