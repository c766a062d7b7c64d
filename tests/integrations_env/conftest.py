"""No test may use the network, and some of the libraries would do so by themselves when they are imported or used."""

from __future__ import annotations

import os

os.environ |= {
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "LANGSMITH_TRACING": "false",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
}
