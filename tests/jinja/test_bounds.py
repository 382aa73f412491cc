"""A hostile template costs an error, never the server: each of these would hang, or fill memory, unbounded."""

import time

import pytest

from ferrox_gguf.errors import TemplateFailed
from ferrox_gguf.jinja import bounds, compile_template

MEMORY = [
    "{{ 'a' * 1000000000 }}",
    "{{ 1000000000 * 'a' }}",
    "{{ [0] * 1000000000 }}",
    "{{ 9 ** (9 ** 9) }}",
    "{{ 'a' | center(1000000000) }}",
    "{{ ['a'] | map('center', 1000000000) | list }}",
    "{{ 'a' | indent(1000000000, true) }}",
    "{{ 'a' | indent('a' * 10000 * 10000, true) }}",
    "{{ [1] | batch(1000000000, 0) | list }}",
    "{{ [1] | tojson(indent=1000000000) }}",
    "{{ '%1000000000d' % 5 }}",
    "{{ '%*d' % (1000000000, 5) }}",
    "{{ '%.1000000000f' | format(5.0) }}",
    "{{ '{:>1000000000}'.format(5) }}",
    "{{ '{:>{}}'.format(5, 1000000000) }}",
    "{{ '{a:>1000000000}'.format_map({'a': 1}) }}",
    "{{ 'a'.ljust(1000000000) }}",
    "{{ '1'.zfill(1000000000) }}",
    "{{ '\t'.expandtabs(1000000000) }}",
    "{{ range(1000000000) | list }}",
    "{% set l = [1] %}{% for i in range(99) %}{% set _ = l.extend(l) %}{% endfor %}",
    "{% set ns = namespace(l=[1]) %}{% for i in range(99) %}{% set ns.l = ns.l + ns.l %}{% endfor %}",
    "{% set ns = namespace(x='ab') %}{% for i in range(99) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
    "{% set ns = namespace(x='ab') %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
    "{% set x = 'a' * 10000 * 1000 %}{{ x.replace('a', x) }}",
    "{% set x = 'a' * 10000 * 1000 %}{{ x | replace('', x) }}",
    "{% set x = 'a' * 10000 * 100 %}{{ x.join(['a'] * 10000) }}",
    "{% set x = 'a' * 10000 * 100 %}{{ (['a'] * 10000) | join(x) }}",
    "{% set x = 'a' * 10000 * 100 %}{% for i in range(1000) %}{{ x }}{% endfor %}",
    "{% set x = 'a' * 10000 * 100 %}{% set y %}{% for i in range(1000) %}{{ x }}{% endfor %}{% endset %}{{ y }}",
    "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
]


@pytest.mark.parametrize("source", MEMORY)
def test_memory_is_refused_before_it_is_taken(source):
    begun = time.monotonic()
    with pytest.raises(TemplateFailed):
        compile_template(source).render([])
    assert time.monotonic() - begun < 8


@pytest.mark.parametrize(
    "source",
    [
        "{% for a in range(99999) %}{% for b in range(99999) %}{% for c in range(9) %}" + "{% endfor %}" * 3,
        "{% set l = [1] %}{% for x in l %}{% set _ = l.append(x) %}{% endfor %}",
        "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(60) }}",
        "{% macro twice() %}{{ caller() }}{{ caller() }}{% endmacro %}"
        + "{% call twice() %}" * 40
        + "{{ 1 }}"
        + "{% endcall %}" * 40,
    ],
)
def test_a_loop_without_an_end_is_ended(source, monkeypatch):
    monkeypatch.setattr(bounds.Budget.__init__, "__kwdefaults__", {"seconds": 0.2, "characters": bounds.CHARACTERS})
    begun = time.monotonic()
    with pytest.raises(TemplateFailed):
        compile_template(source).render([])
    assert time.monotonic() - begun < 5


def test_a_template_cannot_name_the_checks_it_runs_under():
    source = (
        "{% set environment = 1 %}{% set tick = 1 %}{% set measured = 1 %}{% for i in [1] %}{{ i ~ 'a' }}{% endfor %}"
    )
    assert compile_template(source).render([]) == "1a"


def test_ordinary_use_of_the_same_operations_is_untouched():
    source = (
        "{{ '%s is %05.1f%%' % ('x', 2.5) }} {{ '%(a)s' | format(a='2026123456789') }} "
        "{{ '{:>5}{}'.format(1, 20261234567) }} "
        "{{ 'a-b'.replace('-', '+') }} {{ ('ab' * 3).center(8) }}|{{ 7 % 4 }} {{ 2 ** 10 }} {{ 'x\ny' | indent(2) }} "
        "{{ ['a', 'b'] | join(', ') }} {{ [1, 2, 3] | batch(2) | list }}"
    )
    assert compile_template(source).render([]) == (
        "x is 002.5% 2026123456789     120261234567 a+b  ababab |3 1024 x\n  y a, b [[1, 2], [3]]"
    )
