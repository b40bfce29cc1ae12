# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The process: its socket, TLS certificate, signals, and the form of its log."""

import logging
import signal
import socket
import ssl
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from ocp_emulator.base.clock import SECOND
from ocp_emulator.base.time_format import iso
from ocp_emulator.serve.app import create_app
from ocp_emulator.serve.shutdown_and_outage import EmulatorServer
from ocp_emulator.service import Settings

_SECONDS_TO_FINISH = 3
_BACKLOG = 1_024


@dataclass(frozen=True)
class Certificate:
    """PEM files of a certificate chain and its unencrypted key."""

    chain: Path
    key: Path

    def check(self) -> None:
        """Raises OSError (ssl.SSLError is one) when they cannot be used."""
        # Without a password at hand, OpenSSL would ask for it on the terminal.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(self.chain, self.key, password=str)


def listen(host: str, port: int) -> socket.socket:
    """A socket bound to the first address of `host`; port 0 takes a free one. Raises OSError."""
    family, kind, protocol, _name, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    bound = _bind(family, kind, protocol, address)
    try:
        bound.listen(_BACKLOG)
    except OSError:
        bound.close()
        raise
    return bound


def _bind(family: int, kind: int, protocol: int, address: Any) -> socket.socket:
    bound = socket.socket(family, kind, protocol)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
    except OSError:
        bound.close()
        raise
    return bound


def serve(settings: Settings, bound: socket.socket, certificate: Certificate | None) -> None:
    """Answer requests until SIGTERM or SIGINT. Raises StoreError when the database cannot be used."""
    settings = located(settings, bound)
    url = url_of(settings, certificate)
    app = create_app(settings)
    run(make_server(app, bound, certificate, ready=lambda: print_line(f"OCP emulator listens on {url}")), bound)


def run(server: EmulatorServer, bound: socket.socket) -> None:
    """Run a server until SIGTERM or SIGINT."""
    # When it has finished, uvicorn raises the signal again that ended it. That must not end the process.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _ignore_signal)
    _log_to_stderr()
    server.run(sockets=[bound])


def located(settings: Settings, bound: socket.socket) -> Settings:
    """The settings with the address of this socket."""
    host, port = bound.getsockname()[:2]
    return replace(settings, host=host, port=port)


def url_of(settings: Settings, certificate: Certificate | None) -> str:
    """The URL at which a service with these settings answers."""
    return f"{'https' if certificate else 'http'}://{settings.address}"


def make_server(
    app: ASGIApp, bound: socket.socket, certificate: Certificate | None, ready: Callable[[], None]
) -> EmulatorServer:
    """A server of the application on this socket, which calls `ready` in its thread when it listens."""
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_SECONDS_TO_FINISH,
        ssl_certfile=certificate.chain if certificate else None,
        ssl_keyfile=certificate.key if certificate else None,
    )
    return EmulatorServer(config, partial(_bind, bound.family, bound.type, bound.proto, bound.getsockname()), ready)


class _Formatter(logging.Formatter):
    """Times in the log look like those in responses."""

    def formatTime(self, record: logging.LogRecord, _: str | None = None) -> str:  # noqa: N802
        return iso(int(record.created * SECOND))


def _ignore_signal(_signal: int, _frame: FrameType | None) -> None:
    """Do nothing."""


def print_line(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _log_to_stderr() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Formatter("%(asctime)s %(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.WARNING)
    logging.getLogger("ocp_emulator").setLevel(logging.INFO)
