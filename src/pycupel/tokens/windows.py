"""Context windows of common models: the tokens of a prompt and its reply together."""

from __future__ import annotations

from pycupel.errors import InvalidArgumentError
from pycupel.model.checks import quoted
from pycupel.model.names import suggestion
from pycupel.tokens.models import family_of, normalized_model

__all__ = ["window_of"]

_M = 1_000_000
_MI = 1_048_576

# Windows by the start of a model's name; the longest match counts. Checked in November 2026 against the table of
# litellm 1.106, which has the prompt's part alone for some of OpenAI's. Where sources differ, the smaller one counts.
_WINDOWS = {
    "gpt-3.5-turbo": 16_385,
    "gpt-3.5-turbo-instruct": 4_096,
    "gpt-35-turbo": 16_385,
    "gpt-4": 8_192,
    "gpt-4-32k": 32_768,
    "gpt-4-turbo": 128_000,
    "gpt-4-1106": 128_000,
    "gpt-4-0125": 128_000,
    "gpt-4-vision": 128_000,
    "gpt-4o": 128_000,
    "gpt-4.1": 1_047_576,
    "gpt-4.5": 128_000,
    "chatgpt-4o": 128_000,
    "gpt-5": 400_000,
    "gpt-5-chat": 128_000,
    "gpt-5.1-chat": 128_000,
    "gpt-5.2-chat": 128_000,
    "gpt-5.3-chat": 128_000,
    "gpt-5.4": 1_050_000,
    "gpt-5.4-mini": 400_000,
    "gpt-5.4-nano": 400_000,
    "gpt-5.5": 1_050_000,
    "gpt-5.6": 1_050_000,
    "gpt-5.6-cyber": 400_000,
    "gpt-6": 1_050_000,
    "gpt-audio": 128_000,
    "gpt-oss": 128_000,
    "o1": 200_000,
    "o1-mini": 128_000,
    "o1-preview": 128_000,
    "o3": 200_000,
    "o4": 200_000,
    "claude-instant": 100_000,
    "claude-2": 100_000,
    "claude-2-1": 200_000,
    "claude-v2": 100_000,
    "claude-3": 200_000,
    "claude-4": 200_000,
    "claude-opus-4": 200_000,
    "claude-opus-4-6": _M,
    "claude-opus-4-7": _M,
    "claude-opus-4-8": _M,
    "claude-opus-5": _M,
    "claude-sonnet-4": 200_000,
    "claude-sonnet-4-6": _M,
    "claude-sonnet-5": _M,
    "claude-haiku-4": 200_000,
    "claude-haiku-5": _M,
    "claude-fable-5": _M,
    "claude-mythos": _M,
    "gemini-1.0-pro": 32_768,
    "gemini-1.0-pro-vision": 16_384,
    "gemini-1.5-flash": _MI,
    "gemini-1.5-pro": 2 * _MI,
    "gemini-2": _MI,
    "gemini-2.5-computer-use": 128_000,
    "gemini-3": _MI,
    "gemini-flash": _MI,
    "gemini-omni": _MI,
    "gemini-pro": _MI,
    "gemini-pro-vision": 16_384,
    "gemma": 8_192,
    "gemma-3": 32_000,
    "gemma-3-4b": 128_000,
    "gemma-3-12b": 128_000,
    "gemma-3-27b": 128_000,
    "gemma-3n": 32_000,
    "gemma-4": 256_000,
    "gemma-4-e2b": 128_000,
    "gemma-4-e4b": 128_000,
    "codestral": 128_000,
    "codestral-2405": 32_000,
    "codestral-22b": 32_000,
    "codestral-embed": 8_192,
    "devstral": 128_000,
    "devstral-2": 256_000,
    "devstral-2512": 256_000,
    "devstral-medium-2512": 256_000,
    "devstral-small-2": 256_000,
    "devstral-small-2512": 256_000,
    "magistral": 128_000,
    "ministral": 128_000,
    "mistral-7b": 32_000,
    "mistral-large": 256_000,
    "mistral-large-2402": 32_000,
    "mistral-large-2407": 128_000,
    "mistral-large-2411": 128_000,
    "mistral-large-4": _M,
    "mistral-medium": 128_000,
    "mistral-medium-2312": 32_000,
    "mistral-nemo": 128_000,
    "mistral-saba": 32_000,
    "mistral-small": 128_000,
    "mistral-small-2402": 32_000,
    "mistral-small-2409": 32_000,
    "mistral-small-24b": 32_000,
    "mistral-small-2501": 32_000,
    "mistral-small-instruct-2409": 32_000,
    "mistral-tiny": 32_000,
    "mixtral": 32_000,
    "mixtral-8x22b": 64_000,
    "open-mistral-7b": 32_000,
    "open-mistral-nemo": 128_000,
    "open-mixtral": 32_000,
    "open-mixtral-8x22b": 64_000,
    "pixtral": 128_000,
    "codellama": 16_384,
    "llama-2": 4_096,
    "llama-3": 8_192,
    "llama-3.1": 128_000,
    "llama-3.2": 128_000,
    "llama-3.3": 128_000,
    "llama-4-maverick": _M,
    "llama-4-scout": 10 * _M,
    "deepseek-chat": 128_000,
    "deepseek-coder": 16_384,
    "deepseek-coder-7b": 4_096,
    "deepseek-coder-v2": 128_000,
    "deepseek-flash": _M,
    "deepseek-r1": 128_000,
    "deepseek-reasoner": 128_000,
    "deepseek-v3": 128_000,
    "deepseek-v4": _M,
    "qwen-max": 32_000,
    "qwen-plus": 128_000,
    "qwen-turbo": 128_000,
    "qwen2": 32_000,
    "qwen3": 32_000,
    "qwen3-coder": 256_000,
    "qwen3-max": 256_000,
    "qwen3-next": 256_000,
    "qwq": 32_000,
    "kimi": 128_000,
    "kimi-k2-0905": 256_000,
    "kimi-k2-instruct-0905": 256_000,
    "kimi-k2-thinking": 256_000,
    "kimi-k2.5": 256_000,
    "kimi-k2.6": 256_000,
    "kimi-k3": _M,
    "moonshot-v1-8k": 8_192,
    "moonshot-v1-32k": 32_000,
    "moonshot-v1-128k": 128_000,
    "grok-3": 128_000,
    "grok-4": 256_000,
    "grok-4.20": _M,
    "grok-4.3": _M,
    "grok-4.5": 500_000,
    "grok-4.6": 500_000,
    "grok-4.7": 500_000,
    "grok-code": 256_000,
    "command-a": 256_000,
    "command-a-plus": 128_000,
    "command-r": 128_000,
    "glm-4.5": 128_000,
    "glm-4.6": 200_000,
    "glm-4.7": 200_000,
    "glm-5": 200_000,
    "minimax-m2": 196_000,
    "phi-3.5": 128_000,
    "phi-4": 16_384,
    "phi-4-mini": 128_000,
    "phi-4-multimodal": 128_000,
    "phi-4-reasoning": 32_000,
    "nova-lite": 300_000,
    "nova-micro": 128_000,
    "nova-premier": _M,
    "nova-pro": 300_000,
    "nova-2": _M,
    "jamba": 256_000,
    "jamba-instruct": 70_000,
}


def window_of(model: str) -> int:
    """Return the size of a model's context window in tokens, for the prompt and the reply together.

    Where a provider raises the window for some customers, or a newer model of the same name has a larger one, this is
    the smaller number.

    Args:
        model: A name as providers, routers and clouds write it: "gpt-4o", "claude-sonnet-4-5-20250929",
            "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "ft:gpt-4o-mini:acme", "openai:gpt-4o".

    Raises:
        TypeError: model is not a str.
        InvalidArgumentError: the model is unknown.
    """
    name = normalized_model(model)
    # A name may continue with a version or a variant, but not within a word: `gpt-44o` is not a `gpt-4`.
    known = [start for start in _WINDOWS if name.startswith(start) and not name[len(start) : len(start) + 1].isalnum()]
    if known:
        return _WINDOWS[max(known, key=len)]
    family = family_of(model)
    # The names of the family are the likelier ones; without one, all of them.
    names = [start for start in _WINDOWS if family is None or family_of(start) == family]
    raise InvalidArgumentError(
        f"unknown model {quoted(model)}{suggestion(name, names)}",
        argument="model",
        value=model,
        hint="Its context window is not known: pass a number of tokens instead.",
    )
