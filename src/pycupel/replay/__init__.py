"""Logged sessions: readers of transcripts and of request logs.

| name | what it is |
|---|---|
| `read_log` | reads a file or lines: Claude Code's transcripts, logs of OpenAI-style requests, plain messages |
| `Log` | what a file holds: its histories, and the number of lines that could not be read |
| `History` | the messages of one conversation, the model calls in it, and where it was compacted |
| `Call` | a model call: where in the history it happened, and the tokens that the provider counted |
| `Compaction` | where a summary replaced everything before it in the prompt |
"""

from __future__ import annotations

from pycupel.replay.log import Call, Compaction, History, Log
from pycupel.replay.read import read_log

__all__ = ["Call", "Compaction", "History", "Log", "read_log"]
