"""LiteLLM: trim the messages of requests.

litellm.callbacks = [CupelHandler("75%")]
response = await litellm.acompletion(model="anthropic/claude-sonnet-4-5", messages=messages)
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import sys
from typing import Any, NamedTuple

from pycupel.extras import missing_library
from pycupel.fields import field, filled
from pycupel.integrations import _history as hooks
from pycupel.messages.options import ResolvedProviderName

try:
    from litellm.integrations.custom_logger import CustomLogger
except ModuleNotFoundError as error:
    raise missing_library(error, "litellm") from error

__all__ = ["CupelHandler"]


class _Format(NamedTuple):
    """Where a kind of request has its messages, and whose shape these have."""

    messages: str
    system: str = ""
    shape: ResolvedProviderName | None = None
    """None for OpenAI's, which LiteLLM translates for the provider of the model."""


_CHAT = _Format("messages")
_RESPONSES = _Format("input", "instructions", "responses")
_FORMATS = {
    "completion": _CHAT,
    "acompletion": _CHAT,
    "anthropic_messages": _Format("messages", "system", "anthropic"),
    "responses": _RESPONSES,
    "aresponses": _RESPONSES,
}
# With one of these, the server has the rest of the conversation.
_ON_SERVER = ("previous_response_id", "conversation")


class _Trimmed(list[Any]):
    """Messages that the proxy's hook has trimmed, so that the deployment's hook need not do it again."""

    def __init__(self, messages: list[Any], model: Any) -> None:
        super().__init__(messages)
        # Somebody else's hook may add messages before they are sent.
        self.trimmed_for = (model, len(messages))


class CupelHandler(hooks.HistoryHook, CustomLogger):
    """Trims the messages of `acompletion`, `anthropic_messages` and `aresponses`.

    For `completion`, call `trim_request`. Tools and the schema of the response count. The rules are those of the
    request's model, unless `provider` is given.
    """

    _framework = "litellm"

    async def async_pre_call_hook(
        self,
        user_api_key_dict: Any,  # noqa: ARG002 - LiteLLM passes it by name
        cache: Any,  # noqa: ARG002
        data: dict[str, Any],
        call_type: Any,
    ) -> dict[str, Any] | None:
        """Return the proxy's request with the trimmed messages, before the proxy checks and routes it.

        If the proxy has several models for the name, it has not decided yet, and the other hook trims.
        """
        name, given = data.get("model"), _FORMATS.get(call_type)
        models = _models_behind(name)
        if given is None or len(models) != 1:
            return None
        trimmed = self._trim({**data, "model": models[0]}, given)
        messages = trimmed.get(given.messages)
        if isinstance(messages, list):
            trimmed[given.messages] = _Trimmed(messages, models[0])
        return {**trimmed, "model": name}

    async def async_pre_call_deployment_hook(self, kwargs: dict[str, Any], call_type: Any) -> dict[str, Any] | None:
        """Return the request with the trimmed messages."""
        given = _FORMATS.get(getattr(call_type, "value", call_type))
        return None if given is None else self._trim(kwargs, given)

    def trim_request(self, **kwargs: Any) -> dict[str, Any]:
        """Return the arguments of `completion` with the trimmed messages."""
        return self._trim(kwargs, _CHAT)

    def _trim(self, kwargs: dict[str, Any], given: _Format) -> dict[str, Any]:
        messages, model = kwargs.get(given.messages), kwargs.get("model")
        if not messages or isinstance(messages, str) or filled(kwargs, *_ON_SERVER):
            return kwargs
        if isinstance(messages, _Trimmed) and messages.trimmed_for == (model, len(messages)):
            return kwargs
        # As LiteLLM's pages show it.
        session = kwargs.get("litellm_session_id") or field(kwargs.get("metadata"), "session_id")
        beside: dict[str, Any] = {
            "model": hooks.model_called(model),
            "tools": [*(kwargs.get("tools") or ()), *hooks.response_tools(hooks.response_schema(kwargs))],
            "conversation": session if isinstance(session, str) else None,
        }
        if given.shape is None:
            sent = self._selector.send_openai(messages, **beside)
        else:
            system = kwargs.get(given.system)
            sent = self._selector.send_as_given(messages, given.shape, system=system, **beside)
        return {**kwargs, given.messages: sent}


def _models_behind(name: Any) -> list[Any]:
    """Return the models that the proxy calls by this name; the name itself if there is no proxy, or it knows none."""
    router = getattr(sys.modules.get("litellm.proxy.proxy_server"), "llm_router", None)
    deployments = router.get_model_list(name) if router is not None else ()
    return sorted({each["litellm_params"]["model"] for each in deployments or ()}) or [name]
