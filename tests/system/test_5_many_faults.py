# SPDX-License-Identifier: GPL-3.0-or-later
"""Many faults at once on ready nodes: each is told as its own, by its cause, and none is left when they are mended.

One visit finds what was planted by hand in files, units and settings; others put what strikes the fabric, two hosts
alike or a host that is gone before a diagnosis.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.system.conftest import Box, said

pytestmark = pytest.mark.thorough

NODES = ("node1", "node2", "node3")
NOUVEAU = "/etc/modprobe.d/ibready-nouveau.conf"
# The driver's package has one as well: while that is whole, the other one is missed by drift alone.
ITS_OWN = "/usr/lib/modprobe.d/nvidia-graphics-drivers.conf"
CONF = "/etc/nccl.conf"
TUNED = "/etc/sysctl.d/90-ibready.conf"
PORTS = "/proc/sys/net/ipv4/ip_local_port_range"


@dataclass(frozen=True)
class Fault:
    """``spoils`` and ``mends``: scripts for its node; ``check`` fails there, about ``subject``, and says ``words``."""

    node: str
    spoils: str
    mends: str
    check: str
    subject: str
    words: tuple[str, ...]


def dropin(node: str, unit: str, name: str, lines: str, *words: str) -> Fault:
    """A drop-in that somebody put beside those that are there."""
    folder = f"/etc/systemd/system/{unit}.d"
    return Fault(
        node,
        f"mkdir -p {folder}; printf '[Service]\\n{lines}\\n' > {folder}/{name}; systemctl daemon-reload",
        f"rm {folder}/{name}; systemctl daemon-reload",
        "host.boot.services",
        unit,
        (f"{folder}/{name} says ", *words),
    )


def kept(path: str, spoils: str) -> tuple[str, str]:
    """Scripts that spoil a file, and that put it back; a container's own files can be written and not renamed."""
    copy = f"/root/kept{path.replace('/', '-')}"
    return f"cp -p {path} {copy}; {spoils}", f"cat {copy} > {path}; rm {copy}"


def emptied(*paths: str) -> tuple[str, str]:
    """The same for files of which nothing is left."""
    each = [kept(path, f": > {path}") for path in paths]
    return "; ".join(spoils for spoils, _mends in each), "; ".join(mends for _spoils, mends in each)


HARDENED = dropin(
    *("node2", "ssh.service", "99-hardening.conf", "LimitMEMLOCK=64K"),
    *("`LimitMEMLOCK=64K`", "is read after /etc/systemd/system/ssh.service.d/90-ibready.conf"),
)
FAULTS = (
    Fault(
        "node1",
        "echo 'ops hard memlock 64' > /etc/security/limits.d/99-ops.conf",
        "rm /etc/security/limits.d/99-ops.conf",
        "host.limit.memlock_login",
        "logins of ops",
        ("64 KiB", "/etc/security/limits.d/99-ops.conf says `ops hard memlock 64`"),
    ),
    # Nobody knows who is in it.
    Fault(
        "node2",
        "echo '@research hard memlock 128' > /etc/security/limits.d/99-research.conf",
        "rm /etc/security/limits.d/99-research.conf",
        "host.limit.memlock_login",
        "logins of group research",
        ("128 KiB", "/etc/security/limits.d/99-research.conf says `@research hard memlock 128`"),
    ),
    # It holds the same, so that nothing else is wrong.
    Fault(
        "node1",
        f"cp -p {TUNED} /root/other.conf; mount --bind /root/other.conf {TUNED}",
        f"umount {TUNED}; rm /root/other.conf",
        "stack.files.ours",
        "host",
        (f"{TUNED} is a mount of something else",),
    ),
    Fault(
        "node3",
        f"mv {CONF} /root/kept-nccl.conf; ln -s /nowhere {CONF}",
        f"rm {CONF}; mv /root/kept-nccl.conf {CONF}",
        "stack.files.ours",
        "host",
        (f"{CONF} is a link to /nowhere",),
    ),
    Fault(
        "node3",
        *emptied(NOUVEAU, ITS_OWN),
        "host.boot.modules",
        "nouveau",
        ("may take the GPUs at the next boot", "nothing in modprobe.d", "keeps nouveau out"),
    ),
    dropin(
        *("node1", "nvidia-fabricmanager.service", "99-site.conf", "ExecStart=\\nExecStart=/bin/true"),
        *("`ExecStart=/bin/true`", "and not of "),
    ),
    HARDENED,
    Fault(
        "node2",
        *kept("/etc/hosts", "{ echo '127.0.1.1 node2'; cat /root/kept-etc-hosts; } > /etc/hosts"),
        "host.name.resolves",
        "host",
        ("127.0.1.1 is an address of its own loop", "reached by no other host"),
    ),
    Fault(
        "node2",
        f"cat {PORTS} > /root/kept-ports; echo 60000 60010 > {PORTS}",
        f"cat /root/kept-ports > {PORTS}; rm /root/kept-ports",
        "fleet.equals.other",
        "host",
        (f"{PORTS}: 60000",),
    ),
    Fault(
        "node3",
        "timedatectl show -p Timezone --value > /root/kept-zone; timedatectl set-timezone Asia/Tokyo",
        "timedatectl set-timezone $(cat /root/kept-zone); rm /root/kept-zone",
        "fleet.equals.other",
        "host",
        ("timedatectl/Timezone: Asia/Tokyo",),
    ),
)


@pytest.fixture(scope="module")
def mended(ready: Box) -> Iterator[Box]:
    """The ready nodes."""
    yield ready
    ready.sandbox("heal")


