"""How a model speaks: which thoughts, which calls, and why we believe so. `resolve` decides; `values` has the words."""

from ferrox_gguf.posture.inputs import PostureInputs
from ferrox_gguf.posture.resolve import resolve

__all__ = ["PostureInputs", "resolve"]
