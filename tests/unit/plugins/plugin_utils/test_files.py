# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.plugin_utils._ground import files


@pytest.fixture(params=[0o022, 0o027, 0o077])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def test_who_may_read_a_report_is_what_the_umask_leaves(umask: int, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    for text in ("new", "and again"):
        files.write_whole(path, text)
        assert path.stat().st_mode & 0o777 == 0o666 & ~umask


def test_what_others_must_read_they_may(umask: int, tmp_path: Path) -> None:
    files.write_whole(tmp_path / "Release", b"text", files.PUBLIC)
    assert (tmp_path / "Release").stat().st_mode & 0o777 == 0o644


def test_a_link_in_its_place_is_replaced_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "report").symlink_to("secret")
    files.write_whole(tmp_path / "report", "report")
    assert (tmp_path / "secret").read_text() == "secret"
    assert not (tmp_path / "report").is_symlink()
