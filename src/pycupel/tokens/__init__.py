"""Count tokens offline, with an estimator or, through extras, exactly; for texts and for messages.

| name | what it does |
|---|---|
| `estimate_tokens` | about how many tokens a text has, by the shapes of its characters |
| `get_counter` | a counter by name: auto, estimator, an encoding, a model; or your own function |
| `count_messages` | what a provider will count for a chat history |
| `reported_tokens` | what a provider has counted, from its usage report, for `Counter.calibrated` |
| `warm_up` | load what counting for a model needs, before the first request |
| `limits_of` | how many tokens a model takes and gives; `window_of` is its context window alone |
| `register_model` | set the limits of a model, such as a local one |
| `item` | a `ContextItem` with its tokens counted |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pycupel.lazy import load_when_used, public_names
from pycupel.tokens.counters import (
    Counter as Counter,
    CounterLike as CounterLike,
    get_counter as get_counter,
    reported_tokens as reported_tokens,
)

if TYPE_CHECKING:
    from pycupel.messages.counting import count_messages as count_messages
    from pycupel.model.budget import ModelLimits as ModelLimits
    from pycupel.tokens.counters import item as item
    from pycupel.tokens.estimate import estimate_tokens as estimate_tokens
    from pycupel.tokens.families import warm_up as warm_up
    from pycupel.tokens.limits import (
        limits_of as limits_of,
        register_model as register_model,
        window_of as window_of,
    )
else:
    # `count_messages` belongs to messages, and not every program needs the others.
    _NAMES = {
        "pycupel.messages.counting": "count_messages",
        "pycupel.model.budget": "ModelLimits",
        ".estimate": "estimate_tokens",
        ".counters": "item",
        ".families": "warm_up",
        ".limits": "limits_of register_model window_of",
    }
    __all__ = public_names(_NAMES, "Counter", "CounterLike", "get_counter", "reported_tokens")  # noqa: PLE0605 - by the table
    __getattr__, __dir__ = load_when_used(__name__, _NAMES)
