# SPDX-License-Identifier: GPL-3.0-or-later
"""What is opened where others may write: a file that was looked at first, and nothing else."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import socket
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground import paths, regular
from ansible_collections.ibready.cluster.plugins.module_utils._ground.command import Missing, Unavailable
from ansible_collections.ibready.cluster.plugins.module_utils._ground.regular import NotRegular, open_regular
from tests.unit import roots_place
from tests.unit.roots_place import OTHER, as_root

NULL = os.makedev(1, 3)


def _socket(path: str) -> None:
    with socket.socket(socket.AF_UNIX) as line:
        line.bind(path)


# What may stand in a file's place, each with how it is made.
KINDS: dict[str, Callable[[str], object]] = {
    "folder": os.mkdir,
    "FIFO": os.mkfifo,
    "socket": _socket,
    "character device": lambda path: os.mknod(path, 0o600 | stat.S_IFCHR, NULL),
    "block device": lambda path: os.mknod(path, 0o600 | stat.S_IFBLK, os.makedev(7, 250)),
}


@pytest.fixture
def place() -> Iterator[Path]:
    with roots_place.folder() as found:
        yield found


@pytest.fixture
def theirs(place: Path) -> Path:
    """A folder of somebody else."""
    folder = place / "home"
    folder.mkdir()
    os.chown(folder, OTHER, OTHER)
    return folder


def read(path: Path | str, *, alone: bool = False) -> bytes:
    with open(open_regular(str(path), alone=alone), "rb") as stream:
        return stream.read()


@pytest.mark.parametrize("linked", [False, True], ids=["itself", "by a link"])
@pytest.mark.parametrize("kind", KINDS)
def test_only_files_are_opened(place: Path, monkeypatch: pytest.MonkeyPatch, kind: str, linked: bool) -> None:
    there = place / "it"
    try:
        KINDS[kind](str(there))
    except PermissionError:
        pytest.skip(f"no {kind} can be made here")
    path = place / "link" if linked else there
    if linked:
        path.symlink_to("it")
    opened = roots_place.record(monkeypatch)
    for alone in (False, True):
        with pytest.raises(NotRegular, match="not a regular file"):
            open_regular(str(path), alone=alone)
    with pytest.raises(Unavailable, match="not a regular file"):
        paths.read_regular(str(path), str(path))
    assert opened == []


def test_a_file_is_read_by_links_of_ones_own(place: Path) -> None:
    (place / "a/b").mkdir(parents=True)
    (place / "a/b/file").write_text("text")
    (place / "down").symlink_to("a/b")
    (place / "a/up").symlink_to("../down/file")
    (place / "a/whole").symlink_to(place / "a/up")
    for path in ("a/b/file", "down/file", "a/up", "a/whole", "a/b/../up", "./a//whole"):
        assert read(f"{place}/{path}") == b"text"
        assert read(f"{place}/{path}", alone=True) == b"text"


def test_what_is_not_there_is_missing(place: Path) -> None:
    (place / "file").write_text("")
    (place / "nowhere").symlink_to("nothing")
    for name in ("nothing", "nowhere", "file/below"):
        with pytest.raises(Missing, match="no such file"):
            paths.read_regular(f"{place}/{name}", name)


def test_links_in_a_circle_end(place: Path) -> None:
    (place / "a").symlink_to("b")
    (place / "b").symlink_to("a")
    with pytest.raises(OSError, match=os.strerror(errno.ELOOP)):
        open_regular(str(place / "a"))


def test_the_kernels_own_links_are_followed() -> None:
    assert read("/proc/self/comm") == Path("/proc/self/comm").read_bytes()
    for path in itertools.islice(Path("/sys/class/net").glob("*/mtu"), 3):
        assert read(path) == path.read_bytes()


def test_no_descriptor_is_left(place: Path) -> None:
    (place / "file").write_text("text")
    (place / "link").symlink_to("file")
    (place / "loop").symlink_to("loop")
    before = os.listdir("/proc/self/fd")
    for path in ("file", "link", "loop", "nothing", "link/below", ""):
        for alone in (False, True):
            try:
                os.close(open_regular(f"{place}/{path}", alone=alone))
            except OSError:
                continue
    assert os.listdir("/proc/self/fd") == before


LINKS = {
    "to a secret": "../secret",
    "to a secret by its whole path": "{place}/secret",
    "to a file of theirs": "own",
    "to a device": "/dev/null",
    "to the kernel's files": "/proc/self/environ",
}


@as_root
@pytest.mark.parametrize("mode", [0o755, 0o700, 0o777, 0o1777])
@pytest.mark.parametrize("link", LINKS)
def test_root_follows_no_link_of_others(
    place: Path, theirs: Path, monkeypatch: pytest.MonkeyPatch, link: str, mode: int
) -> None:
    (place / "secret").write_text("secret")
    (theirs / "own").write_text("own")
    theirs.chmod(mode)
    (theirs / "link").symlink_to(LINKS[link].format(place=place))
    os.lchown(theirs / "link", OTHER, OTHER)
    opened = roots_place.record(monkeypatch)
    with pytest.raises(Unavailable, match=r"/home/link is not followed: others than root"):
        paths.read_regular(str(theirs / "link"), "it")
    assert opened == []


@as_root
@pytest.mark.parametrize(("owner", "mode"), [(OTHER, 0o755), (0, 0o775), (0, 0o757), (0, 0o777)])
def test_root_follows_no_link_where_others_may_have_put_it(place: Path, theirs: Path, owner: int, mode: int) -> None:
    """A link of root's own may have been moved there, and so may the folder that it lies in."""
    (place / "secret").write_text("secret")
    inside = theirs / "inside"
    inside.mkdir()
    (inside / "link").symlink_to(place / "secret")
    os.chown(theirs, owner, owner)
    theirs.chmod(mode)
    with pytest.raises(OSError, match="is not followed"):
        open_regular(str(inside / "link"))
    # Also where a link of root's leads into that folder.
    (place / "way").symlink_to("home/inside")
    with pytest.raises(OSError, match="is not followed"):
        open_regular(str(place / "way/link"))


