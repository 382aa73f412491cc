"""What a GGUF file says about itself, read off its header in well under 0.3 s: no weights, no arrays made.

`read_facts` is the one entry of this room. What the facts mean for the output is decided in `posture/`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from gguf.constants import Keys, LlamaFileType

from ferrox_gguf.errors import GgufError
from ferrox_gguf.gguf.header import Header, Scalar, read_header
from ferrox_gguf.gguf.split import parts_of
from ferrox_gguf.gguf.vocabulary import SpecialToken, read_vocabulary, token_at


@dataclass(frozen=True, slots=True)
class NamedToken:
    """A token the metadata names by id. text: None when the vocabulary has no such id."""

    id: int
    text: str | None


@dataclass(frozen=True, slots=True)
class FileFacts:
    """One model file. Absent keys are None (or empty).

    files: the file itself, or all parts of a split model in order.  size: bytes in all of them.
    chat_template: the default template's source; it may be a short name instead of Jinja.
    named_templates: `tokenizer.chat_template.NAME` by NAME, as spelled.
    special_tokens: control and user-defined tokens by text.  vocabulary_size: all tokens.
    context_length: positions the model was trained for.  parameters: weights in all files.
    quantization: of most tensors, in llama.cpp's words ("Q4_K_M").  metadata: every scalar and string key, as stored.
    """

    path: str
    architecture: str
    version: int = 3
    files: tuple[str, ...] = ()
    size: int = 0
    name: str | None = None
    basename: str | None = None
    finetune: str | None = None
    size_label: str | None = None
    chat_template: str | None = None
    named_templates: Mapping[str, str] = field(default_factory=dict)
    tokenizer: str | None = None
    pre_tokenizer: str | None = None
    vocabulary_size: int = 0
    special_tokens: Mapping[str, SpecialToken] = field(default_factory=dict)
    bos: NamedToken | None = None
    eos: NamedToken | None = None
    eot: NamedToken | None = None
    eom: NamedToken | None = None
    add_bos: bool | None = None
    add_eos: bool | None = None
    context_length: int | None = None
    embedding_length: int | None = None
    block_count: int | None = None
    parameters: int = 0
    quantization: str | None = None
    metadata: Mapping[str, Scalar] = field(default_factory=dict)


def read_facts(path: str) -> FileFacts:
    """The facts of the model at path. Raises GgufError for every way in which the file can be broken."""
    header = read_header(path)
    architecture = header.string(Keys.General.ARCHITECTURE)
    if not architecture:
        raise GgufError(path, f"the metadata has no {Keys.General.ARCHITECTURE}")
    parts = parts_of(header)
    vocabulary = read_vocabulary(header)
    return FileFacts(
        path=path,
        architecture=architecture,
        version=header.version,
        files=tuple(part.path for part in parts),
        size=sum(part.size for part in parts),
        name=header.string(Keys.General.NAME),
        basename=header.string(Keys.General.BASENAME),
        finetune=header.string(Keys.General.FINETUNE),
        size_label=header.string(Keys.General.SIZE_LABEL),
        chat_template=header.string(Keys.Tokenizer.CHAT_TEMPLATE),
        named_templates=MappingProxyType(_named_templates(header)),
        tokenizer=header.string(Keys.Tokenizer.MODEL),
        pre_tokenizer=header.string(Keys.Tokenizer.PRE),
        vocabulary_size=vocabulary.size,
        special_tokens=vocabulary.special,
        bos=_token(header, Keys.Tokenizer.BOS_ID),
        eos=_token(header, Keys.Tokenizer.EOS_ID),
        eot=_token(header, Keys.Tokenizer.EOT_ID),
        eom=_token(header, Keys.Tokenizer.EOM_ID),
        add_bos=header.boolean(Keys.Tokenizer.ADD_BOS),
        add_eos=header.boolean(Keys.Tokenizer.ADD_EOS),
        context_length=header.integer(Keys.LLM.CONTEXT_LENGTH.format(arch=architecture)),
        embedding_length=header.integer(Keys.LLM.EMBEDDING_LENGTH.format(arch=architecture)),
        block_count=header.integer(Keys.LLM.BLOCK_COUNT.format(arch=architecture)),
        parameters=sum(part.tensors.parameters for part in parts),
        quantization=_quantization(header),
        metadata=MappingProxyType(dict(header.scalars)),
    )


def _named_templates(header: Header) -> dict[str, str]:
    prefix = Keys.Tokenizer.CHAT_TEMPLATE + "."
    named = {key[len(prefix) :]: header.string(key) for key in header.scalars if key.startswith(prefix)}
    return {name: source for name, source in named.items() if name and source is not None}


def _token(header: Header, key: str) -> NamedToken | None:
    found = token_at(header, key)
    return found and NamedToken(*found)


def _quantization(header: Header) -> str | None:
    kind = header.integer(Keys.General.FILE_TYPE)
    if kind is None:
        kinds = header.tensors.kinds
        return max(kinds, key=lambda name: kinds[name]) if kinds else None
    try:
        return str(LlamaFileType(kind).name).removeprefix("MOSTLY_").removeprefix("ALL_")
    except ValueError:
        return f"type {kind}"
