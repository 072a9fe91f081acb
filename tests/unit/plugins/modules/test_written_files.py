# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import grp
import os
import pwd
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.modules import written_files

Run = Callable[..., dict[str, Any]]


@pytest.fixture
def keep(run_module: Run) -> Run:
    """The module, for files of whoever runs the tests."""
    us = {"owner": pwd.getpwuid(os.getuid()).pw_name, "group": grp.getgrgid(os.getgid()).gr_name}

    def run(*, check: bool = False, **words: Any) -> dict[str, Any]:
        return run_module(written_files.main, check=check, **us, **words)

    return run


def test_files_and_their_directories_are_made_once(tmp_path: Path, keep: Run) -> None:
    one, two = tmp_path / "a/b/one.conf", tmp_path / "two.conf"
    files = [
        {"path": str(one), "content": "first\n"},
        {"path": str(two), "content": "second\n", "mode": "0600"},
    ]

    first, second = keep(files=files), keep(files=files)

    assert first["files"] == [str(one), str(two)]
    assert (one.read_text(), two.read_text()) == ("first\n", "second\n")
    assert one.stat().st_mode & 0o777 == 0o644
    assert two.stat().st_mode & 0o777 == 0o600
    assert (second["changed"], second["files"], second["diff"]) == (False, [], [])


def test_only_what_differs_is_written(tmp_path: Path, keep: Run) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("as it is\n")
    one.chmod(0o644)
    two.write_text("old\n")

    told = keep(
        files=[
            {"path": str(one), "content": "as it is\n"},
            {"path": str(two), "content": "new\n"},
        ]
    )

    assert told["files"] == [str(two)]
    assert [(one["before"], one["after"]) for one in told["diff"]] == [("old\n", "new\n")]


def test_wrong_permissions_are_a_change(tmp_path: Path, keep: Run) -> None:
    one = tmp_path / "one"
    one.write_text("text\n")
    one.chmod(0o666)

    assert keep(files=[{"path": str(one), "content": "text\n"}])["changed"]
    assert one.stat().st_mode & 0o777 == 0o644


def test_check_mode_tells_the_same_and_changes_nothing(tmp_path: Path, keep: Run) -> None:
    new, gone = tmp_path / "a/new", tmp_path / "gone"
    gone.write_text("text\n")
    words = {"files": [{"path": str(new), "content": "x\n"}], "absent": [str(gone)]}

    told = keep(check=True, **words)

    assert gone.exists()
    assert not new.parent.exists()
    assert told["files"] == keep(**words)["files"] == [str(new), str(gone)]
    assert new.exists()
    assert not gone.exists()


def test_a_link_gives_way_and_what_it_leads_to_stays(tmp_path: Path, keep: Run) -> None:
    aim, link = tmp_path / "aim", tmp_path / "link"
    aim.write_text("of somebody else\n")
    link.symlink_to(aim)

    assert keep(files=[{"path": str(link), "content": "ours\n"}])["changed"]
    assert (aim.read_text(), link.read_text()) == ("of somebody else\n", "ours\n")
    assert not link.is_symlink()


def test_times_are_told_of_what_is_there(tmp_path: Path, keep: Run) -> None:
    image = tmp_path / "image"
    image.write_text("")
    os.utime(image, (1000, 1000))
    one = tmp_path / "one"

    told = keep(
        files=[{"path": str(one), "content": "x"}], look=[str(image), str(tmp_path / "none")]
    )["written"]

    assert told == {
        str(one): one.stat().st_mtime,
        str(image): 1000,
        str(tmp_path / "none"): None,
    }


def test_what_cannot_be_written_is_named_with_what_was_changed_before(
    tmp_path: Path, keep: Run
) -> None:
    file = tmp_path / "file"
    file.write_text("")

    told = keep(
        files=[
            {"path": str(tmp_path / "one"), "content": "x"},
            {"path": str(file / "two"), "content": "x"},
        ]
    )

    assert told["failed"]
    assert f"{file / 'two'} cannot be kept" in told["msg"]
    assert f"Changed before: {tmp_path / 'one'}" in told["msg"]
