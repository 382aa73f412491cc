"""Markers of templates nobody has seen: render conversations that differ in one respect and look at what changed.

The method of wire-formats section 5. It never looks at a table of families, and a template that refuses a probe only
leaves that probe without an answer.
"""

from ferrox_gguf.posture.differ.calls import ComparedCalls, compare_calls
from ferrox_gguf.posture.differ.thoughts import ComparedThoughts, compare_reasoning

__all__ = ["ComparedCalls", "ComparedThoughts", "compare_calls", "compare_reasoning"]
