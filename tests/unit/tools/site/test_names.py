# SPDX-License-Identifier: GPL-3.0-or-later
"""Which words of a page lead to a page of a module, a check or docs/."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.site import names


@pytest.fixture
def source(tmp_path: Path) -> Path:
    for name in ("ibverify_module", "tcp_listen_module", "report_module", "nccl_role", "progress_callback"):
        (tmp_path / "collection").mkdir(exist_ok=True)
        (tmp_path / f"collection/{name}.rst").write_text("")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/checks.md").write_text("# Checks\n\n## How\n\n## ib.port.rate\n\ntext\n")
    (tmp_path / "docs/run.md").write_text("`report`, `ibready.cluster.report`, `ibverify`, ``ibverify``\n")
    (tmp_path / "README.md").write_text("`ibverify` and `plugins/modules/tcp_listen.py`, nccl and `nccl`\n")
    return tmp_path


def test_names_lead_to_plugins_checks_and_pages(source: Path) -> None:
    found = names.places(source, source / "collection")
    assert found["ibverify"] == names.Place("collection/ibverify_module")
    assert found["ibready.cluster.report"] == names.Place("collection/report_module")
    assert found["ibready.cluster.nccl"] == names.Place("collection/nccl_role")
    assert found["ibready.cluster.progress"] == names.Place("collection/progress_callback")
    assert found["ib.port.rate"] == names.Place("docs/checks", "ibportrate")
    assert found["docs/run.md"] == names.Place("docs/run")


def test_a_word_that_is_more_often_something_else_leads_nowhere(source: Path) -> None:
    found = names.places(source, source / "collection")
    assert not {"report", "nccl", "progress", "How"} & set(found)


def test_pages_that_name_a_plugin_are_told_once_each(source: Path) -> None:
    named = names.plugins(source / "collection")
    assert names.told_in(source, ["README.md", "docs/run.md"], named) == {
        "collection/ibverify_module": ["README", "docs/run"],
        "collection/tcp_listen_module": ["README"],
        "collection/report_module": ["docs/run"],
    }
