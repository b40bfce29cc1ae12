# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""An OCP for one test: its options, its user, and what a test can request from it."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import urlencode

from ocp_emulator.base.permissions import Permission
from ocp_emulator.cli_options import make_parser
from ocp_emulator.cli_settings import certificate_of, settings_of
from ocp_emulator.fleet.entities import AccessKey, User
from ocp_emulator.testing.clock_control import ClockControl
from ocp_emulator.testing.fault_control import FaultControl
from ocp_emulator.testing.fleet_control import FleetControl
from ocp_emulator.testing.run_summary import summary_of
from ocp_emulator.testing.threaded_server import ThreadedServer

_DEFAULTS: Mapping[str, object] = {"port": 0, "step_seconds": 0.05}
# These need not be files.
_CONTENTS = ("fleet", "faults")
_OBJECT_TYPES = {
    "server": "OB_SERVER",
    "zone": "OB_ZONE",
    "cluster": "OB_CLUSTER",
    "agent": "HOST",
    "arbitration_service": "ARBITRATION_SERVICE",
    "obproxy": "OBPROXY",
}


class EmulatedOcp:
    """A running OCP with a fleet of its own: `url`, and the credentials of a user who may do everything.

    `faults`, `clock` and `fleet` change it; `restarts` and `requests` show what was done.
    """

    def __init__(self, **options: object) -> None:
        """Start it. The arguments are the options of `ocp-emulator serve`, with underscores, by default on a free port.

        `fleet` and `faults` are a path, or what the file would contain. A subtask takes 0.05 seconds by default.
        Raises BadInputError.
        """
        parsed = _parsed({**_DEFAULTS, **options})
        settings = settings_of(parsed)
        self._server = ThreadedServer(settings, parsed.host, parsed.port, certificate_of(parsed))
        self.url = self._server.url
        users, keys = self._server.run(lambda service: (service.store.users(), service.store.access_keys()))
        user = _who_may_most(users)
        key = _key_of(user, keys)
        self.username, self.password = (user.name, user.password) if user else ("", "")
        self.access_key_id, self.access_key_secret = (key.id, key.secret) if key else ("", "")
        self.faults = FaultControl(self._server)
        self.clock = ClockControl(self._server)
        self.fleet = FleetControl(self._server)

    def __enter__(self) -> "EmulatedOcp":
        """Return this emulator."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it."""
        self.close()

    def close(self) -> None:
        """End it."""
        self._server.close()

    @property
    def environment(self) -> dict[str, str]:
        """Variables from which modules, inventory and lookups of the collection take the connection."""
        return {"OCP_URL": self.url, "OCP_USERNAME": self.username, "OCP_PASSWORD": self.password}

    def restarts(self, kind: str = "server") -> dict[str, int]:
        """How often a task really restarted each target of a kind, by its name; only restarted targets.

        Kinds: server, zone, cluster, agent, arbitration_service, obproxy. ValueError for another one.
        """
        if kind not in _OBJECT_TYPES:
            raise ValueError(f"kind: {kind!r} is not one of {', '.join(_OBJECT_TYPES)}")
        counts = self.control("GET", "/emulator/restarts")["contents"]
        return {each["name"]: each["restarts"] for each in counts if each["objectType"] == _OBJECT_TYPES[kind]}

    def requests(self, method: str | None = None, path: str | None = None) -> list[dict[str, Any]]:
        """The requests to the service so far, oldest first, as `GET /emulator/requests` shows them.

        `path` is a shell pattern, in which `*` stands for slashes too.
        """
        asked = {name: value for name, value in (("method", method), ("path", path)) if value is not None}
        found: list[dict[str, Any]] = []
        while True:
            query = urlencode({**asked, "since": found[-1]["id"] if found else 0})
            page: list[dict[str, Any]] = self.control("GET", f"/emulator/requests?{query}")["contents"]
            if not page:
                return found
            found += page

    def control(self, method: str, path: str, body: object = None) -> Any:
        """The data of a call below `/emulator/`, which reaches the emulator also while it refuses connections.

        Raises ControlError.
        """
        return self._server.call(method, path, body)

    def summary(self) -> str:
        """The tasks and the newest requests, a line each."""
        return self._server.run(summary_of)


def _parsed(options: Mapping[str, object]) -> Any:
    """The options as the command line has them. Raises BadInputError."""
    contents = {name: options[name] for name in _CONTENTS if isinstance(options.get(name), dict | list)}
    arguments = [
        f"--{name.replace('_', '-')}={value}"
        for name, given in options.items()
        if given is not None and name not in contents
        for value in _values(given)
    ]
    parsed = make_parser().parse_args(["serve", *arguments])
    for name, value in contents.items():
        setattr(parsed, name, value)
    return parsed


def _values(given: object) -> Iterable[object]:
    """The values of an option, which may be given several times."""
    if isinstance(given, dict):
        return [f"{name}={value}" for name, value in given.items()]
    return given if isinstance(given, list | tuple) else [given]


def _who_may_most(users: Iterable[User]) -> User | None:
    """The first user with all permissions, else the first one."""
    return min(users, key=lambda user: Permission.ADMIN not in user.permissions, default=None)


def _key_of(user: User | None, keys: Iterable[AccessKey]) -> AccessKey | None:
    return next((key for key in keys if user is not None and key.user_id == user.id), None)


def beside(folder: Path, options: Mapping[str, object]) -> dict[str, object]:
    """The options with paths that are relative to this folder."""
    files = ("fleet", "faults", "recording", "replay", "database", "tls_cert", "tls_key")
    return {
        name: folder / value if name in files and isinstance(value, str | Path) else value
        for name, value in options.items()
    }
