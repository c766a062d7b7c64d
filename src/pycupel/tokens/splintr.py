"""Exact counts with splintr-rs, which includes its vocabularies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pycupel.extras import load_extra
from pycupel.values import sealed

# Vocabularies to which splintr-rs gives another name.
_NAMES = {"tekken": "mistral_v3"}


@sealed
@dataclass(frozen=True, slots=True)
class _Count:
    tokenizer: Any

    def __call__(self, text: str, /) -> int:
        """Count text that looks like a special token as plain text, as providers do."""
        try:
            return len(self.tokenizer.encode_ordinary(text))
        except UnicodeEncodeError:
            # A lone surrogate (half an emoji) is replaced, as in tiktoken.
            replaced = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            return len(self.tokenizer.encode_ordinary(replaced))


def load(encoding: str) -> tuple[Callable[[str], int], str]:
    """Return a function that counts the tokens of an encoding, and its version.

    Raises:
        MissingExtraError: splintr-rs is not installed.
    """
    splintr = load_extra("splintr", extra="tokens", package="splintr-rs", purpose=f"counting {encoding} exactly")
    tokenizer = splintr.Tokenizer.from_pretrained(_NAMES.get(encoding, encoding))
    return _Count(tokenizer), f"splintr-rs {splintr.__version__}"
