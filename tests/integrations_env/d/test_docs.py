"""The page about the hook: its blocks run, against a server on the loopback address."""

from __future__ import annotations

import litellm
import pytest

from tests.integrations_env.d.test_litellm import TOOL
from tests.integrations_env.documentation import run_blocks
from tests.integrations_env.provider import running


def test_litellm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(litellm, "callbacks", [])
    with running(0) as server:
        for provider in ("ANTHROPIC", "OPENAI"):
            monkeypatch.setenv(f"{provider}_API_BASE", server.url)
            monkeypatch.setenv(f"{provider}_API_KEY", "none")
        messages = [{"role": "user", "content": "What follows from all this?"}]
        names = run_blocks("LiteLLM", messages=messages, tools=[TOOL])
        assert len(server.sent) == 2
    assert names["response"].choices[0].message.content.startswith("Done")
