# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A secret is removed in every form, and nothing else is."""

from __future__ import annotations

import base64
import html
import json
import re
from urllib.parse import quote, quote_plus

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.censor import MASK, Censor, without_userinfo
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.text import log_tail, one_line, truncate

USER = "admin"
SECRETS = ["s3cret-password", 'p/w "ü€\\ & +<7>', "пароль:~*'%", "  blanks around  ", "line\nbreak-9"]
FORMS = {
    "raw": lambda secret: secret,
    "Authorization": lambda secret: base64.b64encode(f"{USER}:{secret}".encode()).decode(),
    "base64": lambda secret: base64.b64encode(secret.encode()).decode(),
    "base64 without padding": lambda secret: base64.b64encode(secret.encode()).decode().rstrip("="),
    "base64 for URLs": lambda secret: base64.urlsafe_b64encode(secret.encode()).decode(),
    "URL": lambda secret: quote(secret, safe=""),
    "URL in lower case": lambda secret: re.sub("%..", lambda escape: escape[0].lower(), quote(secret, safe="")),
    "URL in both cases": lambda secret: re.sub(
        "%..", lambda escape: escape[0].lower(), quote(secret, safe=""), count=1
    ),
    "URL, twice": lambda secret: quote(quote(secret, safe=""), safe=""),
    "form": quote_plus,
    "header": lambda secret: secret.encode().decode("latin-1"),
    "JSON": lambda secret: json.dumps(secret)[1:-1],
    "JSON in upper case": lambda secret: re.sub(
        r"(?<=\\u)....", lambda escape: escape[0].upper(), json.dumps(secret)[1:-1]
    ),
    "JSON with Unicode": lambda secret: json.dumps(secret, ensure_ascii=False)[1:-1],
    "HTML": html.escape,
    "escaped": lambda secret: str(one_line(secret)),
}


def censor(secret: str) -> Censor:
    return Censor([secret], [f"{USER}:{secret}"])


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_every_form_is_removed(form, secret):
    shown = form(secret)
    text = f"before {shown} and {shown}{shown}, after"
    assert censor(secret).clean(text) == f"before {MASK} and {MASK}{MASK}, after"


@pytest.mark.parametrize("secret", [secret for secret in SECRETS if secret == secret.strip()])
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_no_piece_of_six_characters_is_left_at_a_cut(form, secret):
    shown = form(secret)
    for length in range(6, len(shown)):
        text = truncate("x" * 50 + " " + shown, 51 + length)
        left = censor(secret).clean(text)
        assert shown[:6] not in left
        assert left.startswith("x" * 50)


def test_end_of_a_secret_is_removed_at_the_start_of_a_cut_log():
    [secret, *_others] = SECRETS
    for length in range(6, len(secret)):
        tail = log_tail(secret + "x" * (64 * 1024 - 3 - length))
        left = censor(secret).clean(tail.lines[0])
        assert secret[-6:] not in left
        assert left.endswith("x" * 1000)


@pytest.mark.parametrize(
    "text", ["s3cret", "password", "a word… s3cret-passwort", "is s3cr…", "", "Basic authentication"]
)
def test_other_text_stays(text):
    assert censor("s3cret-password").clean(text) == text


def test_values_are_cleaned_at_every_depth():
    secret = SECRETS[0]
    value = {"msg": secret, "list": [f"<{secret}>", 7, None, True], secret: {"s3cret": (secret,)}, "password": "x"}
    assert censor(secret).clean_all(value) == {
        "msg": MASK,
        "list": [f"<{MASK}>", 7, None, True],
        MASK: {"s3cret": [MASK]},
        "password": "x",
    }


def test_names_of_facts_stay():
    assert Censor(["task"]).clean_all({"task_id": 1, "task": "task"}) == {"task_id": 1, "task": MASK}


@pytest.mark.parametrize("secret", ["", "   ", "a", "abc"])
def test_very_short_secret_does_not_garble_texts(secret):
    assert Censor([secret]).clean("a banana, abc") == "a banana, abc"


def test_signature_is_removed():
    text = "Authorization: OCP-ACCESS-KEY-HMACSHA1 key:XN8P+O+v3vUabB16ZCooq5wMJoY= was refused"
    assert Censor().clean(text) == f"Authorization: OCP-ACCESS-KEY-HMACSHA1 key:{MASK} was refused"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://bob:pw@ocp.test:8080/a", f"https://{MASK}@ocp.test:8080/a"),
        ("https://bob:p@w/x@ocp.test", f"https://{MASK}@ocp.test"),
        ("bob:pw@ocp.test", f"{MASK}@ocp.test"),
        ("https://ocp.test:8080", "https://ocp.test:8080"),
    ],
)
def test_login_in_a_url_is_removed(url, shown):
    assert without_userinfo(url) == shown


def test_secret_need_not_be_utf_8():
    secret = b"not utf-8: \xff".decode(errors="surrogateescape")
    assert censor(secret).clean(f"before {secret} and {quote(secret.encode(errors='surrogateescape'))}") == (
        f"before {MASK} and {MASK}"
    )
