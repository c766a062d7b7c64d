"""Items, budgets and reports as dictionaries, JSON and JSON lines.

    text = wire.dumps(report)
    report = wire.loads(SelectionReport, text)

What is written is read back equal, except for NaN, which equals nothing; a value for which that is impossible is
refused. Of a second's digits six are read. Unknown stages and reasons are kept as they are, unknown keys are ignored,
unless `strict` is set; a key that an object has twice is refused.

| module      | holds                                                    |
|-------------|----------------------------------------------------------|
| `items`     | the fields of items and budgets                          |
| `reports`   | the fields of reasons, events and the report             |
| `documents` | `to_dict`, `from_dict`, `dumps`, `loads`                 |
| `jsonl`     | `read_items` and `write_items`, one item at a time       |
"""

from __future__ import annotations

from pycupel.wire.documents import dumps, from_dict, loads, to_dict
from pycupel.wire.jsonl import read_items, write_items

__all__ = ["dumps", "from_dict", "loads", "read_items", "to_dict", "write_items"]
