# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A response that is held before it is sent, and the HTML page of a proxy."""

from dataclasses import dataclass, field
from http import HTTPStatus

from starlette.responses import HTMLResponse
from starlette.types import Message, Send

_PAGE = """<html>
<head><title>{title}</title></head>
<body>
<center><h1>{title}</h1></center>
<hr><center>proxy</center>
</body>
</html>
"""


@dataclass
class CapturedResponse:
    """A response of the service that was not yet sent to the client."""

    start: Message = field(default_factory=dict)
    body: bytes = b""

    async def capture(self, message: Message) -> None:
        """The `send` of ASGI, which keeps the response."""
        if message["type"] == "http.response.start":
            self.start = message
        else:
            self.body += message.get("body", b"")

    async def send_head(self, send: Send, *headers: tuple[bytes, bytes]) -> None:
        """Send the head."""
        await send({**self.start, "headers": [*self.start["headers"], *headers]})

    async def send_rest(self, send: Send, begin: int = 0) -> None:
        """Send the body from this byte on."""
        await send({"type": "http.response.body", "body": self.body[begin:]})


def proxy_page(status: int) -> HTMLResponse:
    """A page with this status."""
    phrases = {each.value: each.phrase for each in HTTPStatus}
    return HTMLResponse(_PAGE.format(title=f"{status} {phrases.get(status, 'Error')}"), status)
