"""Messages → prompt text. Decides what a template is told; `jinja/` runs it, `posture/` says how the model speaks.

`Renderer` renders requests with one template; `choose_template` finds the templates of a server.
"""
