"""Names of models: one spelling for all that people use, families, vocabularies and windows."""

from __future__ import annotations

from typing import Any

import pytest

from pycupel.errors import InvalidArgumentError
from pycupel.tokens import window_of
from pycupel.tokens.families import load_splintr as load
from pycupel.tokens.models import FAMILIES, family_of, normalized_model, vocabulary_of


@pytest.mark.parametrize(
    ("name", "normalized"),
    [
        ("gpt-4o", "gpt-4o"),
        (" GPT-4o ", "gpt-4o"),
        ("openai:gpt-4o", "gpt-4o"),
        ("openai/gpt-4o", "gpt-4o"),
        ("openrouter/openai/gpt-4o:free", "gpt-4o"),
        ("gpt-4o-2024-08-06", "gpt-4o"),
        ("gpt-4o-audio-preview-2024-12-17", "gpt-4o-audio-preview"),
        ("ft:gpt-4o-mini-2024-07-18:acme::9x", "gpt-4o-mini"),
        ("ft:gpt-4o-mini", "gpt-4o-mini"),
        ("gpt-4o-mini-2024-07-18.ft-0a1b", "gpt-4o-mini"),
        ("claude-3-5-sonnet-latest", "claude-3-5-sonnet"),
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5"),
        ("anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"),
        ("anthropic:claude-sonnet-4-5", "claude-sonnet-4-5"),
        ("anthropic.claude-instant-v1", "claude-instant"),
        ("anthropic.claude-v2:1", "claude-v2"),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
        (
            "arn:aws:bedrock:eu-west-1:1:inference-profile/eu.anthropic.claude-3-5-haiku-20241022-v1:0",
            "claude-3-5-haiku",
        ),
        ("models/gemini-2.5-pro", "gemini-2.5-pro"),
        ("google-gla:gemini-2.5-pro", "gemini-2.5-pro"),
        ("meta-llama/Llama-3.3-70B-Instruct", "llama-3.3-70b-instruct"),
        ("meta-llama/Meta-Llama-3-8B", "llama-3-8b"),
        ("meta.llama3-1-70b-instruct-v1:0", "llama-3.1-70b-instruct"),
        ("accounts/fireworks/models/llama-v3p1-8b-instruct", "llama-3.1-8b-instruct"),
        ("llama3.3:70b", "llama-3.3"),
        ("gemma3:27b", "gemma-3"),
        ("gpt4o", "gpt-4o"),
        ("azure/gpt4o-mini", "gpt-4o-mini"),
        ("gpt4.1", "gpt-4.1"),
        ("gpt35-turbo", "gpt-35-turbo"),
        ("gpt4all-j", "gpt4all-j"),
        ("gpt2", "gpt2"),
        ("mistral.mixtral-8x7b-instruct-v0:1", "mixtral-8x7b-instruct"),
        ("mistralai/Mistral-7B-Instruct-v0.3", "mistral-7b-instruct-v0.3"),
        ("mistral:mistral-large-latest", "mistral-large"),
        ("mistral:magistral-small-2509", "magistral-small-2509"),
        ("mistral:7b", "mistral-7b"),
        ("mistral:latest", "mistral-7b"),
        ("mistral:instruct", "mistral-7b"),
        ("ollama:mistral:7b-instruct-v0.3-q4_0", "mistral-7b"),
        ("ollama/llama3.1:8b", "llama-3.1"),
        ("mistral:labs-some-model", "mistral"),
        ("deepseek:deepseek-chat", "deepseek-chat"),
        ("deepseek:7b", "deepseek"),
        ("openai:some-model", "some-model"),
        ("azure_openai:gpt_4o", "gpt-4o"),
        ("", ""),
    ],
)
def test_one_spelling_for_all(name: str, normalized: str) -> None:
    assert normalized_model(name) == normalized
    assert normalized_model(normalized) == normalized


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("gpt-5-mini", "openai"),
        ("o3-mini", "openai"),
        ("us.anthropic.claude-opus-4-1-20250805-v1:0", "anthropic"),
        ("gemini-3-flash-preview", "gemini"),
        ("google.gemma-3-27b-it", "gemma"),
        ("open-mixtral-8x22b", "mistral"),
        ("ministral-8b-latest", "mistral"),
        ("magistral-small-2509", "mistral"),
        ("meta-llama/Llama-4-Scout-17B-16E-Instruct", "llama"),
        ("deepseek-chat", "deepseek"),
        ("deepseek-ai/DeepSeek-R1-Distill-Llama-70B", "llama"),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-32B", "qwen"),
        ("Qwen/QwQ-32B", "qwen"),
        ("moonshotai/kimi-k2-thinking", "kimi"),
        ("xai/grok-4", "grok"),
        ("command-r-plus", "cohere"),
        ("zai.glm-4.7", "glm"),
        ("phi4:14b", "phi"),
        ("amazon.nova-pro-v1:0", "nova"),
        ("my-own-model", None),
        ("", None),
    ],
)
def test_the_family_follows_from_the_name(name: str, family: str | None) -> None:
    assert family_of(name) == family
    assert family is None or family in FAMILIES


