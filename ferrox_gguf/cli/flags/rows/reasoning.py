"""How thinking is steered, and where it is shown."""

from __future__ import annotations

from ferrox_gguf.cli.flags.flag import Flag, Group, Value
from ferrox_gguf.cli.flags.values import integer, mapped, on_off_auto, text
from ferrox_gguf.request import ReasoningDisplay


def effort(word: str) -> str | None:
    """Any word the template knows; `default` leaves it to the template."""
    return None if word == "default" else word


ROWS = (
    Flag(
        names=("-rea", "--reasoning"),
        group=Group.REASONING,
        value=on_off_auto(),
        env=("LLAMA_ARG_REASONING",),
        sets="chat.reasoning.enabled",
        help="let the model think; auto: where its template knows how",
    ),
    Flag(
        names=("--reasoning-format",),
        group=Group.REASONING,
        value=mapped({display.value: display for display in ReasoningDisplay}, hint="FORMAT"),
        env=("LLAMA_ARG_THINK",),
        sets="chat.reasoning.display",
        help="where a thought is shown: in reasoning_content (auto, deepseek), left in content (none), "
        "or both (deepseek-legacy)",
    ),
    Flag(
        names=("--reasoning-effort",),
        group=Group.REASONING,
        value=Value("LEVEL", effort, choices=("default", "minimal", "low", "medium", "high", "xhigh", "max")),
        env=("LLAMA_ARG_REASONING_EFFORT",),
        sets="chat.reasoning.effort",
        default="default, the template's own",
        help="how much to think, in the template's words: minimal, low, medium, high, xhigh, max, …",
    ),
    Flag(
        names=("--reasoning-budget",),
        group=Group.REASONING,
        value=integer(-1),
        env=("LLAMA_ARG_THINK_BUDGET",),
        sets="chat.reasoning.budget",
        default="-1, no limit",
        help="tokens of thought, at most; 0 ends it at once",
    ),
    Flag(
        names=("--reasoning-budget-message",),
        group=Group.REASONING,
        value=text("MESSAGE"),
        env=("LLAMA_ARG_THINK_BUDGET_MESSAGE",),
        sets="chat.reasoning.budget_message",
        help="text written at the end of a thought that used up its budget",
    ),
    Flag(
        names=("--reasoning-preserve",),
        off=("--no-reasoning-preserve",),
        group=Group.REASONING,
        env=("LLAMA_ARG_REASONING_PRESERVE",),
        sets="chat.reasoning.preserve",
        help="show the model its earlier thoughts too, where the template can",
    ),
    Flag(
        names=("--reasoning-parser",),
        group=Group.REASONING,
        value=text("NAME"),
        env=("FERROX_REASONING_PARSER",),
        sets="chat.reasoning.parser",
        default="found from the model",
        ours=True,
        help="read thoughts in this format; ferrox-gguf inspect shows what is found",
    ),
)