@as_root
def test_what_others_keep_as_a_file_is_read(place: Path, theirs: Path) -> None:
    """Homes lie where root's links lead, and their files are read as they are."""
    (theirs / "conf").write_text("text")
    os.chown(theirs / "conf", OTHER, OTHER)
    (place / "way").symlink_to("home")
    assert read(theirs / "conf") == read(place / "way/conf") == b"text"


@as_root
def test_in_a_sticky_folder_a_link_of_roots_is_its_own(place: Path) -> None:
    (place / "file").write_text("text")
    (place / "tmp").mkdir()
    (place / "tmp").chmod(0o1777)
    (place / "tmp/link").symlink_to("../file")
    assert read(place / "tmp/link") == b"text"
    os.lchown(place / "tmp/link", OTHER, OTHER)
    with pytest.raises(OSError, match="is not followed"):
        open_regular(str(place / "tmp/link"))
    # Where only root could have put it, it does not matter whose it is: archives keep owners.
    (place / "tmp").chmod(0o755)
    assert read(place / "tmp/link") == b"text"


WRONG = {
    "theirs": lambda path: os.chown(path, OTHER, 0),
    "the group's": lambda path: os.chmod(path, 0o775),
    "everybody's": lambda path: os.chmod(path, 0o757),
    "sticky": lambda path: os.chmod(path, 0o1777),
}


