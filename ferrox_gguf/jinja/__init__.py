"""Chat template source → compiled template, in a sandbox. Knows Jinja; knows nothing of requests or models.

What variables a template needs, and in what shape it wants the messages, is `template/`'s business.
"""

from ferrox_gguf.jinja.compiled import Clock, CompiledTemplate, compile_template

__all__ = ["Clock", "CompiledTemplate", "compile_template"]
