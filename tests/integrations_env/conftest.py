"""No test may use the network, and some of the libraries would do so by themselves when they are imported or used."""

from __future__ import annotations

import os

import pytest

os.environ |= {
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "LANGSMITH_TRACING": "false",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Some libraries leave clients and event loops open, which are noticed in whatever test runs later."""
    for item in items:
        item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))
        item.add_marker(pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"))
