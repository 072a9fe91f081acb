# SPDX-License-Identifier: GPL-3.0-or-later
"""A bundle of a simulated node tells exactly what the node itself does."""

from __future__ import annotations

import datetime
import json
import os
import tarfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import Bundle, Evidence, Live
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._ground.command import Missing, Output, Unavailable
from ansible_collections.ibready.cluster.plugins.module_utils._verify import collect, verify as _verify
from tests.gauntlet import render
from tests.gauntlet.nodes.nccl import PEER
from tests.gauntlet.tree import Tree

pytestmark = pytest.mark.thorough

NOW = datetime.datetime(2026, 11, 20, tzinfo=datetime.UTC).isoformat()


def collected(tree: Tree, place: Path, **said: object) -> Bundle:
    """``said``: what decides as well what is looked at, as a collect by the inventory passes it on."""
    collect.collect(tree, str(place), "node7", NOW, {"nccl": {"peers": [PEER]}, "container": {}, **said})
    return Bundle(place / "node7")


@pytest.mark.parametrize("board", sorted(render.boards()))
def test_a_bundle_is_judged_like_the_host(board: str, tmp_path: Path) -> None:
    node = render.node(board)
    tree = render.render(node)
    expect = from_inventory(node.expect)
    live = _verify.verify(tree, expect)
    said = {key: node.expect[key] for key in ("spectrum_x",) if key in node.expect}
    offline = _verify.verify(collected(tree, tmp_path, **said), expect)
    reported = {(one.id, one.subject): (one.result, one.observed) for one in live.checks}
    assert {(one.id, one.subject): (one.result, one.observed) for one in offline.checks} == reported


# Each of them is a name in a folder; a host may have any of them anywhere.
def shapes(folder: Path) -> list[str]:
    folder.mkdir(parents=True)
    (folder / "file").write_text("said\n")
    (folder / "empty").write_bytes(b"")
    (folder / "folder").mkdir()
    os.mkfifo(folder / "fifo")
    for name, target in (("to-file", "file"), ("to-folder", "folder"), ("to-nothing", "../gone"), ("loop", "loop")):
        (folder / name).symlink_to(target)
    return [*sorted(os.listdir(folder)), "never"]


def answer(ask: Callable[[str], object], path: str) -> object:
    """What is told, or whether it is absent (Missing) or unknown (Unavailable)."""
    try:
        told = ask(path)
    except Unavailable as exc:
        return type(exc)
    return sorted(told) if isinstance(told, list) else told


@pytest.mark.parametrize("order", [1, -1])
def test_a_bundle_answers_of_each_shape_of_a_file_as_the_host_does(order: int, tmp_path: Path) -> None:
    names = shapes(tmp_path / "host/etc/shapes.d")
    recorder = collect.Recorder(Live(str(tmp_path / "host")))
    asked = ["/etc/shapes.d", *(f"/etc/shapes.d/{name}" for name in names)]

    def all_of(source: Evidence) -> dict[tuple[str, str], object]:
        asks = {"link": source.link, "mode": source.mode, "read": source.read}
        told = {(path, word): answer(ask, path) for path in asked for word, ask in list(asks.items())[::order]}
        # Nobody lists what others read as a file.
        folders = [path for path in asked if path.endswith(("folder", ".d", "never"))]
        return {**told, **{(path, "list"): answer(source.list, path) for path in folders}}

    told = all_of(recorder)
    assert told["/etc/shapes.d/to-nothing", "read"] is Missing
    assert told["/etc/shapes.d/fifo", "read"] is Unavailable
    place = tmp_path / "bundle/node7"
    place.mkdir(parents=True)
    collect._write(recorder, str(place), "node7", NOW, {})
    assert all_of(Bundle(place)) == told


def test_the_manifest_tells_whose_it_is_and_what_is_absent(tmp_path: Path) -> None:
    bundle = collected(render.render(render.node("ib-login")), tmp_path)
    raw = json.loads((tmp_path / "node7/manifest.json").read_text())
    assert raw["format"] == 1
    assert (raw["host"], raw["collected_at"], raw["ibready"]) == ("node7", NOW, "0.1.0")
    assert bundle.manifest.says_absent("/etc/ibready-sandbox.json")
    assert "nvsmi_q" in bundle.manifest.unavailable


@pytest.mark.parametrize(
    "expect",
    [
        {"container": {"options": ["-e", "WANDB=hunter2"]}},
        {"container": {"options": ["--env=A_TOKEN='x\\"]}},
        {"lock": {"note": "password=hunter2 x"}},
        {"lock": {"password": "hunter2"}},
        {"lock": {"token": ["hunter2"]}},
        {"lock": {"note": '"password":"hunter2'}},
        {"lock": {"note": "-----BEGIN PRIVATE KEY-----\nhunter2"}},
    ],
)
def test_what_is_expected_is_carried_without_secrets(expect: dict[str, Any], tmp_path: Path) -> None:
    wanted = {"rate_gbps": 400, "mig": False, "pkeys": ["0x8012"], **expect}
    collect.collect(render.render(render.node("ib-login")), str(tmp_path), "node7", NOW, wanted)
    text = (tmp_path / "node7/manifest.json").read_text()
    assert "hunter2" not in text
    told = Bundle(tmp_path / "node7").manifest.expect
    assert {key: told[key] for key in ("rate_gbps", "mig", "pkeys")} == {
        "rate_gbps": 400,
        "mig": False,
        "pkeys": ["0x8012"],
    }
    assert "container" not in told


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


