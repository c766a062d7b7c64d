"""What a policy would have sent in yesterday's sessions: a table for a nightly job, which fails if it loses too much.

Run ``python examples/nightly_comparison.py [LOG ...]``. Without a log, it takes the session that comes with pycupel.
"""

import json
import sys

from pycupel.cli.demo import transcript
from pycupel.replay import read_log, replay

BUDGET = 12_000


def main(paths: list[str]) -> int:
    """Print a row for each policy; 1 if the first one loses more than dropping the oldest messages would."""
    logs = [read_log(path) for path in paths] or [read_log(map(json.dumps, transcript()))]
    histories = [history for log in logs for history in log.histories]
    print(f"{len(histories)} sessions at {BUDGET:,} tokens")
    lost: list[float] = []
    for runs in zip(*(replay(history, BUDGET, ("chat", "newest-first")) for history in histories), strict=True):
        needed = sum(run.needed for run in runs)
        lost.append(1 - sum(run.kept for run in runs) / needed if needed else 0.0)
        cuts = sum(run.cuts for run in runs)
        print(f"{runs[0].policy:14} cut {cuts:3} times, lost {lost[-1]:.1%} of what was needed later")
    return int(lost[0] > lost[1])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
