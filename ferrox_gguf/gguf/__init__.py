"""Facts from a GGUF file's header. `read_facts(path)` is the way in."""

from ferrox_gguf.gguf.facts import FileFacts, NamedToken, read_facts
from ferrox_gguf.gguf.vocabulary import SpecialToken

__all__ = ["FileFacts", "NamedToken", "SpecialToken", "read_facts"]
