# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which options are secrets, and how they are hidden in results and in the options that are shown."""

from __future__ import annotations

import re

from .._base.censor import Censor, without_userinfo
from .connection_options import Params

# The url may have a login in it, though it is refused then.
SHOWING = ("url", "username", "password", "access_key_secret")


def censor_of(params: Params) -> Censor:
    """The censor for the secrets of the connection options, and for a password in ``url``."""
    given = {name: str(params.get(name) or "") for name in SHOWING}
    userinfo = given["url"].rpartition("@")[0]
    login = re.sub(r"^.*?://", "", userinfo)
    secrets = [given["password"], given["access_key_secret"], login.partition(":")[2], login and f"{login}@"]
    logins = [f"{given['username']}:{given['password']}"] if given["password"] else []
    return Censor(secrets, [*logins, *([login] if login else [])])


def shown_options(params: Params) -> Params:
    """``params`` as they may be shown, where Ansible removes the values of secret options itself."""
    return {
        name: without_userinfo(value) if name == "url" and isinstance(value, str) else value
        for name, value in params.items()
    }
