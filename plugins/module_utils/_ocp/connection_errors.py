# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The error of a request without a response: was it sent, why did it fail, what to check (DNS, TLS, proxy)."""

from __future__ import annotations

import http.client
import ssl

from .._base.errors import (
    ConnectionFailed,
    ResponseLost,
    ServiceError,
)
from .._base.text import in_seconds, one_line
from .may_have_run import may_have_run, outcome_sentence

try:
    import requests
    from urllib3.exceptions import ConnectTimeoutError, NewConnectionError
except ImportError:  # reported by bridge, with the name of the library
    pass

# Their text may contain a part of a secret that the service echoes, which no censor recognises.
QUOTING = (ValueError, http.client.BadStatusLine, http.client.UnknownProtocol)
OTHER_NAME = 62
CERTIFICATE_ADVICE = {
    # OpenSSL's numbers: not yet valid, expired, made for another name, made for another address.
    9: "Check the clock of this machine.",
    10: "Have it renewed.",
    OTHER_NAME: "Put the name it was made for in url.",
    64: "Put the name it was made for in url.",
}


def connection_error(error: OSError | ValueError, method: str, url: str, timeout: float) -> ServiceError:
    """The error for a request that ended in ``error`` instead of a response."""
    causes = _causes(error)
    unknown = may_have_run(method)
    certificate = next((cause for cause in causes if _is_of_a_certificate(cause)), None)
    if certificate is not None:
        why = getattr(certificate, "verify_message", str(certificate))
        advice = CERTIFICATE_ADVICE.get(
            getattr(certificate, "verify_code", OTHER_NAME),
            "Give the authority's certificate with ca_path, or validate_certs=false for a test system.",
        )
        return ConnectionFailed(f"The certificate of {url} is not trusted: {why.rstrip('.')}. {advice}", url=url)
    if isinstance(error, requests.exceptions.SSLError):
        advice = (
            "Give a client certificate that it trusts with client_cert and client_key."
            if any(map(_demands_certificate, causes))
            else "Check that url has the scheme the service speaks, http or https, that it speaks TLS 1.2 or newer, "
            "and whether it asks for a client certificate (client_cert)."
        )
        return ConnectionFailed(f"No TLS connection with {url}: {causes[-1]}. {advice}", url=url, may_have_run=unknown)
    if any(_never_left(cause) for cause in causes):
        return ConnectionFailed(
            f"{url} cannot be reached: {_innermost(causes)}. Check url and that the service is running.", url=url
        )
    unsendable = requests.exceptions.InvalidURL, requests.exceptions.InvalidSchema
    if isinstance(error, unsendable) or not isinstance(error, requests.RequestException):
        # A ValueError quotes the header that cannot be sent, with the credentials.
        why = type(error).__name__ if isinstance(error, ValueError) else error
        return ConnectionFailed(f"{method} {url} cannot be sent: {why}. Check url and the credentials.", url=url)
    # A repeated read raises another error than Timeout.
    timed_out = any(isinstance(cause, (requests.exceptions.Timeout, TimeoutError)) for cause in causes)
    what = f"within {in_seconds(timeout)}" if timed_out else "completely"
    return ResponseLost(
        f"The answer to {method} {url} did not arrive {what}: {_innermost(causes)}.",
        advice=outcome_sentence(unknown, method),
        url=url,
        may_have_run=unknown,
    )


def _never_left(cause: BaseException) -> bool:
    """Whether there was no connection; a ProxyError may also occur after the request was sent."""
    no_connection = isinstance(cause, (NewConnectionError, ConnectTimeoutError))
    # Only the text of http.client's error identifies a failed tunnel.
    return no_connection or (isinstance(cause, OSError) and str(cause).startswith("Tunnel connection failed"))


def _is_of_a_certificate(cause: BaseException) -> bool:
    # urllib3 before 2 compares the names itself, and its error has only a text.
    return isinstance(cause, ssl.SSLCertVerificationError) or type(cause).__name__ == "CertificateError"


def _demands_certificate(cause: BaseException) -> bool:
    """Whether the service refuses the client certificate, or that there is none."""
    alert = str(getattr(cause, "reason", "")) if isinstance(cause, ssl.SSLError) else ""
    return "ALERT" in alert and ("CERTIFICATE" in alert or "UNKNOWN_CA" in alert)


def _causes(error: BaseException) -> list[BaseException]:
    """The error and its causes, outermost first; urllib3 keeps a cause in ``reason`` or in the arguments."""
    found: list[BaseException] = []
    pending: list[object] = [error]
    while pending:
        cause = pending.pop(0)
        if isinstance(cause, BaseException) and cause not in found:
            found.append(cause)
            pending += [getattr(cause, "reason", None), cause.__cause__, cause.__context__, *cause.args]
    return found


def _innermost(causes: list[BaseException]) -> str:
    """The message of the operating system, or of the innermost error, but for one that quotes what came."""
    system = (cause for cause in reversed(causes) if isinstance(cause, OSError))
    inner = next((cause for cause in system if not isinstance(cause, requests.RequestException)), causes[-1])
    if isinstance(inner, QUOTING) and not isinstance(inner, OSError):
        return "it is not HTTP"
    return one_line(getattr(inner, "strerror", None) or inner) or type(inner).__name__
