"""A hook whose library is not installed says which line installs it."""

from __future__ import annotations

import sys
from importlib import import_module

import pytest

from pycupel.errors import MissingExtraError

LIBRARIES = [
    ("langchain", "langchain", "langchain"),
    ("pydantic_ai", "pydantic_ai", "pydantic-ai"),
    ("openai_agents", "agents", "openai-agents"),
    ("llama_index", "llama_index", "llama-index"),
    ("haystack", "haystack", "haystack"),
    ("google_adk", "google", "google-adk"),
    ("agent_framework", "agent_framework", "agent-framework"),
    ("strands", "strands", "strands"),
    ("litellm", "litellm", "litellm"),
    ("crewai", "crewai", "crewai"),
]


@pytest.mark.parametrize(("module", "library", "extra"), LIBRARIES)
def test_a_hook_without_its_library_answers_with_the_pip_line(
    module: str, library: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This is so wherever the test runs: None is how Python is told that there is no such module."""
    name = f"pycupel.integrations.{module}"
    for known in [each for each in sys.modules if each == name or each.split(".")[0] == library]:
        monkeypatch.delitem(sys.modules, known)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtraError) as caught:
        import_module(name)
    assert str(caught.value).endswith(f"pip install 'pycupel[{extra}]'")
    assert caught.value.purpose == name
