"""A tool loop as people write it: the official client, real functions, llama.cpp, and a prompt that grows each turn."""

import json
from itertools import takewhile

import httpx
import pytest
from support.playing_lines import as_script, playing
from support.scripted_gguf import Line
from support.speaking import with_properties
from support.talk import Talk
from support.templates import template

TEMPLATE = template("Qwen-Qwen3-0.6B")
SPECIAL = ("<|im_start|>", "<think>", "</think>", "<tool_call>", "</tool_call>")
TOOLS = [with_properties("get_weather", city="string"), with_properties("convert", celsius="integer")]
FUNCTIONS = {
    "get_weather": lambda city: f"{city}: 20 degrees Celsius",
    "convert": lambda celsius: str(celsius * 9 // 5 + 32),
}
TURNS = (
    "<think>\nI need the weather.\n</think>\n\n"
    '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n</tool_call>',
    "<think>\nNow in Fahrenheit.\n</think>\n\n"
    '<tool_call>\n{"name": "convert", "arguments": {"celsius": 20}}\n</tool_call>',
    "<think>\nDone.\n</think>\n\nIt has 68 degrees in Rome.",
)
STARTS = (1200, 1600, 2000)
"""Where the turns' prompts end, in tokens; what is missing is filled up in the newest message."""


def script(text):
    """A byte a token but for the markers, as the tokenizer will have it when the text comes back in a prompt."""
    out = []
    while text:
        piece = next((marker for marker in SPECIAL if text.startswith(marker)), text[0])
        out += [piece.encode()] if piece in SPECIAL else [bytes([byte]) for byte in piece.encode()]
        text = text[len(piece) :]
    return [as_script(token) for token in out]


def common(one, other):
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


class Loop:
    """The conversation so far. streamed: how its turns are asked."""

    def __init__(self, url, client, *, streamed):
        self.url, self.client, self.talk, self.is_streamed = url, client, Talk(url), streamed
        self.messages = []
        self.prompts = []

    def say(self, message, start):
        """Add a message, made so long that the prompt has `start` tokens."""
        self.messages.append(message)
        tokens = self.tokens()
        message["content"] += "." * (start - len(tokens))
        self.prompts.append(self.tokens())
        assert len(self.prompts[-1]) == start

    def tokens(self):
        body = {"messages": self.messages, "tools": TOOLS}
        prompt = self.client.post(self.url + "/apply-template", json=body).json()["prompt"]
        wanted = {"content": prompt, "add_special": True, "parse_special": True}
        return self.client.post(self.url + "/tokenize", json=wanted).json()["tokens"]

    def turn(self):
        """The model's next message, kept; and what the prompt cost."""
        if self.is_streamed:
            said = self.talk.streamed(self.messages, tools=TOOLS, temperature=0)
            calls, usage, reason = said["calls"], said["usage"], said["reason"]
            content, thought = said["content"], said["reasoning"]
        else:
            answer = self.talk.whole(self.messages, tools=TOOLS, temperature=0)
            choice, usage = answer.choices[0], answer.usage
            content, thought, reason = choice.message.content, choice.message.reasoning_content, choice.finish_reason
            calls = [
                {"id": call.id, "name": call.function.name, "arguments": call.function.arguments}
                for call in choice.message.tool_calls or ()
            ]
        message = {"role": "assistant", "content": content or None, "reasoning_content": thought}
        if calls:
            message["tool_calls"] = [
                {
                    "id": call["id"],
                    "type": "function",
                    "function": {"name": call["name"], "arguments": call["arguments"]},
                }
                for call in calls
            ]
        self.messages.append(message)
        return message, reason, usage

    def run(self, message):
        """What the called function returns, as a message."""
        (call,) = message["tool_calls"]
        result = FUNCTIONS[call["function"]["name"]](**json.loads(call["function"]["arguments"]))
        return {"role": "tool", "tool_call_id": call["id"], "content": result}


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_a_question_is_answered_over_two_calls_and_only_what_is_new_is_read(streamed, tmp_path):
    said = [script(text) for text in TURNS]
    lines = [Line(start, text) for start, text in zip(STARTS, said, strict=True)]
    with (
        playing(tmp_path / "m.gguf", lines, template=TEMPLATE, special=SPECIAL) as url,
        httpx.Client(verify=False) as client,  # nothing here is encrypted
    ):
        loop = Loop(url, client, streamed=streamed)
        newest, spent = {"role": "user", "content": "How warm is it in Rome, in Fahrenheit?"}, []
        for start in STARTS:
            loop.say(newest, start)
            message, reason, usage = loop.turn()
            spent.append(usage)
            if reason == "tool_calls":
                newest = loop.run(message)
        assert reason == "stop"
        assert [message["role"] for message in loop.messages] == ["user", *["assistant", "tool"] * 2, "assistant"]
        assert loop.messages[2]["content"].startswith("Rome: 20 degrees Celsius")
        assert loop.messages[4]["content"].startswith("68")
        assert loop.messages[5]["content"] == "It has 68 degrees in Rome."
        assert [usage.prompt_tokens for usage in spent] == list(STARTS)
        cached = [usage.prompt_tokens_details.cached_tokens for usage in spent]
        # The history comes back token for token, so each turn's prompt and its answer are there already.
        lengths = [len(text) for text in said]
        assert cached == [0, STARTS[0] + lengths[0], STARTS[1] + lengths[1]]
        assert all(common(one, other) >= len(one) for one, other in zip(loop.prompts, loop.prompts[1:], strict=False))
