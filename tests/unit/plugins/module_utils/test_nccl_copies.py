# SPDX-License-Identifier: GPL-3.0-or-later
"""Copies of the library and what leads to them, in a folder that stands for a host."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ask.nccl import _copies_child, _host_files, copies
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import Live, entry_name
from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import nccl_copies
from ansible_collections.ibready.cluster.plugins.module_utils._parse.nccl_copies import ConfFile, Copy, Setting, Unseen
from ansible_collections.ibready.cluster.plugins.module_utils._verify.verify import QUESTIONS
from tests.gauntlet.tree import Tree
from tests.unit import roots_place
from tests.unit.roots_place import OTHER, as_root

MOUNT = "{number} 1 8:1 / {point} rw,relatime shared:1 - {kind} /dev/x rw\n"
LIBRARY = b"\x7fELF....NCCL version {}+cuda12.2\0"
PASSWD = "root:x:0:0::/root:/bin/sh\nalice:x:1000:1000::/home/alice:/bin/sh\nsync:x:4:4::/bin:/x\n"


class Root:
    """A folder that stands for /."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.mounts({"/": "ext4", "/proc": "proc"})
        self.file("/etc/passwd", PASSWD)

    def mounts(self, kinds: dict[str, str]) -> None:
        lines = [
            MOUNT.format(number=number, point=point.replace(" ", "\\040"), kind=kind)
            for number, (point, kind) in enumerate(kinds.items(), 20)
        ]
        self.file("/proc/self/mountinfo", "".join(lines))

    def file(self, path: str, content: str | bytes) -> None:
        place = self.folder / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)

    def library(self, path: str, version: str = "2.26.2") -> None:
        self.file(path, b"\x7fELF" + bytes(100) + f"NCCL version {version}+cuda12.2\0".encode())

    def found(self, seconds: float = 60, folders: int = 10_000) -> nccl_copies.Found:
        host = _host_files.Host(str(self.folder), seconds, folders)
        lines = _copies_child.Search(host).run()
        text = "".join("\t".join(_copies_child.plain(word) for word in line) + "\n" for line in lines)
        return nccl_copies.parse(f"{text}end\t{len(lines)}\n")


@pytest.fixture
def root(tmp_path: Path) -> Root:
    return Root(tmp_path)


WHEEL = "site-packages/nvidia/nccl/lib/libnccl.so.2"


@pytest.mark.parametrize(
    ("path", "how"),
    [
        ("/usr/lib/x86_64-linux-gnu/libnccl.so.2.26.2", "library folder"),
        ("/usr/lib64/libnccl.so.2", "library folder"),
        ("/usr/local/lib/libnccl.so.2", "library folder"),
        ("/usr/local/cuda-12.2/lib64/libnccl.so.2", "library folder"),
        ("/usr/local/cuda-12.2/targets/x86_64-linux/lib/libnccl.so.2", "library folder"),
        (
            "/opt/nvidia/hpc_sdk/Linux_x86_64/24.7/comm_libs/12.5/nccl/lib/libnccl.so.2",
            "library folder",
        ),
        (f"/usr/lib/python3.11/{WHEEL}", "pip wheel"),
        (f"/usr/local/lib/python3.12/{WHEEL.replace('site', 'dist')}", "pip wheel"),
        ("/usr/local/lib/python3.12/site-packages/torch/lib/libnccl.so.2", "pip wheel"),
        (f"/opt/venv/lib/python3.11/{WHEEL}", "pip wheel"),
        (f"/opt/a/b/c/venv/lib/python3.11/{WHEEL}", "pip wheel"),
        (f"/home/alice/.local/lib/python3.11/{WHEEL}", "pip wheel"),
        (f"/home/alice/work/.venv/lib/python3.11/{WHEEL}", "pip wheel"),
        (f"/home/nobody-knows/venv/lib/python3.11/{WHEEL}", "pip wheel"),
        (f"/root/venv/lib64/python3.11/{WHEEL}", "pip wheel"),
        (f"/srv/jobs/venv/lib/python3.11/{WHEEL}", "pip wheel"),
        ("/home/alice/nccl/build/lib/libnccl.so.2", None),
        ("/home/alice/nccl/libnccl.so.2.26.2", "software folder"),
        ("/home/alice/miniconda3/envs/x/lib/libnccl.so.2.26.2", "library folder"),
        ("/var/lib/thing/libnccl.so.2", None),
    ],
)
def test_copies_are_found_where_software_is_kept(root: Root, path: str, how: str | None) -> None:
    root.library(path)
    found = root.found()
    expected = () if how is None else (Copy(path, path, "2.26.2", "12.2", how),)
    assert found.copies == expected
    assert found.unseen == ()


