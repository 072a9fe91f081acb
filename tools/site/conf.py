# SPDX-License-Identifier: GPL-3.0-or-later
"""How Sphinx builds the site; tools/site/build.py starts it, at the top of the checkout."""

from __future__ import annotations

from pathlib import Path

import yaml

_GALAXY = yaml.safe_load((Path(__file__).resolve().parents[2] / "galaxy.yml").read_text(encoding="utf-8"))

project = "ibready"
version = release = str(_GALAXY["version"])
language = "en"

extensions = ["myst_parser", "sphinx_antsibull_ext", "tools.site.links"]
root_doc = "index"
nitpicky = True
# Pages are Markdown as GitHub reads it, with its anchors; the parser's own mode for that leaves links as they are.
myst_enable_extensions = ["gfm_autolink", "strikethrough"]
myst_disable_syntax = [
    *("front_matter", "myst_line_comment", "myst_block_break", "myst_target", "myst_role"),
    *("footnote_def", "footnote_ref"),
]
myst_heading_anchors = 6
# What is indented is a command, an output or a drawing: nobody knows its language.
highlight_language = "text"
smartquotes = False

repository = _GALAXY["repository"]

html_theme = "furo"
html_title = f"ibready {version}"
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
# The tables of options are coloured for a white page, and their links are too pale to be read.
_LINKS = {"antsibull-links-background": "#1f6f71", "antsibull-links-background-active": "#17585a"}
_DARK = {
    **{f"antsibull-table-background-{part}": "var(--color-background-secondary)" for part in ("header", "even")},
    "antsibull-table-background-odd": "var(--color-background-primary)",
    "antsibull-table-border": "var(--color-background-border)",
    "antsibull-narrowtable-background": "var(--color-background-secondary)",
    **{f"antsibull-option-{part}": "#d9a6ff" for part in ("type", "elements")},
    **{f"antsibull-option-{part}": "#7fd48a" for part in ("version-added", "aliases")},
    **{f"antsibull-option-{part}": "#8ab8ff" for part in ("default", "sample")},
    "antsibull-option-sample-header": "inherit",
    **{f"antsibull-{part}": "#ff8f8f" for part in ("option-required", "attribute-support-none")},
    "antsibull-attribute-support-partial": "#e0d060",
    "antsibull-attribute-support-full": "#7fd48a",
}
html_theme_options = {
    "navigation_with_keys": True,
    "light_css_variables": _LINKS,
    "dark_css_variables": {**_LINKS, **_DARK},
}
