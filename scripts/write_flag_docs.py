#!/usr/bin/env python3
"""Write docs/flags.md from the flag table."""

from pathlib import Path

from ferrox_gguf.cli.flags.markdown import flags_markdown

PAGE = Path(__file__).resolve().parent.parent / "docs" / "flags.md"

if __name__ == "__main__":
    PAGE.write_text(flags_markdown(), encoding="utf-8")
    print(PAGE)
