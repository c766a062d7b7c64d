"""crewAI must not use the network, and warns when it is imported."""

from __future__ import annotations

import os
import warnings

import pytest

os.environ |= {
    "CREWAI_DISABLE_TELEMETRY": "true",
    "CREWAI_DISABLE_TRACKING": "true",
    "CREWAI_TRACING_ENABLED": "false",
    "OTEL_SDK_DISABLED": "true",
}

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import crewai  # noqa: F401


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What the libraries deprecate of each other's is theirs to mend."""
    for item in items:
        item.add_marker(pytest.mark.filterwarnings("ignore::DeprecationWarning"))
        item.add_marker(pytest.mark.filterwarnings("ignore::UserWarning"))
        item.add_marker(pytest.mark.filterwarnings("ignore::ImportWarning"))