def test_a_conda_environment_is_called_one(root: Root) -> None:
    root.file("/opt/conda/conda-meta/history", "")
    root.library("/opt/conda/lib/libnccl.so.2.19.3", "2.19.3")
    assert [one.how for one in root.found().copies] == ["conda"]


def test_a_file_with_several_names_is_one_copy(root: Root) -> None:
    root.library("/usr/lib/x86_64-linux-gnu/libnccl.so.2.26.2")
    folder = root.folder / "usr/lib/x86_64-linux-gnu"
    (folder / "libnccl.so.2").symlink_to("libnccl.so.2.26.2")
    (folder / "libnccl.so").symlink_to("libnccl.so.2")
    (found,) = root.found().copies
    assert found.path == "/usr/lib/x86_64-linux-gnu/libnccl.so"
    assert found.real == "/usr/lib/x86_64-linux-gnu/libnccl.so.2.26.2"


def test_other_libraries_are_left_alone(root: Root) -> None:
    for name in ("libnccl-net.so", "libnccl_static.a", "libnccl.so.2.txt", "nccl.h"):
        root.file(f"/usr/lib64/{name}", "x")
    assert root.found().copies == ()


def test_a_copy_that_does_not_tell_its_version_is_a_copy(root: Root) -> None:
    root.file("/usr/lib64/libnccl.so.2", b"\x7fELF")
    (found,) = root.found().copies
    assert (found.version, found.cuda) == ("", "")


@pytest.mark.parametrize("kind", ["nfs4", "lustre", "fuse.sshfs", "beegfs", "wekafs", "autofs"])
def test_other_machines_file_systems_are_not_touched(root: Root, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    root.mounts({"/": "ext4", "/home": kind, "/opt/shared": kind})
    root.library(f"/home/alice/venv/lib/python3.11/{WHEEL}")
    root.library(f"/opt/shared/venv/lib/python3.11/{WHEEL}")
    root.file("/home/alice/.nccl.conf", "NCCL_DEBUG=INFO\n")
    listed: list[str] = []
    real = os.scandir

    def scandir(path: str) -> Any:
        listed.append(str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    found = root.found()
    assert f"{root.folder}/opt" in listed
    assert not [one for one in listed if "/shared" in one or "/home" in one]
    assert (found.copies, found.confs) == ((), ())
    homes = Unseen("/home", "on another machine: what users set there is not seen")
    assert set(found.unseen) == {
        homes,
        *(Unseen(one, f"{kind}, which is not looked into") for one in ("/home", "/opt/shared")),
    }
    assert [one.beyond for one in found.unseen] == [True] * 3
    assert homes.holds_homes


def test_a_host_that_runs_from_the_network_is_looked_at_like_another(root: Root) -> None:
    root.mounts({"/": "nfs4", "/home": "nfs4"})
    root.library("/usr/lib64/libnccl.so.2")
    root.file("/etc/environment", "NCCL_IB_DISABLE=1\n")
    found = root.found()
    assert len(found.copies) == 1
    assert [one.name for one in found.settings] == ["NCCL_IB_DISABLE"]


def test_a_link_that_leads_to_another_machine_is_not_followed(root: Root) -> None:
    root.mounts({"/": "ext4", "/net": "nfs4"})
    root.library("/net/libnccl.so.2")
    (root.folder / "usr/lib64").mkdir(parents=True)
    (root.folder / "usr/lib64/libnccl.so.2").symlink_to(root.folder / "net/libnccl.so.2")
    found = root.found()
    assert found.copies == ()
    assert found.unseen == (Unseen("/net", "nfs4, which is not looked into"),)


ODD = {
    "FIFO": os.mkfifo,
    "folder": os.mkdir,
    "device": lambda path: os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 3)),
    "link to a device": lambda path: os.symlink("device", path),
    "link to a FIFO": lambda path: os.symlink("FIFO", path),
    "link out": lambda path: os.symlink("/dev/null", path),
    "link to itself": lambda path: os.symlink(path, path),
}


