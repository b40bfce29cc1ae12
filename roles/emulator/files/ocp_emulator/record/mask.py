# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What of a request and its answer is recorded as it is. All else is replaced.

These stay: `true`, `false` and null; times; numbers that the contract has and that are no ids; states, in fields that
have documented ones; documented names of tasks, subtasks and parameters; keys that consist of words of the contract. A
text for people, such as a log, is replaced as a whole: what somebody wrote into it cannot be known.
"""

import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from ocp_emulator.fleet.ob_parameters import PARAMETER_NAMES
from ocp_emulator.fleet.obproxy_parameters import OBPROXY_PARAMETERS
from ocp_emulator.record.contract import Call, Contract, Json
from ocp_emulator.record.pseudonyms import MASK, Pseudonyms, parsed_address
from ocp_emulator.tasks.blueprints import BLUEPRINTS

_TIME = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?")
_SECRET = re.compile(
    r"(?i).*(passw|passphrase|pwd|secret|token|credential|access_?key|private_?key|cookie|authorization|signature)"
)
_ID = re.compile(r"(.*(Id|Ids|_id|ID|IDs)|id|ids|upstreams|downstreams)")
_STATE = re.compile(r"[A-Z]{2,}(_[A-Z]+){0,5}")
_PORT = re.compile(r"(?P<address>.+):(?P<port>\d{1,5})")
_VERSION = re.compile(r"\d{1,6}(\.\d{1,6})*")
_SIZE = re.compile(r"-?\d{1,5}(\.\d{1,3})?[a-zA-Z%]{0,2}|(?i:true|false)")
# Texts with a grammar; what is no word of it is a name, and all that follows @ is one.
_GRAMMARS = frozenset({"locality", "primaryZone", "zoneList"})
_TOKEN = re.compile(r"(?P<at>@)?(?P<word>[^\s,;:@{}]+)")
# Words of the service, if all of their parts are in the contract.
_WORDS = frozenset({"alarmType", "sort", "metrics", "groupBy", "eventType"})
_VALUES = frozenset({"value", "defaultvalue", "currentvalue", "minvalue", "maxvalue"})
_TASK_NAMES = frozenset(
    [blueprint.task_name for blueprint in BLUEPRINTS]
    + [step.description for blueprint in BLUEPRINTS for step in blueprint.steps]
)
_PARAMETERS = frozenset([*PARAMETER_NAMES, *OBPROXY_PARAMETERS])
# What only a task or subtask has, and what only a parameter has.
_OF_TASKS = frozenset({"operation", "subtasks", "upstreams", "taskDefinitionId"})
_OF_PARAMETERS = frozenset({"currentValue", "value", "needRestart", "needReboot"})
# The processes of agents, by their documented names.
_PROCESSES = frozenset({"ocp_agentd", "ocp_mgragent", "ocp_monagent", "pos_proxy"})
_REPLICAS = frozenset({"FULL", "F", "READONLY", "R", "LOGONLY", "L", "ENCRYPTION_LOGONLY", "RANDOM", "ALL_SERVER"})
# The tenant that every cluster has, and the architectures of hosts.
_RESERVED = frozenset({"sys", "x86_64", "aarch64"})
_LONGEST_ID = 18


class Mask:
    """Replaces what has to be; the same is replaced by the same in all of a recording."""

    def __init__(self, contract: Contract) -> None:
        """By the words of this contract."""
        self._contract = contract
        self._pseudonyms = Pseudonyms()

    def path(self, path: str, call: Call | None) -> str:
        """A path, still encoded, of a documented call or of none."""
        segments = [unquote(each) for each in path.strip("/").split("/")]
        if call is None:
            kept = [each if self._contract.knows(each) else self._segment(each, "path") for each in segments]
        else:
            kept = [
                self._segment(each, own.strip("{}")) if own.startswith("{") else each
                for own, each in zip(call.segments, segments, strict=True)
            ]
        return "/" + "/".join(kept)

    def _segment(self, segment: str, key: str) -> str:
        return ",".join(str(self._text(each, key, {})) for each in segment.split(","))

    def query(self, query: list[tuple[str, str]], call: Call | None) -> list[tuple[str, str]]:
        """The pairs of a query."""
        known: Mapping[str, Json] = call.parameters if call else {}
        return [(self.key(name), self._of_query(value, name, known.get(name))) for name, value in query]

    def _of_query(self, value: str, name: str, schema: Json | None) -> str:
        view = self._contract.view(schema)
        if _SECRET.match(name):
            return MASK
        if "boolean" in _kinds(view) and value.lower() in ("true", "false"):
            return value
        if "integer" in _kinds(view) and value.isdigit() and not _ID.fullmatch(name):
            return value
        return ",".join(self._text(each, name, view) for each in value.split(","))

    def key(self, key: str) -> str:
        """A name of a field."""
        return key if self._contract.knows(key) else self._pseudonyms.name(key, "field")

    def word(self, word: str) -> str:
        """A word, as it may be shown to people."""
        return word if _is_state(word) or self._contract.knows(word) else self._pseudonyms.name(word, "word")

    def value(self, value: Any, schema: Json | None, key: str = "name", record: Mapping[str, Any] | None = None) -> Any:
        """A value under a key of a record, if it is in one."""
        view = self._contract.view(schema)
        if _SECRET.match(key) and value is not None and not isinstance(value, bool):
            return MASK
        if isinstance(value, dict):
            return self._record(value, view, key)
        if isinstance(value, list):
            return [self.value(each, view.get("items"), key, record) for each in value]
        if isinstance(value, str):
            return self._of_record(value, key, view, record or {})
        return value if value is None or isinstance(value, bool) else self._number(value, key, view)

    def _record(self, value: dict[str, Any], view: Json, key: str) -> dict[str, Any]:
        known: Json = view.get("properties", {})
        others = view.get("additionalProperties")
        shown = {}
        for name, each in value.items():
            if name not in known and isinstance(others, dict):
                # Its names are values, such as those of labels.
                is_name = self._pseudonyms.has_name(name) or not self._contract.knows(name)
                shown[self._text(name, key, {}) if is_name else name] = self.value(each, others, name, value)
            else:
                shown[self.key(name)] = self.value(each, known.get(name), name, value)
        return shown

    def _of_record(self, text: str, key: str, view: Json, record: Mapping[str, Any]) -> str:
        if key in ("name", "description") and text in _TASK_NAMES and _OF_TASKS & record.keys():
            return text
        if key == "name" and text in _PARAMETERS and _OF_PARAMETERS & record.keys():
            return text
        if key == "context" and text[:1] in "{[":
            return self._document(text)
        return self._text(text, _kind(key, record), view)

    def _document(self, text: str) -> str:
        """A text that may be JSON."""
        try:
            return json.dumps(self.value(json.loads(text), None, "context"))
        except (ValueError, RecursionError):
            return self._pseudonyms.name(text, "text")

    def _text(self, text: str, key: str, view: Json) -> str:
        words = view.get("enum", ())
        if not text.strip() or text in words or text in _RESERVED or _TIME.fullmatch(text):
            return text
        if words and _is_state(text) and not self._pseudonyms.has_name(text):
            return text
        if key.lower().endswith("version"):
            return self._version(text)
        if key.lower() in _VALUES and _SIZE.fullmatch(text):
            return text
        if key in _GRAMMARS:
            return _TOKEN.sub(lambda found: (found["at"] or "") + self._token(found["word"], found["at"]), text)
        if text in _PROCESSES or (key in _WORDS and self._contract.knows(text)):
            return text
        return self._address(text) or self._name(text, key)

    def _name(self, text: str, key: str) -> str:
        if text.isascii() and text.isdigit() and len(text) <= _LONGEST_ID:
            return str(self._pseudonyms.number(int(text)))
        # A key that is not of the contract may say something itself.
        return self._pseudonyms.name(text, key if self._contract.knows(key) else "name")

    def _token(self, token: str, sign: str | None) -> str:
        is_word = token in _REPLICAS or (token.isdigit() and len(token) <= 2)
        return token if is_word and not sign else self._pseudonyms.name(token, "zone")

    def _address(self, text: str) -> str | None:
        """The replacement of an address, which may have a port; None for other texts."""
        whole = parsed_address(text)
        if whole is not None:
            return self._pseudonyms.address(whole)
        found = _PORT.fullmatch(text)
        address = parsed_address(found["address"]) if found else None
        if found is None or address is None:
            return None
        shown = self._pseudonyms.address(address)
        return f"[{shown}]:{found['port']}" if address.version == 6 else f"{shown}:{found['port']}"

    def _version(self, text: str) -> str:
        found = _VERSION.match(text)
        if found is None:
            return self._pseudonyms.name(text, "version")
        rest = text[found.end() :]
        return found[0] if not rest else f"{found[0]}-{self._pseudonyms.name(rest, 'build')}"

    def _number(self, number: float, key: str, view: Json) -> float:
        if {"integer", "number"} & set(_kinds(view)) and not _ID.fullmatch(key):
            return number
        return self._pseudonyms.number(number) if isinstance(number, int) else 0.0


def _is_state(text: str) -> bool:
    return len(text) <= 40 and bool(_STATE.fullmatch(text))


def _kinds(view: Json) -> list[str]:
    kinds = view.get("type", [])
    return [kinds] if isinstance(kinds, str) else kinds


def _kind(key: str, record: Mapping[str, Any]) -> str:
    """What a text under this key names: the kind of a record that has only a name is in its other keys."""
    if key != "name":
        return key.removesuffix("Name")
    kinds = (("zones", "cluster"), ("servers", "zone"), ("obTenantId", "tenant"), ("regionId", "host"))
    return next((kind for other, kind in kinds if other in record), "name")
