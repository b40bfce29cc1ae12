# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The bridge between Ansible and the plain Python below: options in, result or failure out."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ansible.module_utils.basic import AnsibleModule, env_fallback, missing_required_lib

from .._base.checks import within
from .._base.clock import instant_option
from .._base.errors import OcpError, OptionError
from .._base.text import LOG_LINES
from .._ocp.auth import AccessKeyAuth, basic_auth
from .._ocp.endpoints import OcpApi
from .._ocp.session import REQUESTS_IMPORT_ERROR, HttpClient
from .._restart.decision import InFlight
from .._restart.restart import Options
from .._waiting.failure_report import DEFAULT_LOG_LINES
from .._waiting.poll import SHORTEST_PAUSE, Patience
from .._waiting.progress import Show, silent

Params = dict[str, Any]

LONGEST_SECONDS = 7 * 24 * 3600


def _option(name: str, **spec: Any) -> dict[str, Any]:
    return {"fallback": (env_fallback, [f"OCP_{name.upper()}"]), **spec}


CONNECTION_OPTIONS: dict[str, Any] = {
    "url": _option("url", type="str", required=True),
    "username": _option("username", type="str"),
    "password": _option("password", type="str", no_log=True),
    "access_key_id": _option("access_key_id", type="str"),
    "access_key_secret": _option("access_key_secret", type="str", no_log=True),
    "validate_certs": _option("validate_certs", type="bool", default=True),
    "ca_path": _option("ca_path", type="path"),
    "timeout": _option("timeout", type="float", default=30),
}

PATIENCE_OPTIONS: dict[str, Any] = {
    "log_lines": {"type": "int", "default": DEFAULT_LOG_LINES},
    "show_progress": {"type": "bool", "default": True},
    "wait_timeout": {"type": "int", "default": 7200},
    "wait_interval": {"type": "float", "default": 10},
}

RESTART_OPTIONS: dict[str, Any] = {
    "started_before": {"type": "str"},
    "in_flight": {"type": "str", "choices": [choice.value for choice in InFlight], "default": InFlight.ATTACH.value},
    "wait": {"type": "bool", "default": False},
    **PATIENCE_OPTIONS,
}


@dataclass(frozen=True)
class Mode:
    """How a module runs; ``show`` gets its lines of progress, where it runs in a process that can show them."""

    check_mode: bool
    show: Show = silent


Body = Callable[[OcpApi, Params, Mode], dict[str, Any]]


@dataclass(frozen=True)
class Definition:
    """A module: its ``options`` beside those of the connection, its ``body``, and the ``rules`` between options.

    ``body(api, params, mode)`` returns the result or raises an OcpError. ``rules`` are AnsibleModule's own
    (``required_one_of`` and the like).
    """

    options: dict[str, Any]
    body: Body
    rules: dict[str, Any] = field(default_factory=dict)

    @property
    def argument_spec(self) -> dict[str, Any]:
        """All options, those of the connection too."""
        return {**CONNECTION_OPTIONS, **self.options}


@dataclass(frozen=True)
class Outcome:
    """What a call came to: the result, of a failure too, what the user is to be warned of, and shown in diff mode."""

    failed: bool
    result: dict[str, Any]
    warnings: list[str] = field(default_factory=list)
    diff: dict[str, str] = field(default_factory=dict)

    def shown(self, diff_mode: bool) -> dict[str, Any]:
        """The result, with the ``diff`` where there is one and it is wanted."""
        return {**self.result, "diff": self.diff} if diff_mode and self.diff else self.result


def run_module(definition: Definition) -> None:
    """Run what is defined as an Ansible module."""
    module = AnsibleModule(definition.argument_spec, supports_check_mode=True, **definition.rules)
    if REQUESTS_IMPORT_ERROR is not None:
        module.fail_json(msg=missing_required_lib("requests"), exception=repr(REQUESTS_IMPORT_ERROR))
    outcome = call(definition, module.params, Mode(module.check_mode))
    for warning in outcome.warnings:
        module.warn(warning)
    finish = module.fail_json if outcome.failed else module.exit_json
    finish(**outcome.shown(module._diff))


