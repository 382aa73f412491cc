"""`--completion-bash`: a script to source, for both commands and for a link named llama-server."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from ferrox_gguf.cli.flags.table import FLAGS

PATH_HINTS = ("FNAME", "FILE", "PATH", "DIR", "JINJA_TEMPLATE_FILE")

SCRIPT = """\
# bash completion for ferrox-server; load with: source <(ferrox-server --completion-bash)
_ferrox_server() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}
    case $before in
{cases}
    esac
    COMPREPLY=($(compgen -W {flags} -- "$word"))
}}
complete -o filenames -F _ferrox_server ferrox-server llama-server"""


def completion_bash() -> str:
    """The script."""
    spellings = sorted({name for flag in FLAGS for name in (*flag.names, *flag.off)})
    files = [name for flag in FLAGS if flag.value and flag.value.hint in PATH_HINTS for name in flag.names]
    cases = [_case(files, 'COMPREPLY=($(compgen -f -- "$word")); ')]
    for flag in FLAGS:
        if flag.value and flag.value.choices:
            words = shlex.quote(" ".join(flag.value.choices))
            cases.append(_case(flag.names, f'COMPREPLY=($(compgen -W {words} -- "$word")); '))
        elif flag.value and flag.value.hint not in PATH_HINTS:
            cases.append(_case(flag.names, ""))
    return SCRIPT.format(cases="\n".join(cases), flags=shlex.quote(" ".join(spellings)))


def _case(names: Sequence[str], then: str) -> str:
    return f"        {'|'.join(names)}) {then}return ;;"
