"""Normalise the model names that providers, routers and clouds use, and find the family of each.

openai:gpt-4o, openai/gpt-4o, gpt-4o-2024-08-06           gpt-4o
ft:gpt-4o-mini-2024-07-18:acme::9x                        gpt-4o-mini
us.anthropic.claude-sonnet-4-5-20250929-v1:0              claude-sonnet-4-5
anthropic/claude-sonnet-4.5, claude-sonnet-4-5@20250929   claude-sonnet-4-5
models/gemini-2.5-pro, google-gla:gemini-2.5-pro          gemini-2.5-pro
meta-llama/Llama-3.3-70B-Instruct, llama3.3:70b           llama-3.3-70b-instruct, llama-3.3
mistral:mistral-large-latest, mistral:7b                  mistral-large, mistral-7b
"""

from __future__ import annotations

import re
from os.path import dirname, join
from typing import Any

from pycupel.model.checks import checked_str, fold


def read_table(name: str) -> dict[str, list[int]]:
    """Return the numbers of each name: a line is a name and its numbers, and lines of the same name are joined."""
    # By the module's loader, which also reads from an archive: importing pathlib or importlib.resources takes longer.
    loader: Any = __spec__.loader
    text: str = loader.get_data(join(dirname(__file__), "data", name)).decode()  # noqa: PTH118, PTH120
    table: dict[str, list[int]] = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            key, *numbers = line.split()
            table.setdefault(key, []).extend(map(int, numbers))
    return table


# The families, by how their models' names start.
FAMILIES: dict[str, tuple[str, ...]] = {
    "openai": ("gpt", "chatgpt", "codex", "davinci", "o1", "o3", "o4", "text-embedding"),
    "anthropic": ("claude",),
    "gemini": ("gemini",),
    "gemma": ("gemma", "codegemma"),
    "mistral": (
        *("codestral", "devstral", "leanstral", "magistral", "mathstral", "ministral", "mistral", "mixtral"),
        *("open-codestral", "open-mistral", "open-mixtral", "pixtral", "voxtral"),
    ),
    "llama": ("codellama", "llama", "meta-llama"),
    "deepseek": ("deepseek",),
    "qwen": ("codeqwen", "qvq", "qwen", "qwq"),
    "kimi": ("kimi", "moonshot"),
    "grok": ("grok",),
    "cohere": ("aya", "c4ai", "command"),
    "glm": ("chatglm", "glm"),
    "phi": ("phi",),
    "nova": ("nova",),
    "jamba": ("jamba",),
    "minimax": ("minimax",),
    "olmo": ("olmo",),
}

# Prefixes before a colon that are not models.
_PROVIDERS = (
    *("anthropic", "azure", "azure-openai", "azure_openai", "bedrock", "bedrock-converse", "bedrock_converse"),
    *("cerebras", "cohere", "databricks", "deepseek", "fireworks", "gateway", "google", "google-genai", "google-gla"),
    *("google-vertex", "google_genai", "google_vertexai", "groq", "huggingface", "litellm", "mistral", "mistralai"),
    *("moonshotai", "nvidia", "ollama", "openai", "openai-chat", "openai-responses", "openrouter", "together"),
    *("vertexai", "vercel", "xai"),
)
# Ollama's `mistral`, whatever its tag, is Mistral 7B. Others put Mistral's name before those of its models.
_OLLAMA_MISTRAL = r"^mistral:(?=\d|v\d|latest|instruct|text)"
# Patterns are compiled when they are first used: most programs that count tokens never name a model.
# Bedrock's ids start with the name of a company, sometimes after a group of regions.
_REGIONS = r"(?:apac|au|ca|eu|global|in|jp|us|us-gov)\.(?=[a-z0-9-]+\.)"
_COMPANY = (
    r"(?:ai21|amazon|anthropic|cohere|deepseek|google|meta|minimax|mistral|moonshot|moonshotai|nvidia|openai|qwen|writer"
    r"|xai|zai)\."
)
# `-v1` is the version of an id on Bedrock; `-v0.1` is one of a model.
_ID_VERSION = r"(?<!^claude)-v\d$"
_DATE = r"-(?:20\d{6}|20\d\d-\d\d-\d\d)(?=-|$)"
_LATEST = r"[-.]latest$"
# `llama3`, `llama-v3p1` and `gemma3`, as Ollama, Bedrock and Fireworks write them, and `gpt4o`, as many call their
# deployments; `gpt2` and `gpt4all` are other models.
_JOINED_VERSION = r"^(codellama|gemma|llama|phi|olmo|gpt(?=(?:3\.?5|4o?|5)(?![a-z0-9])))-?v?(\d)"
_POINT = r"(?<=\d)p(?=\d)"
_LLAMA_POINT = r"^(llama-3)-([123])(?=-|$)"
_COMPANY_PREFIX = r"^(?:meta-|databricks-|anthropic-)(?=llama|claude)"


