"""Puts `tests/support` within reach: `from support.templates import templates`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
