# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The connection options: accepted URLs, OCP_* variables, CA files, the warning about an unencrypted password."""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ansible.module_utils.basic import env_fallback

from .._base.checks import check_range
from .._base.errors import OptionError
from .._ocp.auth import AccessKeyAuth, basic_auth
from .._ocp.endpoints import OcpApi
from .._ocp.session import HttpClient
from .client_certificate import client_certificate

Params = dict[str, Any]

LONGEST_SECONDS = 7 * 24 * 3600
API_PATH = re.compile(r"/api/v[0-9]+(/|$)", re.ASCII)


def _with_env_fallback(name: str, **spec: Any) -> dict[str, Any]:
    return {"fallback": (env_fallback, [f"OCP_{name.upper()}"]), **spec}


CONNECTION_OPTIONS: dict[str, Any] = {
    # Required, but Ansible's own message would not name OCP_URL.
    "url": _with_env_fallback("url", type="str"),
    "username": _with_env_fallback("username", type="str"),
    "password": _with_env_fallback("password", type="str", no_log=True),
    "access_key_id": _with_env_fallback("access_key_id", type="str"),
    "access_key_secret": _with_env_fallback("access_key_secret", type="str", no_log=True),
    "validate_certs": _with_env_fallback("validate_certs", type="bool", default=True),
    "ca_path": _with_env_fallback("ca_path", type="path"),
    "client_cert": _with_env_fallback("client_cert", type="path"),
    "client_key": _with_env_fallback("client_key", type="path"),
    "use_proxy": _with_env_fallback("use_proxy", type="bool", default=True),
    # In other collections ``timeout`` often is the whole wait.
    "timeout": _with_env_fallback("timeout", type="float", default=30, aliases=["request_timeout"]),
}

# Every module takes it, so that it can be among the defaults of their group.
JOURNAL_OPTION: dict[str, Any] = {"journal_url": _with_env_fallback("journal_url", type="str", no_log=True)}

# Of the modules whose runs are told.
NOTIFY_OPTION: dict[str, Any] = {"notify_url": _with_env_fallback("notify_url", type="str", no_log=True)}


@contextmanager
def connected(params: Params) -> Iterator[OcpApi]:
    """The service of the connection options; nothing is sent yet. Raises OptionError."""
    verify: bool | str = params["validate_certs"]
    if verify and params["ca_path"]:
        verify = _trusted_ca(params["ca_path"])
    timeout = seconds_option(params, "timeout", 0.1)
    client = HttpClient(
        _checked_url(params["url"]),
        _credentials(params),
        verify=verify,
        timeout=timeout,
        client_cert=client_certificate(params),
        use_proxy=params["use_proxy"],
    )
    try:
        yield OcpApi(client)
    finally:
        client.close()


def _trusted_ca(ca_path: str) -> str:
    folder = Path(ca_path).is_dir()
    try:
        ssl.create_default_context(capath=ca_path if folder else None, cafile=None if folder else ca_path)
    except OSError as error:
        raise OptionError(
            f"ca_path: {ca_path} cannot be used: {error.strerror or error}. "
            "Give the path of a file or folder of CA certificates in PEM form."
        ) from None
    return ca_path


def _checked_url(url: str | None) -> str:
    if not url:
        raise OptionError(
            f"url: is {'not given' if url is None else 'empty'}; give the address of an OCP with url or OCP_URL, as in "
            "https://ocp.example.com:8080."
        )
    if "@" in url:
        raise OptionError("url: holds a user name or password; give them with username and password instead.")
    if "?" in url or "#" in url:
        raise OptionError(f"url: {url} has a query or fragment; give the address of the service alone.")
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise OptionError(f"url: {url} is not the address of an OCP; give it as in https://ocp.example.com:8080.")
    # Any other path may be the prefix of a proxy.
    api_path = API_PATH.search(parts.path)
    if api_path:
        address = f"{parts.scheme}://{parts.netloc}{parts.path[: api_path.start()]}"
        raise OptionError(f"url: has a path {parts.path}; give the address alone, {address}.")
    return url


def plaintext_password_warnings(params: Params) -> list[str]:
    """A warning if the password would cross a network unencrypted."""
    parts = urlsplit(params["url"])
    if parts.scheme != "http" or not params["password"] or _is_loopback(str(parts.hostname)):
        return []
    return [
        f"The password of {params['username']} is sent unencrypted to {parts.netloc}; the network can read it. "
        "Use an https url, or access_key_id and access_key_secret, whose secret is never sent."
    ]


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:  # a name
        return host == "localhost"


def _credentials(params: Params) -> Any:
    basic = _complete_pair(params, "username", "password")
    access_key = _complete_pair(params, "access_key_id", "access_key_secret")
    either = "either username and password, or access_key_id and access_key_secret"
    variables = "(or OCP_USERNAME, OCP_PASSWORD, OCP_ACCESS_KEY_ID, OCP_ACCESS_KEY_SECRET in the environment)"
    if basic and access_key:
        raise OptionError(f"Both kinds of credentials are given; give {either} {variables}, not both.")
    if basic:
        return basic_auth(*basic)
    if access_key:
        if not (access_key[0].isascii() and access_key[0].isprintable()):
            raise OptionError("access_key_id: has characters that no access key has; copy it again from OCP.")
        return AccessKeyAuth(*access_key)
    raise OptionError(f"No credentials are given; give {either} {variables}.")


def _complete_pair(params: Params, name: str, secret: str) -> tuple[str, str] | None:
    given = [option for option in (name, secret) if params[option]]
    if len(given) == 1:
        [missing] = {name, secret} - set(given)
        raise OptionError(
            f"{missing}: is missing or empty, though {given[0]} is given; "
            f"give it with {missing} or OCP_{missing.upper()}."
        )
    return (params[name], params[secret]) if given else None


def seconds_option(params: Params, option: str, least: float) -> float:
    value = float(params[option])
    check_range(option, value, least, LONGEST_SECONDS, " seconds")
    return value
