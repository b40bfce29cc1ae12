# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which values of query and body are accepted (numbers, flags, names, page sizes), and the error for others."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, TypeVar

from fastapi.exceptions import RequestValidationError
from pydantic import BeforeValidator, Field, TypeAdapter, ValidationError, WithJsonSchema
from pydantic_core import PydanticCustomError
from starlette.datastructures import QueryParams

from ocp_emulator.base import errors
from ocp_emulator.base.clock import SECOND
from ocp_emulator.schemas.schema import Schema, first_violation
from ocp_emulator.web.request_context import RequestContext

LARGEST_PAGE = 2_000
# The documented sample of arbitration services has pages of this size.
LARGEST_LARGE_PAGE = 5_000
LARGEST_ALARM_PAGE = 200
SchemaT = TypeVar("SchemaT", bound=Schema)

_LARGEST_LONG = 2**63 - 1
_LARGEST_INTEGER = 2**31 - 1
_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,19}")
_FLAGS = {"true": True, "on": True, "yes": True, "1": True, "false": False, "off": False, "no": False, "0": False}


def _whole_number(value: object) -> object:
    # Stricter than Python, which accepts 1_0 and blanks.
    if isinstance(value, str):
        if not _WHOLE_NUMBER.fullmatch(value):
            raise PydanticCustomError("conversion", "it is not a whole number")
        return int(value)
    return value


def _page_number(value: object) -> object:
    """As Spring Data takes it: what is no number, and what is below 1, is the first page."""
    return max(1, _whole_or(1, value))


def _page_size(largest: int, default: int) -> Callable[[object], object]:
    """As Spring Data takes it: no number, or one below 1, is the default; a large one is the largest."""

    def size(value: object) -> object:
        number = _whole_or(default, value)
        return min(number if number >= 1 else default, largest)

    return size


def _whole_or(default: int, value: object) -> int:
    found = _WHOLE_NUMBER.fullmatch(str(value))
    return int(found[0]) if found and abs(int(found[0])) <= _LARGEST_INTEGER else default


def instant(name: str, value: str | None) -> int | None:
    """A time of the query in milliseconds; None when it is absent. ApiError 400 for one without an offset."""
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is None:
            raise ValueError
        return round(moment.timestamp() * SECOND)
    except (ValueError, OverflowError):
        raise _invalid_parameter(
            name, value, "it is not a time with an offset, such as 2026-01-31T12:00:00+08:00"
        ) from None


def _true_or_false(value: object) -> object:
    # Stricter than pydantic, which accepts 1, t, yes and on.
    if isinstance(value, str) and value not in ("true", "false"):
        raise PydanticCustomError("conversion", "it is neither true nor false")
    return value


# The bounds come first: pydantic's JSON schema has only those that are directly on the type.
Long = Annotated[
    int,
    Field(ge=-_LARGEST_LONG - 1, le=_LARGEST_LONG, json_schema_extra={"format": "int64"}),
    BeforeValidator(_whole_number),
]
Count = Annotated[int, Field(ge=1, le=_LARGEST_INTEGER), BeforeValidator(_whole_number)]
# Meant as integers, but all words are accepted, also several.
_ANY = WithJsonSchema({"type": ["integer", "number", "string", "boolean", "array", "object", "null"]})
PageNumber = Annotated[int, BeforeValidator(_page_number), _ANY]
PageSize = Annotated[int, BeforeValidator(_page_size(LARGEST_PAGE, 10)), _ANY]
LargePageSize = Annotated[int, BeforeValidator(_page_size(LARGEST_LARGE_PAGE, LARGEST_LARGE_PAGE)), _ANY]
# Alarms have smaller pages than other lists, as documented.
AlarmPageSize = Annotated[int, BeforeValidator(_page_size(LARGEST_ALARM_PAGE, 10)), _ANY]
Whole = Annotated[int, Field(ge=0, le=_LARGEST_INTEGER), BeforeValidator(_whole_number)]
Level = Annotated[int, Field(ge=1, le=5), BeforeValidator(_whole_number)]
# The scenarios of inspections.
Scenario = Annotated[int, Field(ge=1, le=4), BeforeValidator(_whole_number)]
Flag = Annotated[bool, BeforeValidator(_true_or_false)]
# In one of the documents the direction comes first.
Sort = Annotated[
    str, Field(pattern=r"^ *(\w+( *, *([aA][sS][cC]|[dD][eE][sS][cC]))?|([aA][sS][cC]|[dD][eE][sS][cC]) *, *\w+) *$")
]


def one_or_more(*names: str) -> Any:
    """The constraint of a parameter that takes one or several of these names, separated by commas and blanks."""
    name = f" *({'|'.join(names)})? *"
    return Field(pattern=f"^{name}(,{name})*$")


def split(lists: Sequence[str] | None) -> list[str] | None:
    """The names in comma-separated lists; a parameter may also be repeated. None when there is none."""
    return [name for text in lists or () for part in text.split(",") if (name := part.strip())] or None


def invalid_parameter_message(error: RequestValidationError) -> str:
    """The message for the first invalid parameter."""
    first = error.errors()[0]
    name = next((part for part in first["loc"][1:] if isinstance(part, str)), "?")
    if first["type"] == "missing":
        return f"The parameter '{name}' is missing."
    reason = first["msg"][:1].lower() + first["msg"][1:]
    return _invalid_parameter(name, first["input"], reason).message


