"""The table of the linter's rules in the documentation is made from the rows of the providers.

`UPDATE_GOLDEN=1 pytest tests/messages/test_lint_rules.py` writes it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from pycupel.messages.providers import PROVIDERS

PAGE = Path(__file__).parents[2] / "docs" / "chat-histories.md"
TABLE = re.compile("(<!-- the rules of the linter -->\n).*?(<!-- the end of the rules -->)", re.DOTALL)


def table() -> str:
    """A row for each rule; what several providers require alike is one row."""
    rows: dict[tuple[str, str, str], list[str]] = {}
    for name, provider in PROVIDERS.items():
        for rule in provider.all_rules:
            rows.setdefault((rule.id, rule.severity, rule.requires), []).append(name)
    lines = ["", "| rule | severity | for | what the provider requires |", "|---|---|---|---|"]
    for (rule_id, severity, requires), names in rows.items():
        who = "all" if len(names) == len(PROVIDERS) else ", ".join(names)
        lines.append(f"| `{rule_id}` | {severity} | {who} | {requires} |")
    return "\n".join([*lines, "", ""])


def test_the_page_lists_every_rule() -> None:
    text = PAGE.read_text(encoding="utf-8")
    expected = TABLE.sub(lambda found: f"{found[1]}{table()}{found[2]}", text)
    if os.environ.get("UPDATE_GOLDEN"):
        PAGE.write_text(expected, encoding="utf-8")
        return
    assert text == expected
    assert "| `orphan-tool-result` | error | all |" in text


@pytest.mark.parametrize("name", PROVIDERS)
def test_rules_are_told_apart_by_their_names(name: str) -> None:
    """A name stands for one rule about messages, and perhaps for the same one about what is sent beside them."""
    provider = PROVIDERS[name]
    for rules in (provider.all_rules[: -len(provider.beside_rules)], provider.beside_rules):
        assert len({rule.id for rule in rules}) == len(rules)
    for rule in provider.all_rules:
        assert rule.requires[0].islower()
        assert rule.remedy.endswith(".")
        assert not rule.sentence.endswith(".")
