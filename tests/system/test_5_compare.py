# SPDX-License-Identifier: GPL-3.0-or-later
"""Comparing and doing agree: what drifts on a host is told of its role, exactly where that role would change it.

Each round plants other drifts on each node, at most one of each role, most of them made from what is wanted of the
host, and asks both roads. A file is spoilt in a way of its own, for all are compared by the same function.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pytest

from tests.system.conftest import Box, said

pytestmark = pytest.mark.thorough

NODES = ("node1", "node2", "node3")
# What the roles keep as whole files, each by its role.
FILES = {
    "/etc/sysctl.d/90-ibready.conf": "host_tuning",
    "/etc/security/limits.d/90-ibready.conf": "host_tuning",
    "/etc/systemd/system.conf.d/90-ibready.conf": "host_tuning",
    "/etc/systemd/user.conf.d/90-ibready.conf": "host_tuning",
    "/etc/systemd/system/ssh.service.d/90-ibready.conf": "host_tuning",
    "/etc/modules-load.d/ibready-rdma.conf": "rdma",
    "/etc/modprobe.d/ibready-nouveau.conf": "nvidia_driver",
    "/etc/nccl.conf": "nccl",
}
# Each brings its packages from the plan's repositories, and has their files there.
PACKAGES = frozenset(("rdma", "nvidia_driver", "nccl", "container_runtime"))
SPOILT = {
    "gone": "rm {}",
    "changed": "echo '# changed by hand' >> {}; echo BOGUS=1 >> {}",
    "rights": "chmod 0600 {}",
}


@dataclass(frozen=True)
class Drift:
    """A script that makes a node differ, the role that mends it, and others whose matter it is as well."""

    name: str
    role: str
    script: str
    others: frozenset[str] = frozenset()

    @property
    def roles(self) -> set[str]:
        """All that would mend it."""
        return {self.role, *self.others}


def planted() -> Iterator[Drift]:
    for at, (path, role) in enumerate(FILES.items()):
        # A line of somebody else's in nccl.conf is left to them.
        ways = [kind for kind in SPOILT if (path, kind) != ("/etc/nccl.conf", "changed")]
        kind = ways[at % len(ways)]
        yield Drift(f"{path} {kind}", role, SPOILT[kind].replace("{}", path))
    yield Drift(
        "a line of nccl.conf", "nccl", "sed -i 's/^NCCL_SOCKET_IFNAME=.*/NCCL_SOCKET_IFNAME=lo/' /etc/nccl.conf"
    )
    yield Drift("a unit disabled", "nvidia_driver", "systemctl -q disable nvidia-persistenced")
    yield Drift("a unit stopped", "nvidia_driver", "systemctl -q stop nvidia-persistenced")
    yield Drift("openibd disabled", "rdma", "systemctl -q disable openibd")
    yield Drift("a hold taken off", "nccl", "apt-mark -qq unhold libnccl2 >/dev/null")
    yield Drift(
        "a package removed", "nccl", "apt-get -qq remove --allow-change-held-packages -y libnccl-dev >/dev/null"
    )
    yield Drift("a repository's file", "rdma", "rm $(ls /etc/apt/sources.list.d/ibready-* | head -1)", PACKAGES)
    yield Drift("a line of openib.conf", "rdma", "sed -i '/^RUN_FW_UPDATER_ONBOOT/d' /etc/infiniband/openib.conf")
    yield Drift(
        "nouveau's rule for DKMS",
        "nvidia_driver",
        "mkdir -p /etc/dkms/framework.conf.d && echo 'mok_signing_key=x' > /etc/dkms/framework.conf.d/ibready.conf",
    )


def packed(drifts: Iterable[Drift]) -> list[list[Drift]]:
    """What one node has at a time: of no role two, for then nobody could tell whose was seen."""
    found: list[list[Drift]] = []
    for drift in drifts:
        room = next((some for some in found if not any(drift.roles & one.roles for one in some)), None)
        if room is None:
            found.append([drift])
        else:
            room.append(drift)
    return found


PACKED = packed(planted())
ROUNDS = [PACKED[begin : begin + len(NODES)] for begin in range(0, len(PACKED), len(NODES))]


def differs(box: Box) -> dict[str, set[str]]:
    """The roles of each node of which the visit says that something differs."""
    done = box.playbook("playbooks/drift.yml")
    assert done.returncode == 0, done.stdout
    told = json.loads((box.reports / "ibready-drift.json").read_text())
    assert not told["uncompared"], done.stdout
    # What takes no effect is no role's to mend, and here follows from what a role does.
    return {name: {entry["role"] for entry in entries} - {"verify"} for name, entries in told["hosts"].items()}


def changes(box: Box, *words: str) -> dict[str, set[str]]:
    """The roles of each node that change something, or would."""
    done = box.playbook("playbooks/converge.yml", *words)
    assert done.returncode == 0, done.stdout
    found: dict[str, set[str]] = {node: set() for node in NODES}
    role = ""
    for line in done.stdout.splitlines():
        task = re.match(r"(?:TASK|RUNNING HANDLER) \[(?:ibready\.cluster\.(\w+) : )?", line)
        if task:
            role = task.group(1) or "play"
        changed = re.match(r"changed: \[(\w+)\]", line)
        if changed:
            found[changed.group(1)].add(role)
    return found


def without_handlers(found: dict[str, set[str]]) -> dict[str, set[str]]:
    """A handler's line does not tell the role."""
    return {node: roles - {"play"} for node, roles in found.items()}


