# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A recording proxy in a thread of the test."""

import threading
from contextlib import ExitStack, contextmanager
from functools import partial

import pytest
from ocp_emulator.base.compatibility import PROFILES
from ocp_emulator.record.proxy import RecordingProxy
from ocp_emulator.record.recorder import Recorder
from ocp_emulator.record.run_proxy import contract_of, create_file
from ocp_emulator.record.upstream import Upstream
from ocp_emulator.recordings.exchange_file import head_line, read_exchanges
from ocp_emulator.serve.run_server import listen, make_server


class Recording:
    """A running proxy: its URL, its file, and the lines that it has told."""

    def __init__(self, url, path):
        self.url = url
        self.path = path
        self.told = []

    @property
    def exchanges(self):
        return read_exchanges(self.path)


@pytest.fixture(scope="session")
def contract():
    return contract_of(PROFILES["4.3"])


@contextmanager
def recording(upstream, path, contract):
    bound = listen("127.0.0.1", 0)
    recorded = Recording(f"http://127.0.0.1:{bound.getsockname()[1]}", path)
    with create_file(path) as file:
        file.write(head_line("2026-11-26T12:00:00+00:00"))
        file.flush()
        recorder = Recorder(contract, file, recorded.told.append)
        ready = threading.Event()
        proxy = RecordingProxy(Upstream(upstream, None), recorder, recorded.told.append)
        server = make_server(proxy, bound, None, ready.set)
        thread = threading.Thread(target=partial(server.run, sockets=[bound]))
        thread.start()
        try:
            assert ready.wait(60)
            yield recorded
        finally:
            server.should_exit = True
            thread.join(60)


@pytest.fixture
def record(tmp_path, contract):
    """Start a proxy before a service; it ends with the test."""
    with ExitStack() as stack:
        yield lambda url: stack.enter_context(recording(url, tmp_path / "exchanges.jsonl", contract))
