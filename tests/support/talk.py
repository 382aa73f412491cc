"""What an OpenAI client hears of a model: asked whole and streamed, and both must say the same."""

from __future__ import annotations

import openai

HI = [{"role": "user", "content": "hi"}]


class Talk:
    """One server's URL, and the official client in front of it."""

    def __init__(self, url):
        self.url = url
        self.client = openai.OpenAI(base_url=url + "/v1", api_key="none", max_retries=0)

    def whole(self, messages=HI, **fields):
        return self.client.chat.completions.create(model="m", messages=messages, **fields)

    def streamed(self, messages=HI, **fields):
        """The chunks, joined as clients join them."""
        options = {"include_usage": True}
        chunks = list(
            self.client.chat.completions.create(
                model="m", messages=messages, stream=True, stream_options=options, **fields
            )
        )
        joined = {"content": "", "reasoning": "", "calls": {}, "reason": None, "usage": chunks[-1].usage}
        for chunk in chunks:
            for choice in chunk.choices:
                delta = choice.delta
                joined["content"] += delta.content or ""
                joined["reasoning"] += getattr(delta, "reasoning_content", None) or ""
                joined["reason"] = choice.finish_reason or joined["reason"]
                for call in delta.tool_calls or ():
                    kept = joined["calls"].setdefault(call.index, {"id": call.id, "name": "", "arguments": ""})
                    kept["name"] += call.function.name or ""
                    kept["arguments"] += call.function.arguments or ""
        return joined

    def agree(self, **fields):
        """Ask both ways, see that they agree in everything, and return the whole answer."""
        whole, streamed = self.whole(**fields), self.streamed(**fields)
        message = whole.choices[0].message
        assert (message.content or "") == streamed["content"]
        assert (getattr(message, "reasoning_content", None) or "") == streamed["reasoning"]
        assert whole.choices[0].finish_reason == streamed["reason"]
        assert whole.usage == streamed["usage"]
        calls = [(call.function.name, call.function.arguments) for call in message.tool_calls or ()]
        assert calls == [(call["name"], call["arguments"]) for call in streamed["calls"].values()]
        return whole
