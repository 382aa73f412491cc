from dataclasses import replace

from ferrox_gguf.request import Message, TextPart, ToolCall
from ferrox_gguf.template.capabilities import Capabilities
from ferrox_gguf.template.roles import placed

TALK = (
    Message("system", "Be brief."),
    Message("user", "Why?"),
    Message("assistant", "Because."),
    Message("developer", "Be kind."),
    Message("user", "Why not?"),
    Message("user", (TextPart("Say"), TextPart("it"))),
)
ANYTHING = Capabilities()


def told(messages, takes):
    return [(message.role, message.content) for message in placed(messages, takes)]


def test_a_template_that_takes_everything_gets_everything_as_it_was():
    assert placed(TALK, replace(ANYTHING, developer_role=True)) == list(TALK)


def test_developer_is_system_for_a_template_that_has_not_heard_of_it():
    assert told(TALK, ANYTHING)[3] == ("system", "Be kind.")


def test_late_instructions_are_joined_to_the_first_where_the_template_wants_them_there():
    assert told(TALK, replace(ANYTHING, late_system=False))[:2] == [
        ("system", "Be brief.\n\nBe kind."),
        ("user", "Why?"),
    ]


def test_late_instructions_become_the_first_message_when_there_was_none():
    assert told(TALK[1:], replace(ANYTHING, late_system=False))[0] == ("system", "Be kind.")


def test_without_a_system_role_the_text_stands_in_the_first_question():
    takes = replace(ANYTHING, late_system=False, system_role=False)
    assert told(TALK, takes)[0] == ("user", "Be brief.\n\nBe kind.\nWhy?")


def test_instructions_alone_are_a_question_where_there_is_no_system_role():
    takes = replace(ANYTHING, late_system=False, system_role=False)
    assert told([Message("system", "Be brief.")], takes) == [("user", "Be brief.")]


def test_two_messages_of_one_speaker_are_one_where_the_template_insists():
    takes = replace(ANYTHING, late_system=False, same_role_twice=False)
    assert told(TALK, takes)[-1] == ("user", "Why not?\n\nSay\nit")


def test_answers_are_joined_with_their_thoughts_and_calls_stay_apart():
    call = ToolCall("f", "{}", "1")
    talk = [
        Message("user", "Q"),
        Message("assistant", "A", "T"),
        Message("assistant", "B", "U", (call,)),
        Message("assistant", "C"),
    ]
    joined, apart = placed(talk, replace(ANYTHING, same_role_twice=False))[1:]
    assert (joined.content, joined.reasoning, joined.tool_calls) == ("A\n\nB", "T\n\nU", (call,))
    assert apart == talk[-1]


def test_a_question_right_after_a_result_follows_an_empty_answer_where_speakers_must_alternate():
    talk = [
        Message("user", "Q"),
        Message("assistant", None, tool_calls=(ToolCall("f", "{}", "1"),)),
        Message("tool", "R", tool_call_id="1"),
        Message("user", "Never mind."),
    ]
    assert told(talk, replace(ANYTHING, same_role_twice=False))[2:] == [
        ("tool", "R"),
        ("assistant", ""),
        ("user", "Never mind."),
    ]
    assert placed(talk, ANYTHING) == talk
