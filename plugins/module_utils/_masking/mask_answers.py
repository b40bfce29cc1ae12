# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""By which rule a value is replaced, by its key and its type; all values of a recording together."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from .._base.censor import MASK
from .documented_words import is_documented
from .harmless_keys import Holds, holds, is_state_word, is_version_part
from .mask_text import NAME, TextMask
from .pseudonyms import Addresses, Names, Numbers

Clean = Callable[[str], str]

KINDS = ("cluster", "zone", "server", "host", "tenant", "region", "idc", "user", "creator")
# Keys that only a task or a subtask has, and the key that only a parameter has.
OF_TASKS = frozenset(("operation", "subtasks", "taskDefinitionId", "seriesId"))
OF_PARAMETERS = "currentValue"
_PARAMETER = re.compile(r"_?[a-z][a-z0-9]*(?:_[a-z0-9]+)+")


def masked(answers: Sequence[Any], clean: Clean) -> list[Any]:
    """JSON values in which names, addresses, ids and secrets are replaced consistently.

    ``clean`` removes known secrets from a text.
    """
    mask = _Mask(clean)
    for answer in answers:
        mask.value(answer, NAME, NAME)
    mask.settle()
    return [mask.value(answer, NAME, NAME) for answer in answers]


class _Mask:
    """Walks through values twice: first it collects the originals, then it replaces them."""

    def __init__(self, clean: Clean) -> None:
        self._clean = clean
        self._texts = TextMask(Numbers(), Addresses(), Names())

    def settle(self) -> None:
        """End the collecting."""
        self._texts.numbers.settle()
        self._texts.addresses.settle()
        self._texts.noting = False

    def value(self, value: Any, key: str, kind: str) -> Any:
        """``value``, which is under ``key``; ``kind`` is that of the names of records in it."""
        if holds(key) is Holds.SECRET and value is not None and not isinstance(value, bool):
            return MASK
        if isinstance(value, dict):
            return self._record(value, _kind(key) or kind)
        if isinstance(value, list):
            return [self.value(each, key, _kind(key) or kind) for each in value]
        if isinstance(value, str):
            return self._text(self._clean(value), key, kind)
        return value if value is None or isinstance(value, bool) else self._number(value, key)

    def _record(self, value: dict[str, Any], kind: str) -> dict[str, Any]:
        is_task = any(key in value for key in OF_TASKS)
        shown = {}
        for key, each in value.items():
            if key == "name" and isinstance(each, str) and (is_task or OF_PARAMETERS in value):
                shown[key] = self._documented_name(self._clean(each), is_task)
            else:
                shown[self._key(key)] = self.value(each, key, kind)
        return shown

    def _documented_name(self, text: str, is_task: bool) -> str:
        if is_task:
            return self._texts.words(text)
        return text if _PARAMETER.fullmatch(text) else self._texts.name(text)

    def _key(self, key: str) -> str:
        return key if is_documented(key) else self._texts.name(self._clean(key))

    def _text(self, text: str, key: str, kind: str) -> str:
        what = holds(key)
        if what is Holds.TEXT:
            return self._texts.words(text)
        if what is Holds.VERSION:
            return self._version(text)
        if what is Holds.ENUM and is_state_word(text) and (is_documented(text) or not self._texts.names.has(text)):
            return text
        return self._texts.name(text, _kind(key) or (kind if key == "name" else NAME))

    def _version(self, text: str) -> str:
        pieces = re.split(r"([-+_ ()]+)", text)
        return "".join(
            piece if place % 2 or is_version_part(piece) or is_documented(piece) else self._texts.name(piece)
            for place, piece in enumerate(pieces)
        )

    def _number(self, number: int | float, key: str) -> int | float:
        if holds(key) in (Holds.NUMBER, Holds.ENUM):
            return number
        if isinstance(number, float):
            return 0.0
        if self._texts.noting:
            self._texts.numbers.note(number)
            return number
        return self._texts.numbers.of(number)


def _kind(key: str) -> str | None:
    """The kind of things that a key such as ``zoneName``, ``zone`` or ``zones`` names."""
    word = key.removesuffix("Name").removesuffix("s").lower()
    return word if word in KINDS else None
