# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Many clients that poll at once, as a process of its own: `python poll.py`, its job as JSON on standard input.

A job is {"urls": [one for each client], "headers": {}, "pause": seconds after each answer, "seconds": how long}. The
result on standard output is {"latencies": [milliseconds], "errors": [text], "seconds": as measured}.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from contextlib import AsyncExitStack
from typing import Any

import aiohttp


async def poll(job: dict[str, Any]) -> dict[str, Any]:
    """Do the job. The first request of each client opens its connection, and does not count."""
    urls, pause = job["urls"], job["pause"]
    latencies: list[float] = []
    errors: list[str] = []
    chance = random.Random(len(urls))

    async def ask(session: aiohttp.ClientSession, url: str) -> float:
        began = time.perf_counter()
        try:
            async with session.get(url) as answer:
                await answer.read()
            if answer.status != 200:
                errors.append(f"status {answer.status}")
        except (aiohttp.ClientError, TimeoutError) as error:
            errors.append(error.__class__.__name__)
        return (time.perf_counter() - began) * 1_000

    async def one(session: aiohttp.ClientSession, url: str, end: float) -> None:
        # Clients that began at the same instant would for ever ask at the same instant.
        await asyncio.sleep(chance.random() * pause)
        while time.perf_counter() < end:
            latencies.append(await ask(session, url))
            await asyncio.sleep(pause)

    async with AsyncExitStack() as stack:
        # A connection each: its own, as that of a client which is another process.
        sessions = [await stack.enter_async_context(aiohttp.ClientSession(headers=job["headers"])) for _url in urls]
        await asyncio.gather(*map(ask, sessions, urls))
        began = time.perf_counter()
        end = began + job["seconds"]
        await asyncio.gather(*(one(session, url, end) for session, url in zip(sessions, urls, strict=True)))
        return {"latencies": latencies, "errors": errors, "seconds": time.perf_counter() - began}


if __name__ == "__main__":
    json.dump(asyncio.run(poll(json.load(sys.stdin))), sys.stdout)
