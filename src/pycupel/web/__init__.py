"""The playground: a report's page with live settings, only on this machine.

| name | what it is |
|---|---|
| `play` | serves the page until Ctrl-C |
| `State` | the items, and the requests that the page may send |
| `Playground` | the server: loopback, a token in the address, limits on size and time |
"""

from __future__ import annotations

from pycupel.web.server import Limits, Playground, State, play

__all__ = ["Limits", "Playground", "State", "play"]
