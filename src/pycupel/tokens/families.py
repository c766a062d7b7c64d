"""Find the counter for a model: its own vocabulary if an installed package has it, else an estimate fitted to it.

The estimator has a table of costs for each public vocabulary. Where a provider publishes none, the counts by the table
of another are multiplied. `python -m benchmarks.token_families` measures all of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pycupel.errors import CupelError
from pycupel.extras import load_extra
from pycupel.tokens.counters import Counter
from pycupel.tokens.estimate import MARGIN_PERCENT, FamilyEstimate, estimate_tokens
from pycupel.tokens.models import family_of, normalized_model, vocabulary_of
from pycupel.values import sealed

# Encodings by name: OpenAI's, and Mistral's Tekken.
ENCODINGS = ("o200k_base", "cl100k_base", "tekken")


_PLAIN = FamilyEstimate("o200k")
# Claude's vocabulary is unknown. In English and code its counts are known from transcripts; in other scripts they are
# assumed to be more like those of OpenAI's older vocabulary than of the newer, which has more of every script.
_CLAUDE = FamilyEstimate("cl100k", 119, margin_percent=10.0)
# Since Opus 4.7, Claude has a tokenizer that makes 1.0 to 1.35 times as many tokens, according to Anthropic.
_CLAUDE_SINCE_4_7 = FamilyEstimate("cl100k", 160, margin_percent=10.0)
_SINCE_4_7 = r"claude-(?:(?:[a-z]+-)?(?:4-(?:[7-9]|[1-9]\d)|[5-9]|[1-9]\d)(?!\d)|mythos)"
# The tokenizer is unknown, so this is a cautious guess: digits one by one, and few words of other scripts.
_UNKNOWN = FamilyEstimate("qwen", 119, margin_percent=10.0)

# By family, and for a family's models with another vocabulary by that.
ESTIMATES = {
    "openai": _PLAIN,
    "cl100k_base": FamilyEstimate("cl100k"),
    "anthropic": _CLAUDE,
    "gemini": FamilyEstimate("gemma3"),
    "gemma": FamilyEstimate("gemma3"),
    "gemma2": FamilyEstimate("gemma2"),
    "mistral": FamilyEstimate("tekken"),
    "mistral_v2": FamilyEstimate("mistral", margin_percent=10.0),
    "llama": FamilyEstimate("llama3"),
    "llama2": FamilyEstimate("llama2", margin_percent=10.0),
    "codellama": FamilyEstimate("llama2", margin_percent=10.0),
    "deepseek": FamilyEstimate("deepseek"),
    "qwen": FamilyEstimate("qwen"),
    "kimi": FamilyEstimate("kimi"),
    "glm": FamilyEstimate("glm"),
    "phi": FamilyEstimate("cl100k"),
}

# Google publishes no vocabulary for Gemini; that of Gemma is the closest.
_STAND_INS = {"gemini": "gemma3"}

ESTIMATOR = Counter(estimate_tokens, "estimator", "pycupel 2", margin_percent=MARGIN_PERCENT)


def _counter_of(estimate: FamilyEstimate, models: str) -> Counter:
    # mypy does not see that a named tuple may be callable.
    function: Any = estimate
    return Counter(function, f"estimator for {models}", ESTIMATOR.version, margin_percent=estimate.margin_percent)


_UNKNOWN_MODEL = _counter_of(_UNKNOWN, "an unknown model")


def model_counter(model: str) -> Counter | None:
    """Return the counter for a model: exact if its vocabulary is installed, else an estimate; None if it is unknown."""
    family = family_of(model)
    if family is None:
        return None
    vocabulary = vocabulary_of(model)
    try:
        if vocabulary is not None:
            return exact_counter(vocabulary)
        if family in _STAND_INS:
            like = exact_counter(_STAND_INS[family])
            name = f"{like.name} for {family}"
            return Counter(like.function, name, like.version, margin_percent=MARGIN_PERCENT)
    except CupelError:
        # No installed package has the vocabulary.
        pass
    # Some models of a family have a tokenizer of their own.
    estimate = ESTIMATES.get(vocabulary or "", ESTIMATES.get(family, _UNKNOWN))
    if family == "anthropic" and re.match(_SINCE_4_7, normalized_model(model)):
        estimate = _CLAUDE_SINCE_4_7
    return ESTIMATOR if estimate is _PLAIN else _counter_of(estimate, family)


@lru_cache(maxsize=64)
def counter_for(model: str | None, typical: str | None) -> Counter:
    """Return the counter for a model, or for a typical one of its provider if there is no model or it is unknown.

    With neither, as for messages in OpenAI's format, an unknown name does not determine the tokenizer, and the count is
    an estimate.
    """
    for name in (model, typical):
        found = None if name is None else model_counter(name)
        if found is not None:
            return found
    return best_counter() if model is None else _UNKNOWN_MODEL


def warm_up(model: str | None = None) -> None:
    """Load what counting for a model needs, so that the first request does not wait for it.

    Reading a vocabulary takes a tenth of a second to two seconds, by the package. Call it where your program starts.
    """
    counter_for(model, None)("Some packages finish loading when they count their first text.")


@lru_cache(maxsize=16)
def exact_counter(encoding: str) -> Counter:
    """Return a counter from a package that knows the encoding. If there is none, the error says how to install one."""
    try:
        function, version = load_splintr(encoding)
    except CupelError as missing:
        if encoding not in ENCODINGS:
            raise
        try:
            if encoding == "tekken":
                function, version = load_mistral(encoding)
            else:
                # Imported when needed: most of what this module imports is for reading vocabularies.
                from pycupel.tokens import tiktoken  # noqa: PLC0415

                function, version = tiktoken.load_tiktoken(encoding)
        except CupelError as also_missing:
            missing.add_note(str(also_missing))
            raise missing from None
    return Counter(function, encoding, version, exact=True)


def best_counter() -> Counter:
    """Return the best installed counter if no model is named: exact for OpenAI's models, or else the estimator."""
    try:
        return exact_counter("o200k_base")
    except CupelError:
        return ESTIMATOR


