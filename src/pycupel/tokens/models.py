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
from collections.abc import Iterable, Mapping
from datetime import date
from functools import lru_cache
from math import inf
from os.path import dirname, join
from typing import Any, NamedTuple, TypeAlias

from pycupel.errors import DocumentError, InvalidArgumentError
from pycupel.model import ContextBudget
from pycupel.model.budget import ModelLimits, checked_limits, checked_model_name, percent_of
from pycupel.model.checks import checked_int, checked_str, fold, suggestion, wrong_type
from pycupel.text import clip, number_text, quoted


def _data(name: str) -> str:
    # By the module's loader, which also reads from an archive: importing pathlib or importlib.resources takes longer.
    loader: Any = __spec__.loader
    text: str = loader.get_data(join(dirname(__file__), "data", name)).decode()  # noqa: PTH118, PTH120
    return text


def read_table(name: str) -> dict[str, list[int]]:
    """Return the numbers of each name: a line is a name and its numbers, and lines of the same name are joined."""
    table: dict[str, list[int]] = {}
    for line in _data(name).splitlines():
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


# The limits of models, known, registered or those of a policy, and budgets that are a share of them.


BudgetLike: TypeAlias = ContextBudget | int | str
"""A budget, a number of tokens, or a share of what a model takes, such as "75%"."""

_SHARE = r"\s*(\d+(?:\.\d+)?)\s*%\s*"
_NO_MODELS: Mapping[str, ModelLimits] = {}
# What this process has registered, by the folded name.
_registered: dict[str, ModelLimits] = {}


def limits_of(model: str) -> ModelLimits:
    """Return how many tokens a model takes and gives.

    Where a provider raises a limit for some customers, or a newer model of the same name has a higher one, this is the
    lower number. `register_model` sets another.

    Args:
        model: A name as providers, routers and clouds write it: "gpt-4o", "claude-sonnet-4-5-20250929",
            "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "ft:gpt-4o-mini:acme", "openai:gpt-4o".
    """
    return known_limits(model, _NO_MODELS)


def window_of(model: str) -> int:
    """Return the size of a model's context window in tokens, for the prompt and the reply together."""
    return limits_of(model).window


def register_model(name: str, *, window: int, input: int | None = None, output: int | None = None) -> None:  # noqa: A002 - the field's name
    """Set the limits of a model for this process, such as those of a local model, or of your contract.

    They replace those that are known or were registered before. They are for this model alone, and not, as the known
    ones, also for those whose names go on after its name.

    Args:
        name: The model's name. Prefixes of routers, dates and case do not matter, as in `limits_of`.
        window: The tokens of a prompt and its reply together.
        input: The tokens of a prompt; by default the window.
        output: The tokens of a reply, if that is known.

    Raises:
        InvalidArgumentError: the name is empty, a limit is not positive, or `input` or `output` exceeds the window.
    """
    key = fold(checked_model_name("name", name)).strip()
    _registered[key] = checked_limits(window, input, output)


def find_limits(model: str, models: Mapping[str, ModelLimits] = _NO_MODELS) -> ModelLimits | None:
    """Return the limits of a model, or None if it is unknown. A policy's `models` go before registered ones."""
    checked_str("model", model)
    own = {**_registered, **{fold(name).strip(): limits for name, limits in models.items()}}
    name = next((each for each in _spellings(model) if each in own), None) if own else None
    return _in_table(model) if name is None else own[name]


def as_budget(
    budget: BudgetLike, model: str | None, models: Mapping[str, ModelLimits] = _NO_MODELS
) -> ContextBudget | int:
    """Return the caller's budget; a share of the model's input limit, such as "75%", becomes a number of tokens."""
    if isinstance(budget, ContextBudget):
        return budget
    if not isinstance(budget, str):
        try:
            return checked_int("budget", budget)
        except TypeError:
            raise wrong_type("budget", "an int, a ContextBudget or a share such as '75%'", budget) from None
    found = re.fullmatch(_SHARE, budget, re.ASCII)
    if found is None:
        raise InvalidArgumentError(
            f"budget must be a number of tokens, or a share such as '75%', not {quoted(budget)}",
            argument="budget",
            value=budget,
            hint=f"Pass the number as an int: {clip(budget)}." if budget.isdecimal() else None,
        )
    percent = float(found[1])
    if not 0.0 < percent <= 100.0:
        raise InvalidArgumentError(
            f"a budget in percent must be above 0% and at most 100%, not {quoted(budget)}",
            argument="budget",
            value=budget,
        )
    if model is None:
        raise InvalidArgumentError(
            f"the budget {quoted(budget)} is a share of what the model takes, but no model was given",
            argument="budget",
            value=budget,
            hint="Pass model=, or a number of tokens.",
        )
    return percent_of(known_limits(model, models).input, percent)


