"""What an OpenAI client hears of a model: asked whole and streamed, and both must say the same."""

from __future__ import annotations

import httpx
import openai

HI = [{"role": "user", "content": "hi"}]
DRAWN = "call_"
"""How ids begin that the server draws, a new one for each answer. A model's own ids are the same both ways."""


class Talk:
    """One server's URL, and the official client in front of it."""

    def __init__(self, url):
        self.url = url
        # Reading certificates, which nobody here needs, would be most of a short test.
        self.client = openai.OpenAI(
            base_url=url + "/v1",
            api_key="none",
            max_retries=0,
            # No connection is left open behind an answer: an idle one that nobody closes is a warning, and fails.
            http_client=openai.DefaultHttpxClient(verify=False, limits=httpx.Limits(max_keepalive_connections=0)),
        )

    def whole(self, messages=HI, **fields):
        return self.client.chat.completions.create(model="m", messages=messages, **fields)

    def chunks(self, messages=HI, **fields):
        """The chunks as they are on the wire, fields that were not sent left out."""
        options = {"include_usage": True}
        stream = self.client.chat.completions.create(
            model="m", messages=messages, stream=True, stream_options=options, **fields
        )
        return [chunk.model_dump(exclude_unset=True) for chunk in stream]

    def streamed(self, messages=HI, **fields):
        """The chunks, joined as clients join them, once they were found to be in good order."""
        chunks = self.chunks(messages, **fields)
        *said, last = chunks
        assert last["choices"] == []
        assert not any(chunk.get("usage") for chunk in said)
        opening, *deltas, closing = [choice for chunk in said for choice in chunk["choices"]]
        assert opening["delta"] == {"role": "assistant", "content": None}
        assert closing["delta"] == {}
        assert [choice["finish_reason"] for choice in (opening, *deltas)] == [None] * (len(deltas) + 1)
        joined = {"content": "", "reasoning": "", "calls": [], "order": []}
        for choice in deltas:
            take(joined, choice["delta"])
        usage = openai.types.CompletionUsage.model_validate(last["usage"])
        return {**joined, "reason": closing["finish_reason"], "usage": usage}

    def agree(self, **fields):
        """Ask both ways, see that they agree in everything, and return the whole answer."""
        whole, streamed = self.whole(**fields), self.streamed(**fields)
        message = whole.choices[0].message
        assert message.role == "assistant"
        assert (message.content or "") == streamed["content"]
        assert (getattr(message, "reasoning_content", None) or "") == streamed["reasoning"]
        assert whole.choices[0].finish_reason == streamed["reason"]
        assert whole.usage == streamed["usage"]
        calls = [(call.function.name, call.function.arguments) for call in message.tool_calls or ()]
        assert calls == [(call["name"], call["arguments"]) for call in streamed["calls"]]
        for ids in [call.id for call in message.tool_calls or ()], [call["id"] for call in streamed["calls"]]:
            assert all(ids)
            assert len(set(ids)) == len(ids)
        for call, same in zip(message.tool_calls or (), streamed["calls"], strict=True):
            assert call.id == same["id"] or (call.id.startswith(DRAWN) and same["id"].startswith(DRAWN))
        return whole


def take(joined, delta):
    """One delta: of one kind, never empty; of a call, name and id once and then only fragments of its arguments."""
    ((kind, value),) = delta.items()
    assert value
    if kind == "tool_calls":
        (part,) = value
        if part["index"] == len(joined["calls"]):
            assert part["type"] == "function"
            joined["calls"].append({"id": part["id"], "name": part["function"]["name"], "arguments": ""})
        else:
            assert part["index"] == len(joined["calls"]) - 1
            assert part.keys() == {"index", "function"}
            assert part["function"].keys() == {"arguments"}
            assert part["function"]["arguments"]
        joined["calls"][-1]["arguments"] += part["function"]["arguments"]
    else:
        joined[{"content": "content", "reasoning_content": "reasoning"}[kind]] += value
    if joined["order"][-1:] != [kind]:
        joined["order"].append(kind)
