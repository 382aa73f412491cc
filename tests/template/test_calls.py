from dataclasses import replace

import pytest

from ferrox_gguf.request import Message, ToolCall
from ferrox_gguf.template.calls import linked, renamed, split_up
from ferrox_gguf.template.capabilities import Capabilities

ANYTHING = Capabilities()
TWO = (ToolCall("look", "{}", "a"), ToolCall("listen", "{}", "b"))


def result(text, id=None, name=None):
    return Message("tool", text, tool_call_id=id, name=name)


def test_results_stand_in_the_order_of_their_calls_and_carry_the_names():
    messages = linked([Message("assistant", None, tool_calls=TWO), result("heard", "b"), result("seen", "a")])
    assert [(m.content, m.name) for m in messages[1:]] == [("seen", "look"), ("heard", "listen")]


def test_results_without_an_id_answer_by_name_or_in_order():
    calls = Message("assistant", None, tool_calls=TWO)
    by_name = linked([calls, result("heard", name="listen"), result("seen")])
    assert [(m.content, m.tool_call_id) for m in by_name[1:]] == [("seen", "a"), ("heard", "b")]
    in_order = linked([calls, result("seen"), result("heard")])
    assert [(m.content, m.tool_call_id) for m in in_order[1:]] == [("seen", "a"), ("heard", "b")]


def test_calls_without_an_id_get_nine_letters_and_digits_each():
    nameless = tuple(replace(call, id=None) for call in TWO)
    messages = linked([Message("assistant", None, tool_calls=nameless), result("seen"), result("heard")])
    ids = [call.id for call in messages[0].tool_calls]
    assert len(set(ids)) == 2
    assert all(len(id) == 9 and id.isalnum() for id in ids)
    assert [m.tool_call_id for m in messages[1:]] == ids


def test_a_result_whose_id_is_unknown_answers_the_call_that_waits():
    call, answer = linked([Message("assistant", None, tool_calls=TWO[:1]), result("seen", "renumbered")])
    assert answer.tool_call_id == call.tool_calls[0].id


def test_a_result_that_answers_nothing_is_text_of_the_users():
    (stray,) = linked([result("?", "nobody")])
    assert (stray.role, stray.content) == ("user", "<tool_response>\n?\n</tool_response>")


def test_one_call_at_a_time_is_followed_by_its_own_result():
    takes = replace(ANYTHING, parallel_calls=False)
    messages = split_up(linked([Message("assistant", "Hm", "T", TWO), result("seen"), result("heard")]), takes)
    assert [(m.role, m.content, m.reasoning, [c.name for c in m.tool_calls]) for m in messages] == [
        ("assistant", "Hm", "T", ["look"]),
        ("tool", "seen", None, []),
        ("assistant", None, None, ["listen"]),
        ("tool", "heard", None, []),
    ]


def test_text_stands_before_its_calls_where_the_template_would_hide_them():
    takes = replace(ANYTHING, content_with_calls=False)
    before, calling = split_up([Message("assistant", "Hm", tool_calls=TWO)], takes)
    assert (before.content, before.tool_calls) == ("Hm", ())
    assert (calling.content, calling.tool_calls) == (None, TWO)


def test_templates_that_want_nine_characters_get_them_and_the_same_ones_each_time():
    takes = replace(ANYTHING, short_ids=True)
    talk = [
        Message("assistant", None, tool_calls=(ToolCall("f", "{}", "call_123456789abcdef"),)),
        result("r", "call_123456789abcdef"),
    ]
    first, second = renamed(talk, takes, "mistral"), renamed(talk, takes, "mistral")
    id = first[0].tool_calls[0].id
    assert len(id) == 9
    assert id.isalnum()
    assert first[1].tool_call_id == id
    assert first == second


def test_an_id_of_nine_characters_is_kept():
    talk = [Message("assistant", None, tool_calls=(ToolCall("f", "{}", "aB3dE6gH9"),)), result("r", "aB3dE6gH9")]
    assert renamed(talk, replace(ANYTHING, short_ids=True), "mistral") == talk


def test_kimi_counts_its_calls_over_the_conversation_and_keeps_what_it_wrote():
    def talk(first, second):
        return [
            Message("assistant", None, tool_calls=(ToolCall("f", "{}", first),)),
            result("r", first),
            Message("assistant", None, tool_calls=(ToolCall("g", "{}", second),)),
            result("s", second),
        ]

    assert renamed(talk("call_1", "call_2"), ANYTHING, "kimi_k2") == talk("functions.f:0", "functions.g:1")
    assert renamed(talk("functions.f:7", "x"), ANYTHING, "kimi_k2") == talk("functions.f:7", "functions.g:1")


@pytest.mark.parametrize("tool_format", [None, "qwen25"])
def test_other_models_see_the_ids_that_the_client_sent(tool_format):
    talk = [Message("assistant", None, tool_calls=TWO), result("r", "a")]
    assert renamed(talk, ANYTHING, tool_format) == talk