def twin(box: Box) -> str:
    """Give node1 the machine-id of node2, as a cloned image has it; its own is returned."""
    own = box.root("node1", "cat /etc/machine-id")
    other = box.root("node2", "cat /etc/machine-id").strip()
    box.root("node1", f"echo {other} > /etc/machine-id")
    return own.strip()


def failed(report: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """What did not pass, by host."""
    return {
        name: [check for check in host["checks"] if check["result"] in ("fail", "unknown")]
        for name, host in report["hosts"].items()
    }


def is_told(fault: Fault, checks: list[dict[str, Any]]) -> bool:
    """Whether one of a host's findings is this fault by its id, what it is about and its words."""
    mine = [check for check in checks if (check["id"], check["subject"]) == (fault.check, fault.subject)]
    texts = [f"{check['observed']} {check['cause']}" for check in mine if check["result"] == "fail" and check["remedy"]]
    return any(all(word in text for word in fault.words) for text in texts)


def diagnosis(box: Box, *argv: str) -> tuple[dict[str, list[dict[str, Any]]], str]:
    """The causes by their id, and all that was said."""
    done = box.playbook("playbooks/diagnose.yml", *argv)
    assert done.returncode == 0, done.stdout
    found: dict[str, list[dict[str, Any]]] = {}
    for cause in json.loads((box.reports / "ibready-diagnosis.json").read_text())["causes"]:
        found.setdefault(cause["id"], []).append(cause)
    return found, said(done.stdout)


def test_every_fault_is_told_as_its_own(mended: Box) -> None:
    own = twin(mended)
    for fault in FAULTS:
        mended.root(fault.node, fault.spoils)
    try:
        done = mended.playbook("playbooks/verify.yml")
        differs = mended.playbook("playbooks/drift.yml", "--limit", "node3")
    finally:
        mended.root("node1", f"echo {own} > /etc/machine-id")
        for fault in reversed(FAULTS):
            mended.root(fault.node, fault.mends)
    assert done.returncode == 2, done.stdout
    found = failed(mended.report())
    missed = [fault for fault in FAULTS if not is_told(fault, found[fault.node])]
    assert missed == [], done.stdout
    for node, other in (("node1", "node2"), ("node2", "node1")):
        (identity,) = (check for check in found[node] if check["id"] == "fleet.host.identity")
        assert identity["observed"].startswith("/etc/machine-id ")
        assert identity["observed"].endswith(f", also on {other}")
    # Nothing is told that was not planted.
    planted = {(fault.node, fault.check) for fault in FAULTS}
    planted |= {("node1", "fleet.host.identity"), ("node2", "fleet.host.identity")}
    # Without the file NCCL itself takes nothing of it.
    planted |= {("node3", "nccl.conf.taken")}
    assert {(node, check["id"]) for node, checks in found.items() for check in checks} == planted, done.stdout
    # What a role would mend, or refuses, it says beforehand.
    assert differs.returncode == 0, differs.stdout
    entries = json.loads((mended.reports / "ibready-drift.json").read_text())["hosts"]["node3"]
    assert {"nvidia_driver", "nccl"} <= {entry["role"] for entry in entries}, differs.stdout
    assert NOUVEAU in differs.stdout
    assert CONF in differs.stdout


def test_a_converge_says_what_still_undoes_what_it_brought(mended: Box) -> None:
    """The file is somebody else's: it stays as it is."""
    mended.root(HARDENED.node, HARDENED.spoils)
    try:
        done = mended.playbook("playbooks/converge.yml", "--limit", HARDENED.node)
    finally:
        mended.root(HARDENED.node, HARDENED.mends)
    assert done.returncode == 0, done.stdout
    assert f"{HARDENED.node}: left as it is: {HARDENED.check} {HARDENED.subject}" in said(done.stdout), done.stdout


def test_a_dead_subnet_manager_is_one_cause_of_three_hosts(mended: Box) -> None:
    mended.sandbox("break", "sm-dead")
    try:
        causes, text = diagnosis(mended)
    finally:
        mended.sandbox("heal")
    assert list(causes) == ["sm.dead"], text
    ((cause,),) = causes.values()
    assert set(NODES) <= set(cause["hosts"])
    assert "(3 of 3 hosts)" in text
    # It carries what is set up as before: no share of the bandwidth is gone.
    assert "costs: jobs may abort or stall on it evidence:" in text


def test_faults_between_two_hosts_are_one_cause_each_and_a_host_that_is_gone_is_one(mended: Box) -> None:
    """Two of one kind have no majority: nobody is told to take the other's firmware."""
    for words in (("firmware", "node2"), ("duplicate-guid", "node1"), ("lossy", "node1"), ("ssh-down", "node3")):
        mended.sandbox("break", *words)
    try:
        causes, text = diagnosis(mended)
    finally:
        mended.sandbox("heal")
    assert {name: len(each) for name, each in causes.items()} == {
        "host.no_answer": 1,
        "hca.same_guid": 1,
        "fabric.loss": 1,
        "hca.firmware": 1,
    }, text
    assert causes["host.no_answer"][0]["hosts"] == ["node3"]
    assert "unreachable by ssh" in causes["host.no_answer"][0]["evidence"][0]["cause"]
    assert sorted(causes["fabric.loss"][0]["hosts"]) == ["node1", "node2"]
    (firmware,) = causes["hca.firmware"]
    assert (firmware["confidence"], firmware["mends"]) == ("possible", False)
    assert "nothing tells which of them is right" in firmware["note"]


def test_every_host_is_ready_again(mended: Box) -> None:
    done = mended.playbook("playbooks/verify.yml")
    assert done.returncode == 0, done.stdout
    assert failed(mended.report()) == {node: [] for node in NODES}, done.stdout
