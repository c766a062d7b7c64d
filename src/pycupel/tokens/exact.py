"""Exact counts, with packages that include vocabularies: splintr-rs, and mistral-common for Mistral's models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pycupel.extras import load_extra
from pycupel.values import sealed

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