@as_root
def test_nothing_but_files_is_opened(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a user gives the library's name, or has a unit's file be a link to."""
    root.library("/home/alice/lib/libnccl.so.2")
    folder = root.folder / "home/alice/lib"
    for number, (kind, make) in enumerate(ODD.items()):
        make(str(folder / kind))
        make(str(folder / f"libnccl.so.3.{number}"))
        unit = f"[Service]\nEnvironmentFile=/home/alice/lib/{kind}\n"
        root.file(f"/etc/systemd/system/{number}.service", unit)
    os.chown(folder, OTHER, OTHER)
    opened = roots_place.record(monkeypatch)
    found = root.found()
    known = [one.path for one in found.copies if one.version]
    assert known == ["/home/alice/lib/libnccl.so.2"]
    assert {kind for _path, kind in opened} == {stat.S_IFREG}


@as_root
def test_a_unit_s_file_in_a_home_is_no_way_to_roots_own(root: Root) -> None:
    root.file("/etc/secret", "NCCL_SECRET=1\n")
    root.file("/etc/systemd/system/x.service", "EnvironmentFile=/home/alice/env\n")
    home = root.folder / "home/alice"
    home.mkdir(parents=True)
    (home / "env").symlink_to(root.folder / "etc/secret")
    os.chown(home, OTHER, OTHER)
    found = root.found()
    assert found.settings == ()
    (unseen,) = found.unseen
    assert unseen.place == "/home/alice/env"
    assert unseen.why.endswith("/home/alice/env is not followed: others than root may change it")


def test_a_name_that_goes_while_it_is_looked_at_is_its_own_trouble(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    root.library("/home/alice/lib/libnccl.so.1")
    root.library("/home/alice/lib/libnccl.so.2")
    real = os.path.realpath

    def realpath(path: str) -> str:
        if path.endswith("so.1"):
            raise OSError(errno.EINVAL, "Invalid argument")
        return real(path)

    monkeypatch.setattr(os.path, "realpath", realpath)
    found = root.found()
    assert [one.path for one in found.copies] == ["/home/alice/lib/libnccl.so.2"]
    assert found.unseen == (Unseen("/home/alice/lib/libnccl.so.1", "invalid argument"),)


SWAP = """
import itertools, os, select, sys
os.chdir(sys.argv[1])
print("ready", flush=True)
for kind in itertools.cycle(["file", "device", "FIFO", "link", "gone"]):
    if kind == "gone":
        os.unlink("libnccl.so.2")
    else:
        os.link(kind, "new", follow_symlinks=False)
        os.rename("new", "libnccl.so.2")
    if select.select([0], [], [], 0)[0]:
        break
"""


@as_root
def test_names_that_are_swapped_all_the_while_open_nothing_and_end_nothing(
    root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    root.library("/home/alice/lib/file")
    folder = root.folder / "home/alice/lib"
    os.mkfifo(folder / "FIFO")
    os.mknod(folder / "device", 0o600 | stat.S_IFCHR, os.makedev(1, 3))
    (folder / "link").symlink_to("device")
    os.chown(folder, OTHER, OTHER)
    opened = roots_place.record(monkeypatch)
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", SWAP, str(folder)], stdin=pipe, stdout=pipe) as swapper:
        assert swapper.stdout is not None
        assert swapper.stdout.readline() == b"ready\n"
        try:
            for _ in range(4000):
                host = _host_files.Host(str(root.folder), 60, 1)
                _copies_child.Search(host)._copy("/home/alice/lib/libnccl.so.2", "here")
        finally:
            swapper.kill()
    assert {kind for _path, kind in opened} == {stat.S_IFREG}


def test_without_a_table_of_mounts_nothing_is_taken_for_local(root: Root) -> None:
    root.file("/proc/self/mountinfo", "")
    root.library("/usr/lib64/libnccl.so.2")
    found = root.found()
    assert found.copies == ()
    assert {one.why for one in found.unseen} == {"its file system is not known"}


def test_a_search_that_stops_early_says_where(root: Root) -> None:
    for number in range(30):
        root.file(f"/opt/{number}/file", "")
    assert root.found(folders=10).unseen[0] == Unseen("/opt", "the search stopped after 10 folders")
    (place, *_more) = root.found(seconds=0).unseen
    assert place == Unseen("/opt", "the search stopped after 0 s")


def test_deep_folders_and_those_that_hold_other_things_are_not_walked(root: Root) -> None:
    root.library("/opt/a/b/c/d/e/libnccl.so.2")
    root.library("/opt/node_modules/libnccl.so.2")
    root.library("/home/alice/.cache/libnccl.so.2")
    assert root.found().copies == ()


CONF = "/opt/site/nccl.conf"


@pytest.mark.parametrize(
    ("path", "text", "settings"),
    [
        ("/etc/environment", "NCCL_DEBUG=INFO\n", [("NCCL_DEBUG", "INFO", 1)]),
        ("/etc/environment", '# x\nNCCL_A="b c"\n', [("NCCL_A", "b c", 2)]),
        ("/etc/environment", "# NCCL_DEBUG=INFO\nPATH=/bin\n", []),
        ("/etc/profile.d/x.sh", "  export NCCL_A=1\n", [("NCCL_A", "1", 1)]),
        ("/etc/profile.d/x.csh", "setenv NCCL_A 1\n", [("NCCL_A", "1", 1)]),
        ("/etc/profile.d/x.sh", 'echo "$NCCL_A=1" ${NCCL_B}\n', []),
        ("/etc/security/pam_env.conf", "NCCL_A DEFAULT=1\n", [("NCCL_A", "1", 1)]),
        ("/etc/environment.d/x.conf", "NCCL_A=1\n", [("NCCL_A", "1", 1)]),
        (
            "/etc/systemd/system/slurmd.service.d/x.conf",
            '[Service]\nEnvironment="NCCL_A=b c" OTHER_SECRET=1 NCCL_B=2\n',
            [("NCCL_A", "b c", 2), ("NCCL_B", "2", 2)],
        ),
        ("/etc/systemd/system.conf", "DefaultEnvironment=NCCL_A=1\n", [("NCCL_A", "1", 1)]),
        ("/usr/lib/systemd/system/x.service", "Environment=NCCL_A=1\n", [("NCCL_A", "1", 1)]),
        ("/usr/lib/systemd/system/x.service", "ExecStart=/bin/x NCCL_A=1\n", []),
        ("/etc/default/other", "NCCL_A=1\n", []),
    ],
)
def test_what_sets_a_variable_is_found(root: Root, path: str, text: str, settings: list[tuple[str, str, int]]) -> None:
    root.file(path, text)
    expected = tuple(Setting(path, line, name, value) for name, value, line in settings)
    assert root.found().settings == expected


def test_the_files_that_a_unit_reads_are_read(root: Root) -> None:
    root.file("/etc/systemd/system/slurmd.service", "EnvironmentFile=-/etc/default/slurmd\n")
    root.file("/etc/default/slurmd", "SECRET=1\nNCCL_A=1\n")
    assert root.found().settings == (Setting("/etc/default/slurmd", 2, "NCCL_A", "1"),)


def test_a_folder_that_the_linker_is_led_to_is_looked_into(root: Root) -> None:
    root.library("/data/a/libnccl.so.2", "2.18.3")
    root.library("/data/b/libnccl.so.2", "2.19.3")
    root.file("/etc/ld.so.conf.d/a.conf", "/data/a\n")
    root.file("/etc/systemd/system/x.service", "Environment=LD_LIBRARY_PATH=/data/b:/data/none\n")
    found = {one.path: one.how for one in root.found().copies}
    assert found == {
        "/data/a/libnccl.so.2": "/etc/ld.so.conf.d/a.conf",
        "/data/b/libnccl.so.2": "/etc/systemd/system/x.service",
    }


def test_files_that_go_ahead_of_etc_nccl_conf_are_found(root: Root) -> None:
    root.file("/root/.nccl.conf", "NCCL_A=1\n")
    root.file("/home/alice/.nccl.conf", "NCCL_A=1\n")
    root.file(CONF, "NCCL_A=1\n")
    root.file("/etc/profile.d/nccl.sh", f"export NCCL_CONF_FILE={CONF}\n")
    assert set(root.found().confs) == {
        ConfFile("/root/.nccl.conf", "root"),
        ConfFile("/home/alice/.nccl.conf", "alice"),
        ConfFile(CONF, "/etc/profile.d/nccl.sh"),
    }


def test_names_with_odd_characters_come_through(root: Root) -> None:
    path = "/opt/a\tb\\n/libnccl.so.2"
    root.library(path)
    assert [one.path for one in root.found().copies] == [path]


@pytest.mark.parametrize("text", ["", "end\t0", "end\t1\n", "copy\ta\nend\t1\n", "set\ta\tb\tc\tx\nend\t1\n", "x\n"])
def test_an_answer_that_is_not_whole_is_refused(text: str) -> None:
    with pytest.raises(ParseError):
        nccl_copies.parse(text)


def show(*units: tuple[str, str]) -> str:
    return "\n".join(f"Environment={text}\nId={name}\n" for name, text in units)


def host() -> Tree:
    tree = Tree()
    tree.command(
        "nccl_copies",
        "conf\t/root/.nccl.conf\troot\nunseen\t/home\tnfs4\nend\t2\n",
    )
    tree.command("systemctl_show", "Version=255\nEnvironment=LANG=C NCCL_DEBUG=WARN\n")
    names = [f"{one}.service" for one in copies.host_units.ALWAYS]
    reported = {"slurmd.service": '"NCCL_A=b c" TOKEN=x LD_LIBRARY_PATH=/a:/b'}
    text = show(*((name, reported.get(name, "")) for name in names))
    tree.command(entry_name("systemctl_show", "--p", *copies.host_units.ALWAYS), text)
    tree.file("/root/.nccl.conf", " NCCL_A=1 \n")
    return tree


def test_a_service_whose_environment_is_not_told_is_no_service_without_one() -> None:
    tree = host()
    entry = entry_name("systemctl_show", "--p", *copies.host_units.ALWAYS)
    text = tree.commands[entry].stdout
    tree.command(entry, text.replace("Environment=\nId=docker.service\n", "Id=docker.service\n"))
    units = copies.observe(tree).units
    assert (units.known, "only one has Environment" in units.why) == (False, True)


def test_units_and_files_become_facts() -> None:
    facts = copies.observe(host())
    assert facts.copies.value == ()
    assert facts.confs.value == (ConfFile("/root/.nccl.conf", "root"),)
    assert facts.units.value == (
        Setting("systemd", 0, "NCCL_DEBUG", "WARN"),
        Setting("slurmd.service", 0, "NCCL_A", "b c"),
        Setting("slurmd.service", 0, "LD_LIBRARY_PATH", "/a:/b"),
    )
    assert facts.unseen == (Unseen("/home", "nfs4"),)


def test_what_could_not_be_asked_is_unknown() -> None:
    tree = host()
    tree.broken["nccl_copies"] = "gave no complete answer within 30 s"
    tree.broken["systemctl_show"] = "not installed"
    facts = copies.observe(tree)
    for one in (facts.copies, facts.settings, facts.confs):
        assert (one.known, one.missing) == (False, False)
        assert "within 30 s" in one.why
    assert "not installed" in facts.units.why


def test_this_host_can_be_searched() -> None:
    found = nccl_copies.parse(Live(questions=QUESTIONS).run("nccl_copies").stdout)
    assert isinstance(found.copies, tuple)


@pytest.mark.parametrize("path", ["/etc/environment", "/root/.nccl.conf"])
def test_of_a_long_value_it_is_said_how_much_there_is(root: Root, path: str) -> None:
    root.file(path, f"NCCL_IB_HCA={'x' * 1007}\n")
    (setting,) = root.found().settings
    assert setting.value == f"{'x' * 1000}... and 7 more characters"
