"""Every history beside the project, trimmed at ten budgets: valid, within the window, and the newest is there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pycupel.messages import count_messages, select_messages, to_items
from pycupel.messages.options import ProviderName
from pycupel.replay import read_log
from tests.examples import some_of
from tests.messages.chats import errors

SHARED = Path(__file__).parents[3] / "shared/histories"
FILES: dict[str, ProviderName] = {
    "tau-airline": "openai",
    "coding-agent-258c": "anthropic",
    "coding-agent-ae4a": "anthropic",
}
# Of what need not stay.
SHARES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8, 0.95)


@pytest.mark.skipif(not SHARED.is_dir(), reason="the histories are not beside the project")
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("options", [{}, {"shorten": "results", "too_large": "shorten"}], ids=["whole", "shorten"])
def test_every_history_at_ten_budgets(name: str, options: dict[str, Any]) -> None:
    provider = FILES[name]
    for history in read_log(SHARED / f"{name}.jsonl.xz").histories:
        messages = list(history.messages)
        size = count_messages(messages, provider, len)
        must = sum(item.tokens for item in to_items(messages, provider, counter=len) if item.pinned) + 3
        for share in some_of(SHARES):
            budget = must + int(share * (size - must))
            selection = select_messages(messages, budget, provider=provider, counter=len, **options)
            assert errors(selection.messages, provider) == []
            assert count_messages(selection.messages, provider, len) <= budget
            assert len(selection.messages) < len(messages) or selection.shortened
            assert selection.kept[-1] == len(messages) - 1
