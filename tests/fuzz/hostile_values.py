# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Values that no honest service sends, as JSON that a case can be kept in, and strategies that draw them.

An object whose only key begins with a dollar stands for something that would be long or that JSON cannot say:
``{"$raw": "1e999"}`` for these very characters, ``{"$nest": 700, "of": 1}`` for so many lists in each other,
``{"$repeat": 9, "of": 1}`` for a list of so many, and ``{"$echo": 2, "pad": 495}`` for a form of the secret after so
many characters. ``{"$gone": true}`` leaves out the field.
"""

from __future__ import annotations

import base64
import html
import json
import re
from typing import Any
from urllib.parse import quote, quote_plus

from hypothesis import strategies as st

Value = Any

USER, PASSWORD = "admin", 'pa/ss w"ört+9<&'
KEY_ID, KEY_SECRET = "key-id", "k/S3cret+key=9 x"
# What a template makes of CANARY_TEXTS if it is evaluated.
CANARY_ENVIRONMENT = "OCP_FUZZ_CANARY"
CANARIES = ("60481729", "canary-sings")

CANARY_TEXTS = (
    "{{ 7777 * 7777 }}",
    "{% if true %}60481{{ '' }}729{% endif %}",
    "#jinja2:variable_start_string:'[%', variable_end_string:'%]'\n[% 7777 * 7777 %]",
    "{{ lookup('env', 'OCP_FUZZ_CANARY') }}",
    "{{ query('env', 'OCP_FUZZ_CANARY') | first }}",
    "x{# #}{{ '604' ~ '81729' }}",
    "!unsafe {{ 7777 * 7777 }}",
)
ADDRESSES = (
    "-oProxyCommand=touch${IFS}canary",
    "../evilhost",
    "../../../../tmp/canary",
    "10.0.0.1,10.0.0.2",
    "all:!ocp_servers",
    "localhost ansible_connection=ssh",
    "$(touch canary)",
    "; touch canary",
)
MARKUP = (
    "<script>alert(1)</script>",
    "</title></style></svg><img src=x onerror=alert(1)>",
    '" onload="alert(1)',
)
TIMES = (
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59.999999+14:00",
    "1969-12-31T23:59:59-23:59",
    "1970-01-01T08:00:00+08:00",
    "2026-05-04T03:00:01+08:00",
    "2031-05-04T03:00:01Z",
    "2026-05-04T03:00:01",
    "2026-W19-1T03:00:00+08:00",
    "2026-02-30T00:00:00Z",
    "2026-05-04T03:00:01.123456789+08:00",
)
TEXTS = (
    *CANARY_TEXTS,
    *ADDRESSES,
    *TIMES,
    "",
    " ",
    "0",
    "-1",
    "7000043",
    "7000041 ",
    "+7",
    "1e3",
    "٣",
    "true",
    "null",
    "RUNNING",
    "FAILED",
    "SUCCESSFUL",
    "successful",
    "UNKNOWN_WORD",
    "RESTARTING",
    "STOPPED",
    "PENDING",
    "ROLLBACK",
    "Restart OB server",
    "restart ob CLUSTER",
    "\x1b[2J\x1b]0;title\x07",
    "\x9b31m",
    "line\nline\r\nFATAL: all is lost",
    "a\u2028b\u2029c\u0085d",
    "nul\x00nul",
    "\ud800",
    "\udcff\ud83d",
    "\u202etxt.exe\u2066",
    "\ufdd0\uffff",
    "e\u0301" * 300,
    *MARKUP,
    "%s%s%n{0}{a.__class__}",
    "############{EXECUTE}{2026-05-04T03:02:01+08:00}############\n" * 3,
    "x" * 20_000,
    "集群" * 6_000,
    "\n" * 9_000,
)
BIG = (10**9, 2**31, 2**63 - 1, 2**63, -(2**63) - 1, 1e308)
NUMBERS = (0, 1, -1, 7, 51, 7000041, 7000043, 30100, 30200, 0.5, -0.0, *BIG)
RAW = (
    "NaN",
    "Infinity",
    "-Infinity",
    "1e999",
    "9" * 400,
    "9" * 5000,
    "-0",
    "0.1e-400",
    '"\\ud800\\u0000"',
    '{"a":1,"a":2}',
)
# Where texts are cut: after as many characters, with a mark or not.
PADS = (0, 60, 180, 195, 480, 495, 980, 995, 9_985, 9_995, 65_500)
# In characters: a field may be in many records, which are read many times.
LONGEST_REPEAT = 20_000


def secret_forms(secret: str, login: str) -> list[str]:
    """The forms in which a service may repeat a secret, and the login that it is sent in."""
    sent = base64.b64encode(login.encode()).decode() if login else ""
    encoded = base64.b64encode(secret.encode()).decode()
    quoted = quote(secret, safe="")
    forms = [
        secret,
        sent,
        sent.rstrip("="),
        encoded,
        quoted,
        re.sub("%..", lambda escape: escape[0].lower(), quoted),
        re.sub("%..", lambda escape: escape[0].lower(), quoted, count=1),
        quote(secret),
        quote_plus(secret),
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        json.dumps(secret)[1:-1].replace("/", "\\/"),
        quote(sent, safe=""),
        html.escape(secret),
        html.escape(secret, quote=False),
    ]
    return list(dict.fromkeys(form for form in forms if form))


FORMS = {
    "password": secret_forms(PASSWORD, f"{USER}:{PASSWORD}"),
    "access_key": secret_forms(KEY_SECRET, ""),
}
MOST_FORMS = max(map(len, FORMS.values()))

texts = st.sampled_from(TEXTS) | st.text(max_size=20)


def evenly(*strategies: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """One of ``strategies``, each as often; ``st.one_of`` would take each of their branches as often."""
    return st.sampled_from(strategies).flatmap(lambda one: one)


markups = st.sampled_from(MARKUP)
# Whole in half of all cases, as only so it fits into a line of progress.
pads = st.just(0) | st.sampled_from(PADS)
echoes = st.builds(lambda form, pad: {"$echo": form, "pad": pad}, st.integers(0, MOST_FORMS - 1), pads)
# In place of documented values of a form.
instead: dict[str, st.SearchStrategy[Value]] = {
    "text": texts | echoes,
    "time": st.sampled_from((*TIMES, *CANARY_TEXTS[:2])),
    "address": st.sampled_from((*ADDRESSES, *CANARY_TEXTS[:2])),
    "number": st.sampled_from(NUMBERS) | st.sampled_from(RAW).map(lambda raw: {"$raw": raw}) | texts,
}
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from(NUMBERS),
    st.sampled_from(RAW).map(lambda raw: {"$raw": raw}),
    texts,
    st.sampled_from(CANARY_TEXTS),
    echoes,
)
depths = st.sampled_from((2, 90, 101, 700, 5_000, 100_000))
nests = st.builds(lambda depth, of: {"$nest": depth, "of": of}, depths, scalars)
repeats = st.builds(lambda count, of: {"$repeat": count, "of": of}, st.sampled_from((2, 50, 3_000)), scalars)
containers = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(("id", "name", "status", "contents", "totalPages", *CANARY_TEXTS[:2])), inner, max_size=3
        )
    ),
    max_leaves=4,
)
values: st.SearchStrategy[Value] = evenly(*[scalars] * 4, st.just({"$gone": True}), nests, repeats, containers)


def written(value: Value, forms: list[str]) -> str:
    """``value`` as the characters of a JSON text."""
    if isinstance(value, list):
        return f"[{','.join(written(item, forms) for item in value)}]"
    if not isinstance(value, dict):
        return json.dumps(value)
    if "$raw" in value:
        return str(value["$raw"])
    if "$nest" in value:
        return "[" * value["$nest"] + written(value["of"], forms) + "]" * value["$nest"]
    if "$repeat" in value:
        item = written(value["of"], forms)
        return f"[{','.join([item] * min(value['$repeat'], 1 + LONGEST_REPEAT // len(item)))}]"
    if "$echo" in value:
        return json.dumps("x" * value["pad"] + forms[value["$echo"] % len(forms)])
    return f"{{{','.join(f'{json.dumps(key)}:{written(item, forms)}' for key, item in value.items())}}}"
