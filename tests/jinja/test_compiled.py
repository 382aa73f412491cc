from datetime import datetime

import pytest

from ferrox_gguf.errors import TemplateBroken, TemplateFailed, TemplateRefused
from ferrox_gguf.jinja import compile_template


def render(source, messages=(), tools=None, **variables):
    return compile_template(source, clock=lambda: datetime(2026, 3, 4, 5, 6)).render(messages, tools, **variables)


def test_blocks_are_trimmed_as_hugging_face_trims_them():
    assert render("  {% if true %}\na\n  {% endif %}\nb\n") == "a\nb"


def test_loops_can_be_left_and_skipped():
    turns = "{% if i == 1 %}{% continue %}{% elif i == 4 %}{% break %}{% endif %}{{ i }}"
    assert render("{% for i in range(9) %}" + turns + "{% endfor %}") == "023"


def test_the_generation_tag_is_transparent():
    assert render("{% generation %}{% set x = 'a' %}{{ x }}{% endgeneration %}{{ x }}") == "aa"


def test_a_refusal_carries_the_words_of_the_template():
    with pytest.raises(TemplateRefused, match=r"^roles must alternate$"):
        render("{{ raise_exception('roles must alternate') }}")


def test_a_template_that_breaks_on_a_conversation_says_where():
    with pytest.raises(TemplateFailed, match=r"'dict object' has no attribute 'content' \(line 2\)"):
        render("{% for m in messages %}\n{{ m.content.parts }}{% endfor %}", [{"role": "user"}])


def test_a_template_that_is_not_jinja_is_known_before_it_is_used():
    with pytest.raises(TemplateBroken, match="line 2"):
        compile_template("a\n{% if %}")


@pytest.mark.parametrize("source", ["{{ " + "(" * 500 + ")" * 500 + " }}", "{{ " + "9" * 5000 + " }}"])
def test_a_template_that_python_cannot_compile_is_broken_too(source):
    with pytest.raises(TemplateBroken):
        compile_template(source)


def test_json_is_written_as_hugging_face_writes_it():
    value = {"b": "é<&>'", "a": [1, 2.5, None, True]}
    assert render("{{ v | tojson }}", v=value) == '{"b": "é<&>\'", "a": [1, 2.5, null, true]}'
    assert render("{{ v | tojson(indent=1, sort_keys=true, ensure_ascii=true) }}", v={"b": "é", "a": 1}) == (
        '{\n "a": 1,\n "b": "\\u00e9"\n}'
    )
    assert render("{{ v | tojson(separators=(',', ':')) }}", v=value).startswith('{"b":"é<&>\'","a":[1,2.5')


def test_what_a_filter_yields_lazily_can_be_written_as_json():
    assert render("{{ [1, 2] | map('string') | tojson }}{{ [1, 2] | select('odd') | tojson }}") == '["1", "2"][1]'


def test_string_arguments_can_be_read_as_json():
    assert (
        render("""{{ ('{"a": 1}' | from_json).a }}{{ ('[2]' | fromjson)[0] }}{{ ({'a': 3} | from_json).a }}""") == "123"
    )


def test_dates_come_from_the_clock_that_was_given():
    assert render("{{ strftime_now('%d %B %Y') }}|{{ date_string }}|{{ datetime }}") == (
        "04 March 2026|04 Mar 2026|Mar 04 2026"
    )
    assert render("{{ date_string }}", date_string="today") == "today"


def test_functions_are_there_as_text_for_the_templates_that_want_them_so():
    tool = {"type": "function", "function": {"name": "f"}}
    assert render("{{ functions }}", tools=[tool]) == '[\n    {\n        "name": "f"\n    }\n]'
    assert render("{{ functions }}") == "[]"


def test_no_tools_are_undefined_unless_the_template_expects_none():
    assert render("{% for tool in tools %}{% endfor %}{{ tools is defined }}") == "False"
    assert render("{% if tools is not none %}tools{% endif %}") == ""
    assert render("{% if not tools is defined %}{% set tools = none %}{% endif %}{{ tools is not none }}") == "False"


def test_a_template_may_change_what_it_is_given_and_nobody_else_notices():
    messages = [{"role": "user", "content": ["a", "b"]}]
    assert render("{{ messages[0].content.pop() }}{% set _ = messages.append(1) %}", messages) == "b"
    assert messages == [{"role": "user", "content": ["a", "b"]}]


def test_a_template_names_the_variables_it_reads():
    template = compile_template("{% set x = 1 %}{% if enable_thinking and x %}{% endif %}{{ bos_token }}")
    assert template.reads == {"enable_thinking", "bos_token"}


def test_a_template_is_compiled_once():
    assert compile_template("once")._template is compile_template("once")._template


@pytest.mark.parametrize(
    "source",
    [
        "{{ messages.__class__.mro() }}",
        "{{ ''.__class__.__base__ }}",
        "{{ '{0.__class__.x}'.format(1) }}",
        "{{ raise_exception.__globals__.x }}",
    ],
)
def test_a_template_cannot_reach_python(source):
    with pytest.raises(TemplateFailed):
        render(source)
