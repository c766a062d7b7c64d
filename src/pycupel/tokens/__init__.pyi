from pycupel.messages.counting import count_messages as count_messages
from pycupel.model.budget import ModelLimits as ModelLimits
from pycupel.tokens.counters import (
    Counter as Counter,
    CounterLike as CounterLike,
    get_counter as get_counter,
    item as item,
    reported_tokens as reported_tokens,
)
from pycupel.tokens.estimate import estimate_tokens as estimate_tokens
from pycupel.tokens.families import warm_up as warm_up
from pycupel.tokens.models import limits_of as limits_of, register_model as register_model, window_of as window_of
