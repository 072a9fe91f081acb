# SPDX-License-Identifier: GPL-3.0-or-later
"""Part of the program of _copies_child: files of this host, without waiting for any other machine.

Needs the standard library only, and no other file of ours: it is run by its source.
"""

from __future__ import annotations

import glob
import os
import re
import stat
import time
from typing import Dict, Iterator

# Everything else may be on another machine, which may not answer.
LOCAL = frozenset(
    [
        "bcachefs",
        "btrfs",
        "erofs",
        "ext2",
        "ext3",
        "ext4",
        "f2fs",
        "jfs",
        "overlay",
        "ramfs",
        "reiserfs",
        "rootfs",
        "squashfs",
        "tmpfs",
        "ufs",
        "xfs",
        "zfs",
    ]
)
_OWN = ("/", "/etc", "/usr")
TEXT = 256 * 1024
# What is written there for accounts that have no home.
_NO_HOME = ("dev", "nonexistent", "proc", "sys")
# No users' homes, whoever has one there.
_SYSTEM = (*_NO_HOME, "bin", "etc", "run", "sbin", "usr", "var")
_OCTAL = re.compile(r"\\([0-7]{3})")

Homes = Dict[str, str]


class Host:
    """The files below ``root``, for some seconds and folders; what is told, and what unseen."""

    def __init__(self, root: str, seconds: float, folders: int) -> None:
        self.root = root.rstrip("/")
        self.lines: list[tuple[str, ...]] = []
        self._until = time.monotonic() + seconds
        self._seconds = seconds
        self._left = self._most = folders
        self._mounts = self._read_mounts()

    def say(self, *words: str) -> None:
        """One line of the answer, once."""
        if words not in self.lines:
            self.lines.append(words)

    def unseen(self, place: str, why: str | OSError) -> None:
        """A place that could not be looked into."""
        if isinstance(why, OSError):
            why = (why.strerror or str(why)).lower()
        self.say("unseen", place, why)

    def late(self) -> bool:
        """Whether the time is over."""
        return time.monotonic() >= self._until

    def stopped(self, top: str) -> bool:
        """Whether one more folder below ``top`` would be one too many; says so."""
        if self.late():
            self.unseen(top, f"the search stopped after {self._seconds:g} s")
            return True
        self._left -= 1
        if self._left < 0:
            self.unseen(top, f"the search stopped after {self._most} folders")
        return self._left < 0

    def at(self, path: str) -> str:
        """Where a path of the host really is."""
        return self.root + path

    def told(self, place: str) -> str:
        """The path on the host of what is really here."""
        return place[len(self.root) :]

    def matching(self, pattern: str) -> list[str]:
        """Paths that match, on this machine's own file systems."""
        fixed = pattern.split("*", 1)[0].rpartition("/")[0]
        if not self.local(fixed or "/"):
            return []
        return [self.told(one) for one in sorted(glob.glob(glob.escape(self.root) + pattern))]

    def entries(self, folder: str) -> Iterator[os.DirEntry[str]]:
        """What is in a folder; OSError where it cannot be listed."""
        with os.scandir(self.at(folder)) as found:
            yield from found

    def text(self, path: str) -> str:
        """A file's beginning; "" where there is none, and where it cannot be read says so."""
        try:
            fd = os.open(self.at(path), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            with open(fd, "rb") as stream:
                if not stat.S_ISREG(os.fstat(fd).st_mode):
                    return ""
                data = stream.read(TEXT + 1)
        except FileNotFoundError:
            return ""
        except OSError as exc:
            self.unseen(path, exc)
            return ""
        if len(data) > TEXT:
            self.unseen(path, f"only its first {TEXT // 1024} KiB were read")
        return data[:TEXT].decode("utf-8", "replace")

    def local(self, path: str) -> bool:
        """Whether the path is on a file system of this machine; asks nothing of any other.

        A host that runs from a network's file system is as good as on its own.
        """
        for point, kind in self._mounts:
            if path == point or path.startswith(point.rstrip("/") + "/"):
                if _is_own(point, kind):
                    return True
                self.unseen(point, f"{kind}, which is not looked into")
                return False
        self.unseen(path, "its file system is not known")
        return False

    def mounted(self, path: str) -> bool:
        """Whether it is known where the path lies."""
        return any(path.startswith(point.rstrip("/") + "/") for point, _kind in self._mounts)

    def remote_mount(self, path: str) -> bool:
        """Whether something else than a file system of this machine is mounted right here."""
        return any(path == point and not _is_own(point, kind) for point, kind in self._mounts)

    def homes(self) -> Homes:
        """Users by their home, from the host's own accounts and from /home."""
        found: Homes = {}
        for line in self.text("/etc/passwd").splitlines():
            words = line.split(":")
            if len(words) == 7 and words[5].startswith("/"):
                home = os.path.normpath(words[5])
                if home.split("/")[1] not in _NO_HOME:
                    found.setdefault(home, words[0])
        for home in self.matching("/home/*"):
            if not self.remote_mount(home) and os.path.isdir(self.at(home)):
                found.setdefault(home, home.rpartition("/")[2])
        return found

    def _read_mounts(self) -> list[tuple[str, str]]:
        """Mount points and their kinds, the longest first, of two on one point the upper one."""
        found = []
        for line in self.text("/proc/self/mountinfo").splitlines():
            words = line.split(" ")
            if len(words) > 9 and "-" in words[6:-1]:
                point = _OCTAL.sub(lambda octal: chr(int(octal[1], 8)), words[4])
                found.append((point, words[words.index("-", 6) + 1]))
        return sorted(reversed(found), key=lambda one: -len(one[0]))


def _is_own(point: str, kind: str) -> bool:
    return kind in LOCAL or point in _OWN


def is_persons(home: str) -> bool:
    """Whether a home is one where a person keeps software."""
    return home != "/" and home.split("/")[1] not in _SYSTEM
