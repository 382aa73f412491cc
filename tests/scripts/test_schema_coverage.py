"""docs/structured-output.md is what a run gives (`make test` fetches the suite first)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_published_coverage_is_current_and_nothing_in_it_is_wrong() -> None:
    check = [sys.executable, str(ROOT / "scripts" / "schema_coverage.py"), "--check"]
    done = subprocess.run(check, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
