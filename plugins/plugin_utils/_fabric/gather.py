# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run learnt of its fabrics, read from the variables that the playbooks registered.

``ibready_fabric_looks`` (the module fabric_look's result), ``ibready_fabric_error`` (why a host
that was to ask could not), ``ibready_fabric_plan``, ``_known``, ``_standbys``,
``_oversubscription``, ``_sharp`` and ``_design`` of the site, ``ibready_topology_file``, and
``ibready_slurm_node`` of a host.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ansible.module_utils.parsing.convert_bool import boolean

from ...module_utils._areas.fabric import observe_look
from ...module_utils._ground.text import ParseError
from ...module_utils._rails.ib_ports import port_name
from .._answers import apart, shapes, typed
from .._ground import files
from .._hosts import hosts as _hosts
from .._slurm import read as slurm
from .._slurm.model import Topology
from . import design, plan, read
from .judge import DesiredSettings
from .model import Hca, Inventory, guid

# How many hosts are asked about one fabric: one alone could say anything of the others.
WITNESSES = 2

# Device, port number, the subnet manager that answered it ("" where none did), its state.
Port = tuple[str, int, str, str]


class FabricError(ValueError):
    """A variable of the site, or what a host returned, cannot be used; the message says which."""


def inventory(hosts: Sequence[_hosts.Host], known: Sequence[str] = ()) -> Inventory:
    """Whose HCAs are whose, by what every host told of its own."""
    rails: list[Hca] = []
    others: dict[str, str] = {}
    silent: dict[str, str] = {}
    for host in hosts:
        if host.ib is None:
            silent[host.name] = host.absent or host.ib_error
            continue
        mine = _hosts.infiniband_rails(host)
        ports = {port_name(ca, port) for ca, port in mine}
        places = _hosts.pci_places(host, mine) or [-1] * len(mine)
        for number, ((ca, port), place) in enumerate(zip(mine, places, strict=True)):
            name = port_name(ca, port)
            rails.append(Hca(host.name, name, guid(ca.node_guid), guid(port.port_guid), number, port.state, place))
        for ca in host.ib.cas:
            if not any(port_name(ca, port) in ports for port in ca.ports):
                others[guid(ca.node_guid)] = host.name
    cliques = {host.name: _clique(host) for host in hosts if not host.absent}
    return Inventory(tuple(rails), others, silent, tuple(known), cliques)


def _clique(host: _hosts.Host) -> str | None:
    """What node_facts tells; a bundle and a visit without contact tell nothing."""
    told = host.node.get("nvlink_domain")
    return told if isinstance(told, str) else None


def looks(name: str, result: Any) -> list[read.Seen]:
    """The looks that one host returned; raises FabricError on what is none."""
    try:
        told = typed.read(list[shapes.Look], result["looks"], "looks")
        answers = observe_look.unpack([entry["packed"] for entry in told])
        return [read.read(name, {**entry, "answers": mine}) for entry, mine in zip(told, answers, strict=True)]
    except Exception as exc:
        why = apart.why(exc, "what fabric_look returned")
        raise FabricError(f"{name}: {why}") from exc


def wishes(variables: Mapping[str, Any], cabling: str | None = None) -> DesiredSettings:
    """What the site says; raises FabricError on what cannot be used.

    ``cabling``: the file of a plan that takes the place of the site's.
    """
    file = cabling or variables.get("ibready_fabric_plan")
    standbys = variables.get("ibready_fabric_standbys")
    most = variables.get("ibready_fabric_oversubscription")
    cables = None
    if file:
        try:
            cables = plan.read(files.of_site(str(file), variables).read_text(encoding="utf-8"))
        except (OSError, UnicodeError, plan.PlanError) as exc:
            raise FabricError(f"ibready_fabric_plan: {file}: {exc}") from exc
    return DesiredSettings(
        standbys=None if standbys is None else int(_least("ibready_fabric_standbys", standbys, 0)),
        sharp=_word("ibready_fabric_sharp", variables.get("ibready_fabric_sharp")),
        oversubscription=None if most is None else _least("ibready_fabric_oversubscription", most, 0.001),
        plan=cables,
        design=_design(variables.get(design.NAME)),
        topology=topology(variables),
    )


def _design(said: Any) -> design.Wanted | None:
    if said is None:
        return None
    try:
        return design.read(said)
    except design.DesignError as exc:
        raise FabricError(f"{design.NAME}: {exc}") from exc


