# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""How Sphinx makes the site of the pages as they stand in the repository, and of what antsibull-docs has written."""

from docutils import nodes

project = "oceanbase.ocp"
copyright = "2026 oceanbase.ocp contributors"
html_title = project
html_theme = "sphinx_ansible_theme"
html_theme_options = {"topbar_links": {}}
root_doc = "index"

extensions = ["myst_parser", "sphinx_antsibull_ext"]
include_patterns = [
    "index.md",
    "C*.md",
    "SECURITY.md",
    "docs/*.md",
    "examples/README.md",
    "docs/dev/*.md",
    "reference/**",
]
myst_heading_anchors = 3
highlight_language = "yaml+jinja"
nitpicky = True

ANSIBLE = "https://docs.ansible.com/ansible/latest"
CONFIGURATION = "reference_appendices/config.html"
# What antsibull-docs refers to in the documentation of Ansible, so that no build needs its inventory from the network.
IN_ANSIBLE = {
    "action_plugins": "plugins/action.html",
    "callback_plugins": "plugins/callback.html",
    "ansible_configuration_settings": CONFIGURATION,
    "common_return_values": "reference_appendices/common_return_values.html",
}


def refer_to_ansible(_app, _environment, node, content):
    """A link to the documentation of Ansible for a label or a variable that is there, or None for any other."""
    target = node["reftarget"]
    if node["reftype"] == "envvar" and target.startswith("ANSIBLE_"):
        page = f"{CONFIGURATION}#envvar-{target}"
    else:
        page = IN_ANSIBLE.get(target)
    return nodes.reference("", "", content, refuri=f"{ANSIBLE}/{page}", internal=False) if page else None


def link_logo(_app, _page, _template, context, _doctree):
    """Let the logo lead to the home page from pages in any folder, which the option of the theme cannot."""
    context["theme_documentation_home_url"] = context["pathto"](root_doc)


def setup(app):
    app.connect("missing-reference", refer_to_ansible)
    app.connect("html-page-context", link_logo)
