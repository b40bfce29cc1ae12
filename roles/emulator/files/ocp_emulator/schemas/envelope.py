# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The fields around every answer: envelope, error, page (docs/dev/contract.md, "Envelope")."""

from typing import Generic, Literal, TypeVar

from ocp_emulator.schemas.schema import Schema, Timestamp

T = TypeVar("T")


class Envelope(Schema, Generic[T]):
    """A successful answer."""

    data: T
    duration: int
    server: str
    status: Literal[200]
    successful: Literal[True]
    timestamp: Timestamp
    trace_id: str


class EmptyEnvelope(Schema):
    """A successful answer that has no data."""

    duration: int
    server: str
    status: Literal[200]
    successful: Literal[True]
    timestamp: Timestamp
    trace_id: str


class ErrorDetail(Schema):
    """What went wrong."""

    code: int
    message: str


class ErrorEnvelope(Schema):
    """A refusal or failure: `error` in place of `data`."""

    duration: int
    error: ErrorDetail
    server: str
    status: int
    successful: Literal[False]
    timestamp: Timestamp
    trace_id: str


class Page(Schema):
    """Where a page stands in its list; pages are numbered from 1."""

    number: int
    size: int
    total_elements: int
    total_pages: int


class Paged(Schema, Generic[T]):
    """One page of a list."""

    contents: list[T]
    page: Page


class Listed(Schema, Generic[T]):
    """A list that is not paged."""

    contents: list[T]
