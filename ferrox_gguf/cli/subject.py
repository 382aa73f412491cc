"""What `inspect`, `render` and `parse` are asked about: a model file, or a template with what is known beside it."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from ferrox_gguf.errors import StartupError, TemplateBroken
from ferrox_gguf.gguf import FileFacts, read_facts
from ferrox_gguf.posture import PostureInputs, resolve
from ferrox_gguf.posture.inputs import inputs_of
from ferrox_gguf.posture.values import Posture
from ferrox_gguf.template.source import TemplateChoice, choose_template


@dataclass(frozen=True, slots=True)
class Subject:
    """facts: None without a model file.  inputs: what is known besides the template."""

    facts: FileFacts | None
    inputs: PostureInputs
    template: TemplateChoice
    reasoning_parser: str | None
    tool_call_parser: str | None

    def posture(self, *, tools: bool = False) -> Posture:
        """How it speaks, in requests with or without tools."""
        source = self.template.serving(tools=tools) if self.template.explicit else None
        return resolve(
            self.inputs, source, reasoning_parser=self.reasoning_parser, tool_call_parser=self.tool_call_parser
        )


def add_subject_flags(parser: argparse._ActionsContainer, *, positional: bool) -> None:
    """positional: the model file is the command's argument, rather than --model's."""
    if positional:
        parser.add_argument("model", nargs="?", metavar="MODEL.gguf", help="a model file; its weights are not loaded")
    else:
        parser.add_argument("-m", "--model", metavar="FILE", help="a model file; its weights are not loaded")
    parser.add_argument("--chat-template-file", metavar="FILE", help="a Jinja template, instead of the file's own")
    parser.add_argument("--chat-template", metavar="NAME", help="a built-in template by its name, or Jinja source")
    parser.add_argument("--arch", metavar="NAME", help="general.architecture, where there is no file to say so")
    parser.add_argument("--name", metavar="NAME", help="the model's name, where there is no file to say so")
    add_parser_flags(parser)


def add_parser_flags(parser: argparse._ActionsContainer) -> None:
    parser.add_argument("--reasoning-parser", metavar="NAME", help="the reasoning format, instead of finding it out")
    parser.add_argument("--tool-call-parser", metavar="NAME", help="the tool call format, instead of finding it out")


def subject_of(given: argparse.Namespace, *, required: bool = True) -> Subject:
    """Raises StartupError when what is given cannot be read, or when something is required and nothing given."""
    template, origin = _template_given(given)
    if required and given.model is None and template is None:
        raise StartupError("give a model file or --chat-template-file")
    facts = read_facts(given.model) if given.model is not None else None
    inputs = inputs_of(facts) if facts else PostureInputs()
    inputs = PostureInputs(
        architecture=given.arch or inputs.architecture,
        names=(given.name,) if given.name else inputs.names,
        markers=inputs.markers,
        bos_token=inputs.bos_token,
        eos_token=inputs.eos_token,
    )
    try:
        choice = choose_template(
            template,
            facts.chat_template if facts else None,
            facts.named_templates if facts else None,
            given_origin=origin,
        )
    except TemplateBroken as error:
        raise StartupError(f"{origin if template else given.model}: the template is not valid: {error}") from error
    return Subject(facts, inputs, choice, given.reasoning_parser, given.tool_call_parser)


def _template_given(given: argparse.Namespace) -> tuple[str | None, str]:
    if given.chat_template_file is not None:
        return read_text(given.chat_template_file), "--chat-template-file"
    return given.chat_template, "--chat-template"


def read_text(path: str | Path) -> str:
    """A UTF-8 text file, line ends as they are. Raises StartupError when it cannot be read."""
    try:
        return Path(path).read_bytes().decode("utf-8")
    except OSError as error:
        raise StartupError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise StartupError(f"{path}: is not UTF-8 text") from None
