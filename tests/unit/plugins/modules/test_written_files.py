# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import grp
import os
import pwd
import subprocess
import sys
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
    files = [{"path": str(one), "content": "first\n"}, {"path": str(two), "content": "second\n", "mode": "0600"}]

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

    reported = keep(files=[{"path": str(one), "content": "as it is\n"}, {"path": str(two), "content": "new\n"}])

    assert reported["files"] == [str(two)]
    assert [(one["before"], one["after"]) for one in reported["diff"]] == [("old\n", "new\n")]


def test_wrong_permissions_are_a_change(tmp_path: Path, keep: Run) -> None:
    one = tmp_path / "one"
    one.write_text("text\n")
    one.chmod(0o666)

    assert keep(files=[{"path": str(one), "content": "text\n"}])["changed"]
    assert one.stat().st_mode & 0o777 == 0o644


def test_check_mode_tells_the_same_and_changes_nothing(tmp_path: Path, keep: Run) -> None:
    new, old = tmp_path / "a/new", tmp_path / "old"
    old.write_text("text\n")
    words = {"files": [{"path": str(path), "content": "x\n"} for path in (new, old)]}

    reported = keep(check=True, **words)

    assert old.read_text() == "text\n"
    assert not new.parent.exists()
    assert reported["files"] == keep(**words)["files"] == [str(new), str(old)]
    assert new.read_text() == old.read_text() == "x\n"


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

    reported = keep(files=[{"path": str(one), "content": "x"}], look=[str(image), str(tmp_path / "none")])["written"]

    assert reported == {str(one): one.stat().st_mtime, str(image): 1000, str(tmp_path / "none"): None}


def test_what_cannot_be_written_is_named_with_what_was_changed_before(tmp_path: Path, keep: Run) -> None:
    file = tmp_path / "file"
    file.write_text("")

    reported = keep(
        files=[{"path": str(tmp_path / "one"), "content": "x"}, {"path": str(file / "two"), "content": "x"}]
    )

    assert reported["failed"]
    assert f"{file / 'two'} cannot be kept" in reported["msg"]
    assert f"Changed before: {tmp_path / 'one'}" in reported["msg"]


def test_directories_can_be_read_by_all_whatever_the_umask(tmp_path: Path, keep: Run) -> None:
    # systemd's user managers and networkd are not root.
    before = os.umask(0o077)
    try:
        assert keep(files=[{"path": str(tmp_path / "a/b/one"), "content": "x"}])["changed"]
    finally:
        os.umask(before)
    assert [(tmp_path / one).stat().st_mode & 0o777 for one in ("a", "a/b")] == [0o755, 0o755]
    assert (tmp_path / "a/b/one").stat().st_mode & 0o777 == 0o644


IN_ASCII = """
import os, sys
from ansible_collections.ibready.cluster.plugins.modules.written_files import Keeper

class Module:
    check_mode, tmpdir, params = False, sys.argv[1], {"owner": "", "group": ""}
    atomic_move = staticmethod(os.replace)
    set_owner_if_different = set_group_if_different = set_mode_if_different = staticmethod(
        lambda path, wanted, differs: differs
    )

for turn in range(2):
    keeper = Keeper(Module())
    keeper.write(sys.argv[2], "Z\\xfcrich\\n", "0644")
    print(len(keeper.changed))
"""