@pytest.fixture(scope="module", autouse=True)
def at_their_plan(ready: Box) -> None:
    """A converge of which nothing was left out; molecule's own leaves tags out, and then no host is remembered so."""
    changes(ready)


@pytest.mark.parametrize(
    "drifts", ROUNDS, ids=lambda drifts: "; ".join(", ".join(one.name for one in some) for some in drifts)
)
def test_both_roads_agree_and_the_short_one_mends(ready: Box, drifts: list[list[Drift]]) -> None:
    spoilt: dict[str, list[Drift]] = dict(itertools.zip_longest(NODES, drifts, fillvalue=[]))
    for node, some in spoilt.items():
        for drift in some:
            ready.root(node, drift.script)

    told, would = differs(ready), changes(ready, "-e", "ibready_compare=never", "--check")

    wanted = {node: {role for drift in some for role in drift.roles} for node, some in spoilt.items()}
    assert without_handlers(would) == wanted
    assert told == wanted
    # The short way mends it, and nothing else.
    assert without_handlers(changes(ready)) == {node: {drift.role for drift in some} for node, some in spoilt.items()}


def test_a_later_file_of_the_site_is_told_by_both_roads_and_stays(ready: Box) -> None:
    """A verify degrades the host for it."""
    ready.root("node1", "echo 'net.core.rmem_max = 4096' > /etc/sysctl.d/99-site.conf")
    line = "99-site.conf says `net.core.rmem_max = 4096`"
    try:
        assert line in said(ready.playbook("playbooks/drift.yml").stdout)
        converged = ready.playbook("playbooks/converge.yml")
        assert converged.returncode == 0, converged.stdout
        assert "left as it is: host.boot.sysctl net.core.rmem_max: " in said(converged.stdout)
        assert ready.root("node1", "cat /etc/sysctl.d/99-site.conf").strip() == "net.core.rmem_max = 4096"
        assert line in said(ready.adhoc("node1", "-m", "hostverify").stdout)
    finally:
        ready.root("node1", "rm /etc/sysctl.d/99-site.conf")


def test_then_no_role_has_anything_to_do(ready: Box) -> None:
    assert changes(ready, "-e", "ibready_compare=never") == {node: set() for node in NODES}
    assert differs(ready) == {node: set() for node in NODES}
