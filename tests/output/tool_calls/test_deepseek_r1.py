from __future__ import annotations

from support.calls import Call, Said, said

SECTION, CALL, SEP = "<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>", "<｜tool▁sep｜>"
END, SECTION_END = "<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>"


def test_the_line_break_before_the_closing_fence_is_optional():
    text = f'{SECTION}{CALL}function{SEP}ping\n```json\n{{"a": 1}}```{END}{SECTION_END}'
    assert said("deepseek_r1", text) == Said("", (Call("ping", '{"a":1}'),))


def test_the_fence_may_be_missing():
    text = f'{SECTION}{CALL}function{SEP}ping\n{{"a": 1}}{END}{SECTION_END}'
    assert said("deepseek_r1", text) == Said("", (Call("ping", '{"a":1}'),))


def test_the_fence_closes_arguments_whose_brace_was_dropped():
    text = f'{SECTION}{CALL}function{SEP}ping\n```json\n{{"a": 1\n```{END}{SECTION_END}'
    assert said("deepseek_r1", text) == Said("", (Call("ping", '{"a":1}'),))


def test_the_section_markers_may_be_missing():
    text = f"{CALL}function{SEP}ping\n```json\n{{}}\n```{END}"
    assert said("deepseek_r1", "So: " + text) == Said("So:", (Call("ping"),))


def test_text_between_two_calls_stays_where_it_was():
    call = f"{CALL}function{SEP}ping\n```json\n{{}}\n```{END}"
    text = f"{SECTION}{call} and {call}{SECTION_END} done"
    assert said("deepseek_r1", text) == Said("and done", (Call("ping"), Call("ping")))
