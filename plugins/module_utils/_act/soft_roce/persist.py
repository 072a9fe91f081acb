# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that bring soft RoCE back at a boot, and who uses a device of it."""

from __future__ import annotations

import json
import os
import re
import sys

from ..._ground import fileset, host_program, source, state, whole
from ..._ground.fileset import UNITS, Files
from ..._ground.host_program import HostError
from ..._ground.text import ParseError
from ..._parse import rdma_json
from ..._rails.users import open_files
from . import program
from .program import Host, Links

PROGRAM = f"{fileset.PROGRAMS}/soft-roce"
UNIT = f"{UNITS}/ibready-soft-roce@.service"
SUBJECT = "soft-roce"
# The boot waits for it as for the interface (90 s at most, systemd's DefaultDeviceTimeoutSec), so
# that what comes after it in the boot finds it; and the interface's own unit wants it, so that it
# runs however late, or often, the interface comes.
_TARGET = "multi-user.target.wants"
_WANTED = re.compile(rf"sys-subsystem-net-devices-.+\.device\.wants|{re.escape(_TARGET)}")
_VERBS = "/sys/class/infiniband_verbs"
UNIT_TEXT = """\
# Written by ibready.cluster.soft_roce. The next run undoes changes made by hand.
[Unit]
Description=Soft RoCE (rdma_rxe) on %I (ibready)
BindsTo=sys-subsystem-net-devices-%i.device
After=sys-subsystem-net-devices-%i.device systemd-modules-load.service network-pre.target
Before=network-online.target remote-fs-pre.target ibready-roce@boot.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart={python} {program} add %I

[Install]
WantedBy=multi-user.target sys-subsystem-net-devices-%i.device
"""


def escaped(netdev: str) -> str:
    """An interface's name as systemd writes it in the names of units."""
    parts = []
    for at, char in enumerate(netdev):
        plain = char.isascii() and (char.isalnum() or char in ":_" or (char == "." and at))
        parts.append(char if plain else "".join(f"\\x{byte:02x}" for byte in char.encode()))
    return "".join(parts)


def instance(netdev: str) -> str:
    """The unit of one interface."""
    return f"ibready-soft-roce@{escaped(netdev)}.service"


def wanted_links(netdev: str) -> list[str]:
    """The links by which the boot and the interface's device unit want that unit."""
    names = (_TARGET, f"sys-subsystem-net-devices-{escaped(netdev)}.device.wants")
    return [f"{UNITS}/{name}/{instance(netdev)}" for name in names]


def files(links: Links, root: str) -> Files:
    """The files that are not as they should be."""
    texts = {
        program.CONFIG: json.dumps({"links": links}, indent=2, sort_keys=True) + "\n",
        PROGRAM: source.joined(whole, host_program, program),
        UNIT: UNIT_TEXT.format(python=sys.executable, program=PROGRAM),
    }
    asked = {path: UNIT for netdev in links.values() for path in wanted_links(netdev)}
    there = dict.fromkeys(sorted(_links(root)), "")
    return fileset.look({**(texts if links else dict.fromkeys(texts, "")), **there, **asked}, root)


def _links(root: str) -> set[str]:
    """The links of ours that are there."""
    home = state.below(root, UNITS)
    folders = os.listdir(home) if os.path.isdir(home) else []
    return {
        f"{UNITS}/{folder}/{name}"
        for folder in folders
        if _WANTED.fullmatch(folder)
        for name in os.listdir(os.path.join(home, folder))
        if name.startswith("ibready-soft-roce@")
    }


def write(changed: Files, root: str) -> None:
    """Put the files in place, each at once. Raises OSError."""
    # As long as this one is there the next run ends what was begun.
    last = [program.CONFIG] if changed.get(program.CONFIG, ("", ""))[0] else []
    fileset.write({path: changed[path] for path in sorted(changed, key=lambda entry: entry in last)}, root)


def made(root: str) -> list[str]:
    """The devices that ibready has made on this host, those of earlier boots included."""
    known = state.load(SUBJECT, root).get("made", [])
    return [str(entry) for entry in known] if isinstance(known, list) else []


def remember(names: list[str], root: str) -> None:
    """Keep which devices are ours."""
    state.save(SUBJECT, {"made": sorted(names)} if names else {}, root)


def refuse_used(host: Host, name: str, root: str) -> None:
    """HostError where a process or the kernel uses the device, or where nobody can tell."""
    verbs = {entry for entry in host.names(_VERBS) if host.text(f"{_VERBS}/{entry}/ibdev") == name}
    opened = [
        f"{who}[{pid}]"
        for pid, who, path in open_files(root, "/dev/infiniband/uverbs")
        if os.path.basename(path) in verbs
    ]
    try:
        queues = rdma_json.parse_queues(host.run("rdma", "-j", "resource", "show", "qp", "link", f"{name}/1"))
    except (ParseError, HostError) as exc:
        raise HostError(f"{name} is not deleted: nobody can tell who uses it ({exc}). Nothing was changed.") from exc
    users = opened + [
        f"{queue.user}[{queue.pid}]" if queue.pid else f"the kernel ({queue.user})"
        for queue in queues
        if queue.device == name
    ]
    if users:
        raise HostError(
            f"{name} is not deleted: it is used by {', '.join(dict.fromkeys(users))}. Nothing was"
            " changed. Next: let that end (unmount what is mounted over it), or drain the host, and"
            " run this again"
        )
