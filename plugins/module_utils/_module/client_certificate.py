# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The options client_cert and client_key: which files they accept, and the sentences for the others."""

from __future__ import annotations

import re
import ssl
from pathlib import Path
from typing import Any

from .._base.errors import OptionError

CERTIFICATE = re.compile(rb"-----BEGIN [A-Z0-9 ]*CERTIFICATE-----")
PRIVATE_KEY = re.compile(rb"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----")


def client_certificate(params: dict[str, Any]) -> tuple[str, str] | None:
    """The paths of the certificate and of its key, which may be one file; None without them. Raises OptionError."""
    certificate, key = params["client_cert"], params["client_key"]
    if not certificate:
        if key:
            raise OptionError(
                f"client_key: {key} is given without the certificate that it belongs to; give that with client_cert or "
                "OCP_CLIENT_CERT."
            )
        return None
    if not CERTIFICATE.search(_content("client_cert", certificate)):
        raise OptionError(f"client_cert: {certificate} has no certificate in PEM form; give the path of one that has.")
    if not key and not PRIVATE_KEY.search(_content("client_cert", certificate)):
        raise OptionError(
            f"client_cert: {certificate} has no private key; give the file of the key with client_key or "
            "OCP_CLIENT_KEY."
        )
    if key and not PRIVATE_KEY.search(_content("client_key", key)):
        raise OptionError(f"client_key: {key} has no private key in PEM form; give the path of one that has.")
    _try(certificate, key)
    return certificate, key or certificate


def _content(option: str, path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise OptionError(
            f"{option}: {path} cannot be read: {error.strerror or error}. Give the path of a file in PEM form."
        ) from None


def _try(certificate: str, key: str | None) -> None:
    option, file = ("client_key", key) if key else ("client_cert", certificate)

    # Otherwise OpenSSL would ask for it on the terminal.
    def refuse() -> str:
        raise OptionError(f"{option}: the private key in {file} has a passphrase; give a key without one.")

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_cert_chain(certificate, key or None, refuse)
    except OSError as error:
        if getattr(error, "reason", None) == "KEY_VALUES_MISMATCH":
            raise OptionError(
                f"{option}: the private key in {file} does not belong to the certificate in {certificate}."
            ) from None
        why = getattr(error, "reason", None) or error.strerror or type(error).__name__
        both = f"client_cert, client_key: {certificate} and {key}" if key else f"client_cert: {certificate}"
        raise OptionError(f"{both} cannot be used: {why}. Give a certificate and its key in PEM form.") from None