def call(definition: Definition, params: Params, mode: Mode) -> Outcome:
    """Call the body with the service that validated ``params`` name; an OcpError becomes a failure with its facts."""
    noticed: list[str] = []
    try:
        _check_names(definition, params)
        with connected(params) as api:
            noticed += exposed(params)
            result, failed = definition.body(api, params, mode), False
    except OcpError as error:
        result, failed = {"msg": str(error), **error.facts}, True
    return Outcome(failed, result, noticed + result.pop("warnings", []), result.pop("diff", {}))


def _check_names(definition: Definition, params: Params) -> None:
    """Raise OptionError where a text that is required is empty, which Ansible takes for given."""
    for option, spec in definition.options.items():
        if spec.get("required") and params[option] == "":
            raise OptionError(f"{option}: is empty; give a value, or check the variable it comes from.")


@contextmanager
def connected(params: Params) -> Iterator[OcpApi]:
    """The service that the connection options name; nothing is sent yet. Raises OptionError."""
    verify: bool | str = params["validate_certs"]
    if verify and params["ca_path"]:
        verify = _trusted(params["ca_path"])
    timeout = _seconds(params, "timeout", 0.1)
    client = HttpClient(_address(params["url"]), _credentials(params), verify=verify, timeout=timeout)
    try:
        yield OcpApi(client)
    finally:
        client.close()


def patience(params: Params, mode: Mode) -> Patience:
    """The waiting options. Raises OptionError."""
    within("log_lines", params["log_lines"], 0, LOG_LINES, " lines")
    return Patience(
        _seconds(params, "wait_timeout", 1),
        longest_pause(params, "wait_interval"),
        mode.show if params["show_progress"] else silent,
        params["log_lines"],
    )


def longest_pause(params: Params, option: str) -> float:
    """The seconds that ``option`` allows between two looks. Raises OptionError."""
    return _seconds(params, option, SHORTEST_PAUSE)


def restart_options(params: Params, mode: Mode) -> Options:
    """The options that all restart verbs share. Raises OptionError."""
    given = params["started_before"]
    return Options(
        mode.check_mode,
        params["wait"],
        patience(params, mode),
        None if given is None else instant_option("started_before", given),
        InFlight(params["in_flight"]),
    )


def _trusted(ca_path: str) -> str:
    folder = Path(ca_path).is_dir()
    try:
        ssl.create_default_context(capath=ca_path if folder else None, cafile=None if folder else ca_path)
    except OSError as error:
        raise OptionError(
            f"ca_path: {ca_path} cannot be used: {error.strerror or error}. "
            "Give the path of a file or folder of CA certificates in PEM form."
        ) from None
    return ca_path


def _address(url: str) -> str:
    if not url:
        raise OptionError("url: is empty; give the address of an OCP, as in https://ocp.example.com:8080.")
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
    return url


def exposed(params: Params) -> list[str]:
    """A warning where the password would cross a network as it is."""
    parts = urlsplit(params["url"])
    if parts.scheme != "http" or not params["password"] or _is_loopback(str(parts.hostname)):
        return []
    return [
        f"The password of {params['username']} travels unencrypted to {parts.netloc}, where the network can read it. "
        "Use an https url, or access_key_id and access_key_secret, whose secret is never sent."
    ]


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:  # a name
        return host == "localhost"


def _credentials(params: Params) -> Any:
    basic = _complete(params, "username", "password")
    access_key = _complete(params, "access_key_id", "access_key_secret")
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


def _complete(params: Params, name: str, secret: str) -> tuple[str, str] | None:
    given = [option for option in (name, secret) if params[option]]
    if len(given) == 1:
        [missing] = {name, secret} - set(given)
        raise OptionError(f"{missing}: is missing or empty, though {given[0]} is given; give both of them.")
    return (params[name], params[secret]) if given else None


def _seconds(params: Params, option: str, least: float) -> float:
    value = float(params[option])
    within(option, value, least, LONGEST_SECONDS, " seconds")
    return value
