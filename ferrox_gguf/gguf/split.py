"""A model cut into several files (`NAME-00001-of-00003.gguf`): which they are, and whether all of them are there."""

from __future__ import annotations

import os
import re

from ferrox_gguf.errors import GgufError
from ferrox_gguf.gguf.header import Header, read_header

_NUMBER, _COUNT = "split.no", "split.count"
_NAME = re.compile(r"(?P<stem>.*)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf", re.DOTALL)
_MOST = 99999  # five digits in the name


def parts_of(header: Header) -> tuple[Header, ...]:
    """The headers of all files of the model, this one first.

    Raises GgufError when this is not the first part (only that one has the metadata), when its name does not say how
    the others are called, or when one of them is missing or broken.
    """
    count = header.integer(_COUNT) or 0
    if count <= 1:
        return (header,)
    number = header.integer(_NUMBER) or 0
    named = _NAME.fullmatch(header.path)
    if named is None or int(named["count"]) != count or count > _MOST:
        raise GgufError(header.path, f"is part {number + 1} of {count}, and is not named NAME-00001-of-{count:05}.gguf")
    files = tuple(f"{named['stem']}-{part:05}-of-{count:05}.gguf" for part in range(1, count + 1))
    if number != 0 or int(named["number"]) != 1:
        raise GgufError(header.path, f"is part {number + 1} of {count}; give the first: {files[0]}")
    missing = [name for name in files if not os.path.isfile(name)]
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise GgufError(header.path, f"is split into {count} files, and {missing[0]}{more} is missing")
    return (header, *(read_header(name) for name in files[1:]))
