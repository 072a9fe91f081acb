# SPDX-License-Identifier: GPL-3.0-or-later
"""Roles that no converge of the sandbox enters, each by itself: done, done again, or refused with nothing changed."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.system.conftest import Box, said

pytestmark = pytest.mark.thorough

PLAYBOOK = "tests/system/role.yml"
NODES = ("node1", "node2", "node3")


def role(box: Box, name: str, *hosts: str, **variables: Any) -> subprocess.CompletedProcess[str]:
    limit = ["--limit", ",".join(hosts)] if hosts else []
    return box.playbook(PLAYBOOK, "-e", json.dumps({"role": name, **variables}), *limit)


def changed(done: subprocess.CompletedProcess[str]) -> dict[str, int]:
    """How many tasks changed each host; the run was a good one."""
    assert done.returncode == 0, done.stdout
    recap = done.stdout.partition("PLAY RECAP")[2]
    return {name: int(number) for name, number in re.findall(r"(node\d) .*changed=(\d+)", recap)}


@pytest.fixture
def beegfs(ready: Box) -> Iterator[Box]:
    """node1 has two of the client's files, with a few of their lines; the package itself is nobody's here."""
    ready.root(
        "node1",
        "mkdir /etc/beegfs; cd /etc/beegfs; printf 'sysMgmtdHost = head\\nconnUseRDMA = false\\n"
        "connRDMAInterfacesFile =\\n' > beegfs-client.conf; echo buildArgs=-j8 > beegfs-client-autobuild.conf",
    )
    yield ready
    ready.root("node1", "rm -r /etc/beegfs")


def test_a_beegfs_client_gets_rdma_and_keeps_all_else(beegfs: Box) -> None:
    assert changed(role(beegfs, "beegfs_client", "node1", "node2"))["node1"] > 0
    text = beegfs.root("node1", "cat /etc/beegfs/beegfs-client.conf")
    assert re.search(r"^connUseRDMA\s+= true$", text, re.MULTILINE)
    assert "sysMgmtdHost = head\n" in text
    assert changed(role(beegfs, "beegfs_client", "node1", "node2")) == {"node1": 0, "node2": 0}
    beegfs.root("node2", "test ! -e /etc/beegfs")


def test_manifests_are_rendered_for_nodes_that_stay_as_they_are(ready: Box, tmp_path: Path) -> None:
    registry = "registry.example.com/mellanox"
    where = {"kubernetes_rdma_dir": str(tmp_path / "out"), "kubernetes_rdma_registry": registry}
    done = ready.playbook("playbooks/kubernetes.yml", "-e", json.dumps(where))
    assert done.returncode == 0, done.stdout
    files = sorted((tmp_path / "out").rglob("*.y*ml"))
    documents = [document for file in files for document in yaml.safe_load_all(file.read_text())]
    assert documents
    assert all(isinstance(document, dict) for document in documents)
    assert any(registry in file.read_text() for file in files)


def test_a_second_subnet_manager_is_refused_where_another_is_the_master(ready: Box) -> None:
    before = ready.root("node1", "dpkg-query -W; ls /etc/systemd/system")
    done = role(ready, "subnet_manager", subnet_manager_hosts=["node1", "node2"])
    assert done.returncode != 0
    text = said(done.stdout)
    assert "subnet_manager_beside" in text
    assert "is its master (priority " in text
    assert "no port of subnet_manager_hosts" in text
    assert ready.root("node1", "dpkg-query -W; ls /etc/systemd/system") == before
    ready.root("node1", "test ! -e /etc/ibready/opensm")


def test_ipoib_without_an_interface_of_the_port_is_refused_and_taken_away(ready: Box) -> None:
    wish = {"ipoib_interfaces": [{"port": "mlx5_0/1", "addresses": ["10.99.0.1/24"]}], "ipoib_wait": 2}
    done = role(ready, "ipoib", "node1", **wish)
    assert done.returncode != 0
    assert "mlx5_0/1" in said(done.stdout)
    assert ready.root("node1", "find /etc -path '*/[Nn]et*' -name '*ibready*'") == ""
    assert changed(role(ready, "ipoib", "node1", ipoib_state="absent"))["node1"] > 0
    ready.root("node1", "test ! -e /etc/modules-load.d/ibready-ipoib.conf")
    assert changed(role(ready, "ipoib", "node1", ipoib_state="absent")) == {"node1": 0}


@pytest.mark.parametrize("name", ["nvidia_driver", "nccl"])
def test_without_a_plan_what_is_planned_is_refused_and_nothing_changed(ready: Box, name: str) -> None:
    state = "dpkg-query -W; cat /etc/nccl.conf 2>/dev/null; ls /etc/modprobe.d /etc/modules-load.d"
    before = ready.root("node1", state)
    done = role(ready, name, "node1")
    assert done.returncode != 0
    text = said(done.stdout)
    assert f"node1: role {name} has no plan" in text
    assert "Next: import the playbook ibready.cluster.plan" in text
    assert ready.root("node1", state) == before
