from pycupel.model.item import make_version as make_version
from pycupel.shorten.by_format import ByFormat as ByFormat
from pycupel.shorten.extracts import HeadAndTail as HeadAndTail, Stub as Stub, Versions as Versions
from pycupel.shorten.key_lines import KeyLines as KeyLines
from pycupel.shorten.outdated import ToolCall as ToolCall, superseded as superseded
