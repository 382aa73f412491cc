"""The shared library itself: started once a process, its log lines turned into `logging` records.

llama.cpp explains a failed load only in its log, so the last lines that it marked as errors are kept for whoever has to
write the one line that a person reads.
"""

from __future__ import annotations

import ctypes
import logging
import threading
from collections import deque

import llama_cpp as ll

from ferrox_gguf.llama.options import Numa

logger = logging.getLogger("ferrox_gguf.llama.cpp")

_ERROR_LEVEL = 4
_CONTINUED = 5
_errors: deque[str] = deque(maxlen=8)
_partial: list[str] = []
_started = threading.Lock()
_done = False
_keep_alive: list[object] = []

_NUMA = {Numa.DISTRIBUTE: 1, Numa.ISOLATE: 2, Numa.NUMACTL: 3}
"""ggml_numa_strategy."""


def start(numa: Numa = Numa.OFF) -> None:
    """Initialise llama.cpp; later calls do nothing. Quiet unless the logger `ferrox_gguf.llama.cpp` is at DEBUG."""
    global _done
    with _started:
        if _done:
            return
        callback = ll.llama_log_callback(_receive)
        _keep_alive.append(callback)
        ll.llama_log_set(callback, ctypes.c_void_p(0))
        ll.llama_backend_init()
        if numa is not Numa.OFF:
            ll.llama_numa_init(_NUMA[numa])
        _done = True


def forget_errors() -> None:
    """Begin a new account of what goes wrong."""
    _errors.clear()


def first_error() -> str:
    """The first error line since `forget_errors`, without its function prefix; "" when there was none."""
    return _errors[0].split(": ", 1)[-1] if _errors else ""


def system_info() -> str:
    """What the CPU and the build support, as llama.cpp words it."""
    start()
    return bytes(ll.llama_print_system_info()).decode(errors="replace").strip()


def max_sequences() -> int:
    """The most slots that one context can have."""
    return int(ll.llama_max_parallel_sequences())


def _receive(level: int, text: bytes, _user_data: object) -> None:
    """One fragment from llama.cpp, on whichever thread it runs; a line may come in several."""
    fragment = text.decode("utf-8", errors="replace")
    if level != _CONTINUED and _partial:
        _partial.clear()
    _partial.append(fragment)
    if not fragment.endswith("\n"):
        return
    line = "".join(_partial).strip()
    _partial.clear()
    if level == _ERROR_LEVEL and line:
        _errors.append(line)
    if line and logger.isEnabledFor(logging.DEBUG):
        logger.debug(line)
