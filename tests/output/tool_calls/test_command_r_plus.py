from __future__ import annotations

import pytest
from support.calls import Call, Said, said

LIST = '[{"tool_name": "ping", "parameters": {}}]'


@pytest.mark.parametrize(
    "written",
    [f"Action: ```json\n{LIST}\n```", f"Action:\n```json{LIST}```", f"Action:\n{LIST}", f"Action: ```{LIST}```"],
)
def test_layout_and_fence_vary(written):
    assert said("command_r_plus", f"I will ping. {written}") == Said("I will ping.", (Call("ping"),))


@pytest.mark.parametrize(
    "text",
    [
        "Action: go.",
        "Action: [1]",
        "Action:",
        "Action: ```json\n{}\n```",
        'Action: ```json\n[{"tool_name": "directly-answer", "parameters": {}}]\n```',
    ],
)
def test_the_word_without_a_list_of_offered_tools_is_text(text):
    assert said("command_r_plus", text) == Said(text)
