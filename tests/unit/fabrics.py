# SPDX-License-Identifier: GPL-3.0-or-later
"""Small fabrics as the tools would print them, to be bent one thing at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric import design, judge, plan, read
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric.model import Hca, Inventory

End = tuple[str, int]
_SUMMARY = """
## Summary: 9 nodes checked, {bad} bad nodes found
##          99 ports checked, {bad} ports have errors beyond threshold
## Thresholds:
## Suppressed:
"""


def sm_record(guid: str, priority: int = 14, state: int = 3) -> str:
    """One record of saquery."""
    return (
        "SMInfoRecord dump:\n\t\tRID\n\t\tLID...................1\n\t\tSMInfo dump:\n"
        f"\t\tGUID..................{guid}\n\t\tSM_Key................[masked]\n"
        f"\t\tActCount..............42\n\t\tPriority..............{priority}\n"
        f"\t\tSMState...............{state}\n"
    )


@dataclass
class Fabric:
    """``nodes``: GUID -> (type, name). ``cables``: end -> (other end, width and speed, extra words
    of iblinkinfo). ``down``: ports without a link. ``counters``: port -> counters at both looks.
    ``lids``: by adapter."""

    nodes: dict[str, tuple[str, str]] = field(default_factory=dict)
    cables: dict[End, tuple[End, str, str]] = field(default_factory=dict)
    down: list[End] = field(default_factory=list)
    states: dict[End, str] = field(default_factory=dict)
    counters: dict[End, tuple[dict[str, int], dict[str, int]]] = field(default_factory=dict)
    managers: str = ""
    rails: list[Hca] = field(default_factory=list)
    asks: str = ""
    lids: dict[str, int] = field(default_factory=dict)

    def switch(self, guid: str, name: str) -> str:
        self.nodes[guid] = ("S", name)
        return guid

    def hca(self, guid: str, host: str, device: str, rail: int) -> str:
        self.nodes[guid] = ("H", f"{host} {device}")
        self.rails.append(Hca(host, f"{device}/1", guid, _port(guid), rail, "Active"))
        return guid

    def plug(self, one: End, other: End, speed: str = "4xNDR", said: str = "") -> None:
        self.cables[one] = (other, speed, said)
        self.cables[other] = (one, speed, said)

    def pull(self, end: End) -> None:
        """Both ends are Down."""
        far = self.cables.pop(end)[0]
        del self.cables[far]
        self.down += [end, far]

    def remove(self, guid: str) -> None:
        """The node is off; its neighbours' ports are Down."""
        for end in [one for one in self.cables if one[0] == guid]:
            self.down.append(self.cables.pop(end)[0])
            del self.cables[self.down[-1]]
        del self.nodes[guid]
        self.down = [one for one in self.down if one[0] != guid]

    def discovery(self) -> str:
        lines = [f"# Initiated from node {self.asks:0>16} port {_port(self.asks):0>16}"]
        cabled: dict[str, list[End]] = {}
        for end in sorted(self.cables):
            cabled.setdefault(end[0], []).append(end)
        for guid, (kind, name) in self.nodes.items():
            ends = cabled.get(guid, [])
            if not ends and kind == "H" and guid != self.asks:
                continue
            word = "Switch" if kind == "S" else "Ca"
            more = " enhanced port 0 lid 9 lmc 0" if kind == "S" else ""
            lines += ["", "vendid=0x0", "devid=0x0", f"sysimgguid=0x{guid}"]
            lines += [f'{word}\t64 "{kind}-{guid:0>16}"\t\t# "{name}"{more}']
            for end in ends:
                (far, far_port), speed, _said = self.cables[end]
                far_kind, far_name = self.nodes[far]
                own = f"({_port(guid, end[1])})" if kind == "H" else ""
                its = f"({_port(far, far_port)})" if far_kind == "H" else ""
                lid = f"lid {self.lids.get(guid, 9)} lmc 0 " if kind == "H" else ""
                lines.append(
                    f'[{end[1]}]{own}\t"{far_kind}-{far:0>16}"[{far_port}]{its}\t\t# {lid}"{far_name}" lid 8 {speed}'
                )
        return "\n".join(lines) + "\n"

    def links(self) -> str:
        lines = []
        for end, (far, speed, said) in sorted(self.cables.items()):
            width, _x, rate = speed.partition("x")
            gbps = {"NDR": 106.25, "HDR": 53.125, "EDR": 25.78125}[rate]
            state = self.states.get(end, "Active/  LinkUp")
            lines.append(
                f'0x{_seen(self, *end):0>16} "{self.nodes[end[0]][1]}"  9  {end[1]}[  ] '
                f"==( {width}X {gbps} Gbps {state})==>  0x{_seen(self, *far):0>16} 8 "
                f'{far[1]}[  ] "{self.nodes[far[0]][1]}" ( {said})'
            )
        lines += [
            f'0x{_seen(self, guid, port):0>16} "{self.nodes[guid][1]}"  9  {port}[  ] '
            '==(                Down/ Polling)==>             [  ] "" ( )'
            for guid, port in sorted(self.down)
            if guid in self.nodes
        ]
        return "\n".join(lines) + "\n"

    def errors(self, look: int) -> str:
        text = ""
        for (guid, port), values in self.counters.items():
            shown = "".join(f" [{name} == {value}]" for name, value in values[look].items())
            if shown:
                text += f'Errors for "{self.nodes[guid][1]}"\n'
                text += f"   GUID 0x{_seen(self, guid, port):0>16} port {port}:{shown}\n"
        return text + _SUMMARY.format(bad=text.count("Errors"))

    def answers(self) -> dict[str, Any]:
        """What fabric_look would have of it."""
        manager = _port(self.asks)
        texts = {
            "ibnetdiscover": self.discovery(),
            "iblinkinfo": self.links(),
            "ibqueryerrors": self.errors(0),
            "ibqueryerrors_again": self.errors(1),
            "sminfo": f"sminfo: sm lid 1 sm guid 0x{manager}, activity count 4 priority 14 state 3 SMINFO_MASTER\n",
            "saquery_sm": self.managers or sm_record(f"0x{manager}"),
        }
        return {name: {"rc": 0, "stdout": text, "stderr": ""} for name, text in texts.items()}

    def inventory(self, **more: Any) -> Inventory:
        return Inventory(tuple(self.rails), **more)


