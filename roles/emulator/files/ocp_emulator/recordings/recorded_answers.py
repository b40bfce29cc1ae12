# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What a replay answers: as recorded, except for what the emulator has changed since.

`base` is what the emulator itself answered before anything changed, `live` what it answers now. So every recorded value
stays until it changes, keys that were not recorded stay absent, and new records are the emulator's.
"""

import re
from collections.abc import Mapping
from typing import Any

from ocp_emulator.base.paths import TIME
from ocp_emulator.recordings.recording_file import RecordedAnswer, Recording, records_in

# By which keys the records of a list are the same. All values of a parameter have its name.
_KEYS = (("id",), ("alias",), ("svrIp", "svrPort"), ("name",))
# Words that the emulator may not have, and what shows that they are outdated.
_STATES = ("status", "innerStatus", "hostAgentStatus")
_CHANGES = ("updateTime", "startTime", "obStartTime")
_IDS = re.compile(r"(?<=/)\d+(?=/|$)")
# A path that no OCP has, requested to see how this one answers.
_UNKNOWN = "/api/v2/no/such/call"
# What a service answers to a path that it does not know; 200 with a page is one too.
_ABSENT = (400, 404, 405)


class RecordedAnswers:
    """Finds the answer that was recorded for a request."""

    def __init__(self, recording: Recording) -> None:
        """Of the answers to paths that differ only in ids, a successful one shows that they exist."""
        self._recording = recording
        self._templates: dict[str, bool] = {}
        self._absent: dict[str, RecordedAnswer] = {}
        for answer in recording.answers:
            template = _IDS.sub("*", answer.path)
            self._templates[template] = self._templates.get(template, False) or answer.is_data
            self._absent.setdefault(template, answer)

    @property
    def unknown(self) -> RecordedAnswer | None:
        """How unknown URLs are answered."""
        return self._recording.of(_UNKNOWN)

    def refusal(self, path: str) -> RecordedAnswer | None:
        """The answer to a path that was refused or is unknown, whatever its ids."""
        template = _IDS.sub("*", path)
        # The text of the time is none.
        if path == TIME or self._templates.get(template, True):
            return None
        return self._recording.of(path) or self._absent[template]

    def recorded(self, path: str) -> RecordedAnswer | None:
        """The successful answer to a path."""
        answer = self._recording.of(path)
        return answer if answer is not None and answer.is_data else None

    def shown(self, path: str, query: Mapping[str, str], base: Any, live: Any) -> Any:
        """The data of an answer; `live` if nothing was recorded for this path."""
        answers = [answer for answer in self._recording.by_path.get(path, ()) if answer.is_data]
        exact = [each for each in answers if {name: str(value) for name, value in each.query.items()} == query]
        if exact:
            return exact[-1].data if base == live else _counted(merged(exact[-1].data, base, live), live)
        if not answers:
            return live
        return _counted(merged(_known(_united([answer.data for answer in answers]), base), base, live), live)


def _united(pages: list[Any]) -> Any:
    """One answer with the records of all pages."""
    first = pages[0]
    if not isinstance(first, dict) or "contents" not in first:
        return pages[-1]
    return {**first, "contents": [record for page in pages for record in records_in(page)]}


def _known(recorded: Any, base: Any) -> Any:
    """Without the records that another query does not find, or that the emulator does not have."""
    if not isinstance(recorded, dict) or "contents" not in recorded:
        return recorded
    found = [each.get("id") for each in records_in(base)]
    return {**recorded, "contents": [each for each in records_in(recorded) if each.get("id") in found]}


def _counted(shown: Any, live: Any) -> Any:
    """The same, where a page announces as many records as there are, with those of the other pages of `live`."""
    if not all(isinstance(each, dict) and {"page", "contents"} <= each.keys() for each in (shown, live)):
        return shown
    more = len(shown["contents"]) - len(live["contents"])
    counts = {
        "totalElements": live["page"]["totalElements"] + more,
        "totalPages": live["page"]["totalPages"],
    }
    return {**shown, "page": shown["page"] | {key: each for key, each in counts.items() if key in shown["page"]}}


def merged(recorded: Any, base: Any, live: Any) -> Any:
    """`recorded`, with what differs between `base` and `live` as in `live`."""
    if isinstance(recorded, dict) and isinstance(base, dict) and isinstance(live, dict):
        return _merged_record(recorded, base, live)
    if isinstance(recorded, list) and isinstance(base, list) and isinstance(live, list):
        return _merged_list(recorded, base, live)
    return recorded if base == live else live


def _merged_record(recorded: dict[str, Any], base: dict[str, Any], live: dict[str, Any]) -> dict[str, Any]:
    shown = {}
    has_changed = any(base.get(key) != live.get(key) for key in _CHANGES)
    for key, value in recorded.items():
        if key in live and (key not in base or (has_changed and key in _STATES)):
            shown[key] = live[key]
        elif key in live:
            shown[key] = merged(value, base[key], live[key])
        elif key not in base:
            shown[key] = value
    return shown | {key: value for key, value in live.items() if key not in recorded and key not in base}


def _merged_list(recorded: list[Any], base: list[Any], live: list[Any]) -> list[Any]:
    by = next((keys for keys in _KEYS if _are_keys(keys, recorded, live)), None)
    if by is None:
        return recorded if base == live else live
    then, before = ({_key(each, by): each for each in values if _has(each, by)} for values in (recorded, base))
    shown = [
        merged(then[key], before.get(key, each), each) if key in then else each
        for each in live
        # The emulator had it from the start, but the service did not show it.
        if (key := _key(each, by)) in then or key not in before
    ]
    # The emulator never had it.
    return [*shown, *(each for each in recorded if _key(each, by) not in before and each not in shown)]


def _are_keys(keys: tuple[str, ...], recorded: list[Any], live: list[Any]) -> bool:
    if not all(_has(each, keys) for each in (*recorded, *live)):
        return False
    return not recorded or bool({_key(each, keys) for each in recorded} & {_key(each, keys) for each in live})


def _key(record: dict[str, Any], keys: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple(record[key] for key in keys)


def _has(value: object, keys: tuple[str, ...]) -> bool:
    return isinstance(value, dict) and all(isinstance(value.get(key), (int, str)) for key in keys)
