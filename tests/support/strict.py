"""What the official clients' models do not know: fields that are theirs by no name."""

from __future__ import annotations

from pydantic import BaseModel


def extras(value: object) -> list[str]:
    """Every unknown field, wherever it stands."""
    if isinstance(value, BaseModel):
        found = list(value.model_extra or {})
        return found + [name for field in type(value).model_fields for name in extras(getattr(value, field))]
    return [name for item in value for name in extras(item)] if isinstance(value, list) else []
