"""Read logged sessions, show where their windows go, and replay them with other policies.

| name | what it is |
|---|---|
| `read_log` | reads a file or lines: transcripts of Claude Code and Codex, logs of requests, plain messages |
| `Log` | the contents of a file: its histories, and the number of lines that could not be read |
| `History` | the messages of one conversation, the model calls in it, and where it was compacted |
| `Call` | a model call: where in the history it happened, and the tokens that the provider counted |
| `Compaction` | where a summary replaced everything before it in the prompt |
| `context_usage` | where the window of a session goes: a `ContextUsage` |
| `replay` | what policies would have sent at each call: a `PolicyReplay` for each, priced by `CacheRates` |
"""

from __future__ import annotations

from pycupel.lazy import load_when_used

__all__, __getattr__, __dir__ = load_when_used(__name__)
