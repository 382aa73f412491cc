"""The text of a message, whatever shape the client sent it in."""

from __future__ import annotations

from dataclasses import replace

from ferrox_gguf.request import Message, TextPart

Content = str | tuple[TextPart, ...] | None


def text_of(content: Content, between: str = "\n") -> str:
    """Parts are joined with a line break, as llama-server joins them; nothing is the empty string."""
    if content is None:
        return ""
    return content if isinstance(content, str) else between.join(part.text for part in content)


def joined(first: Content, second: Content, between: str) -> str:
    """Two contents as one text; an empty one leaves no gap."""
    return between.join(filter(None, (text_of(first), text_of(second))))


def trimmed(message: Message) -> Message:
    """The message without white space around its texts."""
    content = message.content
    if isinstance(content, tuple):
        return replace(message, content=tuple(TextPart(part.text.strip()) for part in content))
    return replace(message, content=content.strip()) if content else message
