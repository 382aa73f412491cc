"""Header names as llama-server spells them. HTTP does not care, but scripts that compare letter by letter do."""

from __future__ import annotations


class Spelled(bytes):
    """A name that stays as it is written: uvicorn sends what its lower() gives."""

    def lower(self) -> bytes:
        return self
