"""A server in front of a model that says a script, for tests of what a conversation is heard as."""

from __future__ import annotations

import httpx
from support.models import scripted_ready
from support.scripted import ByteVocabulary
from support.serving import serving
from support.talk import HI
from support.templates import template

QWEN3 = template("Qwen-Qwen3-0.6B")
"""Thinks, and writes the opener itself."""

R1 = (
    "{% for m in messages %}{% if m.role == 'user' %}<|User|>{{ m.content }}{% else %}<|Assistant|>{{ m.content }}"
    "{% endif %}{% endfor %}{% if add_generation_prompt %}<|Assistant|><think>\n{% endif %}"
)
"""Opens the block in the generation prompt, as R1 does."""


def saying(*script, template, settings=None, control=()):
    """A server whose model says the script. Each text in it is a token, and so is every text of `control`.

    Bytes in the script are a token each.
    """
    texts = [piece for piece in script if isinstance(piece, str)]
    longer = [text for text in texts if len(text.encode()) > 1 and text not in control]
    vocabulary = ByteVocabulary(control=list(control), pieces=list(dict.fromkeys(longer)))
    ids = [id for piece in script for id in (piece if isinstance(piece, bytes) else vocabulary.ids(piece))]
    return serving(
        lambda: scripted_ready(ids, vocabulary=vocabulary, template=template, settings=settings),
        settings,
    )


def post(url, path, body):
    with httpx.Client(verify=False) as client:  # nothing here is encrypted
        return client.post(url + path, json=body)


def chat(url, **body):
    return post(url, "/v1/chat/completions", {"messages": HI, **body})


def prompt_of(url, messages=HI, **body):
    """The rendered prompt."""
    answer = post(url, "/apply-template", {"messages": messages, **body})
    assert answer.status_code == 200, answer.text
    return answer.json()["prompt"]


def reasoning_of(answer):
    return getattr(answer.choices[0].message, "reasoning_content", None)


def heard(answer):
    """Reasoning, content."""
    return reasoning_of(answer), answer.choices[0].message.content


def calls_of(answer):
    return [(call.function.name, call.function.arguments) for call in answer.choices[0].message.tool_calls or ()]


def function(name, parameters=None, **fields):
    if parameters is not None:
        fields["parameters"] = parameters
    return {"type": "function", "function": {"name": name, **fields}}


def with_properties(name, **types):
    """A tool whose parameters have these types."""
    return function(name, {"type": "object", "properties": {key: {"type": value} for key, value in types.items()}})


WEATHER = with_properties("get_weather", city="string")
