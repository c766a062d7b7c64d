"""Run coroutines on a clock that only advances while everything waits.

Sleeping takes no time, and nothing is ever late because the machine is slow.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")


class _SkippingSelector(selectors.SelectSelector):
    """Instead of waiting for a timeout, adds it to the time."""

    def __init__(self, step: float) -> None:
        super().__init__()
        self.now, self._step = 0.0, step

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is not None:
            self.now += max(timeout, self._step)
            timeout = 0.0
        return super().select(timeout)


class _VirtualTimeLoop(asyncio.SelectorEventLoop):
    def __init__(self, step: float) -> None:
        self._skipping = _SkippingSelector(step)
        super().__init__(self._skipping)

    def time(self) -> float:
        return self._skipping.now


def run(main: Coroutine[Any, Any, T], step: float = 0.0) -> T:
    """As `asyncio.run`, in virtual time. For tasks that never wait, each round of the loop may take a step of it."""
    with asyncio.Runner(loop_factory=partial(_VirtualTimeLoop, step)) as runner:
        return runner.run(main)