@as_root
@pytest.mark.parametrize("linked", [False, True], ids=["itself", "by a link"])
@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_alone_is_every_folder_and_the_file(
    place: Path, monkeypatch: pytest.MonkeyPatch, depth: int, wrong: str, linked: bool
) -> None:
    way = [place / "a", place / "a/b", place / "a/b/c", place / "a/b/c/file"]
    way[2].mkdir(parents=True)
    way[3].write_text("text")
    path = place / "link" if linked else way[3]
    if linked:
        path.symlink_to("a/b/c/file")
    assert read(path, alone=True) == b"text"
    WRONG[wrong](str(way[depth]))
    opened = roots_place.record(monkeypatch)
    with pytest.raises(OSError, match=f"{way[depth]} is not root's alone: .*; next: have root"):
        open_regular(str(path), alone=True)
    assert opened == []
    assert read(path) == b"text"


@as_root
def test_other_users_have_their_own_rights(place: Path, theirs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (theirs / "file").write_text("text")
    (theirs / "link").symlink_to("file")
    monkeypatch.setattr(os, "geteuid", lambda: OTHER)
    assert read(theirs / "link") == read(theirs / "link", alone=True) == b"text"


def act_at(patch: pytest.MonkeyPatch, moment: int, act: Callable[[], None]) -> list[None]:
    """Do this ahead of one call to the kernel; each call adds to the list."""
    calls: list[None] = []

    def wrapped(real: Callable[..., object]) -> Callable[..., object]:
        def call(*args: object, **more: object) -> object:
            calls.append(None)
            if len(calls) == moment:
                act()
            return real(*args, **more)

        return call

    for name in ("open", "fstat", "readlink"):
        patch.setattr(os, name, wrapped(getattr(os, name)))
    return calls


@as_root
@pytest.mark.parametrize("name", ["it", "it/file"], ids=["the file", "its folder"])
@pytest.mark.parametrize("after", ["own", "device", "FIFO", "link", "gone"])
@pytest.mark.parametrize("before", ["own", "device", "FIFO", "link"])
def test_a_name_that_changes_meanwhile_leads_to_nothing_else(
    place: Path, theirs: Path, before: str, after: str, name: str
) -> None:
    """Somebody puts another thing there between any two looks of ours."""
    (place / "secret").mkdir()
    (place / "secret/file").write_text("secret")
    for moment in itertools.count(1):
        home = theirs / str(moment)
        home.mkdir()
        os.chown(home, OTHER, OTHER)
        os.mkfifo(home / "FIFO")
        os.mknod(home / "device", 0o600 | stat.S_IFCHR, NULL)
        (home / "link").symlink_to(place / "secret" / ("" if "/" in name else "file"))
        file = home / "own/file" if "/" in name else home / "own"
        file.parent.mkdir(exist_ok=True)
        file.write_text("own")
        (home / before).rename(home / "it")

        def swap(home: Path = home) -> None:
            (home / "it").rename(home / "gone")
            if after not in (before, "gone"):
                (home / after).rename(home / "it")

        with pytest.MonkeyPatch.context() as patch:
            calls = act_at(patch, moment, swap)
            opened = roots_place.record(patch)
            with contextlib.suppress(OSError):
                assert read(home / name) == b"own"
        assert {kind for _path, kind in opened} <= {stat.S_IFREG}
        assert not [path for path, _kind in opened if "secret" in path]
        if len(calls) < moment:
            return


def test_without_proc_nothing_is_opened(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / "file").write_text("text")
    real = os.open

    def open_(path: str, *args: int, **more: int) -> int:
        if path.startswith("/proc/"):
            raise FileNotFoundError(errno.ENOENT, "no such file")
        return real(path, *args, **more)

    monkeypatch.setattr(os, "open", open_)
    monkeypatch.setattr(os.path, "isdir", lambda _path: False)
    with pytest.raises(Unavailable, match="/proc is not mounted") as raised:
        paths.read_regular(str(place / "file"), "it")
    assert not isinstance(raised.value, Missing)


def test_where_looks_cannot_be_had_without_opening_files_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(regular, "_PATH", 0)
    (tmp_path / "file").write_text("text")
    os.mkfifo(tmp_path / "fifo")
    assert read(tmp_path / "file") == b"text"
    with pytest.raises(NotRegular):
        open_regular(str(tmp_path / "fifo"))
