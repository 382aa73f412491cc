"""Messages → prompt text. Decides what a template is told; `jinja/` runs it, `posture/` says how the model speaks.

`choose_template` finds the templates of a server; a `Renderer` renders requests with one of them.
"""

from ferrox_gguf.template.render import RenderedPrompt, Renderer
from ferrox_gguf.template.source import TemplateChoice, choose_template

__all__ = ["RenderedPrompt", "Renderer", "TemplateChoice", "choose_template"]
