"""Which LoRA adapters a request is read with: its own choice, or what the server applies to everyone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ferrox_gguf.errors import InvalidField
from ferrox_gguf.request import AdapterState, LoraScale


class Adapters:
    """Event loop only. states: all that were loaded at start.  changed: told of every new set that applies to all."""

    def __init__(self, loaded: Sequence[AdapterState] = ()) -> None:
        self.states = tuple(loaded)
        self.changed: Callable[[tuple[LoraScale, ...]], None] = lambda applied: None

    def apply(self, wanted: Sequence[LoraScale]) -> None:
        """From now on this is the set of every request without one; adapters that are not named get 0.

        Raises InvalidField, with nothing changed, for an adapter that there is not.
        """
        for each in wanted:
            if each.adapter >= len(self.states):
                raise InvalidField("id", f"there is no adapter {each.adapter}")
        scales = {each.adapter: each.scale for each in wanted}
        self.states = tuple(replace(one, scale=scales.get(at, 0.0)) for at, one in enumerate(self.states))
        self.changed(self.applied)

    @property
    def applied(self) -> tuple[LoraScale, ...]:
        return canonical([LoraScale(adapter, one.scale) for adapter, one in enumerate(self.states)])

    def of(self, wanted: Sequence[LoraScale] | None) -> tuple[LoraScale, ...]:
        """The set of one request. wanted: None when it said nothing."""
        return self.applied if wanted is None else canonical(wanted)


def canonical(wanted: Sequence[LoraScale]) -> tuple[LoraScale, ...]:
    """One spelling for each set, since cached cells are found by it: by adapter, the last scale, no zeros."""
    scales = {each.adapter: each.scale for each in wanted}
    return tuple(LoraScale(adapter, scales[adapter]) for adapter in sorted(scales) if scales[adapter] != 0.0)