def test_texts_are_utf_8_whatever_the_locale(tmp_path: Path) -> None:
    plain = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    done = subprocess.run(
        [sys.executable, "-c", IN_ASCII, str(tmp_path), str(tmp_path / "one")],
        env={**os.environ, **plain, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        check=True,
    )
    assert done.stdout.split() == [b"1", b"0"]
    assert (tmp_path / "one").read_bytes() == b"Z\xc3\xbcrich\n"


def test_a_file_that_cannot_be_replaced_is_named(tmp_path: Path, keep: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = str(tmp_path / "one"), str(tmp_path / "two")
    move = written_files.AnsibleModule.atomic_move

    def immutable(module: Any, source: str, aim: str) -> None:
        if aim == two:
            raise Exception(f"Could not replace {aim!r} with {source!r}.") from PermissionError(
                1, "Operation not permitted"
            )
        move(module, source, aim)

    monkeypatch.setattr(written_files.AnsibleModule, "atomic_move", immutable)

    reported = keep(files=[{"path": path, "content": "x"} for path in (one, two)])

    assert reported["failed"]
    assert f"{two} cannot be kept as it is given" in reported["msg"]
    assert "Operation not permitted" in reported["msg"]
    assert f"Changed before: {one}" in reported["msg"]


def test_what_was_no_utf_8_can_be_shown(tmp_path: Path, keep: Run) -> None:
    (tmp_path / "one").write_bytes(b"Z\xfcrich\n")

    reported = keep(files=[{"path": str(tmp_path / "one"), "content": "x\n"}])

    # Ansible refuses an answer in which a lone surrogate stands for the byte.
    assert reported["diff"][0]["before"] == "Z\N{REPLACEMENT CHARACTER}rich\n"


def test_a_file_of_ours_is_taken_away_and_somebody_else_s_stays(tmp_path: Path, keep: Run) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    ours.write_text("# Written by us\n")
    theirs.write_text("by hand\n")
    asked = [{"path": str(path), "ours": "Written by us"} for path in (ours, theirs, tmp_path / "none")]

    assert keep(check=True, absent=asked)["files"] == [str(ours)]
    assert ours.exists()
    assert keep(absent=asked)["files"] == [str(ours)]
    assert (ours.exists(), theirs.exists()) == (False, True)
    assert keep(absent=asked)["changed"] is False


def test_a_line_is_made_the_last_of_its_kind_or_added(tmp_path: Path, keep: Run) -> None:
    path = tmp_path / "conf"
    asked = [{"path": str(path), "begins": "A=", "line": "A=2"}]
    assert keep(lines=asked)["changed"] is False
    path.write_text("A=0\nB=1\nA=1\n")

    assert keep(lines=asked)["changed"]
    assert path.read_text() == "A=0\nB=1\nA=2\n"
    path.write_text("B=1")
    keep(lines=asked)
    assert path.read_text() == "B=1\nA=2\n"
    assert keep(lines=asked)["changed"] is False


def test_an_image_is_made_again_where_it_is_older_than_a_file(tmp_path: Path, keep: Run) -> None:
    image, path = tmp_path / "image", tmp_path / "conf"
    asked: dict[str, Any] = {
        "files": [{"path": str(path), "content": "x\n"}],
        "images": [
            {"path": str(image), "command": ["touch", str(image)]},
            {"path": str(tmp_path / "none"), "command": ["false"]},
        ],
    }
    image.write_text("")
    assert keep(check=True, **asked)["images"] == [str(image)]
    keep(**asked)
    os.utime(image, (1, 1))

    assert keep(check=True, **asked)["changed"]
    assert keep(**asked)["images"] == [str(image)]
    assert keep(**asked)["changed"] is False


def test_an_image_that_cannot_be_made_is_a_failure(tmp_path: Path, keep: Run) -> None:
    image, path = tmp_path / "image", tmp_path / "conf"
    image.write_text("")
    os.utime(image, (1, 1))

    failed = keep(
        files=[{"path": str(path), "content": "x\n"}],
        images=[{"path": str(image), "command": ["sh", "-c", "echo no room; exit 3"]}],
    )

    assert "ended with status 3: no room" in failed["msg"]


def test_an_image_has_no_copy_of_a_file_that_was_taken_away(tmp_path: Path, keep: Run) -> None:
    image, path = tmp_path / "image", tmp_path / "conf"
    image.write_text("")
    path.write_text("# ours\n")
    asked: dict[str, Any] = {"absent": [{"path": str(path), "ours": "ours"}]}
    full = [{"path": str(image), "command": ["sh", "-c", "echo no room; exit 3"]}]

    assert "no room" in keep(**asked, images=full)["msg"]
    assert path.read_text() == "# ours\n"
    done = keep(**asked, images=[{"path": str(image), "command": ["touch", str(image)]}])
    assert (done["images"], path.exists()) == ([str(image)], False)
    assert keep(**asked, images=full)["changed"] is False


def test_a_link_leads_to_the_file_whose_line_counts(tmp_path: Path, keep: Run) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("a=1\n")
    real.chmod(0o644)
    link.symlink_to(real)
    words = {"lines": [{"path": str(link), "begins": "a=", "line": "a=2"}]}

    assert (keep(check=True, **words)["changed"], real.read_text()) == (True, "a=1\n")
    assert (keep(**words)["changed"], link.is_symlink(), real.read_text()) == (True, True, "a=2\n")
    assert keep(**words)["changed"] is False


def test_a_link_to_a_file_of_ours_goes_and_the_file_stays(tmp_path: Path, keep: Run) -> None:
    real, link, loose = tmp_path / "real", tmp_path / "link", tmp_path / "loose"
    real.write_text("ours\n")
    link.symlink_to(real)
    loose.symlink_to(tmp_path / "gone")
    words = {"absent": [{"path": str(path), "ours": "ours"} for path in (link, loose)]}

    assert (keep(check=True, **words)["changed"], link.is_symlink()) == (True, True)
    assert (keep(**words)["files"], link.is_symlink(), real.exists()) == ([str(link)], False, True)
    assert (keep(**words)["changed"], loose.is_symlink()) == (False, True)


def test_a_link_is_back_where_the_image_was_not_made(tmp_path: Path, keep: Run) -> None:
    real, link, image = tmp_path / "real", tmp_path / "link", tmp_path / "image"
    real.write_text("ours\n")
    image.write_text("")
    link.symlink_to("real")

    failed = keep(
        absent=[{"path": str(link), "ours": "ours"}], images=[{"path": str(image), "command": ["/bin/false"]}]
    )

    assert (failed["failed"], os.readlink(link)) == (True, "real")
