# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulated hosts for the page: the gauntlet's nodes, judged by the project's own checks.

Each kind of node is judged once. Its equals differ in name, GUIDs, LIDs and addresses, as those of a real
fleet do, so that a fleet of 2,000 is made in seconds.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._areas.stack import contact
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._rails.ib_ports import IbFacts
from ansible_collections.ibready.cluster.plugins.module_utils._verify import verify as _verify
from ansible_collections.ibready.cluster.plugins.module_utils._verify.verdict import verdict_object
from ansible_collections.ibready.cluster.plugins.plugin_utils._answers.typed import read
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts import hosts as _hosts
from tests.gauntlet import fault
from tests.unit import fleets

SIMULATED = "nodes, fabric, pings and connections"
# The gauntlet's GUIDs; ports get one of their own, as those of other makers have.
_GUID = re.compile(r'("port_guid": )?"0xa088c20300e3100([0-9])"')
_LID = re.compile(r'"lid": 2([0-7])(?=[,}])')
# That of fleets.bent's host 0.
_ADDRESS = re.compile(r"\b10\.([0-9]{1,2})\.250\.5\b")
# LIDs below are switches'.
_FIRST_LID = 1000
# With GUIDs, LIDs or addresses in them.
_OWN = ("ib", "nccl", "own")


@dataclasses.dataclass(frozen=True)
class Kind:
    """A healthy node of the gauntlet's boards, and the areas in which it is judged."""

    board: str = "hgx-h100-8"
    areas: tuple[str, ...] = _verify.AREAS


def told(words: str, kind: Kind) -> dict[str, Any]:
    """What the modules return of a node with this fault of the gauntlet's, "" for none."""
    one = fleets.named(words) if words else fault.Fault("", kind.board, "", "", "")
    described, tree = fleets.bent(kind.board, 0, node=one.node, evidence=one.evidence, expect=one.expect)
    judged = _verify.verify(tree, from_inventory(described.expect), kind.areas)
    verdict = verdict_object("host", judged.checks, judged.facts)
    # What the simulated evidence does not hold would be that of the machine that runs this.
    node = {
        **contact.collect(tree),
        **{"kernel": judged.facts["machine"]["kernel"], "machine": "x86_64", "python": "3.12.3"},
        **{"root": True, "cpus": 192, "memory_mb": 2_063_000, "unreadable": []},
        "simulated": SIMULATED,
    }
    return {"node": node, "verify": verdict, "expect": described.expect}


@cache
def _like(words: str, kind: Kind) -> tuple[_hosts.Host, str]:
    """A host with this fault, and those of its facts that are its own, as JSON."""
    seen = told(words, kind)
    variables = {
        "ibready_node": {"node": seen["node"]},
        "ibready_ibverify": seen["verify"],
        "ibready_expect": seen["expect"],
    }
    facts = seen["verify"]["facts"]
    return _hosts.gather({"host": variables}, ["host"])[0], json.dumps(
        {area: facts[area] for area in _OWN if area in facts}
    )


def host(name: str, number: int, words: str, kind: Kind, **bent: Any) -> _hosts.Host:
    """The host of this number, from 1; ``bent``: other fields of it."""
    like, text = _like(words, kind)
    text = _ADDRESS.sub(lambda one: f"10.{one[1]}.{number // 256}.{number % 256}", text)
    own = json.loads(_LID.sub(lambda one: _lid(one, number), _GUID.sub(lambda one: _guid(one, number), text)))
    return dataclasses.replace(
        like,
        name=name,
        node={**like.node, "hostname": name},
        ib=read(IbFacts, own["ib"]),
        facts={**like.facts, **own},
        **bent,
    )


def absent(name: str, said: str) -> _hosts.Host:
    """A host that ssh did not reach."""
    seen: Mapping[str, Any] = {"ibready_node": {"unreachable": True, "msg": said}}
    return _hosts.gather({name: seen}, [name])[0]


def _guid(found: re.Match[str], number: int) -> str:
    key = found[1] or ""
    own = 0xA088_C203_0000_0000 + 0x100 * number + 0x10 * int(found[2]) + bool(key)
    return f'{key}"0x{own:016x}"'


def _lid(found: re.Match[str], number: int) -> str:
    return f'"lid": {_FIRST_LID + 8 * number + int(found[1])}'
