"""Items, budgets and reports as dictionaries, JSON and JSON lines.

    text = wire.dumps(report)
    report = wire.loads(SelectionReport, text)

What is written is read back equal, and what would not be is refused. Stages and reasons that are not known are kept as
they came (WF-03); keys that are not known are ignored, unless `strict` is set (WF-01).

| module      | holds                                                    |
|-------------|----------------------------------------------------------|
| `values`    | strings, numbers, lists: checked alike on both ways      |
| `records`   | objects with named fields                                |
| `items`     | items and budgets                                        |
| `reports`   | reasons, events and the report                           |
| `documents` | `to_dict`, `from_dict`, `dumps`, `loads`                 |
| `jsonl`     | `read_items` and `write_items`, one item at a time       |
"""

from __future__ import annotations

from pycupel.wire.documents import dumps, from_dict, loads, to_dict
from pycupel.wire.jsonl import read_items, write_items

__all__ = ["dumps", "from_dict", "loads", "read_items", "to_dict", "write_items"]
