"""Whose rules hold for a framework's model, from the names that it goes by."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from pycupel.integrations._history import ModelInUse, class_names, method_of, model_in_use, model_name_of
from pycupel.messages.options import ResolvedProviderName


@pytest.mark.parametrize(
    ("kinds", "name", "provider"),
    [
        (["ChatAnthropic", "BaseChatModel"], "claude-haiku-4-5", "anthropic"),
        (["FakeModel", "anthropic-chat"], None, "anthropic"),
        (["ChatBedrockConverse", "amazon_bedrock_converse_chat"], "us.anthropic.claude-sonnet-4-5-v1:0", "anthropic"),
        (["ChatOpenAI"], "anthropic/claude-sonnet-4-5", "anthropic"),
        (["ChatGoogleGenerativeAI"], "gemini-2.5-pro", "gemini"),
        (["google-vertex"], "gemini-2.5-pro", "gemini"),
        (["ChatMistralAI"], "mistral-large-latest", "mistral"),
        (["AzureChatOpenAI", "BaseChatOpenAI"], "mistral-large", "openai"),
        (["ChatGroq"], "mistral-saba-24b", None),
        (["FunctionModel"], None, None),
        ([], 7, None),
    ],
)
def test_the_provider_is_that_of_the_server_and_claude_is_claude_everywhere(
    kinds: list[str], name: str | None, provider: ResolvedProviderName | None
) -> None:
    assert model_in_use(kinds, name).provider == provider


def test_a_model_has_the_name_that_its_framework_gives_it_known_or_not() -> None:
    assert model_in_use(["ChatOpenAI"], "gpt-4o") == ModelInUse("openai", "gpt-4o")
    assert model_in_use(["ChatOpenAI"], "sonar-pro") == ModelInUse("openai", "sonar-pro")
    assert model_in_use(["ChatOpenAI"], "") == ModelInUse("openai", None)


def test_the_names_of_an_object() -> None:
    class Base:
        model = "gpt-4o"

    class Derived(Base):
        model_name = None

    assert class_names(Derived()) == ["Derived", "Base", "object"]
    assert model_name_of(Derived()) == "gpt-4o"
    assert model_name_of(object()) is None


def test_methods_of_a_wrapped_model_are_its_own() -> None:
    class Wrapper:
        wrapped = SimpleNamespace(name=lambda *parts, end: "/".join(parts) + end)
        name = method_of("wrapped", "name")
        supports_function_calling = method_of("wrapped", "supports_function_calling")

    assert Wrapper().name("openai", "gpt-4o", end="-mini") == "openai/gpt-4o-mini"
    assert Wrapper().supports_function_calling() is False
