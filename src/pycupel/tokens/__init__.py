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

from pycupel.lazy import load_when_used

__all__, __getattr__, __dir__ = load_when_used(__name__)