@pytest.mark.parametrize(
    ("name", "vocabulary"),
    [
        ("gpt-4o", "o200k_base"),
        ("gpt-4.1-nano", "o200k_base"),
        ("gpt-4-turbo", "cl100k_base"),
        ("ft:gpt-3.5-turbo-0125:acme", "cl100k_base"),
        ("gpt-5.4", "o200k_base"),
        ("openai.gpt-oss-20b-1:0", "o200k_base"),
        ("llama3.1:8b", "llama3"),
        ("deepseek-reasoner", "deepseek_v3"),
        ("deepseek-v4-pro", None),
        ("qwen3-32b", "qwen"),
        ("qwen3.7-max", None),
        ("gemma-3-12b-it", "gemma3"),
        ("kimi-k2.5", "kimi_k2"),
        ("mistral-7b-instruct", "mistral_v2"),
        ("mistral:latest", "mistral_v2"),
        ("open-mixtral-8x22b", "mistral_v2"),
        ("mistral-large-2411", "mistral_v2"),
        ("mistral-large-latest", "tekken"),
        ("magistral-small-2509", "tekken"),
        ("claude-opus-4-6", None),
    ],
)
def test_vocabularies_that_splintr_ships(name: str, vocabulary: str | None) -> None:
    assert vocabulary_of(name) == vocabulary
    if vocabulary is not None:
        assert load(vocabulary)[0]("Hello") == 1


@pytest.mark.parametrize(
    ("name", "window"),
    [
        ("gpt-4", 8_192),
        ("gpt-4-0613", 8_192),
        ("gpt-4-turbo-2024-04-09", 128_000),
        ("openai:gpt-4o", 128_000),
        ("ft:gpt-4o-mini-2024-07-18:acme::9x", 128_000),
        ("gpt-4.1-mini", 1_047_576),
        ("gpt-5.1", 400_000),
        ("gpt-5.1-chat-latest", 128_000),
        ("o1-mini", 128_000),
        ("o3", 200_000),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", 200_000),
        ("anthropic/claude-opus-4.6", 1_000_000),
        ("anthropic.claude-v2:1", 100_000),
        ("models/gemini-1.5-pro-002", 2_097_152),
        ("gemini-2.5-flash", 1_048_576),
        ("mistral-large-2411", 128_000),
        ("mixtral-8x7b-32768", 32_000),
        ("mixtral", 32_000),
        ("mixtral-8x22b-instruct", 64_000),
        ("open-mixtral-8x7b", 32_000),
        ("mistral-tiny", 32_000),
        ("mistral-small-2409", 32_000),
        ("mistral-small-2503", 128_000),
        ("mistral-medium-2312", 32_000),
        ("mistral-medium-2505", 128_000),
        ("codestral-2405", 32_000),
        ("mistralai/Codestral-22B-v0.1", 32_000),
        ("codestral-2508", 128_000),
        ("devstral-small-2507", 128_000),
        ("devstral:24b", 128_000),
        ("devstral-2512", 256_000),
        ("mistral.devstral-2-123b", 256_000),
        ("gemini-pro-vision", 16_384),
        ("google/gemma-3-270m-it", 32_000),
        ("google/gemma-3-1b-it", 32_000),
        ("gemma3:1b", 32_000),
        ("google/gemma-3-27b-it", 128_000),
        ("deepseek-ai/deepseek-coder-6.7b-instruct", 16_384),
        ("deepseek-ai/DeepSeek-Coder-V2-Instruct", 128_000),
        ("kimi-latest", 128_000),
        ("kimi-k2-instruct", 128_000),
        ("llama3:8b", 8_192),
        ("llama3.1:8b", 128_000),
        ("deepseek-chat", 128_000),
        ("kimi-k2-0905-preview", 256_000),
        ("moonshotai/kimi-k2.5", 256_000),
        ("google/gemma-4-31b-it", 256_000),
        ("google/gemma-4-e4b-it", 128_000),
        ("amazon.nova-micro-v1:0", 128_000),
    ],
)
def test_windows_of_common_models(name: str, window: int) -> None:
    assert window_of(name) == window


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("gtp-4o", "unknown model 'gtp-4o'; did you mean 'gpt-4o'?"),
        ("claude-sonett-4", "unknown model 'claude-sonett-4'; did you mean 'claude-sonnet-4'?"),
        ("my-own-model", "unknown model 'my-own-model'"),
        ("", "unknown model ''"),
    ],
)
def test_an_unknown_model_is_an_error_with_a_suggestion(name: str, sentence: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        window_of(name)
    assert str(caught.value) == sentence
    assert (caught.value.argument, caught.value.value) == ("model", name)
    assert caught.value.__notes__ == [
        "Its limits are not known: pass a number of tokens, or set them with register_model."
    ]


@pytest.mark.parametrize("value", [None, 4, b"gpt-4o"])
def test_only_a_str_is_a_name(value: Any) -> None:
    for function in (normalized_model, family_of, vocabulary_of, window_of):
        with pytest.raises(TypeError, match="model must be a str"):
            function(value)


@pytest.mark.parametrize("model", ["gpt-44o", "gpt-4oo", "claude-33-opus"])
def test_a_name_that_only_begins_like_a_known_one_is_unknown(model: str) -> None:
    with pytest.raises(InvalidArgumentError, match="unknown model"):
        window_of(model)
