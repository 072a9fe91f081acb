# SPDX-License-Identifier: GPL-3.0-or-later
"""Part of the program of _copies_child: this host's files, and what sets NCCL's variables or the linker's path.

Needs the standard library and _ground/regular only: it is run by its source. Waits for no other
machine, and tells single lines, never a whole file: environments hold secrets of other programs.
"""

from __future__ import annotations

import glob
import os
import re
import shlex
import time
from typing import Dict, Iterator

from ..._ground.regular import NotRegular, open_regular

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
_LIBRARY_PATH = "LD_LIBRARY_PATH"
_CONF_FILE = "NCCL_CONF_FILE"
_HOMES = "on another machine: what users set there is not seen"
SHELL = (
    *("/etc/environment", "/etc/environment.d/*.conf", "/etc/profile", "/etc/profile.d/*"),
    *("/etc/bash.bashrc", "/etc/bashrc", "/etc/csh.cshrc", "/etc/csh.login", "/etc/zshenv"),
    "/etc/security/pam_env.conf",
)
_UNITS = (
    *(
        f"{folder}/{name}"
        for folder in ("/etc/systemd/system", "/run/systemd/system", "/usr/lib/systemd/system")
        for name in ("*.service", "*.service.d/*.conf")
    ),
    *("/etc/systemd/system.conf", "/etc/systemd/system.conf.d/*.conf"),
)
_LONGEST = 1000
_LINKER = ("/etc/ld.so.conf", "/etc/ld.so.conf.d/*.conf")
_NAME = re.compile(rf"NCCL_[A-Z0-9_]{{1,100}}|{_LIBRARY_PATH}")
# Anywhere in a line of shell NAME=VALUE, of csh NAME VALUE, of pam_env NAME DEFAULT=VALUE.
_SETS = re.compile(rf"(?<![A-Za-z0-9_$])({_NAME.pattern})(?:=|[ \t]+(?:DEFAULT=)?)(.*)")


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

    def sets(self, name: str, value: str, path: str, number: int) -> None:
        """A setting; of a value longer than any of NCCL's its beginning, and how much there is."""
        more = f"... and {len(value) - _LONGEST} more characters" if len(value) > _LONGEST else ""
        self.say("set", name, value[:_LONGEST] + more, path, str(number))

    def unseen(self, place: str, why: str | OSError) -> None:
        """A place that could not be looked into."""
        if isinstance(why, OSError):
            why = why.strerror.lower() if why.strerror else str(why)
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
        return [self.told(path) for path in sorted(glob.glob(glob.escape(self.root) + pattern))]

    def entries(self, folder: str) -> Iterator[os.DirEntry[str]]:
        """What is in a folder; OSError where it cannot be listed."""
        with os.scandir(self.at(folder)) as found:
            yield from found

    def text(self, path: str) -> str:
        """A file's beginning; "" where there is none, and where it cannot be read says so."""
        try:
            with open(open_regular(self.at(path)), "rb") as stream:
                data = stream.read(TEXT + 1)
        except (FileNotFoundError, NotRegular):
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
        return sorted(reversed(found), key=lambda item: -len(item[0]))


def _is_own(point: str, kind: str) -> bool:
    return kind in LOCAL or point in _OWN


def is_persons(home: str) -> bool:
    """Whether a home is one where a person keeps software."""
    return home != "/" and home.split("/")[1] not in _SYSTEM


def settings(host: Host, homes: Homes) -> list[tuple[str, str]]:
    """Say what sets what; returns the folders that the linker is led to, each with who does."""
    folders = _linker(host)
    for pattern in SHELL:
        for path in host.matching(pattern):
            folders += _shell(host, path)
    for pattern in _UNITS:
        for path in host.matching(pattern):
            folders += _unit(host, path)
    for home, user in homes.items():
        _conf_file(host, f"{home.rstrip('/')}/.nccl.conf", user)
    return folders


def _linker(host: Host) -> list[tuple[str, str]]:
    found = []
    for pattern in _LINKER:
        for path in host.matching(pattern):
            for line in host.text(path).splitlines():
                folder = line.split("#", 1)[0].strip()
                if folder.startswith("/"):
                    found.append((folder, path))
    return found


def _shell(host: Host, path: str) -> list[tuple[str, str]]:
    found = []
    for number, line in enumerate(host.text(path).splitlines(), 1):
        if not line.lstrip().startswith("#"):
            for match in _SETS.finditer(line):
                found += _set(host, path, number, match[1], match[2].strip().strip("\"'"))
    return found


def _unit(host: Host, path: str) -> list[tuple[str, str]]:
    """Environment= and DefaultEnvironment= of a unit, and the files that it reads."""
    found = []
    for number, line in enumerate(host.text(path).splitlines(), 1):
        key, _equals, value = line.strip().partition("=")
        key, value = key.rstrip(), value.strip()
        if key in ("Environment", "DefaultEnvironment"):
            for word in _words(value):
                name, _equals, setting = word.partition("=")
                if _NAME.fullmatch(name):
                    found += _set(host, path, number, name, setting)
        elif key == "EnvironmentFile":
            for entry in host.matching(value.lstrip("-")) if value.lstrip("-")[:1] == "/" else []:
                found += _shell(host, entry)
    return found


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _set(host: Host, path: str, number: int, name: str, value: str) -> list[tuple[str, str]]:
    host.sets(name, value, path, number)
    if name == _CONF_FILE:
        _conf_file(host, value, path)
    if name == _LIBRARY_PATH:
        return [(word, path) for word in value.split(":") if word.startswith("/")]
    return []


def _conf_file(host: Host, path: str, who: str) -> None:
    """A file that NCCL reads ahead of /etc/nccl.conf for this user, or where this file is read."""
    if not path.startswith("/"):
        return
    if not host.local(path):
        if host.mounted(path):
            host.unseen(os.path.dirname(os.path.dirname(path)), _HOMES)
        return
    try:
        os.stat(host.at(path))
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as exc:
        host.unseen(path, exc)
        return
    host.say("conf", path, who)
    for number, line in enumerate(host.text(path).splitlines(), 1):
        name, equals, value = line.partition("=")
        if equals and _NAME.fullmatch(name):
            host.sets(name, value, path, number)
