"""`continue_final_message`: what is continued, what is refused, and the text that is written again (K1 to K10).

The only place that applies the default, for every API alike (K11). Refusals come before any rendering. What follows the
history is written with the bare markers of the family's format; the layout of the generation prompt itself is kept.
"""

from __future__ import annotations

from dataclasses import dataclass

from ferrox_gguf.errors import FerroxError, InvalidField, NotSupported
from ferrox_gguf.posture.open_block import answer_at, block_state, closer_at, opener_at
from ferrox_gguf.posture.values import BlockState, Posture, ReasoningFormat, ReasoningStyle
from ferrox_gguf.request import ChatRequest, Continuation, Message
from ferrox_gguf.template.text import text_of

_FIELD = "continue_final_message"
_WAYS_OUT = (
    "The last message is an assistant's, so it would be continued. "
    "Send `continue_final_message: false` to have it closed, "
    "or start the server with `--no-prefill-assistant` to never continue unasked."
)
_CHANNELS = {ReasoningStyle.HARMONY: "harmony", ReasoningStyle.ATEM: "ATEM"}


@dataclass(frozen=True, slots=True)
class Continued:
    """The last message, to be continued. reasoning_only: its thought goes on; otherwise its answer does.

    implied: nobody asked in words; a trailing assistant message did.
    """

    message: Message
    reasoning_only: bool
    implied: bool

    @property
    def thought(self) -> str:
        return self.message.reasoning or ""

    @property
    def text(self) -> str:
        """Parts stand apart by an empty line, as llama-server writes them here."""
        return "" if self.reasoning_only else text_of(self.message.content, "\n\n")


def resolve(request: ChatRequest, posture: Posture, *, prefill: bool) -> Continued | None:
    """What this request continues, None for nothing. prefill: a trailing assistant message is continued unasked.

    Raises InvalidField (400) or NotSupported (501), saying what to do instead.
    """
    last = request.messages[-1] if request.messages else None
    mode = request.continuation
    implied = mode is Continuation.UNSET
    if mode is Continuation.OFF or (implied and not (prefill and last is not None and last.role == "assistant")):
        return None
    try:
        message = _continuable(request, implied)
        reasoning_only = _reasoning_only(message, mode)
        _refuse_unsupported(message, posture, reasoning_only)
    except FerroxError as error:
        raise _with_ways_out(error) if implied else error from None
    return Continued(message, reasoning_only, implied)


def _continuable(request: ChatRequest, implied: bool) -> Message:
    if not request.messages:
        raise InvalidField("messages", "there is no message to continue; add the assistant's message as the last one")
    last = request.messages[-1]
    if last.role != "assistant":
        raise InvalidField(
            _FIELD,
            f"only an assistant's message can be continued, and the last one is of role {last.role!r}; "
            f"add the assistant's message, or leave {_FIELD} out",
        )
    if len(request.messages) > 1 and request.messages[-2].role == "assistant":
        raise InvalidField("messages", "two assistant messages stand at the end; join them into the one to continue")
    if request.add_generation_prompt and not implied:
        raise InvalidField(
            "add_generation_prompt",
            f"a new turn and the continuation of the last one exclude each other; drop one of "
            f"add_generation_prompt and {_FIELD}",
        )
    return last


def _reasoning_only(message: Message, mode: Continuation) -> bool:
    if mode in (Continuation.REASONING, Continuation.CONTENT):
        return mode is Continuation.REASONING
    return bool(message.reasoning) and not text_of(message.content)


def _refuse_unsupported(message: Message, posture: Posture, reasoning_only: bool) -> None:
    reasoning = posture.reasoning
    if message.tool_calls:
        raise NotSupported(
            "a message with tool calls cannot be continued; add the results of its calls as messages of role 'tool'"
        )
    if reasoning is None:
        if reasoning_only or message.reasoning:
            raise NotSupported(
                "this model has no reasoning format, so no thought can be continued; "
                "leave reasoning_content out and continue the content"
            )
        return
    if reasoning.style in _CHANNELS:
        raise NotSupported(
            f"this model writes its messages in the channels of {_CHANNELS[reasoning.style]}, "
            "where a message cannot be continued; send it closed and let the model answer anew"
        )
    if reasoning.always_open and reasoning.style is ReasoningStyle.PAIR and not reasoning_only:
        raise NotSupported(
            f"models of the format {reasoning.name} always think first, so their content cannot be continued; "
            'continue the thought with continue_final_message: "reasoning_content"'
        )


def _with_ways_out(error: FerroxError) -> FerroxError:
    if isinstance(error, InvalidField):
        return InvalidField(error.field, f"{error.reason}. {_WAYS_OUT}")
    return NotSupported(f"{error}. {_WAYS_OUT}")


def resumed(added: str, continued: Continued, posture: Posture) -> tuple[str, BlockState]:
    """The generation prompt with the message written after it, and the state in which that leaves the block.

    added: what the template added for this turn, with the block that it may hold.
    """
    reasoning = posture.reasoning
    if reasoning is None:
        recipient = "all\n" if posture.tool_format == "functionary_v32" else ""
        return added + recipient + continued.text, BlockState.UNOPENED
    if continued.reasoning_only:
        return _without_block(added, reasoning) + reasoning.opener + continued.thought, BlockState.OPEN
    if continued.thought or block_state(added, reasoning) is BlockState.OPEN:
        added = _without_block(added, reasoning)
        added += reasoning.opener + continued.thought + reasoning.closer + reasoning.header
    return added + _answer_opener(added, reasoning) + continued.text, BlockState.CLOSED


def _without_block(added: str, reasoning: ReasoningFormat) -> str:
    """The generation prompt up to the block that it holds, so that the block is written exactly once."""
    starts = [opener_at(added, reasoning)]
    if starts[0] < 0:
        starts = [closer_at(added, reasoning), answer_at(added, reasoning)]
    found = [start for start in starts if start >= 0]
    return added[: min(found)] if found else added


def _answer_opener(added: str, reasoning: ReasoningFormat) -> str:
    """The wrapper around answers, unless the prompt has opened it already (K5c)."""
    return reasoning.wrapper[0] if reasoning.wrapper and answer_at(added, reasoning) < 0 else ""
