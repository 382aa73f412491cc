"""Output that is a sequence of addressed messages: one grammar a file."""

from ferrox_gguf.output.channels.atem import Atem
from ferrox_gguf.output.channels.harmony import Harmony

__all__ = ["Atem", "Harmony"]
