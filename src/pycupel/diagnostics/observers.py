"""Observe every run in this process, without a collector passed to each: what an instrumentation needs."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter
from typing import Any, NamedTuple, Self, TypeVar

from pycupel.diagnostics.collector import collector_factories, log_exception

T = TypeVar("T")

_UNOBSERVED = ""
# What selects in this thread or task: the name of a hook, or None for the user's own code.
_CALLER: ContextVar[str | None] = ContextVar("pycupel_caller", default=None)


@contextmanager
def called_by(hook: str) -> Generator[None]:
    """Note that a hook makes the selections inside."""
    token = _CALLER.set(hook)
    try:
        yield
    finally:
        _CALLER.reset(token)


def unobserved() -> Any:
    """Hide what runs inside: what-if runs are many, and their results are not sent to a model (PL-06)."""
    return called_by(_UNOBSERVED)


def collectors_for_run() -> list[Any]:
    """Ask each factory for a collector for the run that begins."""
    if _CALLER.get() == _UNOBSERVED:
        return []
    made: list[Any] = []
    for factory in tuple(collector_factories):
        try:
            made.append(factory())
        except Exception:  # noqa: BLE001 - an observer must not end the run
            log_exception("a factory of collectors")
    return made


class MessagesRun(NamedTuple):
    """A selection from a chat history, for a collector's `on_messages`."""

    selection: Any
    """The `MessageSelection`; None if it failed."""

    error: BaseException | None
    """What it raised."""

    model: str | None
    """The model's name, as the caller gave it."""

    hook: str | None
    """The hook that selected; None for a call of `select_messages`."""

    seconds: float
    """How long it took, with the summary."""


class Unobserved:
    """A selection that nobody observes: what `observe_messages` returns without an instrumentation."""

    __slots__ = ()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object, /) -> None:
        """Do nothing."""

    def done(self, selection: T) -> T:
        """Note the result, and return it."""
        return selection


class _Observed(Unobserved):
    __slots__ = ("_collectors", "_model", "_selection", "_start")

    def __init__(self, model: str | None, collectors: list[Any]) -> None:
        self._model = model
        self._collectors = collectors
        self._selection: object = None
        self._start = perf_counter()

    def __exit__(self, kind: object, error: BaseException | None, traceback: object, /) -> None:
        run = MessagesRun(self._selection, error, self._model, _CALLER.get(), perf_counter() - self._start)
        for collector in self._collectors:
            try:
                collector.on_messages(run)
            except Exception:  # noqa: BLE001 - as above
                log_exception(f"on_messages of {type(collector).__name__}")

    def done(self, selection: T) -> T:
        self._selection = selection
        return selection


_NOBODY = Unobserved()


def observe_messages(model: str | None) -> Unobserved:
    """Observe a selection from a chat history, if there is an instrumentation."""
    if not collector_factories:
        return _NOBODY
    collectors = [each for each in collectors_for_run() if hasattr(each, "on_messages") and each.is_enabled]
    return _Observed(model, collectors) if collectors else _NOBODY
