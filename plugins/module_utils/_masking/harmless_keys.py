# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""What a value may be, by its key. The value of a key that is not listed here has to be replaced."""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache

from .documented_words import is_documented

_ENUM = re.compile(
    r"(?:.*(?:Status|Type|Mode|_status|_type)|status|type|operation|kind|architecture|role|mode|scope|state|origin)"
)
_VERSION_KEY = re.compile(r".*[vV]ersion")
# Words of the service, in which documented words stay.
_TEXTS = {"description", "message", "summary", "log", "title", "reason", "locality", "zonelist", "primaryzone"}
_TEXTS |= {"alias", "classname", "ports"}
_NUMBERS = re.compile(
    r".*(?:Count|Time|Port|Size|Pages|Elements|Timeout|Percent|lIdx)|port|sql_port|svr_port|pid|status|code|level|size|"
    r"page|pages|number|timeout|duration|time"
)
_SECRET = re.compile(
    r"(?i).*(?:passw|passphrase|pwd|secret|token|credential|access_?key|private_?key|cookie|authorization)"
)
_WORD = re.compile(r"[A-Z][A-Z0-9_]{0,39}|x86_64|aarch64")
_VERSION = re.compile(r"\d+(?:\.\d+)*")


class Holds(Enum):
    """What a key says about its value."""

    SECRET = "secret"
    ENUM = "enum"
    VERSION = "version"
    TEXT = "text"
    NUMBER = "number"
    NAME = "name"


@lru_cache(maxsize=10_000)
def holds(key: str) -> Holds:
    """What a value under this key is; NAME for an unknown key."""
    if _SECRET.match(key):
        return Holds.SECRET
    if _VERSION_KEY.fullmatch(key):
        return Holds.VERSION
    if key.lower().removeprefix("error") in _TEXTS:
        return Holds.TEXT
    if _ENUM.fullmatch(key):
        return Holds.ENUM
    return Holds.NUMBER if _NUMBERS.fullmatch(key) else Holds.NAME


def is_state_word(text: str) -> bool:
    """Whether this may be a value of an enumeration, also of one that no document has."""
    return is_documented(text) or bool(_WORD.fullmatch(text))


def is_version_part(text: str) -> bool:
    """Whether this is the part of a version that consists of numbers."""
    return bool(_VERSION.fullmatch(text))