def json_object(context: RequestContext, content_type: str | None, *, required: bool) -> dict[str, Any]:
    """The JSON object in the body; an empty one when there is no body and none is required.

    ApiError: 415 when its Content-Type is not JSON, 400 when it is not JSON, not an object, or missing.
    """
    if not context.body and not required:
        return {}
    value = _json(context, content_type)
    if not isinstance(value, dict):
        raise errors.bad_request("The body is JSON, but not an object.")
    return value


def json_array(context: RequestContext, content_type: str | None) -> list[Any]:
    """The JSON array in the body, with something in it. ApiError as above."""
    value = _json(context, content_type)
    if not isinstance(value, list) or not value:
        raise errors.bad_request("The body is JSON, but not an array with something in it.")
    return value


def _json(context: RequestContext, content_type: str | None) -> Any:
    if not context.body:
        raise errors.bad_request("The request needs a JSON body, and has none.")
    media_type = (content_type or "").partition(";")[0].strip().lower()
    if media_type != "application/json" and not media_type.endswith("+json"):
        raise errors.unsupported_media_type(
            f"The body has the Content-Type '{content_type or ''}'; it has to be application/json."
        )
    try:
        return json.loads(context.body)
    except (ValueError, RecursionError):
        raise errors.bad_request("The body is malformed JSON.") from None


def parse_body(schema: type[SchemaT], body: dict[str, Any]) -> SchemaT:
    """The body as this schema. ApiError 400 names the first invalid field."""
    try:
        return schema.model_validate(body)
    except ValidationError as error:
        raise invalid_body(*first_violation(error)) from None


def parse_bodies(schema: type[SchemaT], body: list[Any]) -> list[SchemaT]:
    """Each element of the body as this schema. ApiError 400 names the first invalid field."""
    try:
        return TypeAdapter(list[schema]).validate_python(body)  # type: ignore[valid-type]
    except ValidationError as error:
        raise invalid_body(*first_violation(error)) from None


def invalid_body(field: str, reason: str) -> errors.ApiError:
    """400: a field of the body is invalid, or the body as a whole when `field` is ""."""
    what = f"field '{field}' of the body" if field else "body"
    return errors.bad_request(f"The {what} is invalid: {reason}.")


def query_flag(query: QueryParams, name: str) -> bool | None:
    """A boolean of the query; None when it is absent. ApiError 400 for anything else."""
    value = query.get(name)
    if value is None:
        return None
    if value.lower() not in _FLAGS:
        raise _invalid_parameter(name, value, "it is neither true nor false")
    return _FLAGS[value.lower()]


def query_name(query: QueryParams, name: str, names: Sequence[str]) -> str | None:
    """One of these names in the query; None when it is absent. ApiError 400 for anything else."""
    value = query.get(name)
    if value is None or value in names:
        return value
    raise _invalid_parameter(name, value, f"it is none of {', '.join(names)}")


def query_longs(query: QueryParams, name: str) -> list[int] | None:
    """Numbers of the query, by comma or repeated; None when it is absent. ApiError 400 for anything else."""
    if name not in query:
        return None
    return [_query_long(name, part.strip()) for text in query.getlist(name) for part in text.split(",") if part.strip()]


def query_long(query: QueryParams, name: str) -> int | None:
    """A number of the query; None when it is absent. ApiError 400 for anything else."""
    value = query.get(name)
    return None if value is None else _query_long(name, value)


def _query_long(name: str, value: str) -> int:
    if not _WHOLE_NUMBER.fullmatch(value) or not _is_long(int(value)):
        raise _invalid_parameter(name, value, "it is not a whole number")
    return int(value)


def body_flag(body: Mapping[str, Any], name: str) -> bool | None:
    """A boolean of the body; None when it is absent or null. ApiError 400 for any other type."""
    value = body.get(name)
    if value is None or isinstance(value, bool):
        return value
    raise errors.bad_request(f"The parameter '{name}' of the body is not a boolean: {_abbreviated(value)}.")


def body_name(body: Mapping[str, Any], name: str, names: Sequence[str]) -> str | None:
    """One of these names in the body; None when it is absent or null. ApiError 400 for anything else."""
    value = body.get(name)
    if value is None or value in names:
        return value
    raise errors.bad_request(
        f"The parameter '{name}' of the body is none of {', '.join(names)}: {_abbreviated(value)}."
    )


def body_long(body: Mapping[str, Any], name: str) -> int | None:
    """A number of the body; None when it is absent or null. ApiError 400 for any other type."""
    value = body.get(name)
    if value is None or _is_long(value):
        return value
    raise errors.bad_request(f"The parameter '{name}' of the body is not a whole number: {_abbreviated(value)}.")


def body_longs(body: Mapping[str, Any], *names: str) -> list[int]:
    """An array of Long, the first of these fields that is present. ApiError 400 when it is absent or another type."""
    name = next((name for name in names if name in body), None)
    if name is None:
        raise errors.bad_request(f"The parameter '{names[0]}' is missing.")
    value = body[name]
    if not isinstance(value, list):
        raise errors.bad_request(f"The parameter '{name}' is not an array: {_abbreviated(value)}.")
    for element in value:
        if not _is_long(element):
            raise errors.bad_request(
                f"The parameter '{name}' has an element that is not a Long: {_abbreviated(element)}."
            )
    return value


def _is_long(value: object) -> bool:
    # bool is an int in Python, but not in JSON.
    return isinstance(value, int) and not isinstance(value, bool) and -_LARGEST_LONG - 1 <= value <= _LARGEST_LONG


def _invalid_parameter(name: str, value: object, reason: str) -> errors.ApiError:
    return errors.bad_request(f"The parameter '{name}' does not take the value {_abbreviated(value)}: {reason}.")


def _abbreviated(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