SECRET = "# proxy password=hunter2\nNCCL_IB_HCA=mlx5_0\n"


@pytest.mark.parametrize("data", [SECRET.encode(), f"# größe\n{SECRET}".encode("latin-1")])
def test_a_file_that_is_read_as_bytes_is_masked_where_it_is_text(data: bytes) -> None:
    recorder = collect.Recorder(Tree(files={"/etc/nccl.conf": data, "/config": data + b"\0"}))
    for reported in (recorder.read_bytes("/etc/nccl.conf"), recorder.files["/etc/nccl.conf"]):
        assert reported == data.replace(b"hunter2", b"[masked]")
    # What holds a zero byte is no text: a checksum may stand over it.
    assert recorder.read_bytes("/config") == data + b"\0"


def test_why_something_could_not_be_told_is_masked() -> None:
    class Refusing(Tree):
        def read(self, path: str) -> str:
            raise Unavailable(path, "cannot ask http://me:hunter2@proxy/, token=hunter2")

    recorder = collect.Recorder(Refusing())
    with pytest.raises(Unavailable):
        recorder.read("/a")
    assert "hunter2" not in recorder.unavailable["/a"]


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
    with pytest.raises(collect.CollectError, match="no name"):
        collect.collect(Tree(), str(tmp_path / "x"), host, NOW)
    assert not (tmp_path / "x").exists()


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(collect.CollectError, match="was not written"):
        collect.collect(Tree(), str(tmp_path / "file"), "node7", NOW)


def test_the_second_look_is_kept(tmp_path: Path) -> None:
    tree = Tree(files={"/a": b"1\n"}, later={"/a": b"2\n"})
    recorder = collect.Recorder(tree)
    assert recorder.read("/a") == "1\n"
    later, after = recorder.again(2.0)
    assert (later.read("/a"), after) == ("2\n", 2.0)
    place = tmp_path / "b"
    place.mkdir()
    collect._write(recorder, str(place), "n", NOW, {})
    again, seconds = Bundle(place).again(0)
    assert (Bundle(place).read("/a"), again.read("/a"), seconds) == ("1\n", "2\n", 2.0)


def parts(folder: Path) -> list[tuple[Path, Callable[[Bundle], object]]]:
    """Every file of a bundle, and who asks for it."""
    found: list[tuple[Path, Callable[[Bundle], object]]] = []
    for path in sorted(one for one in folder.rglob("*") if one.is_file()):
        kind, *names = path.relative_to(folder).parts
        if kind == "commands":
            found.append((path, partial(Bundle.run, name=names[0])))
        elif kind == "files":
            found.append((path, partial(Bundle.read_bytes, path=f"/{'/'.join(names)}")))
        elif names == ["seconds"]:
            found.append((path, partial(Bundle.again, seconds=1.0)))
    return found


@pytest.mark.parametrize("board", ["ib-login", "h100-pcie-2"])
def test_a_damaged_copy_of_a_bundle_is_recognised(board: str, tmp_path: Path) -> None:
    bundle = collected(render.render(render.node(board)), tmp_path)
    found = parts(tmp_path / "node7")
    assert len(found) > 100
    for path, ask in found:
        data = path.read_bytes()
        lines = [at + 1 for at, byte in enumerate(data) if byte == ord("\n")]
        places = {0, len(data) // 2, len(data) - 1, *lines[:: len(lines) // 40 + 1]}
        # Cut, and, as a file system leaves it that lost power, of the same length and empty.
        damaged = [data[:at] for at in places if at < len(data)] + [b"\0" * len(data)]
        for bad in damaged if data else [b"x"]:
            path.write_bytes(bad)
            with pytest.raises(Unavailable, match="damaged or not copied whole"):
                ask(bundle)
        path.unlink()
        with pytest.raises(Unavailable, match="collected and is gone"):
            ask(bundle)
        path.write_bytes(data)
        ask(bundle)


def test_a_name_that_a_copy_lost_is_missed(tmp_path: Path) -> None:
    bundle = collected(render.render(render.node("ib-login")), tmp_path)
    place = tmp_path / "node7/files/sys/class/infiniband"
    assert bundle.list("/sys/class/infiniband") == bundle.list("/sys//class/./infiniband/")
    lost = sorted(place.iterdir())[-1]
    lost.rename(tmp_path / "elsewhere")
    for path in ("/sys/class/infiniband", "/sys//class/./infiniband/"):
        with pytest.raises(Unavailable, match=f"has lost {lost.name} of it"):
            bundle.list(path)


def test_a_bundle_without_sums_is_read_as_it_is(tmp_path: Path) -> None:
    collected(render.render(render.node("ib-login")), tmp_path)
    place = tmp_path / "node7"
    reported = json.loads((place / "manifest.json").read_text())
    del reported["sums"]
    (place / "manifest.json").write_text(json.dumps(reported))
    (place / "commands/lsmod/stdout").write_text("Module Size Used by\n")
    assert Bundle(place).run("lsmod").stdout == "Module Size Used by\n"


def test_what_somebody_added_to_a_bundle_is_read(tmp_path: Path) -> None:
    bundle = collected(render.render(render.node("ib-login")), tmp_path)
    place = tmp_path / "node7/commands/nccl_log"
    place.mkdir()
    (place / "stdout").write_text("NCCL INFO\n")
    (place / "rc").write_text("0\n")
    assert bundle.run("nccl_log").stdout == "NCCL INFO\n"
