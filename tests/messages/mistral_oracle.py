"""Mistral's own validator, as it comes with mistral-common: the one provider's rules that can be run here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from mistral_common.exceptions import MistralCommonException
from mistral_common.protocol.instruct.request import ChatCompletionRequest
from mistral_common.protocol.instruct.validator import (
    MistralRequestValidatorV3,
    MistralRequestValidatorV13,
    ValidationMode,
)
from mistral_common.tokens.tokenizers.mistral import MistralTokenizer

__all__ = ["counted_by_mistral", "rejected_by_mistral"]

_LENIENT = MistralRequestValidatorV13(mode=ValidationMode.test)
_STRICT = MistralRequestValidatorV13(mode=ValidationMode.serving)
_OLD = MistralRequestValidatorV3(mode=ValidationMode.test)


def rejected_by_mistral(
    messages: Sequence[Mapping[str, Any]], *, serving: bool = False, old: bool = False
) -> str | None:
    """Why Mistral would refuse the messages; None if it would not.

    With `serving`, also because calls at the end have no results, as if nothing were appended any more. With `old`, a
    model with the tokenizer of version 3.
    """
    request: Any = ChatCompletionRequest(model="any", messages=[dict(message) for message in messages])
    try:
        (_OLD if old else _STRICT if serving else _LENIENT).validate_request(request)
    except MistralCommonException as error:
        return str(error)
    return None


@cache
def _tokenizer() -> Any:
    return MistralTokenizer.v3(is_tekken=True)


def counted_by_mistral(messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] | None = None) -> int:
    """How many tokens Mistral's own tokenizer makes of a request.

    The version that needs the most takes no text beside or directly before calls, so that is counted apart.
    """
    apart: list[str] = []
    sent: list[dict[str, Any]] = []
    before_calls = False
    for message in reversed(messages):
        before_calls = bool(message.get("tool_calls")) or (before_calls and message["role"] == "assistant")
        apart += [message["content"] or ""] if before_calls else []
        if message.get("tool_calls") or not before_calls:
            sent.insert(0, {**message, "content": None if before_calls else message["content"]})
    request: Any = ChatCompletionRequest.model_validate({"model": "any", "messages": sent, "tools": tools})
    tokenizer = _tokenizer()
    encode = tokenizer.instruct_tokenizer.tokenizer.encode
    return len(tokenizer.encode_chat_completion(request).tokens) + sum(
        len(encode(each, False, False)) for each in apart
    )
