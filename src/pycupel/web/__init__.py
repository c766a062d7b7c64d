"""The playground: a report's page with live settings, only on this machine.

| name | what it is |
|---|---|
| `play` | serves the page until Ctrl-C |
| `Bench` | the items, and the requests that the page may send |
| `Playground` | the server: loopback, a token in the address, limits on size and time |
"""

from __future__ import annotations

from pycupel.web.server import Bench, Limits, Playground, play

__all__ = ["Bench", "Limits", "Playground", "play"]
