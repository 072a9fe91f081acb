# SPDX-License-Identifier: GPL-3.0-or-later
"""Real verbs between the machines, one port of which is slow (netem): the search convicts it, and nothing when healthy.

Each machine gets a second port, on an interface of its own above the data network. What healthy flows reach at least
on an emulated processor is told, as a site with a handful of ports has to.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

NAMES = ("vm1", "vm2")
WISH = {
    "bench_devices": ["rxe0", "rxe1"],
    "bench_port": 18700,
    "bench_seconds": 4,
    "bench_bisect_joined": True,
    "bench_bisect_flows": 1,
    "bench_bisect_gbps": 0.03,
}
SLOW = "tc qdisc add dev second root netem rate 10mbit"


@pytest.fixture(autouse=True)
def second_ports(machines: Any) -> Iterator[None]:
    """A second RoCE port on each machine, and let in by the firewall; gone afterwards."""
    mine = [f"{machines.subnet}.{last}" for last in (111, 112)]
    for name, address in zip(NAMES, mine, strict=True):
        machines.root(
            name,
            "ip link add second link eth1 type macvlan mode bridge && ip link set second up"
            f" && ip address add {address}/24 dev second && rdma link add rxe1 type rxe netdev second",
        )
        sets = json.loads(machines.root(name, "nft -j list sets"))["nftables"]
        (nodes,) = [each["set"] for each in sets if each.get("set", {}).get("name") == "ibready_nodes4"]
        place = f"{nodes['family']} {nodes['table']} ibready_nodes4"
        machines.root(name, f"nft add element {place} {{ {', '.join(mine)} }}")
    yield
    for name in NAMES:
        sets = json.loads(machines.root(name, "nft -j list sets"))["nftables"]
        (nodes,) = [each["set"] for each in sets if each.get("set", {}).get("name") == "ibready_nodes4"]
        place = f"{nodes['family']} {nodes['table']} ibready_nodes4"
        machines.root(name, f"nft delete element {place} {{ {', '.join(mine)} }}")
        machines.root(name, "rdma link delete rxe1; ip link delete second")


def search(machines: Any, folder: Path) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    done = machines.play("playbooks/bisect.yml", {**WISH, "ibready_report_dir": str(folder)}, seconds=600)
    for name in NAMES:
        assert machines.root(name, "systemctl list-units 'ibready-perftest*' --all --no-legend --plain").strip() == ""
    return done, json.loads((folder / "bisect.json").read_text())


def test_the_slow_port_is_convicted_and_no_other(machines: Any, tmp_path: Path) -> None:
    machines.root("vm2", SLOW)
    done, found = search(machines, tmp_path)
    assert done.returncode != 0, done.stdout
    convicted = [one for one in found["verdicts"] if one["verdict"] == "convicted"]
    assert [(one["kind"], one["part"]) for one in convicted] == [("port", "vm2 rxe1/1")], done.stdout
    assert "sending" in convicted[0]["why"]
    assert set(found["bad"]) == {"vm2"}
    assert found["rounds"] <= found["limit"]


def test_without_a_fault_nothing_is_convicted(machines: Any, tmp_path: Path) -> None:
    done, found = search(machines, tmp_path)
    assert done.returncode == 0, done.stdout
    assert (found["bad"], found["unmeasured"]) == ({}, [])
    assert "No host and no port is slow." in done.stdout


def test_a_search_is_refused_where_a_job_runs(machines: Any, tmp_path: Path) -> None:
    # A program that has the device open.
    machines.root("vm1", "systemd-run --unit=rdma-job --collect ib_write_bw -d rxe0 -p 18999")
    try:
        done = machines.play("playbooks/bisect.yml", {**WISH, "ibready_report_dir": str(tmp_path)}, seconds=300)
    finally:
        machines.root("vm1", "systemctl stop rdma-job; systemctl reset-failed rdma-job; true")
    assert done.returncode != 0
    assert "A benchmark would slow it down" in done.stdout
    assert not (tmp_path / "bisect.json").exists()
