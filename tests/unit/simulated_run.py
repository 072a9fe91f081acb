# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run of site.yml with these tags and variables would do, done to a simulated host.

Which roles are entered tells `playbooks/tasks/desired.yml`, and which of their tasks the tags at
them; what these want is composed as in a converge (docs/desired.md).
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

from ansible_collections.ibready.cluster.plugins.module_utils._areas.nccl import check_harm, observe_host
from ansible_collections.ibready.cluster.plugins.module_utils._ask.nccl import query
from ansible_collections.ibready.cluster.plugins.module_utils._data.nccl_reading import SYSTEM_FILE
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import Cached
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._expect.nccl import Desired
from ansible_collections.ibready.cluster.plugins.module_utils._nccl import conf
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.release import NEWEST, shown
from ansible_collections.ibready.cluster.plugins.plugin_utils._desired import compose, facts
from ansible_collections.ibready.cluster.plugins.plugin_utils._desired.items import Item
from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet import nccl_plan
from tests.gauntlet import render
from tests.gauntlet.nodes.nccl import ADDRESS, PEER
from tests.unit import fleets, simulated_acts
from tests.unit.simulated_acts import Host, NotSimulated

ROOT = Path(__file__).parents[2]
_DESIRED = ROOT / "playbooks/tasks/desired.yml"
_COMPARE = "ibready.cluster.host_desired"
_PART = {"packages": [{"name": "thing", "version": "1"}]}
_ALWAYS = "always"


@dataclass(frozen=True)
class Run:
    """A cited run. ``tags``: none of them is all of it."""

    tags: frozenset[str] = frozenset()
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def reboots(self) -> bool:
        """The role that reboots has no tags of its own, so that a run with some leaves it out."""
        return not self.tags and self.variables.get("ibready_reboot_ok") == "true"


def read(words: Sequence[str]) -> Run:
    """The words after `ansible-playbook` and the playbook."""
    tags: set[str] = set()
    variables: dict[str, str] = {}
    for option, value in zip(words[::2], words[1::2], strict=True):
        if option == "--tags":
            tags |= set(value.split(","))
        elif option == "-e":
            name, _, said = value.partition("=")
            variables[name] = said
    return Run(frozenset(tags), variables)


class _Tagged(compose.Composer):
    """Follows those tasks of a role that a run with tags does."""

    def __init__(self, tags: Collection[str], *args: Any) -> None:
        super().__init__(*args)
        self._tags = {*tags, _ALWAYS}
        self._all = not tags

    def file(self, path: Path, otherwise: Any = None) -> Any:
        found = super().file(path, otherwise)
        if self._all or (path.parent.name, path.name) != ("tasks", "main.yml"):
            return found
        return [task for task in found if self._tags & set(task.get("tags", ()))]


def carried_out(host: Host, run: Run) -> list[str]:
    """Do all of it to the host; the roles' tasks that were done. NotSimulated where one cannot be shown."""
    items = wanted(host, run)
    for item in items:
        simulated_acts.done(host, item.kind, item.want)
    if run.reboots and simulated_acts.waits_for_a_boot(host):
        simulated_acts.boot(host)
    return [f"{item.role}: {item.task}" for item in items]


def wanted(host: Host, run: Run) -> list[Item]:
    """What the entered roles want of the host, by the tasks of these tags."""
    loader = _loader()
    known = _known(host, run)
    seen = {**_variables(host, run), **known}
    composer = _Tagged(run.tags, Templar(loader=loader), loader, seen, known)
    found: list[Item] = []
    for role in _entered(composer, seen):
        told = composer.role(role)
        if told.always:
            raise NotSimulated("; ".join(told.always))
        found += told.items
    return found


@cache
def _loader() -> DataLoader:
    """One for all, which remembers the roles' files."""
    return DataLoader()


def _entered(composer: compose.Composer, seen: Mapping[str, Any]) -> list[str]:
    tasks = composer.file(_DESIRED)
    args = next(task[_COMPARE] for task in tasks if _COMPARE in task)
    told = next(task["vars"] for task in tasks if _COMPARE in task)
    known = {"__desired_parts": seen["ibready_plan"]["install"]["parts"], "__desired_driver": told["__desired_driver"]}
    scope: ChainMap[str, Any] = ChainMap(known, dict(seen))
    return [
        entry["name"]
        for entry in args["roles"]
        if entry["name"] != "reboot_gate" and composer.value(entry.get("wanted", True), scope) not in (False, "False")
    ]


