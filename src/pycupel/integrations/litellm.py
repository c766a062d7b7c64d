"""LiteLLM: trim the messages of requests.

    litellm.callbacks = [CupelHandler("75%")]
    response = await litellm.acompletion(model="anthropic/claude-sonnet-4-5", messages=messages)

The caller's list keeps every message.
"""

# The library may be missing when types are checked.
# pyright: basic, reportMissingImports=false

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from pycupel.extras import missing_library
from pycupel.integrations._history import HistorySelector, HookOptions, model_called, response_tools
from pycupel.tokens.limits import BudgetLike

try:
    from litellm.integrations.custom_logger import CustomLogger
except ModuleNotFoundError as error:
    raise missing_library(error, "litellm") from error

__all__ = ["CupelHandler"]

_CHATS = frozenset({"completion", "acompletion"})


class CupelHandler(CustomLogger):
    """Trims the messages of `acompletion`; for `completion`, call `trim_request`.

    Tools and the schema of the response count. The rules are those of the request's model, unless `provider` is given.

    Args:
        budget: The limits, or a number of tokens, or a share of what the model takes, as for `select_messages`.
        options: See `HookOptions`; `pin` is called with each message.
    """

    def __init__(self, budget: BudgetLike, **options: Unpack[HookOptions]) -> None:
        super().__init__()
        self._selector = HistorySelector(budget, options, hook="litellm")

    async def async_pre_call_deployment_hook(self, kwargs: dict[str, Any], call_type: Any) -> dict[str, Any] | None:
        """Return the request with the trimmed messages."""
        return self.trim_request(**kwargs) if getattr(call_type, "value", call_type) in _CHATS else None

    def trim_request(self, **kwargs: Any) -> dict[str, Any]:
        """Return the arguments of `completion` with the trimmed messages."""
        messages = kwargs.get("messages")
        if not messages:
            return kwargs
        response_format = kwargs.get("response_format")
        schema = response_format.get("json_schema") if isinstance(response_format, Mapping) else response_format
        sent = self._selector.send_openai(
            messages,
            model=model_called(kwargs.get("model")),
            tools=[*(kwargs.get("tools") or ()), *response_tools(schema)],
            conversation=_conversation(kwargs),
        )
        return {**kwargs, "messages": sent}


def _conversation(kwargs: Mapping[str, Any]) -> str | None:
    """Return the id of the session, if the caller gave one as LiteLLM's pages show it."""
    metadata = kwargs.get("metadata") or {}
    found = kwargs.get("litellm_session_id") or metadata.get("session_id")
    return found if isinstance(found, str) else None
