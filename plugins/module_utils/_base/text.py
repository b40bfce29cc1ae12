# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""How texts of the service are escaped, cut or wrapped: names, logs, lists of names, columns of a terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

LONGEST_LABEL = 200
LONGEST_LOG_LINES = 200
LONGEST_LOG_BYTES = 64 * 1024
CUT = "…"
NAMED_AT_MOST = 10

# Control, format (bidi overrides, zero-width characters), surrogates, line and paragraph separators.
_INVISIBLE = {"Cc", "Cf", "Cs", "Zl", "Zp"}
_NARROW_MARKS = {"Mn", "Me"}


@dataclass(frozen=True)
class LogTail:
    """The last lines of a log; ``note`` says what was cut off, None if nothing."""

    lines: list[str]
    note: str | None


def escape_unprintable(value: object) -> str:
    r"""``value`` as text, with every unprintable character escaped, as in ``\x1b``."""
    text = str(value)
    return text if text.isprintable() else "".join(map(_escaped, text))


def escape_lines(text: str) -> str:
    """``text`` as by ``escape_unprintable``, but with its line breaks and tabs."""
    return "\n".join("\t".join(map(escape_unprintable, line.split("\t"))) for line in text.split("\n"))


def truncate(text: str, length: int) -> str:
    """The first ``length`` characters of ``text``, escaped as by ``escape_unprintable``."""
    return escape_unprintable(text if len(text) <= length else f"{text[:length]}{CUT}")


def one_line(value: object) -> str | None:
    """``value`` on one line of at most LONGEST_LABEL characters; None if it is blank, a list or an object."""
    # Python's own text of a list or object would escape its escapes again, and no censor would find the secret.
    if value is None or isinstance(value, (list, dict)):
        return None
    return truncate(str(value), LONGEST_LABEL).strip() or None


def state_words(status: str | None) -> str:
    """A status after "is"."""
    return "in an unknown state, since no status is shown" if status is None else status


def log_tail(value: object, lines: int = LONGEST_LOG_LINES) -> LogTail | None:
    """The last ``lines`` of a log (a text or a list of lines), at most LONGEST_LOG_BYTES; None for an empty log."""
    text = "\n".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)
    encoded = text[-LONGEST_LOG_BYTES:].encode(errors="backslashreplace")
    too_long = len(text) > LONGEST_LOG_BYTES or len(encoded) > LONGEST_LOG_BYTES
    mark = CUT if too_long else ""  # a censor checks there for the end of a secret
    kept = mark + encoded[len(mark.encode()) - LONGEST_LOG_BYTES :].decode(errors="ignore")
    found = kept.replace("\r\n", "\n").rstrip("\n").split("\n")
    last = found[-lines:]
    if not any(line.strip() for line in last):
        return None
    cut = too_long or len(last) < len(found)
    note = f"Only its end is shown: at most {lines} lines and {LONGEST_LOG_BYTES // 1024} KiB." if cut else None
    return LogTail([escape_lines(line) for line in last], note)


def counted(count: int, noun: str) -> str:
    """As in ``1 server`` or ``9 batches``."""
    ending = "" if count == 1 else "es" if noun.endswith("ch") else "s"
    return f"{count} {noun}{ending}"


def in_seconds(value: float) -> str:
    """As in ``1 second`` or ``12.5 seconds``."""
    number = f"{value:g}" if value < 1e6 else f"{value:.0f}"
    return f"{number} {'second' if value == 1 else 'seconds'}"


def join_names(names: Iterable[str]) -> str:
    """The first NAMED_AT_MOST names with commas, and the number of the others."""
    every = list(names)
    more = f" and {len(every) - NAMED_AT_MOST} more" if len(every) > NAMED_AT_MOST else ""
    return ", ".join(every[:NAMED_AT_MOST]) + more


def display_width(text: str) -> int:
    """The number of terminal columns that ``text`` takes."""
    return sum(map(_width, text))


def shorten(text: str, width: int) -> str:
    """``text`` in at most ``width`` columns, with an ellipsis where it is cut."""
    return text if display_width(text) <= width else next(wrap(text, width - 1)) + CUT


def wrap(text: str, width: int) -> Iterator[str]:
    """``text`` in pieces of at most ``width`` columns, cut anywhere."""
    piece, taken = "", 0
    for character in text.expandtabs(4):
        wide = display_width(character)
        if taken + wide > width:
            yield piece
            piece, taken = "", 0
        piece, taken = piece + character, taken + wide
    yield piece


def _escaped(character: str) -> str:
    if character.isprintable():
        return character
    code = ord(character)
    harmless = unicodedata.category(character) not in _INVISIBLE and not _is_noncharacter(code)
    return character if harmless else character.encode("unicode_escape").decode()


def _is_noncharacter(code: int) -> bool:
    return code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF


def _width(character: str) -> int:
    if unicodedata.category(character) in _NARROW_MARKS:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
