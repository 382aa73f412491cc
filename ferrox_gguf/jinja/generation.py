"""The `{% generation %}` … `{% endgeneration %}` tag: training masks mark the model's own text with it."""

from __future__ import annotations

from jinja2 import nodes
from jinja2.ext import Extension
from jinja2.parser import Parser


class GenerationTag(Extension):
    """Transparent: what stands inside renders as if the tag were not there, `set` included."""

    tags = {"generation"}  # noqa: RUF012 (jinja2 declares it as a plain set)

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)
