"""Convert items, budgets and reports to and from dictionaries, JSON and JSON lines.

    text = wire.dumps(report)
    report = wire.loads(SelectionReport, text)

A value that is written and read back equals the original, except NaN, which equals nothing. A value for which that is
impossible cannot be written. Timestamps are read to the microsecond. Unknown stages and reasons are kept; unknown keys
are ignored unless `strict` is set; duplicate keys are rejected.

| module      | contents                                                 |
|-------------|----------------------------------------------------------|
| `items`     | the fields of items and budgets                          |
| `reports`   | the fields of reasons, events and the report             |
| `documents` | `to_dict`, `from_dict`, `dumps`, `loads`                 |
| `jsonl`     | `read_items` and `write_items`, one item at a time       |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pycupel.lazy import load_when_used
from pycupel.wire.jsonl import read_items, write_items

if TYPE_CHECKING:
    from pycupel.wire.documents import dumps, from_dict, loads, to_dict
else:
    # `documents` imports the codecs of reports, which a program that only reads items does not need.
    __getattr__ = load_when_used(__name__, {".documents": "dumps from_dict loads to_dict"})


__all__ = ["dumps", "from_dict", "loads", "read_items", "to_dict", "write_items"]
