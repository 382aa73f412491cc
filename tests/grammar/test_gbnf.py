"""llama.cpp's grammar notation."""

from __future__ import annotations

import time

import pytest
from support.grammar_view import View
from support.grammar_walk import accepts

from ferrox_gguf.errors import InvalidField
from ferrox_gguf.grammar.source import Source, source_of
from ferrox_gguf.request import GrammarKind, GrammarSpec

JSON = r"""
# As llama.cpp's own example of a recursive grammar is built.
root   ::= object
value  ::= object | array | string | number | ("true" | "false" | "null") ws
object ::=
  "{" ws (
            string ":" ws value
    ("," ws string ":" ws value)*
  )? "}" ws
array  ::= "[" ws ( value ("," ws value)* )? "]" ws
string ::= "\"" ( [^"\\\x7F\x00-\x1F] | "\\" (["\\bfnrt] | "u" [0-9a-fA-F]{4}) )* "\"" ws
number ::= ("-"? ([0-9] | [1-9] [0-9]{0,15})) ("." [0-9]+)? ([eE] [-+]? [0-9] [1-9]{0,15})? ws
ws ::= | " " | "\n" [ \t]{0,20}
"""


def source(view: View, grammar: str) -> Source:
    return source_of(GrammarSpec(GrammarKind.GBNF, grammar), view.vocab.token_of)


@pytest.mark.parametrize(
    ("grammar", "right", "wrong"),
    [
        ('root ::= "a" | "bc"', ["a", "bc"], ["", "b", "ab"]),
        ('root ::= "a"+ "b"? "c"*', ["a", "aab", "accc"], ["", "b"]),
        ('root ::= "a"{2} "b"{1,} "c"{0,1} "d"{0}', ["aab", "aabbc"], ["ab", "aaab", "aabcc", "aabd"]),
        ("root ::= [a-c] [^a-c\\]] [0-9-]", ["ax1", "b--"], ["aa1", "a]1", "dx1", "axx"]),
        (r'root ::= "\x41\u00e9\U0001F600\t\"\\"', ['Aé😀\t"\\'], ["A"]),
        ('root ::= "é" [ß-ü] .', ["éßx", "éö\n", "éü😀"], ["éax", "éß"]),
        ('root ::= ("a" | "b") ("c" | "d")', ["ac", "bd"], ["ab"]),
        ('root ::= a-b_c\na-b_c ::= "x" # a remark\n\n# another\n', ["x"], ["#"]),
        ('root ::= "x" |\n  "y"', ["x", "y"], ["xy"]),
        ('root ::= "x"\n  | "y"', ["x", "y"], ["xy"]),
        ('root ::= (\n "x"\n | "y"\n)', ["x", "y"], ["xy"]),
        ('root ::= "x" | ', ["x", ""], ["y"]),
        ('root ::= "(" root ")" | "x"', ["x", "((x))"], ["(x", "()"]),
        ('root ::= root "+" "1" | "1"', ["1", "1+1+1"], ["1+", "+1"]),
        ('root ::= [a-z]* "x"', ["x", "abx", "xx"], ["", "ab"]),
        ('root ::= "a"\nroot ::= "b"', ["b"], ["a"]),
        (JSON, ['{"a": [1, -2.5e+3, {"b": null}], "é\\n": "\\u00e9"}', "{}"], ["[1]", '{"a"}', "{"]),
    ],
)
def test_a_grammar_allows_what_it_says_and_nothing_else(
    view: View, grammar: str, right: list[str], wrong: list[str]
) -> None:
    compiled = source(view, grammar)
    assert all(accepts(view, compiled, text) for text in right)
    assert not any(accepts(view, compiled, text) for text in wrong)


def test_a_special_token_may_stand_for_its_text_and_can_be_named(view: View) -> None:
    token = view.vocab.token_of("<tool_call>")
    for grammar in ('root ::= "<tool_call>x"', 'root ::= <tool_call> "x"', f'root ::= <[{token}]> "x"'):
        assert accepts(view, source(view, grammar), "<tool_call>x")
    assert not accepts(view, source(view, 'root ::= !<tool_call> "x"'), "<tool_call>x")
    with pytest.raises(InvalidField, match="no token '<none>'"):
        source(view, "root ::= <none>")


@pytest.mark.parametrize(
    ("grammar", "reason"),
    [
        ("", "no rule named root"),
        ('rot ::= "a"', "no rule named root"),
        ("root ::= other", "'other', which is not defined"),
        ('root ::= "a', "cannot be read"),
        ("root ::= [", "cannot be read"),
        ("root ::= []", "a set of no characters"),
        ("root ::= [b-a]", "the range b-a is empty"),
        ('root ::= ("a"', "closing bracket"),
        ('root ::= "a")', "stands where"),
        ("root ::= *", "nothing before it"),
        ('root ::= "a"{3,1}', "asks for more"),
        (r'root ::= "\q"', r"no escape \\q"),
        (r'root ::= "\uD800"', "is no character"),
        ("root := x", "cannot be read"),
        ("root", "the grammar ends where"),
        ("root ::= " + "(" * 200 + '"a"' + ")" * 200, "100 deep"),
        ('root ::= a\na ::= "b"\n\n  c "d"', "line 4"),
    ],
)
def test_what_is_no_grammar_is_refused_with_a_reason(view: View, grammar: str, reason: str) -> None:
    with pytest.raises(InvalidField, match=reason) as refused:
        source(view, grammar)
    assert refused.value.field == "grammar"


def test_a_long_grammar_is_read_in_linear_time(view: View) -> None:
    def seconds(rules: int) -> float:
        text = "root ::= r0\n" + "\n".join(f'r{i} ::= "x" r{i + 1}?' for i in range(rules)) + f'\nr{rules} ::= "y"'
        began = time.process_time()
        source(view, text)
        return time.process_time() - began

    assert seconds(4000) < 20 * max(seconds(500), 0.005)