def topology(variables: Mapping[str, Any]) -> tuple[Topology, ...] | None:
    """What the site tells Slurm; None where it names no file."""
    file = variables.get("ibready_topology_file")
    if not file:
        return None
    parse = slurm.yml if str(file).endswith((".yaml", ".yml")) else slurm.conf
    try:
        return parse(files.of_site(str(file), variables).read_text(encoding="utf-8"))
    except (OSError, UnicodeError, ParseError) as exc:
        raise FabricError(f"ibready_topology_file: {file}: {exc}") from exc


def called(hostvars: Mapping[str, Any], names: Sequence[str]) -> dict[str, str]:
    """The NodeName of every host that has another than its name."""
    found = {name: str(hostvars.get(name, {}).get("ibready_slurm_node") or name) for name in names}
    twice = next((node for node, n in Counter(found.values()).items() if n > 1), None)
    if twice is not None:
        both = ", ".join(name for name, node in found.items() if node == twice)
        raise FabricError(f"ibready_slurm_node: {both} would all be the node {twice}; next: give each its own")
    return {name: node for name, node in found.items() if node != name}


def _least(name: str, value: Any, least: float) -> float:
    """The number; not below ``least`` and no "nan", for nothing could miss that."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not least <= number < math.inf:
        raise FabricError(f"{name}: {value!r} is no number from {least:g} on")
    return number


def _word(name: str, value: Any) -> bool | None:
    """Yes, no, or nothing; a text of the command line as Ansible reads it."""
    if value is None:
        return None
    try:
        return bool(boolean(value))  # type: ignore[no-untyped-call]
    except TypeError:
        raise FabricError(f"{name}: {value!r} is neither true nor false") from None


def listed(variables: Mapping[str, Any], name: str) -> list[str]:
    """The list of this name; raises FabricError on a text, whose characters are no names."""
    said = variables.get(name) or []
    if isinstance(said, str) or not isinstance(said, Sequence):
        raise FabricError(f"{name}: {said!r} is no list; next: -e '{{\"{name}\": [...]}}'")
    return [str(line) for line in said]


def known(variables: Mapping[str, Any]) -> list[str]:
    """What belongs to the fabric though it is in no inventory."""
    return listed(variables, "ibready_fabric_known")


def ports_of(host: _hosts.Host) -> list[tuple[str, int, str, str]]:
    """Device, number, subnet manager ("" where none answered) and state of ports with a link."""
    if host.ib is None:
        return []
    found = []
    for ca, port in _hosts.infiniband_rails(host):
        answer = host.ib.sm.get(port_name(ca, port))
        manager = guid(answer.sm.guid) if answer is not None and answer.sm is not None else ""
        if port.state == "Active" or port.physical_state == "LinkUp":
            found.append((ca.name, port.num, manager, port.state))
    return found


def askers(hosts: Mapping[str, Sequence[Port]], lot: int) -> dict[str, list[tuple[str, int]]]:
    """Host -> ports to ask. Each fabric is asked by two hosts where it has two, drawn by ``lot``.

    Fabrics are told apart by their subnet manager; where none answered, by the name of the port,
    for rail i of all hosts is one fabric until somebody knows better. What a host says gives it no
    turn before others: those of the inventory are put in one order, and whoever comes first on a
    fabric asks, a port that is Active before one that is not. A fabric that one host alone names
    comes last: nobody bears that one out.
    """
    ways: dict[str, dict[str, Port]] = {}
    for host, ports in hosts.items():
        for port in sorted(ports, key=lambda port: port[3] != "Active"):
            device, number, manager, _state = port
            ways.setdefault(manager or f"{device}/{number}", {}).setdefault(host, port)
    # No secret: it has to be the same again for the same lot, and known to nobody before.
    order = random.Random(lot).sample(list(hosts), len(hosts))
    place = {host: at for at, host in enumerate(order)}
    chosen: dict[str, list[tuple[str, int]]] = {}
    for mine in sorted(ways.values(), key=lambda mine: len(mine) < WITNESSES):
        for host in sorted(mine, key=lambda host: (mine[host][3] != "Active", place[host]))[:WITNESSES]:
            chosen.setdefault(host, []).append(mine[host][:2])
    return chosen
