"""Convert items, budgets and reports to and from dictionaries, JSON and JSON lines.

    text = wire.dumps(report)
    report = wire.loads(SelectionReport, text)

A value that is written and read back equals the original, except NaN, which equals nothing, and messages that are
objects of a library, which become dicts. Any other value for which that is impossible cannot be written. Timestamps are
read to the microsecond. Unknown stages and reasons are kept; unknown keys are ignored unless `strict` is set; duplicate
keys are rejected.
"""

from __future__ import annotations

from pycupel.wire.documents import dumps, from_dict, loads, read_items, to_dict, write_items

__all__ = ["dumps", "from_dict", "loads", "read_items", "to_dict", "write_items"]
