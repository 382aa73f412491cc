"""The only importer of llama_cpp: a loaded model, its vocabulary, its context and what can be done with them.

`options` is importable without llama.cpp itself; everything else loads the shared library.
"""
