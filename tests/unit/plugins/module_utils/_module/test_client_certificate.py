# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The options client_cert and client_key: files that cannot be used are one sentence each, before anything is sent."""

from __future__ import annotations

import pytest
import trustme
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import OptionError
from ansible_collections.oceanbase.ocp.plugins.module_utils._module.client_certificate import client_certificate
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)

MADE = trustme.CA().issue_cert("ops@example.com")
CERTIFICATE, KEY = MADE.cert_chain_pems[0].bytes(), MADE.private_key_pem.bytes()
OTHER_KEY = trustme.CA().issue_cert("dba@example.com").private_key_pem.bytes()
ENCRYPTED_KEY = load_pem_private_key(KEY, None).private_bytes(
    Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"pass-phrase-9")
)
DAMAGED_KEY = KEY.replace(b"\n", b"\nAAAA", 3)


@pytest.fixture
def chosen(tmp_path):
    """The choice from files with these contents; a text is a path, relative to their folder."""

    def choose(certificate, key=None):
        given = {}
        for option, content in (("client_cert", certificate), ("client_key", key)):
            given[option] = content
            if isinstance(content, bytes):
                given[option] = str(tmp_path / option)
                (tmp_path / option).write_bytes(content)
        return client_certificate(given)

    return choose


@pytest.mark.parametrize("nothing", [None, ""])
def test_no_client_certificate_is_none(nothing, chosen):
    assert chosen(nothing, nothing) is None


def test_two_files_and_one_file_are_accepted(chosen, tmp_path):
    both = str(tmp_path / "client_cert"), str(tmp_path / "client_key")
    assert chosen(CERTIFICATE, KEY) == both
    assert chosen(CERTIFICATE + KEY) == chosen(KEY + CERTIFICATE, "") == (both[0], both[0])


@pytest.mark.parametrize(
    ("certificate", "key", "sentence"),
    [
        pytest.param(
            None,
            KEY,
            "client_key: {key} is given without the certificate that it belongs to; give that with client_cert or "
            "OCP_CLIENT_CERT.",
            id="key alone",
        ),
        pytest.param(
            "/no/such/client.crt",
            KEY,
            "client_cert: {cert} cannot be read: No such file or directory. Give the path of a file in PEM form.",
            id="no certificate",
        ),
        pytest.param(
            CERTIFICATE,
            "/no/such/client.key",
            "client_key: {key} cannot be read: No such file or directory. Give the path of a file in PEM form.",
            id="no key",
        ),
        pytest.param(
            "/",
            None,
            "client_cert: / cannot be read: Is a directory. Give the path of a file in PEM form.",
            id="folder",
        ),
        pytest.param(
            b"\x30\x82",
            KEY,
            "client_cert: {cert} has no certificate in PEM form; give the path of one that has.",
            id="not PEM",
        ),
        pytest.param(
            CERTIFICATE,
            None,
            "client_cert: {cert} has no private key; give the file of the key with client_key or OCP_CLIENT_KEY.",
            id="key left out",
        ),
        pytest.param(
            CERTIFICATE,
            CERTIFICATE,
            "client_key: {key} has no private key in PEM form; give the path of one that has.",
            id="certificate as key",
        ),
        pytest.param(
            CERTIFICATE,
            OTHER_KEY,
            "client_key: the private key in {key} does not belong to the certificate in {cert}.",
            id="key of another",
        ),
        pytest.param(
            CERTIFICATE + OTHER_KEY,
            None,
            "client_cert: the private key in {cert} does not belong to the certificate in {cert}.",
            id="key of another in one file",
        ),
        pytest.param(
            CERTIFICATE,
            ENCRYPTED_KEY,
            "client_key: the private key in {key} has a passphrase; give a key without one.",
            id="encrypted",
        ),
    ],
)
def test_unusable_file_is_one_sentence(certificate, key, sentence, chosen, tmp_path):
    with pytest.raises(OptionError) as raised:
        chosen(certificate, key)
    cert = certificate if isinstance(certificate, str) else tmp_path / "client_cert"
    key = key if isinstance(key, str) else tmp_path / "client_key"
    assert str(raised.value) == sentence.format(cert=cert, key=key)


def test_damaged_file_is_named_and_not_quoted(chosen, tmp_path):
    with pytest.raises(OptionError) as raised:
        chosen(CERTIFICATE, DAMAGED_KEY)
    said = str(raised.value)
    assert said.startswith(
        f"client_cert, client_key: {tmp_path / 'client_cert'} and {tmp_path / 'client_key'} cannot be used: "
    )
    assert said.endswith(". Give a certificate and its key in PEM form.")
    assert not any(line in said for line in KEY.decode().splitlines())
