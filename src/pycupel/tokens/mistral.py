"""Exact counts for Mistral's models with mistral-common, which includes the vocabulary."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pycupel.extras import load_extra
from pycupel.values import sealed


@sealed
@dataclass(frozen=True, slots=True)
class _Count:
    tokenizer: Any

    def __call__(self, text: str, /) -> int:
        """Count text that looks like a special token as plain text, as providers do."""
        return len(self.tokenizer.encode(text, bos=False, eos=False))


def load(encoding: str) -> tuple[Callable[[str], int], str]:
    """Return a function that counts Tekken tokens, and its version.

    Raises:
        MissingExtraError: mistral-common is not installed.
    """
    module = load_extra(
        "mistral_common.tokens.tokenizers.mistral",
        extra="mistral",
        package="mistral-common",
        purpose=f"counting {encoding} exactly",
    )
    tokenizer = module.MistralTokenizer.v3(is_tekken=True).instruct_tokenizer.tokenizer
    from importlib.metadata import version  # noqa: PLC0415 - it imports much, and the package may be missing

    return _Count(tokenizer), f"mistral-common {version('mistral-common')}"
