import pytest

from ferrox_gguf.errors import StartupError
from ferrox_gguf.llama.footprint import available_bytes, refuse_too_large

MEMINFO = "MemTotal: 8000 kB\nMemAvailable: 4000 kB\nSwapFree: 1000 kB\n"


def test_a_context_that_cannot_fit_is_refused_and_one_that_can_is_not(dense):
    options = dense.model.options
    refuse_too_large(dense.model, options, 4096)
    with pytest.raises(StartupError, match="a context of 2000000000 tokens needs at least"):
        refuse_too_large(dense.model, options, 2_000_000_000)


def test_what_is_free_counts_swap_and_the_containers_limit(tmp_path):
    assert available_bytes(tmp_path) is None
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc" / "meminfo").write_text(MEMINFO)
    assert available_bytes(tmp_path) == 5000 * 1024
    group = tmp_path / "sys" / "fs" / "cgroup"
    group.mkdir(parents=True)
    (group / "memory.max").write_text("max\n")
    assert available_bytes(tmp_path) == 5000 * 1024
    (group / "memory.max").write_text("3000\n")
    assert available_bytes(tmp_path) == 3000
