# SPDX-License-Identifier: GPL-3.0-or-later
"""iWARP by the kernel's own siw: data moves by rdma_cm alone, so that NCCL cannot use it, and the checks know."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

NAMES = ("vm1", "vm2")
# Both are open in the machines' firewalls (firewall_tcp_ports).
_PING, _WRITE = 18790, 18791


@pytest.fixture(scope="module")
def iwarp(machines: Any) -> Iterator[Any]:
    """A device of siw on the data network of both machines, beside soft RoCE."""
    for name in NAMES:
        machines.root(name, "modprobe siw && rdma link add siw0 type siw netdev eth1")
    yield machines
    for name in NAMES:
        machines.root(name, "rdma link delete siw0 && modprobe -r siw")


def look(machines: Any, folder: Path, **variables: Any) -> dict[str, list[Any]]:
    """Machine -> its checks of RDMA."""
    done = machines.play(
        "molecule/look.yml", {**variables, "look_areas": ["ib", "roce", "nccl"], "look_folder": str(folder)}
    )
    assert done.returncode == 0, done.stdout
    return {name: json.loads((folder / f"{name}.json").read_text()) for name in NAMES}


def bad(checks: list[Any]) -> dict[str, Any]:
    return {check["id"]: check for check in checks if check["result"] in ("fail", "unknown") and not check["waived"]}


def between(machines: Any, server: str, client: str) -> Any:
    """What a program of vm1 says to one of vm2."""
    machines.root("vm2", f"setsid --fork timeout 60 {server} < /dev/null > /tmp/server.log 2>&1; sleep 3")
    return machines.host("vm1").run(f"timeout 50 {client} 2>&1")


def test_what_stands_beside_the_rails_makes_nothing_wrong(iwarp: Any, tmp_path: Path) -> None:
    # ibstat never lists it, which is no fault of ibstat's.
    assert "siw0" not in iwarp.root("vm1", "ibstat")
    assert "4: RNIC" in iwarp.root("vm1", "cat /sys/class/infiniband/siw0/node_type")
    for checks in look(iwarp, tmp_path).values():
        assert bad(checks) == {}
        assert any(check["subject"] == "siw0/1" and "iWARP" in check["cause"] for check in checks)


def test_data_moves_where_rdma_cm_connects(iwarp: Any) -> None:
    address = f"{iwarp.subnet}.12"
    pinged = between(iwarp, f"rping -s -C 3 -a {address} -p {_PING}", f"rping -c -v -C 3 -a {address} -p {_PING}")
    assert "ping data: rdma-ping-2: " in pinged.stdout
    sizes = f"-d siw0 -p {_WRITE} -n 100 -s 65536"
    written = between(iwarp, f"ib_write_bw -R {sizes}", f"ib_write_bw -R {sizes} {address}")
    assert written.rc == 0, written.stdout
    assert "Transport type : IW" in written.stdout


def test_queue_pairs_that_are_connected_as_nccl_does_it_are_refused(iwarp: Any) -> None:
    sizes = f"-d siw0 -p {_WRITE} -n 100 -s 65536"
    refused = between(iwarp, f"ib_write_bw {sizes}", f"ib_write_bw {sizes} {iwarp.subnet}.12")
    assert refused.rc != 0
    assert "Failed to modify QP" in refused.stdout


def test_where_roce_is_wanted_and_iwarp_is_there_the_check_says_so(iwarp: Any, tmp_path: Path) -> None:
    for name in NAMES:
        iwarp.root(name, "rdma link delete rxe0")
    try:
        found = look(iwarp, tmp_path, rdma_soft_roce=[], ibready_expect={"link_layer": "Ethernet"})
    finally:
        for name in NAMES:
            iwarp.root(name, "systemctl restart ibready-soft-roce@eth1.service")
    for checks in found.values():
        assert "siw0/1: speaks iWARP, over which NCCL cannot connect" in bad(checks)["roce.rail.present"]["cause"]
        assert "ib.sources.agree" not in bad(checks)
