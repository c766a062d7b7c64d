from pycupel.pipeline.pipeline import Pipeline as Pipeline
from pycupel.pipeline.policy import Policy as Policy, PresetName as PresetName
from pycupel.pipeline.record import Ranking as Ranking, Selection as Selection
from pycupel.pipeline.sources import merge_sources as merge_sources
