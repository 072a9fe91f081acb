# SPDX-License-Identifier: GPL-3.0-or-later
"""Real containers of docker, containerd and podman: good ones pass, each planted fault is named.

In each round every node has a fault of its own, and one command judges all three.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.system.conftest import Box
from tests.system.test_8_containers import PLAY

pytestmark = pytest.mark.thorough

ENGINES = {"node1": "docker", "node2": "containerd", "node3": "podman"}
PACKAGES = {"docker": "docker.io docker-cli", "containerd": "containerd", "podman": "podman netavark nftables runc"}
# An engine, and the host's own libibverbs.
PREPARED = """
apt-get -qq update
DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends \\
  libibverbs1 ibverbs-providers ibverbs-utils librdmacm1 {}
"""
_LIB = "/usr/lib/x86_64-linux-gnu"
# A shell with its library and the name of its system; and a file without either.
_SHELL = "bin/sh lib/x86_64-linux-gnu/libc.so.6 lib64/ld-linux-x86-64.so.2 etc/os-release"
_RESTART = "systemctl daemon-reload; systemctl restart containerd"


# What rightly fails with one of these faults: no device at all, no NCCL in an image that has none.
_BESIDES = ("container.device.rdma_cm", "container.nccl.library")


@dataclass(frozen=True)
class Fault:
    """``plant`` and ``heal``: shell on the node. ``wish``: of ibready_expect.container."""

    what: str
    check: str
    told: str
    plant: str = ""
    heal: str = ""
    wish: dict[str, Any] = field(default_factory=dict)
    result: str = "fail"


# In the order of the nodes.
ROUNDS = (
    (
        Fault(
            "devices forgotten",
            "container.device.uverbs",
            "0 of 2, without uverbs0, uverbs1",
            wish={"devices": ["/dev/null"]},
        ),
        Fault(
            "another engine expected",
            "container.engine.usable",
            "docker is not installed on this host",
            wish={"engine": "docker"},
        ),
        Fault(
            "shared memory of its own",
            "container.shm.size",
            "64 MiB",
            wish={"options": ["--ipc=private", "--shm-size=64m"]},
        ),
    ),
    (
        Fault(
            "the engine's bridge",
            "container.network.path",
            "no interface of an RDMA device is in the container's network",
            wish={"network": "bridge"},
        ),
        Fault(
            "an image that nobody fetched",
            "container.image.runs",
            "`ctr images pull docker.io/site/none:1` on the host",
            wish={"image": "docker.io/site/none:1"},
        ),
        Fault(
            "RDMA switched off by a variable",
            "container.nccl.env",
            "NCCL_IB_DISABLE=1",
            wish={"options": ["--env=NCCL_IB_DISABLE=1"]},
        ),
    ),
    (
        Fault(
            "a device that is root's alone",
            "container.device.opens",
            "uverbs1: Permission denied",
            plant="chmod 0600 /dev/infiniband/uverbs1",
            heal="chmod 0666 /dev/infiniband/uverbs1",
        ),
        Fault(
            "no provider",
            "container.verbs.provider",
            "no /etc/libibverbs.d/mlx5.driver",
            plant="mv /etc/libibverbs.d/mlx5.driver /root/",
            heal="mv /root/mlx5.driver /etc/libibverbs.d/",
        ),
        Fault(
            "an nccl.conf that is root's alone",
            "container.nccl.conf",
            "`chmod 0644 /etc/nccl.conf` on the host",
            plant="echo NCCL_DEBUG=INFO > /etc/nccl.conf; chmod 0600 /etc/nccl.conf",
            heal="rm /etc/nccl.conf",
        ),
    ),
    (
        Fault(
            "a service that is down",
            "container.engine.usable",
            "Cannot connect to the Docker daemon",
            plant="systemctl stop docker.socket docker",
            heal="systemctl reset-failed docker; systemctl start docker",
        ),
        Fault(
            "memlock of the service",
            "container.limit.memlock",
            "64 KiB",
            plant="cd /etc/systemd/system/containerd.service.d; "
            f"printf '[Service]\\nLimitMEMLOCK=64K\\n' > zz.conf; {_RESTART}",
            heal=f"rm /etc/systemd/system/containerd.service.d/zz.conf; {_RESTART}",
        ),
        Fault(
            "memlock of podman",
            "container.limit.memlock",
            "64 KiB",
            plant="mkdir -p /etc/containers/containers.conf.d; "
            "printf '[containers]\\ndefault_ulimits=[\"memlock=65536:65536\"]\\n' "
            "> /etc/containers/containers.conf.d/99-zz.conf",
            heal="rm /etc/containers/containers.conf.d/99-zz.conf",
        ),
    ),
    (
        Fault(
            "few files",
            "container.limit.nofile",
            "hard limit 1024",
            wish={"options": ["--ulimit=nofile=1024:1024"]},
        ),
        Fault(
            "no libibverbs",
            "container.verbs.library",
            "on the host (role rdma)",
            plant=f"mkdir /root/hidden; mv {_LIB}/libibverbs.so.1* /root/hidden/",
            heal=f"mv /root/hidden/* {_LIB}/; rmdir /root/hidden",
        ),
        Fault(
            "an image without a shell",
            "container.image.runs",
            "the image has no /bin/sh to look around with",
            plant="tar -C / -c etc/hostname | podman import -q - site/bare:1",
            heal="podman rmi site/bare:1",
            wish={"image": "localhost/site/bare:1"},
            result="unknown",
        ),
    ),
    (
        Fault(
            "an image without RDMA user space",
            "container.verbs.library",
            "add to the image: RUN apt-get install -y libibverbs1 ibverbs-providers librdmacm1",
            plant=f"tar -C / -ch {_SHELL} | docker import - site/plain:1",
            heal="docker rmi site/plain:1",
            wish={"image": "site/plain:1"},
        ),
        Fault(
            "no connection manager",
            "container.device.rdma_cm",
            "add --device=/dev/infiniband/rdma_cm",
            wish={"devices": ["/dev/infiniband/uverbs0", "/dev/infiniband/uverbs1"]},
        ),
        Fault(
            "a device that is gone",
            "container.image.runs",
            "uverbs9",
            wish={"options": ["--device=/dev/infiniband/uverbs9"]},
        ),
    ),
)


def judged(box: Box, wishes: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """What containerverify says of each node, by name; ``wishes`` by node."""
    args = {"report_only": True, "answer": "all", "expect": "{{ {'container': wishes[inventory_hostname]} }}"}
    reported = box.adhoc(
        *("all", "-b", "-m", "containerverify", "-a", json.dumps(args)),
        *("-e", json.dumps({"wishes": wishes})),
    ).stdout
    blocks = re.findall(r"^(node\d) \| SUCCESS => (\{.*?^\})", reported, re.MULTILINE | re.DOTALL)
    assert len(blocks) == len(ENGINES), reported
    return {node: json.loads(text) for node, text in blocks}


@pytest.fixture(scope="module")
def engines(spare: Box) -> Box:
    """Three nodes with an engine each, configured by the role."""
    spare.up(prepared={node: PREPARED.format(PACKAGES[engine]) for node, engine in ENGINES.items()})
    done = spare.playbook(PLAY)
    assert done.returncode == 0, done.stdout
    return spare


def test_good_containers_of_every_engine_pass_and_leave_nothing(engines: Box) -> None:
    found = judged(engines, {node: {} for node in ENGINES})
    assert {node: one["verdict"] for node, one in found.items()} == dict.fromkeys(ENGINES, "ready")
    for node, engine in ENGINES.items():
        probe = found[node]["facts"]["container"]["probe"]
        assert (probe["engine"]["name"], probe["origin"]) == (engine, "built")
        passed = {one["id"] for one in found[node]["checks"] if one["result"] == "pass"}
        assert {"container.device.opens", "container.verbs.provider"} <= passed
        assert {"container.network.path", "container.shm.size"} <= passed
        # What the machine below gives no more of is skipped, and says so.
        limits = [one for one in found[node]["checks"] if one["id"] == "container.limit.memlock"]
        assert {one["subject"] for one in limits} == {"root", "user 65534"}
        assert all("gives nobody more than" in one["cause"] for one in limits)
    left = [
        engines.root("node1", "docker ps -aq; docker images -q localhost/ibready-probe"),
        engines.root("node2", "for one in c i snapshots; do ctr -n ibready $one ls; done"),
        engines.root("node3", "exec 2>/dev/null; podman ps -aq; podman images -q localhost/ibready-probe"),
    ]
    assert not [text for text in left if "ibready-probe" in text]
    assert (left[0], left[2]) == ("", "")


@pytest.mark.parametrize("faults", ROUNDS, ids=lambda some: ", ".join(fault.what for fault in some))
def test_each_planted_fault_is_named(engines: Box, faults: tuple[Fault, ...]) -> None:
    planted = dict(zip(ENGINES, faults, strict=True))
    try:
        for node, fault in planted.items():
            if fault.plant:
                engines.root(node, fault.plant)
        found = judged(engines, {node: fault.wish for node, fault in planted.items()})
    finally:
        for node, fault in planted.items():
            if fault.heal:
                engines.root(node, fault.heal)
    for node, fault in planted.items():
        checks = found[node]["checks"]
        mine = [one for one in checks if (one["id"], one["result"]) == (fault.check, fault.result)]
        words = [" ".join((one["observed"], one["cause"], one["remedy"])) for one in mine]
        assert any(fault.told in one for one in words), (node, fault.what, mine)
        # Nothing else fails because of it, and nothing passes that nobody could look at.
        failed = {one["id"] for one in checks if one["result"] == "fail"}
        assert failed <= {fault.check, *_BESIDES}


def test_a_bundle_holds_what_a_container_saw(engines: Box) -> None:
    args = json.dumps({"dest": "/root/bundles", "expect": {"container": {}}})
    reported = engines.adhoc("node1", "-b", "-m", "ibready.cluster.collect", "-a", args).stdout
    assert "CHANGED" in reported
    bundle = json.loads(reported.partition("=>")[2])["path"]
    reported = engines.adhoc("node1", "-b", "-m", "containerverify", "-a", f"bundle={bundle} answer=all").stdout
    assert '"verdict": "ready"' in reported
    assert '"container.device.opens"' in reported
    engines.root("node1", "rm -r /root/bundles")
