# SPDX-License-Identifier: GPL-3.0-or-later
"""Which run of Ansible this is, and whether the process of another one has ended."""

from __future__ import annotations

import getpass
import multiprocessing
import os
import socket
from pathlib import PurePath

from ansible import context

from ...module_utils._between.tcp.process import begun

_HIDDEN, _GONE = "hidden", "gone"


def identity() -> dict[str, str]:
    """``run``, ``who`` and ``what``, as the module run_lease takes them."""
    # Actions run in processes of their own, made by the one that lives as long as the run.
    parent = multiprocessing.parent_process()
    pid = parent.pid if parent and parent.pid else os.getpid()
    names = [PurePath(entry).name for entry in playbooks()]
    return {
        "run": " ".join((str(pid), _begun(pid), *_here())),
        "who": f"{_user()}@{socket.gethostname()} (process {pid})",
        "what": ", ".join(names) or "a run",
    }


def playbooks() -> list[str]:
    """The playbooks as they were typed; of `ansible` the hosts."""
    started = context.CLIARGS.get("args") or ()
    return [started] if isinstance(started, str) else list(started)


def ended(run: str) -> bool:
    """Whether the process of a run has ended; False where that cannot be told from here."""
    pid, _mark, rest = run.partition(" ")
    then, _mark, place = rest.partition(" ")
    # Nothing is known of another machine's processes, nor of any where they are hidden.
    if place.split() != _here() or not pid.isdecimal() or not _begun("1").isdecimal():
        return False
    return _begun(pid) not in (then, _HIDDEN)


def _begun(pid: int | str) -> str:
    """When the process began, in clock ticks since boot."""
    try:
        found = begun(int(pid))
    except OSError:
        return _HIDDEN
    return _GONE if found is None else str(found)


def _here() -> list[str]:
    """The boot of this machine, and those of its processes that are seen here."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as stream:
            return [os.readlink("/proc/self/ns/pid"), stream.read().strip()]
    except OSError:
        return ["-", socket.gethostname()]


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return str(os.getuid())
