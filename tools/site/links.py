# SPDX-License-Identifier: GPL-3.0-or-later
"""What Sphinx makes of links and names: GitHub's anchors, files of the repository, modules, checks, Ansible's pages."""

from __future__ import annotations

import re
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from tools.site import names

ROOT = Path(__file__).resolve().parents[2]
CHINESE = ".zh-CN"

# Ansible's own documentation, which antsibull-docs refers to by labels.
ANSIBLE = "https://docs.ansible.com/projects/ansible/latest"
LABELS = {
    "action_plugins": "plugins/action.html",
    "ansible_configuration_settings": "reference_appendices/config.html",
    "callback_plugins": "plugins/callback.html",
    "common_return_values": "reference_appendices/common_return_values.html",
}
_BUILTIN = re.compile(r"ansible_collections\.ansible\.builtin\.(\w+)")
# Code in these is none that a reader would follow.
_CLOSED = (nodes.reference, addnodes.pending_xref, addnodes.download_reference, nodes.title, nodes.literal_block)


def in_repository(repository: str, root: Path, page: str, target: str) -> str | None:
    """The address of a file that a page links to, at the repository's; None where there is no such file."""
    path = normpath(join(dirname(page), target.partition("#")[0]))
    if path.startswith("..") or not (root / path).exists():
        return None
    return f"{repository}/{'tree' if (root / path).is_dir() else 'blob'}/main/{path}"


def of_ansible(kind: str, label: str) -> str | None:
    """The address of what Ansible's documentation has by this label."""
    builtin = _BUILTIN.fullmatch(label)
    if kind == "envvar":
        path = LABELS["ansible_configuration_settings"]
    elif kind == "ref":
        path = f"collections/ansible/builtin/{builtin[1]}.html" if builtin else LABELS.get(label, "")
    else:
        path = ""
    return f"{ANSIBLE}/{path}" if path else None


def _missing(app: Sphinx, env: BuildEnvironment, node: addnodes.pending_xref, content: nodes.Node) -> Any:
    address = of_ansible(node["reftype"], node["reftarget"])
    return nodes.reference("", "", content, refuri=address, internal=False) if address else None


def _read(app: Sphinx, doctree: nodes.document) -> None:
    page = app.env.docname
    for _line, ident, _text, slug in _slugs(app.env, page):
        section = doctree.ids[ident]
        if slug not in section["ids"]:
            section["ids"].append(slug)
    # The theme has the table of contents at the side.
    for topic in [*doctree.findall(nodes.topic)]:
        if "contents" in topic["classes"]:
            topic.parent.remove(topic)
    for title in doctree.findall(nodes.title):
        title.attributes.pop("refid", None)
    for link in [*doctree.findall(addnodes.pending_xref)]:
        if link["reftype"] == "myst" and not link["refdomain"]:
            address = in_repository(app.config.repository, ROOT, page, link["reftarget"])
            if address:
                link.replace_self(nodes.reference("", "", *link.children, refuri=address, internal=False))
    _link_names(app, doctree, page)


def _slugs(env: BuildEnvironment, page: str) -> list[tuple[int, str, str, str]]:
    return [(*told, slug) for slug, told in env.metadata[page].get("myst_slugs", {}).items()]


def _link_names(app: Sphinx, doctree: nodes.document, page: str) -> None:
    places: dict[str, names.Place] = app.ibready_places  # type: ignore[attr-defined]
    for text in [*doctree.findall(nodes.Text)]:
        if _is_closed(text):
            continue
        word = text.astext()
        if isinstance(text.parent, nodes.literal):
            if word in places and places[word].page != page:
                text.parent.replace_self(_reference(app, page, places[word], text.parent.deepcopy()))
        elif names.PAGE.search(word):
            text.parent.replace(text, _with_pages(app, page, word, places))


def _is_closed(node: nodes.Node) -> bool:
    parent = node.parent
    while parent is not None:
        if isinstance(parent, _CLOSED):
            return True
        parent = parent.parent
    return False


def _with_pages(app: Sphinx, page: str, text: str, places: dict[str, names.Place]) -> list[nodes.Node]:
    """A text in which each path of a page is a link."""
    found: list[nodes.Node] = []
    at = 0
    for match in names.PAGE.finditer(text):
        if match[0] in places:
            found += [nodes.Text(text[at : match.start()])]
            found += [_reference(app, page, places[match[0]], nodes.Text(match[0]))]
            at = match.end()
    return [*found, nodes.Text(text[at:])]


def _reference(app: Sphinx, page: str, place: names.Place, content: nodes.Node) -> nodes.reference:
    uri = app.builder.get_relative_uri(page, place.page)
    return nodes.reference("", "", content, internal=True, refuri=f"{uri}#{place.anchor}" if place.anchor else uri)


def _language(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    if page.endswith(CHINESE):
        context["language"] = "zh-CN"


def _titles(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    """Have the navigation, which shows titles alone, not copy all headings of all pages for each page."""
    toctree = context.get("toctree")
    if toctree is None:
        return

    def of_titles(**words: Any) -> str:
        whole, app.env.tocs = app.env.tocs, app.ibready_titles  # type: ignore[attr-defined]
        try:
            return str(toctree(**words))
        finally:
            app.env.tocs = whole

    context["toctree"] = of_titles


def _read_all(app: Sphinx, env: BuildEnvironment) -> None:
    """Keep of each page's table of contents its title, and what holds further pages."""
    app.ibready_titles = {page: toc.deepcopy() for page, toc in env.tocs.items()}  # type: ignore[attr-defined]
    for toc in app.ibready_titles.values():  # type: ignore[attr-defined]
        for below in [*toc.findall(nodes.bullet_list)][1:]:
            if below.parent is not None and not [*below.findall(addnodes.toctree)]:
                below.parent.remove(below)


def _begin(app: Sphinx) -> None:
    source = Path(app.srcdir)
    app.ibready_places = names.places(source, source / "collection")  # type: ignore[attr-defined]


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    app.add_config_value("repository", "", "env", types=(str,))
    app.connect("builder-inited", _begin)
    app.connect("doctree-read", _read)
    app.connect("missing-reference", _missing)
    app.connect("html-page-context", _language)
    # Before the theme's, which makes the navigation.
    app.connect("html-page-context", _titles, priority=100)
    app.connect("env-updated", _read_all)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