def normalized_model(model: str) -> str:
    """Return a model's name in lower case, without what providers, routers and clouds add to it.

    Prefixes of providers and regions, the tags of fine-tuned models, dates, `latest` and versions of ids are removed;
    Claude's versions are written with dashes, Llama's with a dot.

    Args:
        model: The name as you have it.

    Raises:
        TypeError: model is not a str.
    """
    name = fold(checked_str("model", model)).strip().rpartition("/")[2]
    name = re.sub(_OLLAMA_MISTRAL, "mistral-7b:", name.removeprefix("ft:").removeprefix("ollama:"))
    head, colon, tail = name.partition(":")
    if colon:
        # A model's name may be followed by the tag of a fine-tuned model, a size, or the version of an id. Some names
        # of providers are also names of models.
        is_provider = head in _PROVIDERS and (_starts_in(tail) is not None or _starts_in(head) is None)
        name = tail.partition(":")[0] if is_provider else head
    name = re.sub(_COMPANY_PREFIX, "", name.partition("@")[0].partition(".ft-")[0].replace("_", "-"))
    from_bedrock = re.match(_COMPANY, re.sub(_REGIONS, "", name, count=1))
    if from_bedrock:
        name = re.sub(_ID_VERSION, "", from_bedrock.string[from_bedrock.end() :])
        # `deepseek.r1` and `deepseek.v3.2`: the company's name is the first word of the model's.
        name = f"deepseek-{name}" if from_bedrock[0] == "deepseek." else name
    name = re.sub(_LATEST, "", re.sub(_DATE, "", name))
    if name.startswith("claude"):
        return name.replace(".", "-")
    name = re.sub(_JOINED_VERSION, r"\1-\2", name)
    if name.startswith(("deepseek", "glm", "kimi", "llama", "minimax", "qwen")):
        name = re.sub(_POINT, ".", name)
    return re.sub(_LLAMA_POINT, r"\1.\2", name)


def family_of(model: str) -> str | None:
    """Return the family of a model, such as "openai", "anthropic", "gemini" or "llama"; None if it is unknown.

    Models distilled into another one (`deepseek-r1-distill-llama-70b`) belong to the other's family: it has its
    tokenizer.
    """
    return _starts_in(normalized_model(model).rpartition("-distill-")[2])


def _starts_in(name: str) -> str | None:
    """Return the family whose models' names start like this one."""
    return next((family for family, starts in FAMILIES.items() if name.startswith(starts)), None)


# Mistral's models from before July 2024, and its large ones of 2024, have another vocabulary than later ones.
_OLDER_MISTRAL = (
    *("mistral-7b", "mistral-tiny", "mistral-small-2402", "mistral-small-2409", "mistral-medium-2312"),
    *("mistral-large-24", "mathstral", "mixtral", "open-mistral-7b", "open-mixtral", "open-codestral-mamba"),
    *("codestral-22b", "codestral-2405", "codestral-mamba"),
)
# The vocabularies that splintr-rs ships, by how a model's name starts; the first match counts.
_VOCABULARIES = {
    "gpt-3.5": "cl100k_base",
    "gpt-35": "cl100k_base",
    "gpt-4.": "o200k_base",
    "gpt-4o": "o200k_base",
    "gpt-4": "cl100k_base",
    "gpt-": "o200k_base",
    "chatgpt": "o200k_base",
    "codex": "o200k_base",
    "o1": "o200k_base",
    "o3": "o200k_base",
    "o4": "o200k_base",
    "text-embedding-": "cl100k_base",
    "codellama": "codellama",
    "llama-2": "llama2",
    "llama-3": "llama3",
    "deepseek-v2": None,
    "deepseek-coder": None,
    "deepseek-v4": None,
    "deepseek": "deepseek_v3",
    "qwen-3.": None,
    "qwen3.": None,
    "qwen": "qwen",
    "qwq": "qwen",
    "glm-4": "glm4",
    "phi-4-mini": None,
    "phi-4": "phi4",
    "gemma-2": "gemma2",
    "gemma-3": "gemma3",
    "gemma-4": "gemma4",
    "kimi-k2": "kimi_k2",
    "kimi-k3": "kimi_k3",
    **dict.fromkeys(_OLDER_MISTRAL, "mistral_v2"),
    **{start: "tekken" for start in FAMILIES["mistral"] if start not in _OLDER_MISTRAL},
}


def vocabulary_of(model: str) -> str | None:
    """Return the name of the model's vocabulary in splintr-rs; None if it is not known to ship it."""
    name = normalized_model(model).rpartition("-distill-")[2]
    return next((vocabulary for start, vocabulary in _VOCABULARIES.items() if name.startswith(start)), None)
