"""Our own files for llama-server's built-in names, against the expected text and against llama.cpp itself."""

import ctypes

import llama_cpp
import pytest

from ferrox_gguf.jinja import compile_template
from ferrox_gguf.template import named

CONVERSATIONS = {
    "one question": [("user", "Why?")],
    "with a system text": [("system", " Be brief. "), ("user", " Why? ")],
    "several turns": [
        ("system", "Be brief."),
        ("user", "Why?"),
        ("assistant", " Because. "),
        ("user", "Is that so?"),
        ("assistant", "Yes."),
        ("user", "Thank you"),
    ],
    "without a system text": [("user", "Why?"), ("assistant", " Because. "), ("user", "Is that so?\n")],
    "ending with an answer": [("user", "Why?"), ("assistant", "Because.")],
    "two questions": [("user", "Why?"), ("user", "Why not?")],
    "a late system text": [("user", "Why?"), ("assistant", "Because."), ("system", "Be brief."), ("user", "And?")],
}


def llama_cpp_says(name, conversation, add_generation_prompt):
    messages = (llama_cpp.llama_chat_message * len(conversation))(
        *(llama_cpp.llama_chat_message(role.encode(), text.encode()) for role, text in conversation)
    )
    buffer = ctypes.create_string_buffer(10_000)
    length = llama_cpp.llama_chat_apply_template(
        name.encode(), messages, len(conversation), add_generation_prompt, buffer, len(buffer)
    )
    assert 0 <= length < len(buffer)
    return buffer.raw[:length].decode()


def rendered(name, conversation, add_generation_prompt):
    messages = [{"role": role, "content": text} for role, text in conversation]
    source = named.source(name)
    assert source is not None
    return compile_template(source).render(messages, None, add_generation_prompt, bos_token="<s>", eos_token="</s>")


@pytest.mark.parametrize("name", named.names())
def test_a_named_template_writes_what_llama_cpp_writes_under_that_name(name):
    for conversation in CONVERSATIONS.values():
        for generation_prompt in (True, False):
            expected = llama_cpp_says(name, conversation, generation_prompt)
            assert rendered(name, conversation, generation_prompt) == expected


def test_every_name_that_llama_cpp_knows_has_a_file():
    count = llama_cpp.llama_chat_builtin_templates(None, 0)
    out = (ctypes.c_char_p * count)()
    llama_cpp.llama_chat_builtin_templates(out, count)
    assert named.names() == sorted(name.decode() for name in out)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("chatml", "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nQ<|im_end|>\n<|im_start|>assistant\n"),
        (
            "llama3",
            "<|start_header_id|>system<|end_header_id|>\n\nS<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nQ"
            "<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
        ),
        ("llama2-sys", "[INST] <<SYS>>\nS\n<</SYS>>\n\nQ [/INST]"),
        ("mistral-v1", " [INST] S\n\nQ [/INST]"),
        ("mistral-v3-tekken", "[INST]S\n\nQ[/INST]"),
        ("mistral-v7", "[SYSTEM_PROMPT] S[/SYSTEM_PROMPT][INST] Q[/INST]"),
        ("gemma", "<start_of_turn>user\nS\n\nQ<end_of_turn>\n<start_of_turn>model\n"),
        (
            "phi4",
            "<|im_start|>system<|im_sep|>S<|im_end|><|im_start|>user<|im_sep|>Q<|im_end|><|im_start|>assistant<|im_sep|>",
        ),
        ("deepseek3", "S\n\n<｜User｜>Q<｜Assistant｜>"),
        ("bailing-think", "<role>SYSTEM</role>S<role>HUMAN</role>Q<role>ASSISTANT</role><think>"),
        ("gpt-oss", "<|start|>system<|message|>S<|end|><|start|>user<|message|>Q<|end|><|start|>assistant"),
        ("minicpm", "S<用户>Q<AI>"),
    ],
)
def test_a_named_template_writes_its_format(name, expected):
    assert rendered(name, [("system", "S"), ("user", "Q")], True) == expected


@pytest.mark.parametrize("name", named.names())
def test_a_file_says_what_it_is_and_where_the_format_comes_from(name):
    source = named.source(name)
    assert source is not None
    comment = source.partition("#}")[0]
    assert comment.startswith("{#\n")
    assert "\nOrigin: " in comment


def test_a_name_is_not_a_path():
    assert named.source("../chat_templates/chatml") is None
    assert named.source("nonesuch") is None
