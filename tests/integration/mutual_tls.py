# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A gate before a service that speaks http: it speaks https, and lets only clients with a certificate through."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from socketserver import StreamRequestHandler, ThreadingTCPServer
from urllib.parse import urlsplit

import trustme


class Gate(ThreadingTCPServer):
    """Forwards what the clients of the authority send."""

    daemon_threads = True

    def __init__(self, authority: trustme.CA, behind: str) -> None:
        parts = urlsplit(behind)
        self.behind = (str(parts.hostname), parts.port)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("127.0.0.1").configure_cert(self.context)
        authority.configure_trust(self.context)
        self.context.verify_mode = ssl.CERT_REQUIRED
        # The subjects of the certificates that came.
        self.subjects: set[str] = set()
        super().__init__(("127.0.0.1", 0), Connection)

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.server_address[1]}"


class Connection(StreamRequestHandler):
    """One connection, until one side closes it."""

    server: Gate

    def handle(self) -> None:
        with suppress(OSError), self.server.context.wrap_socket(self.request, server_side=True) as client:
            certificate = client.getpeercert() or {}
            self.server.subjects |= {name for _kind, name in certificate.get("subjectAltName", ())}
            with socket.create_connection(self.server.behind) as service:
                back = threading.Thread(target=_copy, args=(service, client), daemon=True)
                back.start()
                _copy(client, service)
                back.join()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


@contextmanager
def gate(authority: trustme.CA, behind: str) -> Iterator[Gate]:
    """A running gate before the service at the address ``behind``."""
    with Gate(authority, behind) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
