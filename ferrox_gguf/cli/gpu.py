"""A GPU that the installed llama.cpp cannot use: its name, and the command that installs a build which can.

Looked for where the drivers leave their traces; no driver library is loaded.
"""

from __future__ import annotations

import platform
import re
import sys
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from ferrox_gguf.settings import ModelSettings

NVIDIA = Path("proc/driver/nvidia/gpus")
AMD = Path("sys/class/kfd/kfd/topology/nodes")


@dataclass(frozen=True, slots=True)
class Gpu:
    """name: as its driver says.  build: the CMake option of a llama.cpp that can use it."""

    name: str
    build: str


def present(root: Path = Path("/"), system: str = platform.system(), machine: str = platform.machine()) -> Gpu | None:
    """The first GPU found. root: where the file system begins."""
    if system == "Darwin":
        return Gpu("the Apple GPU", "-DGGML_METAL=on") if machine == "arm64" else None
    for information in sorted((root / NVIDIA).glob("*/information")):
        model = re.search(r"^Model:\s*(.+)$", information.read_text(), re.MULTILINE)
        return Gpu(model[1].strip() if model else "an NVIDIA GPU", "-DGGML_CUDA=on")
    for properties in sorted((root / AMD).glob("*/properties")):
        target = re.search(r"^gfx_target_version (\d+)$", properties.read_text(), re.MULTILINE)
        if target and int(target[1]) > 0:
            return Gpu("an AMD GPU", "-DGGML_HIP=on")
    return None


def advice(model: ModelSettings, gpu: Gpu | None, usable: tuple[str, ...]) -> str | None:
    """What to tell a person, if anything. usable: the devices of the installed build, the CPU aside."""
    if usable or model.devices == ("none",) or model.n_gpu_layers == 0:
        return None
    if gpu is None:
        asked = model.n_gpu_layers != -1
        return "--gpu-layers has no effect: neither the machine nor the build has a GPU" if asked else None
    package = f"llama-cpp-python=={version('llama-cpp-python')}"
    anew = "--force-reinstall --no-deps --no-cache-dir"
    return (
        f"{gpu.name} is not used: the installed llama-cpp-python is built for the CPU. A build that can use it:\n"
        f'  CMAKE_ARGS="{gpu.build}" {sys.executable} -m pip install {anew} {package}'
    )
