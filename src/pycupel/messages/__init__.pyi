from pycupel.messages.api import (
    aselect_messages as aselect_messages,
    lint_messages as lint_messages,
    select_messages as select_messages,
    to_items as to_items,
)
from pycupel.messages.conversations import clear_caches as clear_caches, set_memory_limit as set_memory_limit
from pycupel.messages.counting import Usage as Usage, count_messages as count_messages, tokens_by_kind as tokens_by_kind
from pycupel.messages.options import (
    ProviderName as ProviderName,
    ResolvedProviderName as ResolvedProviderName,
    Shorten as Shorten,
    Summarize as Summarize,
    Summarizer as Summarizer,
    TooLarge as TooLarge,
    UnitName as UnitName,
)
from pycupel.messages.providers._base import Finding as Finding
from pycupel.messages.result import (
    Cut as Cut,
    Dropped as Dropped,
    ExplainedSelection as ExplainedSelection,
    MessageSelection as MessageSelection,
    ShortenedMessage as ShortenedMessage,
)
from pycupel.messages.tool_results import recall as recall, recall_tool as recall_tool
