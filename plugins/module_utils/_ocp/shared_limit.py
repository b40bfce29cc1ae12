# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The request limit of one user, shared by all threads and processes of a machine that send with the same name.

There is a file for each service and user. It is not used until an answer shows a limit.
"""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

from .._base.parsing import integer
from .._base.private_folder import private_folder
from .request_queue import RequestQueue
from .retries import seconds_to_reset

Found = TypeVar("Found")

LARGEST_FILE = 1024 * 1024


class SharedLimit:
    """The turn of one session among the workers of this ``user`` at the service with this ``url``.

    Times are monotonic seconds of the machine.
    """

    def __init__(self, url: str, user: str | None) -> None:
        self._name = f"limit-{sha256(json.dumps([url, user]).encode()).hexdigest()[:32]}"
        self._promised = 0
        self._is_used: bool | None = None

    def shown(self, headers: Mapping[str, str], now: float) -> None:
        """Note the headers of an answer; none if there was no answer."""
        left, reset = integer(headers.get("RateLimit-Remaining")), seconds_to_reset(headers)
        limit = integer(headers.get("RateLimit-Limit"))
        is_shown = left is not None and left >= 0 and reset is not None

        def note(queue: RequestQueue) -> None:
            queue.sent(self._me, now)
            if left is not None and reset is not None:
                queue.shown(limit if limit and limit > 0 else None, left, reset, now)

        self._promised = max(0, self._promised - 1)
        if is_shown:
            self._is_used = True
            self._change(note)
        elif self._is_used:
            self._change(lambda queue: queue.sent(self._me, now))

    def pause(self, requests: int, now: float) -> float:
        """Take the next turn, of this many requests; the seconds until it may be asked for again, 0 if it is there."""
        if not self._knows_limit:
            return 0.0
        pause = self._change(lambda queue: queue.ask(self._me, requests, now))
        if not pause:
            self._promised = requests
        return pause or 0.0

    def pause_for_one(self, now: float, *, longest: float, is_last: bool) -> float:
        """The same for one request, unless its turn is there; a full window that ends after ``longest`` is not awaited.

        ``is_last``: what follows a look, for which the last request of a turn is kept.
        """
        if not self._knows_limit or self._promised > (0 if is_last else 1):
            return 0.0
        kept = self._promised

        def ask(queue: RequestQueue) -> float:
            if queue.is_full_for(now) > longest:
                return 0.0
            return queue.ask(self._me, 1 + kept, now)

        pause = self._change(ask)
        if not pause:
            self._promised = 1 + kept
        return pause or 0.0

    def leave(self) -> None:
        """Nothing more is sent for now."""
        if self._promised:
            self._promised = 0
            self._change(lambda queue: queue.leave(self._me))

    @property
    def _me(self) -> str:
        """Of this thread of this process, which may have been forked since."""
        return f"{os.getpid()}.{threading.get_ident()}.{id(self)}"

    @property
    def _knows_limit(self) -> bool:
        """Whether an answer has shown a limit, in this run or before."""
        if self._is_used is None:
            self._is_used = (_folder() / self._name).exists()
        return self._is_used

    def _change(self, change: Callable[[RequestQueue], Found]) -> Found | None:
        """What ``change`` returns; None where there can be no file."""
        try:
            with _locked(_folder() / self._name) as held:
                queue = RequestQueue.from_json(_read(held))
                found = change(queue)
                os.ftruncate(held, 0)
                os.pwrite(held, json.dumps(queue.to_json()).encode(), 0)
                return found
        except OSError:
            return None


def _folder() -> Path:
    return Path(tempfile.gettempdir()) / f"oceanbase.ocp-{os.getuid()}"


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    private_folder(path.parent)
    held = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        # Held for less than a millisecond.
        fcntl.flock(held, fcntl.LOCK_EX)
        yield held
    finally:
        os.close(held)


def _read(held: int) -> object:
    with suppress(OSError, ValueError, RecursionError):
        return json.loads(os.pread(held, LARGEST_FILE, 0) or b"{}")
    return {}
