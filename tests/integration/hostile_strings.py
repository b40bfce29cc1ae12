# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Two hundred strings; each leaves a file behind if something evaluates it as a template."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

CODE = [
    "lookup('ansible.builtin.pipe', 'touch CANARY')",
    "lookup('pipe', 'touch CANARY', errors='ignore')",
    "query('pipe', 'touch CANARY')",
    "(none | default(lookup('lines', 'touch CANARY'), true))",
    "lookup('pipe', ['touch', 'CANARY'] | join(' '))",
    "cycler.__init__.__globals__.os.system('touch CANARY')",
    "lipsum.__globals__['os'].popen('touch CANARY').read()",
    "self.__init__.__globals__.__builtins__.open('CANARY', 'a').close()",
]
AROUND = [
    "{{ CODE }}",
    "{{CODE}}",
    "{{- CODE -}}",
    "a zone {{ CODE }} of a cluster",
    "{% set x = CODE %}",
    "{% if CODE %}yes{% endif %}",
    "{%- for x in [CODE] -%}{{ x }}{%- endfor %}",
    "{% raw %}{{ {% endraw %}{{ CODE }}",
    "{# a comment #}{{ CODE }}",
    "{{ [CODE, {'x': CODE}] | to_json }}",
    "#jinja2:variable_start_string:'[%',variable_end_string:'%]'\n[% CODE %]",
    "#jinja2:variable_start_string:'[[',variable_end_string:']]'\n[[ CODE ]]",
    "#jinja2:block_start_string:'<%',block_end_string:'%>'\n<% set x = CODE %>",
    "#jinja2:trim_blocks:False\n{{ CODE }}",
    "!unsafe {{ CODE }}",
    '- "{{ CODE }}"\n  key: {{ CODE }}',
    '{"x": "{{ CODE }}"}',
    '["{{ CODE }}"]',
    '{"__ansible_unsafe": "{{ CODE }}"}',
    "' ~ CODE ~ '",
    '<script>{{ CODE }}</script><img src=x onerror="{{ CODE }}">',
    '" ~ CODE ~ "',
    "CODE",
    "\x1b[2J\x1b]0;{{ CODE }}\x07\u202e\u2028{{ CODE }}",
    "}} {{ CODE }} {{",
]
STRINGS = [around.replace("CODE", code) for around, code in itertools.product(AROUND, CODE)]
# The first few numbers are of different kinds, and no two of the first 200 are the same.
STRIDE = 27
# In whose place they may stand, or among which they may be.
CONTAINERS = [
    lambda text: [text],
    lambda text: {"x": text},
    lambda text: {text: text},
    lambda text: [{"x": [{"y": text}]}],
    lambda text: {"__ansible_unsafe": text},
    lambda text: {"__ansible_type": "TrustedAsTemplate", "value": text},
    lambda text: {"__ansible_vault": text},
]


class Canaries:
    """The strings, each with a file of its own in ``folder`` for each field it stands in."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir()

    def string(self, where: str, number: int) -> str:
        """The string with this number, to stand in ``where``. The numbers begin again after the last."""
        return STRINGS[STRIDE * number % len(STRINGS)].replace("CANARY", str(self._folder / f"{where}-{number}"))

    def in_container(self, where: str, number: int) -> Any:
        """The same in a list or an object, a different one for each number."""
        return CONTAINERS[number % len(CONTAINERS)](self.string(where, number))

    @property
    def seen(self) -> list[str]:
        """The fields of which something was run."""
        return sorted(path.name for path in self._folder.iterdir())
