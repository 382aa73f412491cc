"""The one name for parsed JSON.

Schemas, template keywords and tool arguments are open by nature; everything else gets a dataclass at `wire/`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias, Union

Json: TypeAlias = Union[bool, int, float, str, list["Json"], dict[str, "Json"], None]
JsonObject: TypeAlias = Mapping[str, Json]
