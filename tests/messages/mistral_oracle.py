"""Mistral's own validator, as it comes with mistral-common: the one provider's rules that can be run here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mistral_common.exceptions import MistralCommonException
from mistral_common.protocol.instruct.request import ChatCompletionRequest
from mistral_common.protocol.instruct.validator import (
    MistralRequestValidatorV3,
    MistralRequestValidatorV13,
    ValidationMode,
)

__all__ = ["rejected_by_mistral"]

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
