"""The example that needs FastAPI: it runs with one command, without keys or a network."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[3] / "examples" / "anthropic_service.py"


def test_the_service_trims_and_refuses_what_no_provider_accepts() -> None:
    done = subprocess.run([sys.executable, str(EXAMPLE)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    *requests, answer, refused = done.stdout.splitlines()
    assert len(requests) == 24
    # The history is larger than the window from the tenth request on.
    assert all(0 < int(line.split()[3]) < int(line.split()[0]) for line in requests[12:])
    assert answer == "I found this: model 11, part 0: in stock in hall 0"
    assert refused.startswith("422 ")
    assert "toolu_0" in refused
