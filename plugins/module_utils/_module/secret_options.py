# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which options are secrets, and how they are hidden in results and in the options that are shown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote, unquote_plus

from .._base.censor import Censor, without_userinfo
from .connection_options import Params

# The url may have a login in it, though it is refused then.
SHOWING = ("url", "username", "password", "access_key_secret")


def censor_of(params: Params) -> Censor:
    """The censor for the secrets of the connection options, and for passwords in ``url`` and ``journal_url``."""
    given = {name: str(params.get(name) or "") for name in SHOWING}
    userinfo = given["url"].rpartition("@")[0]
    login = re.sub(r"^.*?://", "", userinfo)
    secrets = [given["password"], given["access_key_secret"], login.partition(":")[2], login and f"{login}@"]
    secrets += _journal_secrets(str(params.get("journal_url") or ""))
    logins = [f"{given['username']}:{given['password']}"] if given["password"] else []
    return Censor(secrets, [*logins, *([login] if login else [])])


def _journal_secrets(url: str) -> Iterator[str]:
    """What may be a password in it, as it is written and as the database gets it."""
    rest = url.partition("://")[2]
    # Before and after the first question mark, which may be a part of the password.
    logins = [login for part in (rest.partition("?")[0], rest) if (login := part.rpartition("@")[0])]
    yield from (f"{login}@" for login in logins)
    named = re.findall(r"[?&][^=&]*pass[^=&]*=([^&]*)", rest, re.IGNORECASE)
    written = [*(login.partition(":")[2] for login in logins), *named]
    for secret in filter(None, written):
        yield from (secret, unquote(secret), unquote_plus(secret))


def shown_options(params: Params) -> Params:
    """``params`` as they may be shown, where Ansible removes the values of secret options itself."""
    return {
        name: without_userinfo(value) if name == "url" and isinstance(value, str) else value
        for name, value in params.items()
    }
