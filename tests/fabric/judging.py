# SPDX-License-Identifier: GPL-3.0-or-later
"""A fabric of the rig, asked and judged as a run of the playbook would."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._areas.fabric import observe_look
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import FAIL, PASS, UNKNOWN
from ansible_collections.ibready.cluster.plugins.module_utils._parse import ibstat
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric import judge, plan, read, tree
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric.model import Hca, Inventory, guid
from ansible_collections.ibready.cluster.plugins.plugin_utils._neighbours.topology import render
from sandbox.rig.container import Fabric, Rig, Stuck
from sandbox.rig.faults.who import ASKING, HOST, NEIGHBOUR
from sandbox.rig.plan import Plan
from sandbox.rig.topology import Topology, members
from tests.fabric.looking import DEVICE, Simulated

# What the site expects of every one of these fabrics.
_STANDBYS = 1
# For one state, for one tool in it, and how often a state is tried.
_SECONDS = 40.0
_LIMIT = 10.0
_TRIES = 3


@dataclass(frozen=True)
class Finding:
    """One check that did not pass; `host` is "" where it is about the fabric."""

    id: str
    result: str
    host: str
    subject: str
    observed: str
    cause: str

    def __str__(self) -> str:
        where = f"{self.host} {self.subject}".strip()
        return f"{self.result} {self.id} of {where}: {self.observed} ({self.cause})"


@dataclass(frozen=True)
class Verdict:
    """All that was judged of a fabric."""

    passed: frozenset[str]
    bad: tuple[Finding, ...]

    def __str__(self) -> str:
        return "\n".join(map(str, self.bad)) or "nothing is wrong"


@dataclass(frozen=True)
class Look:
    """What a fabric and its hosts told in one state."""

    told: Mapping[str, Any]
    inventory: Inventory

    @property
    def discovery(self) -> str:
        """What ibnetdiscover printed: a plan of the cables for later looks."""
        return str(self.told["answers"]["ibnetdiscover"]["stdout"])

    def slurm(self) -> str:
        """The topology.conf that the playbook writes of this."""
        models, _partial = judge.models([read.read(ASKING, self.told)], self.inventory)
        placed = tree.build(models, self.inventory)
        called = {name: render.Called(name, name, "198.51.100.1", 8) for name in placed.path}
        return render.render(placed, {}, called, "1.0", []).files["topology.conf"]

    def judge(self, cabling: str = "", **wishes: Any) -> Verdict:
        """The checks; `cabling` is the plan of the cables, "" where the site has none; `wishes`: what else it says."""
        desired_settings = judge.DesiredSettings(_STANDBYS, plan=plan.read(cabling) if cabling else None, **wishes)
        # A run asks a second host, which hears the same.
        looks = [read.read(host, self.told) for host in (ASKING, NEIGHBOUR)]
        result = judge.judge(looks, self.inventory, desired_settings)
        checks = [("", check) for one in result.fabrics for check in one["checks"]]
        checks += [(host, one.to_dict()) for host, own in result.hosts.items() for one in own]
        return Verdict(
            frozenset(check["id"] for _host, check in checks if check["result"] == PASS),
            tuple(_finding(host, one) for host, one in checks if one["result"] in (FAIL, UNKNOWN)),
        )


def look(rig: Rig, topology: Topology, state: Plan) -> Look:
    """Bring a fabric into a state and ask; `topology` is what the site believes to have.

    Once in some hundred times, and only on a busy machine, a client of ibsim waits for an answer
    that it has lost: then another fabric is brought into the state and asked.
    """
    for _ in range(_TRIES - 1):
        with contextlib.suppress(Stuck):
            return _look(rig, topology, state)
    return _look(rig, topology, state)


def _look(rig: Rig, topology: Topology, state: Plan) -> Look:
    with rig.fabric(state.topology, _SECONDS) as fabric:
        fabric.do(state.before)
        inventory = _inventory(fabric, topology)
        asking = Simulated(fabric, state, _LIMIT)
        return Look(observe_look.look(asking, DEVICE, 1, pause=0), inventory)


def _finding(host: str, check: Mapping[str, Any]) -> Finding:
    reported = (check[name] for name in ("subject", "observed", "cause"))
    return Finding(check["id"], check["result"], host, *reported)


def _inventory(fabric: Fabric, topology: Topology) -> Inventory:
    """Every host's HCAs; those that faults strike are asked what they say of themselves now."""
    rails = []
    for host, ports in members(topology).items():
        for rail, (name, guids) in enumerate(ports.items()):
            hca = Hca(host, name, guid(guids["node_guid"]), guid(guids["port_guid"]), rail)
            struck = host in (HOST, NEIGHBOUR)
            rails.append(_asked(fabric, topology, hca) if struck else hca)
    return Inventory(tuple(rails))


def _asked(fabric: Fabric, topology: Topology, hca: Hca) -> Hca:
    node = topology.hca(hca.host, hca.rail)
    (ca,) = ibstat.parse(fabric.run(node.id, ["ibstat"], _LIMIT).stdout).cas
    (port,) = ca.ports
    own = guid(ca.node_guid), guid(port.port_guid)
    return Hca(hca.host, hca.name, *own, hca.rail, port.state)
