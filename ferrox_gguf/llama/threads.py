"""How many threads `-t -1` means: one a physical core, as far as this process may use them."""

from __future__ import annotations

import os
from pathlib import Path

_TOPOLOGY = Path("/sys/devices/system/cpu")


def default_threads() -> int:
    """Physical cores open to this process; hyper-threads of one core slow llama.cpp's matrix products down."""
    try:
        usable = sorted(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        return max(1, (os.cpu_count() or 2) // 2)
    siblings = set()
    for cpu in usable:
        try:
            siblings.add((_TOPOLOGY / f"cpu{cpu}" / "topology" / "thread_siblings_list").read_text().strip())
        except OSError:
            return len(usable)
    return len(siblings)
