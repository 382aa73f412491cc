import pytest
from support.templates import template

from ferrox_gguf.errors import StartupError, TemplateBroken, TemplateRefused
from ferrox_gguf.jinja import compile_template
from ferrox_gguf.template import named
from ferrox_gguf.template.fixes import corrected, fixes
from ferrox_gguf.template.source import choose_template

OWN = "{{ messages[0].content }}"
TOOLS = "{{ messages[0].content }}{{ tools }}"


def test_the_flag_comes_before_the_file():
    choice = choose_template("{{ 'flag' }}", OWN, {"tool_use": TOOLS}, given_origin="--chat-template-file x.jinja")
    assert (choice.source, choice.tool_use, choice.origin) == ("{{ 'flag' }}", None, "--chat-template-file x.jinja")


def test_a_name_is_one_of_our_files():
    choice = choose_template("llama3", OWN)
    assert choice.source == named.source("llama3")
    assert choice.origin == "--chat-template llama3 (built in)"


def test_an_unknown_name_is_told_the_nearest_one():
    with pytest.raises(StartupError, match=r"'lama3'.*llama3"):
        choose_template("lama3", None)


def test_plain_words_are_a_template_that_prints_itself():
    assert choose_template("This is not a chat template, it is", OWN).source == "This is not a chat template, it is"


def test_the_files_own_template_serves_and_its_variant_serves_requests_with_tools():
    choice = choose_template(None, OWN, {"tool_use": TOOLS, "rag": "{{ 1 }}"})
    assert choice.serving(tools=False) == OWN
    assert choice.serving(tools=True) == TOOLS
    assert choice.explicit


def test_the_variant_serves_alone_when_it_is_the_only_one():
    for default in (None, "", "chatml"):
        choice = choose_template(None, default, {"tool-use": TOOLS})
        assert (choice.source, choice.tool_use) == (TOOLS, None)


def test_a_broken_variant_is_left_out_and_said():
    choice = choose_template(None, OWN, {"tool_use": "{% if %}"})
    assert choice.tool_use is None
    assert any("tool_use" in note for note in choice.notes)


@pytest.mark.parametrize("value", ["mistral-v7-tekken", " chatml\n"])
def test_a_file_may_name_a_built_in_template(value):
    choice = choose_template(None, value)
    assert choice.source == named.source(value.strip())
    assert choice.explicit


@pytest.mark.parametrize("value", [None, "", "no-such-name"])
def test_chatml_serves_a_file_without_a_template_and_that_is_said(value):
    choice = choose_template(None, value)
    assert choice.source == named.source("chatml")
    assert not choice.explicit
    assert any("ChatML" in note for note in choice.notes)


def test_a_template_that_is_not_jinja_stops_the_start():
    with pytest.raises(TemplateBroken):
        choose_template(None, "{% if %}")
    with pytest.raises(TemplateBroken):
        choose_template("{% if %}", None)


def test_every_correction_says_why_and_changes_a_template_that_exists():
    sources = [template(name) for name in ("openai-gpt-oss-120b", "mistralai-Ministral-3-14B-Reasoning-2512")]
    applied = [name for source in sources for name in corrected(source)[1]]
    assert sorted(applied) == sorted(fix.name for fix in fixes())
    assert all(len(fix.reason) > 40 for fix in fixes())


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("openai-gpt-oss-120b", "The marker is <|channel|>final<|message|>."),
        ("mistralai-Ministral-3-14B-Reasoning-2512", ""),
    ],
)
def test_a_corrected_template_takes_what_it_refused(name, answer):
    talk = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": answer},
        {"role": "user", "content": "b"},
    ]
    with pytest.raises(TemplateRefused):
        compile_template(template(name)).render(talk)
    choice = choose_template(None, template(name))
    assert answer in compile_template(choice.source).render(talk)
    assert any("corrected" in note for note in choice.notes)


def test_other_templates_are_left_alone():
    for name in ("Qwen-Qwen3-0.6B", "mistralai-Mistral-Nemo-Instruct-2407"):
        assert corrected(template(name)) == (template(name), ())
