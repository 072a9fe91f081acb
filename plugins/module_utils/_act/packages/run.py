# SPDX-License-Identifier: GPL-3.0-or-later
"""Run a package manager: argv only, C locale, no questions, and not ended when a login ends.

Before that, wait until nobody else changes packages, and name who does not end.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import tempfile
import time
from typing import Callable, Sequence

from ..._ground.bound import Bound
from ..._ground.command import Output, Unavailable, decode, find_program
from .model import PackageError

APT_LOCKS = ("/var/lib/dpkg/lock-frontend", "/var/lib/dpkg/lock")
RPM_LOCKS = (
    "/var/lib/rpm/.rpm.lock",
    "/usr/lib/sysimage/rpm/.rpm.lock",
)
# dnf writes its process number here; the file may stay when it is killed.
DNF_PIDS = ("/var/lib/dnf/rpmdb_lock.pid", "/var/cache/dnf/download_lock.pid")
# Runs argv; whatever the exit status, the output comes back.
Runner = Callable[[Sequence[str]], Output]

# Building kernel modules for several kernels takes a quarter of an hour on a slow machine.
_TIMEOUT_S = 2 * 60 * 60
_KEPT: Bound = 32 * 1024 * 1024
_QUIET = {
    "LC_ALL": "C",
    "LANGUAGE": "",
    "DEBIAN_FRONTEND": "noninteractive",
    "DEBIAN_PRIORITY": "critical",
    "APT_LISTCHANGES_FRONTEND": "none",
    # Ubuntu's needrestart would restart services, and ask first.
    "NEEDRESTART_SUSPEND": "1",
    "UCF_FORCE_CONFFOLD": "1",
}


def run(argv: Sequence[str]) -> Output:
    """Run a program to its end; PackageError where it is missing or never ends.

    Its output goes to files: a full pipe would stop a package manager in the middle.
    """
    try:
        program = find_program(argv[0])
    except Unavailable as exc:
        raise PackageError("failed", str(exc), "install it, or see that it is in PATH") from exc
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            done = subprocess.run(
                [program, *argv[1:]],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env={**os.environ, **_QUIET},
                start_new_session=True,
                timeout=_TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise PackageError(
                "failed",
                f"{argv[0]} did not end within {_TIMEOUT_S // 60} minutes",
                "look on the host what it waits for; the next run repairs what it left",
                changed=True,
            ) from None
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(decode(stream.read(_KEPT)))
            if stream.read(1):
                texts[-1] += f"\n{argv[0]} printed more than {_KEPT:,} bytes, and the rest is not read\n"
    return Output(done.returncode, texts[0], texts[1])


def wait(
    root: str,
    paths: Sequence[str],
    pids: Sequence[str],
    timeout: float,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Return when none of the locks is held; PackageError (lock) after ``timeout`` seconds."""
    until = time.monotonic() + timeout
    while True:
        held = [text for text in map(lambda path: _holder(root, path), paths) if text]
        held += [text for text in map(lambda path: _runner(root, path), pids) if text]
        if not held:
            return
        if time.monotonic() >= until:
            raise PackageError(
                "lock",
                f"{held[0]} after {timeout:g} s of waiting",
                "wait until it is done (automatic upgrades after a boot take minutes) or raise lock_timeout",
            )
        sleep(min(1.0, max(0.05, until - time.monotonic())))


def _holder(root: str, path: str) -> str:
    """Who holds the lock, in words; "" where nobody does."""
    place = os.path.join(root, path.lstrip("/"))
    try:
        fd = os.open(place, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return ""  # No such lock, or a place that nobody can write to: the manager will say.
    try:
        fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return ""
    except OSError:
        who = _process(_locker(os.fstat(fd).st_ino))
        return f"{path} is held by {who}"
    finally:
        os.close(fd)


def _runner(root: str, path: str) -> str:
    """The process that a file of dnf names, if it runs."""
    try:
        with open(os.path.join(root, path.lstrip("/")), encoding="ascii") as stream:
            pid = int(stream.read().strip() or 0)
    except (OSError, ValueError):
        return ""
    if pid <= 1 or pid == os.getpid() or not os.path.exists(f"/proc/{pid}"):
        return ""
    return f"{path} is held by {_process(pid)}"


def _locker(inode: int) -> int:
    """The process that has a lock on a file, from /proc/locks; 0 where it is not told."""
    try:
        with open("/proc/locks", encoding="ascii", errors="replace") as stream:
            for line in stream:
                words = line.split()
                if len(words) > 5 and words[5].rpartition(":")[2] == str(inode):
                    return int(words[4])
    except (OSError, ValueError):
        pass
    return 0


def _process(pid: int) -> str:
    if pid <= 0:
        return "another process"
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as stream:
            return f"{stream.read().strip()} (process {pid})"
    except OSError:
        return f"process {pid}"
