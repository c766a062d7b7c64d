"""The providers, one file each: the shapes of their messages, and their rules for a history."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, get_args

from pycupel.messages.options import ResolvedProviderName

if TYPE_CHECKING:
    from pycupel.messages.providers._base import Provider

__all__ = ["PROVIDERS"]

_NAMES: tuple[ResolvedProviderName, ...] = get_args(ResolvedProviderName)


class _Providers(Mapping[str, "Provider"]):
    """The providers by name, loaded on first use, because most programs use one."""

    def __getitem__(self, name: str) -> Provider:
        if name not in _NAMES:
            raise KeyError(name)
        provider: Provider = getattr(import_module(f"{__name__}.{name}"), name.upper())
        return provider

    def __iter__(self) -> Iterator[str]:
        return iter(_NAMES)

    def __len__(self) -> int:
        return len(_NAMES)


PROVIDERS: Mapping[str, Provider] = _Providers()
