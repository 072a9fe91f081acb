# SPDX-License-Identifier: GPL-3.0-or-later
"""The variables of hosts with a soft RoCE device each, before and after data was moved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._data import rdma_tests as data
from ansible_collections.ibready.cluster.plugins.module_utils._data.rdma_drivers import SOFTWARE
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._rails.ib_ports import IbFacts
from ansible_collections.ibready.cluster.plugins.module_utils._rails.roce_ports import GidEntry, RoceFacts, RocePort
from ansible_collections.ibready.cluster.plugins.plugin_utils._playbooks.filters import rdma_part, rdma_plan

EXPECT = {"link_layer": "Ethernet", "rate_gbps": 2.5}


def port(number: int, **bent: Any) -> RocePort:
    """A soft RoCE device with an IPv4 address at index 1."""
    gids = (
        GidEntry(0, "fe80::1", "link-local", "RoCE v2", "eth1"),
        GidEntry(1, f"198.18.92.{number}", "IPv4", "RoCE v2", "eth1"),
    )
    good: dict[str, Any] = {
        "protocol": SOFTWARE,
        "state": "Active",
        "rate": 2.5,
        "netdev": Reading("eth1"),
        "mtu": Reading(1500),
        "gids": Reading(gids),
        "gids_read": 2,
    }
    return RocePort("rxe0", 1, "rxe", **{**good, **bent})


def seen(number: int, *ports: RocePort, **more: Any) -> dict[str, Any]:
    """The variables of a host with these ports, one where none is given."""
    roce = RoceFacts(Reading(("rxe0",)), Reading(ports or (port(number),)))
    return {
        "ansible_host": f"10.0.0.{number}",
        "ibready_node": {"node": {"kernel": "6.12", "root": True, "simulated": ""}},
        "ibready_ibverify": {
            "checks": [],
            "facts": {"ib": IbFacts().to_dict(), "roce": roce.to_dict()},
        },
        "ibready_expect": EXPECT,
        **more,
    }


def two(**more: Any) -> dict[str, dict[str, Any]]:
    return {"n1": seen(1, **more), "n2": seen(2, **more)}


def made(hostvars: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return rdma_plan(hostvars, list(hostvars), **more)


def answered(hosts: dict[str, dict[str, Any]], **bent: Any) -> dict[str, dict[str, Any]]:
    """The same after all data moved; a test's name bends its answers."""
    found = made(hosts)
    for one in hosts.values():
        one.update(ibready_rdma_plan=found, ibready_rdma_answers=[], ibready_rdma_served=[])
    for number, met in enumerate(found["rounds"]):
        for client, server in met.items():
            for question in rdma_part(found, client, number)["questions"]:
                numbers = {"bytes": 131072, "usec": 600.0, "gbps": 0.02, "pings": 10}
                answer = {"state": data.MOVED, "kind": "", "said": "", "at": "client", **numbers}
                answer.update(bent.get(question["test"], {}))
                hosts[client]["ibready_rdma_answers"].append({**question, **answer})
                words = {"kind": "", "said": "", "rc": 0, "memlock": "unlimited"}
                words["devices"] = ["uverbs0"]
                words.update(bent.get("served", {}))
                hosts[server]["ibready_rdma_served"].append({**question, **words})
    return hosts