def _variables(host: Host, run: Run) -> dict[str, Any]:
    node = host.node
    names = [*fleets.EQUALS, fleets.ODD]
    told = {"os": {"id": node.os_id, "version": node.os_version}, "kernel": node.kernel}
    rack = {"nodes": [ADDRESS, *(f"10.0.0.{number}" for number in range(2, 19))], "why": ""}
    return {
        "inventory_hostname": fleets.ODD,
        "groups": {"all": names},
        "hostvars": {name: {} for name in names},
        "ansible_run_tags": sorted(run.tags) or ["all"],
        "ansible_play_batch": names,
        "ansible_facts": facts.of(told),
        "ibready_plan": _plan(host),
        "__nccl_peers": [PEER],
        "__nvidia_driver_domains": {fleets.ODD: rack},
        **run.variables,
    }


def _plan(host: Host) -> dict[str, Any]:
    """A plan that the host is at."""
    node = host.node
    vendor = node.rdma != "inbox"
    method = "peermem" if vendor else "dmabuf"
    stack: dict[str, Any] = {
        "rdma": {"flavour": node.rdma},
        "nccl": {"version": "2"},
        "peer_memory": {"method": method},
    }
    stack |= {"fabric_manager": {}} if node.fabric_manager else {}
    stack |= {"imex": {}} if node.imex else {}
    parts = [*(["rdma"] if vendor else []), *(["nvidia_driver", "nccl", "container_toolkit"] if node.cards else [])]
    return {
        "digest": "0123",
        "stack": stack,
        "install": {"repositories": [], "parts": dict.fromkeys(parts, _PART)},
    }


def _known(host: Host, run: Run) -> dict[str, Any]:
    """What modules that a run asks before it compares would answer on this host."""
    modules = ["ib_umad", "ib_uverbs", "rdma_cm", "rdma_ucm"]
    modules += ["ib_ipoib"] if run.variables.get("rdma_ipoib") == "true" else []
    waiting = [name for name in modules if not host.has(f"/sys/module/{name}/initstate")]
    return {
        "modules_look": {"there": True, "known": modules, "waiting": waiting, "unknown": []},
        **(_nccl(host) if not run.tags or "nccl_conf" in run.tags or "mpi_conf" in run.tags else {}),
    }


@cache
def _equal(board: str, name: str, peers: tuple[str, ...], version: str) -> nccl_plan.Reported:
    """What a healthy host of the fleet tells."""
    node = fleets.described(board, int(name[4:]))
    expect = from_inventory(node.expect)
    return nccl_plan.Reported(observe_host.look(Cached(render.render(node)), expect, peers, version), Desired())


def _nccl(host: Host) -> dict[str, Any]:
    """As the module nccl_host and the filter nccl_derive answer, of all hosts of the fleet."""
    library = query.parse(host.tree.commands["nccl_proof"].stdout).library.value
    version = library.version if library else ""
    expect = from_inventory(host.node.expect)
    desired = expect.get("nccl")
    wish = desired.value if desired else Desired()
    mine = observe_host.look(Cached(host.tree), expect, wish.peers, version)
    settings = conf.settings(host.text(SYSTEM_FILE), mine.release or NEWEST)
    told = {fleets.ODD: nccl_plan.Reported(mine, wish)}
    told |= {name: _equal(host.node.name, name, wish.peers, version) for name in fleets.EQUALS}
    derived = nccl_plan.plan(told, [fleets.ODD])[fleets.ODD]
    lines = [{"name": line.name, "value": line.value, "reason": line.reason} for line in derived.settings]
    return {
        "nccl_host": {
            "harmful": check_harm.harmful(settings, mine, wish.policy),
            "release": shown(mine.release) if mine.release else "",
            "names": sorted(library.names) if library else [],
            "nccl_host": {},
            "wish": {},
        },
        "__nccl_derived": {
            "refused": {},
            "hosts": {fleets.ODD: {"settings": lines, "keep": sorted(entry.name for entry in derived.untold)}},
        },
    }
