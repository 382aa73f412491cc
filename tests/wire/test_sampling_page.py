"""docs/sampling.md names what requests may say."""

from __future__ import annotations

from pathlib import Path

from ferrox_gguf.wire.sampling import ROWS

PAGE = (Path(__file__).parents[2] / "docs" / "sampling.md").read_text(encoding="utf-8")
READ_APART = ("seed", "dry_base", "dry_sequence_breakers", "samplers", "logit_bias", "ignore_eos")


def test_the_page_of_sampling_names_every_field() -> None:
    assert [name for name in (*(row.name for row in ROWS), *READ_APART) if f"`{name}`" not in PAGE] == []