class Allowance(NamedTuple):
    """What a budget allows for a model."""

    budget: ContextBudget | int
    """The budget in tokens, within the limits of the model."""

    limits: ModelLimits | None
    """The limits of the model; None if there is no model, or it is unknown."""

    notes: tuple[str, ...] = ()
    """A note if the limits allow less than the budget."""


def allowance(budget: BudgetLike, model: str | None, models: Mapping[str, ModelLimits] = _NO_MODELS) -> Allowance:
    """Return what a budget allows for a model.

    A prompt is at most the budget without its reserve, the model's input limit, and its window without the reserve.
    """
    wanted = as_budget(budget, model, models)
    limits = None if model is None else find_limits(model, models)
    if model is None or limits is None:
        return Allowance(wanted, None)
    whole = ContextBudget.of(wanted)
    reserve, available = whole.output_reserve, whole.available_tokens
    room = min(available, limits.input, max(0, limits.window - reserve))
    if room == available:
        return Allowance(wanted, limits)
    why = f"the most input that {quoted(model)} takes"
    if room < limits.input:
        why = f"what the output reserve of {number_text(reserve)} leaves of the window of {quoted(model)}"
    note = (
        f"a prompt has at most {number_text(room)} tokens, {why}, although the budget allows {number_text(available)}; "
        "register_model sets other limits"
    )
    # A number stays a number: a budget would have a target.
    if wanted is not whole:
        return Allowance(room, limits, (note,))
    smaller = whole.resized(room + reserve, min(whole.target_tokens, room))
    return Allowance(smaller, limits, (note,))


def known_limits(model: str, models: Mapping[str, ModelLimits]) -> ModelLimits:
    """Return the limits of a model; a policy's `models` go before registered ones."""
    limits = find_limits(model, models)
    if limits is not None:
        return limits
    family = family_of(model)
    # The names of the family are the likelier ones; without one, all of them.
    known: Iterable[str] = (*limits_table(), *_registered, *models)
    names = [name for name in known if family is None or family_of(name) == family]
    raise InvalidArgumentError(
        f"unknown model {quoted(model)}{suggestion(normalized_model(model), names)}",
        argument="model",
        value=model,
        hint="Its limits are not known: pass a number of tokens, or set them with register_model.",
    )


# Agents ask for the same model in every call, and to normalise its name takes longer than to look it up.
@lru_cache(maxsize=256)
def _spellings(model: str) -> tuple[str, ...]:
    """Return what a model may be registered as, the most specific first: a tag such as `:8b` is another model."""
    whole = fold(model).strip()
    name = whole.rpartition("/")[2]
    return whole, name, name.partition(":")[2], normalized_model(model)


@lru_cache(maxsize=1)
def limits_table() -> dict[str, ModelLimits]:
    """Return the known limits by the start of a model's name."""
    return {start: checked_limits(*numbers) for start, numbers in read_table("limits.txt").items()}


def row_of(name: str) -> str | None:
    """Return the start in the table that a normalised name has, the longest of several; None if there is none."""
    # A name may continue with a version or a variant, but not within a word: `gpt-44o` is not a `gpt-4`.
    starts = [
        start for start in limits_table() if name.startswith(start) and not name[len(start) : len(start) + 1].isalnum()
    ]
    return max(starts, key=len, default=None)


@lru_cache(maxsize=256)
def _in_table(model: str) -> ModelLimits | None:
    row = row_of(normalized_model(model))
    return None if row is None else limits_table()[row]


# What models cost.


class Prices(NamedTuple):
    """What a million tokens of a model cost, in US dollars."""

    input: float
    """A token of the prompt that the provider's cache has no part in."""

    cached: float
    """One that is read from the cache."""

    cache_write: float
    """One that is written to the cache."""

    output: float
    """One of the reply."""

    date: date
    """When this was checked."""

    source: str
    """Where it is from."""


def prices_in(text: str) -> dict[str, Prices]:
    """Read a table of prices: a line for each model, as `data/prices.txt` has them."""
    table: dict[str, Prices] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, *cells = line.split()
        row: Prices | None = None
        try:
            # Where caching has no price of its own, it is that of the input.
            usd = [float(cells[0] if cell == "-" else cell) for cell in cells[:4]]
            if all(0 <= each < inf for each in usd):
                row = Prices(usd[0], usd[1], usd[2], usd[3], date.fromisoformat(cells[4]), cells[5])
        except (ValueError, IndexError):
            pass
        if row is None:
            raise DocumentError(
                f"line {number} must have a model, its prices in USD per million tokens for input, cached, cache write "
                f"and output (- if it has none), a date such as 2026-11-18 and a source, not {quoted(line)}"
            )
        table[normalized_model(name)] = row
    return table


@lru_cache(maxsize=1)
def prices_table() -> dict[str, Prices]:
    """Return the known prices, by the normalised name of the model. No other model has the price of a row."""
    return prices_in(_data("prices.txt"))
