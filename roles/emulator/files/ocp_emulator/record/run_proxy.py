# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The process of the proxy: its file, which must be new, and its last line."""

import os
import socket
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from ocp_emulator.base.compatibility import Switches
from ocp_emulator.record.contract import Contract
from ocp_emulator.record.proxy import RecordingProxy
from ocp_emulator.record.recorder import Recorder
from ocp_emulator.record.upstream import Upstream
from ocp_emulator.recordings.exchange_file import head_line
from ocp_emulator.serve.app import create_app
from ocp_emulator.serve.run_server import Certificate, make_server, print_line, run
from ocp_emulator.service import Settings


@dataclass(frozen=True)
class ProxySettings:
    """What is recorded, into which file, and the contract of which version it is compared with."""

    upstream: Upstream
    output: Path
    switches: Switches


def create_file(path: Path) -> TextIO:
    """A new file that only this user may read. Raises OSError, also for one that exists."""
    number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    return os.fdopen(number, "w", encoding="utf-8")


def record(settings: ProxySettings, file: TextIO, bound: socket.socket, certificate: Certificate | None) -> None:
    """Pass requests on and record them until SIGTERM or SIGINT."""
    recorder = Recorder(contract_of(settings.switches), file, lambda line: print_line(f"differs: {line}"))
    file.write(head_line(datetime.now(UTC).isoformat(timespec="seconds")))
    file.flush()
    host, port = bound.getsockname()[:2]
    scheme = "https" if certificate else "http"
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    run(
        make_server(
            RecordingProxy(settings.upstream, recorder, print_line),
            bound,
            certificate,
            ready=lambda: print_line(f"OCP recorder listens on {scheme}://{address}"),
        ),
        bound,
    )
    print_line(f"{recorder.count} requests are in {settings.output}. {_told(recorder.differences)}")


def contract_of(switches: Switches) -> Contract:
    """What the documents say of a version of the service."""
    app = create_app(Settings(switches=switches))
    try:
        return Contract(app.openapi())
    finally:
        app.state.service.close()


def _told(count: int) -> str:
    if not count:
        return "The service does as documented."
    return f"The service differs from the documents in {count} way{'s' if count > 1 else ''}, see above."
