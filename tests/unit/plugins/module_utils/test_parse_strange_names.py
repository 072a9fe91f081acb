# SPDX-License-Identifier: GPL-3.0-or-later
"""Node descriptions of any characters, and lines that no rule fits: each spoils itself alone."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.fabric.observe import answer
from ansible_collections.ibready.cluster.plugins.module_utils._ground.command import Output
from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import (
    ibhosts,
    iblinkinfo,
    ibnetdiscover,
    ibqueryerrors,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric import plan as _plan

NAMES = ('gpu "a" 7', "it's #1", '"', "a (b) [1] lid 7", "50% { $x } \\ \u00e4", "==( x ==> y")


def discovered(name: str, hosts: int = 1) -> str:
    text = 'vendid=0x2c9\nswitchguid=0x1(1)\nSwitch\t40 "S-0000000000000001"\t\t# "leaf" enhanced port 0 lid 70 lmc 0\n'
    for at in range(hosts):
        shown = name if at == 0 else f"gpu-{at}"
        text += f'[{at + 1}]\t"H-{at + 10:016x}"[1]({at + 10:x}) \t\t# "{shown}" lid {at + 5} 4xNDR\n'
    for at in range(hosts):
        shown = name if at == 0 else f"gpu-{at}"
        text += f'\nvendid=0x2c9\ncaguid=0x{at + 10:x}\nCa\t1 "H-{at + 10:016x}"\t\t# "{shown}"\n'
        text += f'[1]({at + 10:x}) \t"S-0000000000000001"[{at + 1}]\t\t# lid {at + 5} lmc 0 "leaf" lid 70 4xNDR\n'
    return text


@pytest.mark.parametrize("name", NAMES)
def test_ibnetdiscover_takes_any_name(name: str) -> None:
    found = ibnetdiscover.parse(discovered(name, 3))
    assert [node.name for node in found.nodes] == ["leaf", name, "gpu-1", "gpu-2"]
    assert [link.peer_name for link in found.nodes[0].links] == [name, "gpu-1", "gpu-2"]
    listed = f'Ca\t: 0x000000000000000a ports 1 devid 0x1021 vendid 0x2c9 "{name}"\n'
    assert ibnetdiscover.parse(listed).nodes[0].name == name


@pytest.mark.parametrize("name", NAMES)
def test_the_other_tools_take_any_name(name: str) -> None:
    (host,) = ibhosts.parse(f'Ca\t: 0x000000000000000a ports 1 "{name}"\n').hosts
    assert host.name == name
    line = f'    70    1[  ] ==( 4X  106.25 Gbps Active/  LinkUp)==>       5    1[  ] "{name}" ( )\n'
    below = iblinkinfo.parse(f"CA: {name}:\n      0x000000000000000a {line}").ports
    assert [(port.node, port.peer.name) for port in below if port.peer] == [(name, name)]
    counters = f'Errors for 0x1 "{name}"\n   GUID 0x1 port 1: [SymbolErrorCounter == 11]\n'
    assert ibqueryerrors.parse(counters).nodes[0].name == name


@pytest.mark.parametrize("name", [one for one in NAMES if "==(" not in one])
def test_one_line_a_link_takes_any_name(name: str) -> None:
    line = f'0x000000000000000a "{name}"      5    1[  ] ==( 4X  106.25 Gbps Active/  LinkUp)==>  '
    (port,) = iblinkinfo.parse(f'{line}0x0000000000000001     70    1[  ] "leaf" ( )\n').ports
    assert port.node == name


class _Said:
    def __init__(self, text: str) -> None:
        self._text = text

    def run(self, name: str, *args: str) -> Output:
        return Output(0, self._text, "")


def asked(text: str) -> Any:
    reading = answer(_Said(text), "ibnetdiscover", ibnetdiscover.parse, lambda found: bool(found.nodes))
    assert reading.value is not None
    return reading.value


def test_a_strange_line_leaves_the_others() -> None:
    text = discovered("a", 12).replace('[3]\t"H-', "[3]\t?H~")
    seen = asked(text)
    assert len(seen.facts.nodes) == 13
    assert len(seen.facts.nodes[0].links) == 11
    assert "cannot be read: [3] ?H~" in seen.incomplete
    with pytest.raises(_plan.PlanError, match="cannot be read"):
        _plan.read("# Topology file\n" + text)


def test_the_ports_of_a_node_whose_line_is_strange_belong_to_no_other() -> None:
    text = discovered("a", 12).replace('Ca\t1 "H-000000000000000c"', "Ca\t1 ???")
    found = asked(text).facts
    assert len(found.nodes) == 12
    assert [len(node.links) for node in found.nodes] == [12] + [1] * 11


def test_many_strange_lines_are_no_output_of_the_tool() -> None:
    with pytest.raises(ParseError, match="not "):
        ibnetdiscover.parse(discovered("a", 12).replace('"S-', "S-"))
