"""Import an optional package, or raise with its pip command."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pycupel.errors import MissingExtraError

# For the extra of each hook: a module that the hook imports, and the package on PyPI that has it.
_HOOKS = {
    "agent-framework": ("agent_framework", "agent-framework-core"),
    "crewai": ("crewai", "crewai"),
    "google-adk": ("google.adk.plugins.base_plugin", "google-adk"),
    "haystack": ("haystack.dataclasses", "haystack-ai"),
    "langchain": ("langchain.agents.middleware", "langchain"),
    "litellm": ("litellm.integrations.custom_logger", "litellm"),
    "llama-index": ("llama_index.core.postprocessor.types", "llama-index-core"),
    "openai-agents": ("agents.run", "openai-agents"),
    "otel": ("opentelemetry.trace", "opentelemetry-api"),
    "pydantic-ai": ("pydantic_ai.capabilities", "pydantic-ai-slim"),
    "strands": ("strands.models", "strands-agents"),
}


def load_extra(module: str, *, extra: str, package: str, purpose: str) -> Any:
    """Import a module of an optional package, which an extra of pycupel installs; `purpose` says what needs it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise missing_extra(error, module, extra=extra, package=package, purpose=purpose) from error


def missing_extra(
    error: ModuleNotFoundError, module: str, *, extra: str, package: str, purpose: str
) -> ModuleNotFoundError | MissingExtraError:
    """Return a `MissingExtraError` if the package itself is missing, otherwise the error as it is."""
    missing = error.name or ""
    if missing and (module == missing or module.startswith(f"{missing}.")):
        return MissingExtraError(purpose, package, extra)
    return error


def missing_library(error: ModuleNotFoundError, extra: str) -> ModuleNotFoundError | MissingExtraError:
    """Return what a hook raises if it cannot import its library. A hook has the name of its extra."""
    module, package = _HOOKS[extra]
    purpose = f"pycupel.integrations.{extra.replace('-', '_')}"
    return missing_extra(error, module, extra=extra, package=package, purpose=purpose)
