from pycupel.replay.log import Call as Call, Compaction as Compaction, History as History, Log as Log
from pycupel.replay.parts import Part as Part
from pycupel.replay.run import (
    AS_LOGGED as AS_LOGGED,
    NEWEST_FIRST as NEWEST_FIRST,
    CacheRates as CacheRates,
    PolicyReplay as PolicyReplay,
    replay as replay,
)
from pycupel.replay.transcripts import read_log as read_log
from pycupel.replay.usage import (
    ContextUsage as ContextUsage,
    Growth as Growth,
    Redundant as Redundant,
    WindowShare as WindowShare,
    context_usage as context_usage,
)
