"""A llama-server written in Python that knows how its model speaks."""

__version__ = "0.1.0"
