import pytest

from ferrox_gguf.cli.gpu import Gpu, advice, present
from ferrox_gguf.settings import ModelSettings

CUDA = Gpu("NVIDIA H200", "-DGGML_CUDA=on")


@pytest.fixture
def machine(tmp_path):
    """A file system with nothing in it, and a way to put driver files there."""

    def write(path: str, text: str) -> None:
        file = tmp_path / path
        file.parent.mkdir(parents=True)
        file.write_text(text)

    write.root = tmp_path
    return write


def test_an_nvidia_gpu_is_known_by_its_drivers_file(machine):
    machine("proc/driver/nvidia/gpus/0000:01:00.0/information", "Model: \t\t NVIDIA H200\nIRQ: 17\n")
    assert present(machine.root, system="Linux") == CUDA


def test_an_amd_gpu_is_known_by_its_topology_and_a_cpu_node_is_not_one(machine):
    machine("sys/class/kfd/kfd/topology/nodes/0/properties", "cpu_cores_count 16\ngfx_target_version 0\n")
    assert present(machine.root, system="Linux") is None
    machine("sys/class/kfd/kfd/topology/nodes/1/properties", "gfx_target_version 110000\n")
    assert present(machine.root, system="Linux") == Gpu("an AMD GPU", "-DGGML_HIP=on")


def test_an_apple_computer_has_one_when_its_processor_is_apples(machine):
    assert present(machine.root, system="Darwin", machine="arm64").build == "-DGGML_METAL=on"
    assert present(machine.root, system="Darwin", machine="x86_64") is None


def test_a_gpu_that_the_build_cannot_use_is_named_with_the_command_that_helps():
    said = advice(ModelSettings(), CUDA, usable=())
    assert said.startswith("NVIDIA H200 is not used")
    assert 'CMAKE_ARGS="-DGGML_CUDA=on"' in said
    assert "pip install --force-reinstall --no-deps --no-cache-dir llama-cpp-python==" in said


def test_nothing_is_said_when_it_is_used_or_was_not_wanted():
    assert advice(ModelSettings(), CUDA, usable=("CUDA0",)) is None
    assert advice(ModelSettings(devices=("none",)), CUDA, usable=()) is None
    assert advice(ModelSettings(n_gpu_layers=0), CUDA, usable=()) is None
    assert advice(ModelSettings(), None, usable=()) is None


def test_layers_for_a_gpu_that_is_not_there_are_mentioned():
    assert "no effect" in advice(ModelSettings(n_gpu_layers=20), None, usable=())
