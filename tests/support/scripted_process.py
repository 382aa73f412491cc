"""A serving process around a scripted model: `python scripted_process.py PORT LOAD_SECONDS`. For tests of signals."""

import sys
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.models import scripted_ready

from ferrox_gguf.errors import StartupError
from ferrox_gguf.server.serve import run
from ferrox_gguf.settings import ServerSettings, Settings


def endless(request):
    while True:
        yield 97


def load(settings, loop):
    seconds = float(sys.argv[2])
    if seconds < 0:
        raise StartupError("the file is broken")
    time.sleep(seconds)
    ready = scripted_ready(endless)
    ready.model.engine.pause = 0.01
    return ready


if __name__ == "__main__":
    try:
        sys.exit(run(replace(Settings(), server=replace(ServerSettings(), port=int(sys.argv[1]))), load))
    except StartupError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
