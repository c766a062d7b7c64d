"""Scorers that end, kill or block the process in which they run, at a content that asks for it."""

from __future__ import annotations

import fcntl
import os
import signal
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

from pycupel import ContextItem

POISON = "poison"


@dataclass(frozen=True)
class Killed:
    """Kills its process, but only once if there is a file to remember it."""

    once: Path | None = None

    def score(self, item: ContextItem, all_items: object, /) -> float:
        if item.content == POISON and not (self.once is not None and self.once.exists()):
            if self.once is not None:
                self.once.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return 0.5


@dataclass(frozen=True)
class Exiting:
    """Exits."""

    def score(self, item: ContextItem, all_items: object, /) -> float:
        if item.content == POISON:
            sys.exit("enough")
        return 0.5


@dataclass(frozen=True)
class Stuck:
    """Locks a file named after its process, and never returns. The lock ends with the process."""

    directory: Path

    def score(self, item: ContextItem, all_items: object, /) -> float:
        file = (self.directory / f"stuck-{os.getpid()}").open("wb")
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(b"locked")
        file.flush()
        threading.Event().wait()
        return 0.5
