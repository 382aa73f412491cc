"""What `/props` says a template takes, under llama-server's names."""

import pytest
from support.models import PLAIN
from support.scripted import ByteVocabulary

from ferrox_gguf.gguf import FileFacts
from ferrox_gguf.runtime.voice import make_voices
from ferrox_gguf.server.ready import capabilities
from ferrox_gguf.settings import ChatSettings

NAMES = {
    "supports_string_content",
    "supports_typed_content",
    "supports_tools",
    "supports_tool_calls",
    "supports_parallel_tool_calls",
    "supports_system_role",
    "supports_preserve_reasoning",
    "supports_reasoning_effort",
    "supports_object_arguments",
}


def of(template):
    facts = FileFacts("a.gguf", "llama", chat_template=template)
    return dict(capabilities(make_voices(facts, ByteVocabulary(), ChatSettings())))


def test_every_capability_of_llama_servers_is_there():
    assert of(PLAIN).keys() == NAMES


EFFORT = "{{ reasoning_effort if reasoning_effort is defined else 'medium' }}" + PLAIN
CALLS = (
    "{% for t in tools or [] %}{{ t | tojson }}{% endfor %}{% for m in messages %}[{{ m.role }}]{{ m.content }}"
    "{% for c in m.tool_calls or [] %}{{ c.function.name }}ARGUMENTS{% endfor %}\n{% endfor %}"
)


@pytest.mark.parametrize(
    ("template", "name", "expected"),
    [
        (PLAIN, "supports_tools", False),
        (PLAIN, "supports_system_role", True),
        (PLAIN, "supports_reasoning_effort", False),
        (EFFORT, "supports_reasoning_effort", True),
        (CALLS.replace("ARGUMENTS", "{{ c.function.arguments | tojson }}"), "supports_tools", True),
        (CALLS.replace("ARGUMENTS", "{{ c.function.arguments.items() | list }}"), "supports_object_arguments", True),
        (CALLS.replace("ARGUMENTS", "{{ '' + c.function.arguments }}"), "supports_object_arguments", False),
    ],
)
def test_a_capability_is_read_off_what_the_template_does(template, name, expected):
    assert of(template)[name] is expected