# Packages that include vocabularies: splintr-rs, and mistral-common for Mistral's models.


# Vocabularies to which splintr-rs gives another name.
_SPLINTR_NAMES = {"tekken": "mistral_v3"}


@sealed
@dataclass(frozen=True, slots=True)
class Count:
    """Counts the tokens of a text with a tokenizer of splintr-rs or tiktoken."""

    tokenizer: Any

    def __call__(self, text: str, /) -> int:
        """Count text that looks like a special token as plain text, as providers do."""
        try:
            return len(self.tokenizer.encode_ordinary(text))
        except UnicodeEncodeError:
            # splintr-rs rejects a lone surrogate (half an emoji); it is replaced, as tiktoken does it.
            replaced = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            return len(self.tokenizer.encode_ordinary(replaced))


class _CountTekken(Count):
    __slots__ = ()

    def __call__(self, text: str, /) -> int:
        """Count as plain text, without the marks of a beginning and an end."""
        return len(self.tokenizer.encode(text, bos=False, eos=False))


def load_splintr(encoding: str) -> tuple[Callable[[str], int], str]:
    """Return a function that counts the tokens of an encoding, and its version: splintr-rs has all vocabularies."""
    splintr = load_extra("splintr", extra="tokens", package="splintr-rs", purpose=f"counting {encoding} exactly")
    tokenizer = splintr.Tokenizer.from_pretrained(_SPLINTR_NAMES.get(encoding, encoding))
    return Count(tokenizer), f"splintr-rs {splintr.__version__}"


def load_mistral(encoding: str) -> tuple[Callable[[str], int], str]:
    """Return a function that counts Tekken tokens with mistral-common, and its version."""
    module = load_extra(
        "mistral_common.tokens.tokenizers.mistral",
        extra="mistral",
        package="mistral-common",
        purpose=f"counting {encoding} exactly",
    )
    tokenizer = module.MistralTokenizer.v3(is_tekken=True).instruct_tokenizer.tokenizer
    from importlib.metadata import version  # noqa: PLC0415 - it imports much, and the package may be missing

    return _CountTekken(tokenizer), f"mistral-common {version('mistral-common')}"
