from support.grammar_view import view

__all__ = ["view"]