def _port(guid: str, number: int = 1) -> str:
    return f"{int(guid, 16) + number:x}"


def _seen(fabric: Fabric, guid: str, number: int) -> str:
    """iblinkinfo shows the port GUID of an adapter."""
    return guid if fabric.nodes[guid][0] == "S" else _port(guid, number)


def rails(hosts: int = 4, width: int = 2, spines: int = 2) -> Fabric:
    """HCA i of every host on leaf i; every leaf has one cable to every spine."""
    fabric = Fabric()
    leaves = [fabric.switch(f"a{rail}0", f"leaf{rail + 1}") for rail in range(width)]
    tops = [fabric.switch(f"b{top}0", f"spine{top + 1}") for top in range(spines)]
    for host in range(hosts):
        for rail, leaf in enumerate(leaves):
            guid = fabric.hca(f"{host + 1}c{rail}0", f"node{host + 1}", f"mlx5_{rail}", rail)
            fabric.plug((guid, 1), (leaf, host + 1))
    for rail, leaf in enumerate(leaves):
        for top, spine in enumerate(tops):
            fabric.plug((leaf, 33 + top), (spine, rail + 1))
    fabric.asks = "1c00"
    return fabric


def tree(leaves: int = 3, each: int = 2, spines: int = 2, cables: int = 2) -> Fabric:
    """Hosts of one HCA on leaves; so many cables from every leaf to every spine."""
    fabric = Fabric()
    lower = [fabric.switch(f"a{leaf}0", f"leaf{leaf + 1}") for leaf in range(leaves)]
    tops = [fabric.switch(f"b{top}0", f"spine{top + 1}") for top in range(spines)]
    for host in range(leaves * each):
        guid = fabric.hca(f"{host + 1}c00", f"node{host + 1}", "mlx5_0", 0)
        fabric.plug((guid, 1), (lower[host // each], host % each + 1))
    for number, leaf in enumerate(lower):
        for top, spine in enumerate(tops):
            for cable in range(cables):
                fabric.plug((leaf, 33 + top * cables + cable), (spine, number * cables + cable + 1))
    fabric.asks = "1c00"
    return fabric


@dataclass(frozen=True)
class Sizes:
    """What `built` builds: ``pair_links`` of a leaf to each spine of its pod, ``core_links`` of a spine to a core."""

    units: int
    unit_nodes: int
    nodes: int
    leaves: int
    spines: int
    pair_links: int
    pods: int = 1
    cores: int = 0
    core_links: int = 0


def built(sizes: Sizes) -> Fabric:
    """A fabric with all that the design has: HCA i on leaf i of the unit, core group i above spine i of each pod."""
    fabric = Fabric()
    rails = sizes.leaves // sizes.units
    of_pod = -(-sizes.units // sizes.pods)
    spines = sizes.spines // sizes.pods
    tops = [fabric.switch(f"b{top:03x}0", f"spine{top + 1}") for top in range(sizes.spines)]
    cores = [fabric.switch(f"d{top:03x}0", f"core{top + 1}") for top in range(sizes.cores)]
    for unit in range(sizes.units):
        lower = [
            fabric.switch(f"a{unit * rails + rail:03x}0", f"leaf{unit * rails + rail + 1}") for rail in range(rails)
        ]
        for place in range(min(sizes.unit_nodes, sizes.nodes - unit * sizes.unit_nodes)):
            host = unit * sizes.unit_nodes + place
            for rail, leaf in enumerate(lower):
                guid = fabric.hca(f"c{host:04x}{rail:02x}0", f"node{host + 1}", f"mlx5_{rail}", rail)
                fabric.plug((guid, 1), (leaf, place + 1))
        pod = unit // of_pod
        for leaf in lower:
            for spine in tops[pod * spines : (pod + 1) * spines]:
                join(fabric, leaf, spine, sizes.pair_links)
    group = sizes.cores // spines
    for at, spine in enumerate(tops if cores else ()):
        for core in cores[at % spines * group : (at % spines + 1) * group]:
            join(fabric, spine, core, sizes.core_links)
    fabric.asks = "c0000000"
    return fabric


def join(fabric: Fabric, one: str, other: str, cables: int = 1) -> None:
    """So many cables between the first free ports of both."""
    for _ in range(cables):
        fabric.plug((one, _free(fabric, one)), (other, _free(fabric, other)))


def _free(fabric: Fabric, guid: str) -> int:
    used = {port for node, port in (*fabric.cables, *fabric.down) if node == guid}
    return next(port for port in range(1, 256) if port not in used)


def judged(
    fabric: Fabric, answers: dict[str, Any] | None = None, inventory: Inventory | None = None, **wishes: Any
) -> judge.Judged:
    """The verdict on what two hosts heard alike; ``plan``: the text of a plan; ``design``: what the inventory has."""
    if "design" in wishes:
        wishes["design"] = design.read(wishes["design"])
    text = wishes.pop("plan", None)
    if text is not None:
        wishes["plan"] = plan.read(text)
    look = {"device": "mlx5_0", "port": 1, "seconds": 5.0, "answers": fabric.answers() if answers is None else answers}
    looks = [read.read(host, look) for host in ("node1", "node2")]
    return judge.judge(looks, inventory or fabric.inventory(), judge.DesiredSettings(**wishes))


def found(told: judge.Judged, result: str = "fail") -> dict[str, list[str]]:
    """Subjects by id of what ended so."""
    ids: dict[str, list[str]] = {}
    for fabric in told.fabrics:
        for check in fabric["checks"]:
            if check["result"] == result:
                ids.setdefault(check["id"], []).append(check["subject"])
    return ids
