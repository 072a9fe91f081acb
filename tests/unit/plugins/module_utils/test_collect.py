# SPDX-License-Identifier: GPL-3.0-or-later
"""A bundle of a simulated node tells exactly what the node itself does."""

from __future__ import annotations

import datetime
import json
import os
import tarfile
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils import _collect, _verify
from ansible_collections.ibready.cluster.plugins.module_utils._command import Output
from ansible_collections.ibready.cluster.plugins.module_utils._evidence import Bundle
from ansible_collections.ibready.cluster.plugins.module_utils._expect import from_inventory
from tests.gauntlet import render
from tests.gauntlet.nodes.nccl import PEER
from tests.gauntlet.tree import Tree

NOW = datetime.datetime(2026, 11, 20, tzinfo=datetime.UTC).isoformat()


def collected(tree: Tree, place: Path) -> Bundle:
    _collect.collect(tree, str(place), "node7", NOW, [PEER], {})
    return Bundle(place / "node7")


@pytest.mark.parametrize("board", sorted(render.boards()))
def test_a_bundle_is_judged_like_the_host(board: str, tmp_path: Path) -> None:
    node = render.node(board)
    tree = render.render(node)
    expect = from_inventory(node.expect)
    live = _verify.verify(tree, expect)
    offline = _verify.verify(collected(tree, tmp_path), expect)
    told = {(one.id, one.subject): (one.result, one.observed) for one in live.checks}
    assert {(one.id, one.subject): (one.result, one.observed) for one in offline.checks} == told


def test_the_manifest_tells_whose_it_is_and_what_is_absent(tmp_path: Path) -> None:
    bundle = collected(render.render(render.node("ib-login")), tmp_path)
    raw = json.loads((tmp_path / "node7/manifest.json").read_text())
    assert raw["format"] == 1
    assert (raw["host"], raw["collected_at"], raw["ibready"]) == ("node7", NOW, "0.1.0")
    assert bundle.manifest.says_absent("/etc/ibready-sandbox.json")
    assert "nvsmi_q" in bundle.manifest.unavailable


def test_secrets_stay_at_home(tmp_path: Path) -> None:
    tree = render.render(render.node("ib-login"))
    tree.file("/proc/cmdline", "quiet rd.iscsi.password=hunter2 iommu=pt")
    tree.command("dmesg", "[    0.0] Command line: token=hunter2 quiet\n")
    for name in ("lsmod", "ibstatus"):
        tree.command(name, tree.commands.get(name, Output(0, "", "")).stdout, 0, "passwd=hunter2")
    collected(tree, tmp_path)
    for folder, _folders, files in os.walk(tmp_path / "node7"):
        for name in files:
            assert b"hunter2" not in (Path(folder) / name).read_bytes(), name


def test_the_archive_holds_the_same(tmp_path: Path) -> None:
    collected(render.render(render.node("ib-login")), tmp_path)
    with tarfile.open(tmp_path / "node7.tar.gz") as archive:
        theirs = {one.name: one for one in archive}
        for name, one in theirs.items():
            content = archive.extractfile(one)
            assert content is None or content.read() == (tmp_path / name).read_bytes()
    mine = {str(path.relative_to(tmp_path)) for path in (tmp_path / "node7").rglob("*")}
    assert set(theirs) - {"node7"} == mine
    assert all(one.isfile() or one.isdir() for one in theirs.values())


def test_only_the_owner_can_read_it(tmp_path: Path) -> None:
    collected(render.render(render.node("ib-login")), tmp_path)
    assert (tmp_path / "node7").stat().st_mode & 0o077 == 0
    assert (tmp_path / "node7.tar.gz").stat().st_mode & 0o077 == 0


def test_an_earlier_bundle_is_replaced_as_a_whole(tmp_path: Path) -> None:
    (tmp_path / "node7/commands/old").mkdir(parents=True)
    (tmp_path / "node7.part/left").mkdir(parents=True)
    collected(render.render(render.node("ib-login")), tmp_path)
    assert not (tmp_path / "node7/commands/old").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["node7", "node7.tar.gz"]


@pytest.mark.parametrize("host", ["", "..", "a/b", "-x", "a\n"])
def test_a_host_that_is_no_name_is_refused(tmp_path: Path, host: str) -> None:
    with pytest.raises(_collect.CollectError, match="no name"):
        _collect.collect(Tree(), str(tmp_path / "x"), host, NOW)
    assert not (tmp_path / "x").exists()


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(_collect.CollectError, match="was not written"):
        _collect.collect(Tree(), str(tmp_path / "file"), "node7", NOW)


def test_the_second_look_is_kept(tmp_path: Path) -> None:
    tree = Tree(files={"/a": b"1\n"}, later={"/a": b"2\n"})
    recorder = _collect.Recorder(tree)
    assert recorder.read("/a") == "1\n"
    later, after = recorder.again(2.0)
    assert (later.read("/a"), after) == ("2\n", 2.0)
    place = tmp_path / "b"
    place.mkdir()
    _collect._write(recorder, str(place), "n", NOW)
    again, seconds = Bundle(place).again(0)
    assert (Bundle(place).read("/a"), again.read("/a"), seconds) == ("1\n", "2\n", 2.0)
