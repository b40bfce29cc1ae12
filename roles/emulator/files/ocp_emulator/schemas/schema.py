# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What all schemas share: camelCase names, no undocumented fields, and fields that may be absent.

A field is absent from the response when it was not set, and null when it was set to None. So models are made with
exactly the fields that the response has, and written with `to_json`.
"""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

Long = Annotated[int, Field(json_schema_extra={"format": "int64"})]
Timestamp = Annotated[str, Field(json_schema_extra={"format": "date-time"})]


def absent() -> Any:
    """The default of a field that may be absent from the response."""
    return Field(default_factory=_nothing)


def _nothing() -> None:
    return None


class Schema(BaseModel):
    """The base of all schemas."""

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True, extra="forbid", frozen=True)

    def to_json(self) -> str:
        """The response as text; faults of the plan may have put words into it that its schema does not have."""
        return self.model_dump_json(by_alias=True, exclude_unset=True, warnings=False)


def first_violation(error: ValidationError) -> tuple[str, str]:
    """The first field that is not valid, "" for the object as a whole, and the reason. Both are shown to people."""
    first = error.errors(include_url=False, include_context=False)[0]
    reason = first["msg"].removeprefix("Value error, ")
    return ".".join(map(str, first["loc"])), f"{reason[:1].lower()}{reason[1:]}"
