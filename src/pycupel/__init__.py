"""pycupel selects and orders the best context for a language model under a token budget, and explains every decision.

    from pycupel import select, select_messages

    context = select(items, 8_000, policy="rag").items
    messages = select_messages(history, 8_000).messages

It implements the Cupel specification. See `docs/` for guides.
"""

from __future__ import annotations

from pycupel.lazy import load_when_used

__version__ = "1.0.0"

__all__, __getattr__, __dir__ = load_when_used(__name__, "__version__")
