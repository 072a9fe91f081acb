# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths of the repository that pages name exist, and no role is left out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.unit.docs import known
from tests.unit.docs.markdown import ROOT, TOPS, Page, page, pages

PAGES = pages()
_PATH = re.compile(rf"(?:{'|'.join(TOPS)})/[\w*.{{}},/-]*")
# The reader's own copy.
_OWN = ("inventories/mine",)


def _lost(one: Page) -> list[str]:
    named = [span for span in one.spans if _PATH.fullmatch(span) and not span.startswith(_OWN)]
    return [name for name in named if not _there(one.path, name)]


def _there(place: Path, name: str) -> bool:
    pattern = re.sub(r"\b[A-Z]{3,}\b", "*", name).rstrip("/")
    return any([*home.glob(pattern)] for home in (ROOT, place.parent))


@pytest.mark.parametrize("one", PAGES, ids=lambda one: one.name)
def test_every_path_of_the_repository_exists(one: Page) -> None:
    assert _lost(one) == []


def test_a_lost_path_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("`docs/gone.md`, `docs/checks.md`, `roles/*/README.md`")
    assert _lost(page(tmp_path / "a.md")) == ["docs/gone.md"]


@pytest.mark.parametrize("name", ["docs/scope.md", "docs/README.md", "docs/architecture.md"])
def test_every_role_is_named(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    # docs/scope.md tells what is changed on a host.
    needed = [role for role in known.ROLES if name != "docs/scope.md" or role != "kubernetes_rdma"]
    assert [role for role in needed if not re.search(rf"\b{role}\b", text)] == []


def test_every_page_that_code_names_exists() -> None:
    named: dict[str, str] = {}
    others = {"docs/custom_plugin_monitor.md"}  # node-problem-detector's own.
    for top in ("plugins", "roles", "playbooks", "inventories", "sandbox", "matrix", "causes"):
        for path in (ROOT / top).rglob("*"):
            if path.suffix in (".py", ".yml", ".j2"):
                text = path.read_text(encoding="utf-8")
                named.update(dict.fromkeys(re.findall(r"\bdocs/[\w-]+\.md\b", text), str(path)))
    assert len(named) > 5
    lost = {name: where for name, where in named.items() if not (ROOT / name).is_file()}
    assert lost.keys() - others == set(), lost
