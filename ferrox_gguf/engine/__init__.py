"""The engine: sequences in, tokens out, one thread that owns the llama.cpp context.

`build_engine(loaded)` makes an `EngineLoop`; `contract` has what goes in and comes out of it.
"""
