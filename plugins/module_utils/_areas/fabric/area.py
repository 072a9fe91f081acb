# SPDX-License-Identifier: GPL-3.0-or-later
"""The area fabric as a whole: its checks in reading order. Facts and expectations in, checks out, no I/O."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import Any, Iterator, Sequence

from ..._data.fabric_counters import PING_RETRIED_ABOVE_MS
from ..._data.opensm import START_NO_OTHER
from ..._expect.expectations import CAPABILITY, Expectations
from ..._ground.check import Check, failed, passed, skipped, unknown
from ..._ground.reading import Reading
from ..._ground.text import few
from ..._parse._topology import CA, NODES, SWITCH, TOPOLOGY, Ibnetdiscover
from ..._parse.ibhosts import Ibhosts
from ..._parse.iblinkinfo import Iblinkinfo
from ..._parse.ibping import Ibping
from ..._parse.sminfo import Sminfo
from ..area import Area
from ..machine.facts import Machine
from . import observe
from .check_links import FABRIC, judge_counters, judge_links, judged
from .facts import NOT_ASKED, Answer, FabricFacts

_TOOL = "fabric.tool.answered"
_MASTER = "fabric.sm.master"
_NEIGHBOURS = "fabric.discovery.neighbours"
_HOSTS = "fabric.discovery.hosts"
_PING = "fabric.ping.recorded"
_RETRIED = "fabric.ping.retried"
# sminfo asked, and nobody answered. Any other error: it could not ask.
_NO_ANSWER = "failed: query"
_MASTER_STATE = 3
# NodeDescription as the firmware has it until rdma-ndd sets the host's: chip, model and maker.
_OF_FIRMWARE = re.compile(r"MT\d{3,6} \w.*\bMellanox Technologies$")
_OF_SWITCHES = "Aggregation Node"
_NO_NAME = "a host never told the fabric its name: rdma-ndd did not run there, or runs before the host has its name"
_NAME_IT = (
    "find the host by the GUID (`ibnetdiscover`); install rdma-core's rdma-ndd and its udev rule there, then `udevadm "
    "trigger --subsystem-match=infiniband --action=add`; where it ran too early, `systemctl restart rdma-ndd`"
)
_SHOWN = 4


def judge(facts: FabricFacts, machine: Machine, expect: Expectations) -> list[Check]:
    """Every fabric.* check of one bundle. On a live host all are skipped: see observe.py."""
    facts = _whole(facts)
    return [
        *_tools(facts),
        *_master(facts.sm),
        *judge_links(facts.links),
        *judge_counters(facts.counters),
        *judged((_NEIGHBOURS,), "ibnetdiscover", facts.discovery, _neighbours, of_absence=True),
        *_hosts(facts),
        *judged((_PING, _RETRIED), "ibping", facts.ping, _ping),
    ]


def _tools(facts: FabricFacts) -> list[Check]:
    readings: dict[str, Reading[Answer[Any]]] = {
        "sminfo": facts.sm,
        "iblinkinfo": facts.links,
        "ibnetdiscover": facts.discovery,
        "ibqueryerrors": facts.counters,
        "ibhosts": facts.hosts,
        "ibping": facts.ping,
    }
    asked = {name: reading for name, reading in readings.items() if not reading.missing}
    if not asked:
        return [skipped(_TOOL, FABRIC, NOT_ASKED)]
    return [_tool(name, entry) for name, entry in asked.items()]


def _tool(name: str, reading: Reading[Answer[Any]]) -> Check:
    answer = reading.value
    if answer is None:
        return unknown(_TOOL, name, reading.why)
    if answer.facts is None and not _unheard(answer):
        said = answer.errors[-1] if answer.errors else "no facts"
        return failed(_TOOL, name, said, "an answer", CAPABILITY, cause=_why_no_answer(said))
    if answer.incomplete:
        return unknown(_TOOL, name, answer.incomplete)
    return passed(_TOOL, name, "answered", "an answer", CAPABILITY)


def _why_no_answer(said: str) -> str:
    """The catalog's first cause is the missing device; other complaints speak for themselves."""
    return "" if "port" in said or "discover failed" in said else said


def _unheard(answer: Answer[Any]) -> bool:
    return any(_NO_ANSWER in line for line in answer.errors)


def _master(reading: Reading[Answer[Sminfo]]) -> list[Check]:
    answer = reading.value
    if answer is not None and answer.facts is None and _unheard(answer):
        return [failed(_MASTER, FABRIC, "nobody answered", "a master", CAPABILITY)]
    return judged((_MASTER,), "sminfo", reading, _sm)


def _sm(sm: Sminfo) -> Iterator[Check]:
    if sm.state in (_MASTER_STATE, None):
        # The first releases showed no state; whoever answers at the LID that the ports were given
        # as their subnet manager's is the master.
        yield passed(_MASTER, FABRIC, f"LID {sm.lid}", "a master", CAPABILITY)
    else:
        cause = f"the subnet manager at LID {sm.lid} is {sm.state_name}: no master took over"
        state = sm.state_name
        yield failed(_MASTER, FABRIC, state, "SMINFO_MASTER", CAPABILITY, cause=cause, remedy=START_NO_OTHER)


def _whole(facts: FabricFacts) -> FabricFacts:
    """The same facts, with what was cut off between two lines marked as incomplete."""
    discovery, counters = facts.discovery.value, facts.counters.value
    if discovery is not None and discovery.facts is not None and not discovery.incomplete:
        cut = replace(discovery, incomplete=_one_sided(discovery.facts))
        facts = replace(facts, discovery=Reading(cut))
    links = facts.links.value
    if links is not None and links.facts is not None and not links.incomplete:
        cut_links = replace(links, incomplete=_far_ends_lost(links.facts, discovery))
        facts = replace(facts, links=Reading(cut_links))
    if counters is not None and counters.facts is not None and counters.facts.partial and not counters.incomplete:
        facts = replace(facts, counters=Reading(replace(counters, incomplete=counters.facts.partial)))
    return facts


def _one_sided(fabric: Ibnetdiscover) -> str:
    """A topology lists every link from both its ends; "" where it does, or in another format."""
    if fabric.format != TOPOLOGY:
        return ""
    ends = {(node.guid, link.port, link.peer, link.peer_port) for node in fabric.nodes for link in node.links}
    lone = sum((there, far, here, near) not in ends for here, near, there, far in ends)
    if lone:
        return f"{lone} links are listed from one end only: the output may be cut"
    if fabric.nodes and not fabric.of(CA):
        return "no HCA is in it, not even the one that asked: the output may be cut"
    return ""


def _far_ends_lost(listed: Iblinkinfo, discovery: Answer[Ibnetdiscover] | None) -> str:
    """So does iblinkinfo; somebody may have kept some switches of it alone."""
    if discovery is None and not any(port.node_type == "CA" for port in listed.ports):
        return ""
    ends = {(port.lid, port.port) for port in listed.ports}
    peers = [(port.peer.lid, port.peer.port) for port in listed.ports if port.peer is not None]
    lost = sum(peer not in ends for peer in peers)
    if lost:
        return f"{lost} links are listed from one end only: the output may be cut"
    found = discovery.facts if discovery is not None else None
    listed_of = Counter(port.guid.lower()[2:].lstrip("0") for port in listed.ports)
    for node in found.of(SWITCH) if found is not None and found.format == TOPOLOGY else ():
        if 0 < listed_of[node.guid] < (node.n_ports or 0):
            shown = f"{listed_of[node.guid]} of {node.n_ports} ports of {node.name or node.guid}"
            return f"it lists {shown}: the output may be cut"
    return ""


def _neighbours(fabric: Ibnetdiscover) -> Iterator[Check]:
    adapters = fabric.of(CA)
    if not adapters:
        yield skipped(_NEIGHBOURS, FABRIC, "no HCA is in this list, so none of them can be alone")
        return
    own = [adapter for adapter in adapters if adapter.guid == fabric.initiated_from] or list(adapters)
    links = sum(len(node.links) for node in fabric.nodes)
    alone = len(fabric.nodes) == 1 if fabric.format == NODES else not links
    if alone or (fabric.format != NODES and fabric.initiated_from and not own[0].links):
        name = own[0].name or own[0].guid
        cause = f"the port of {name} is not connected, or its link is down"
        yield failed(_NEIGHBOURS, name, "only itself", "at least 1 neighbour", CAPABILITY, cause=cause)
        return
    seen = f"{len(adapters)} HCAs, {len(fabric.nodes) - len(adapters)} other nodes"
    yield passed(_NEIGHBOURS, FABRIC, seen, "at least 1 neighbour", CAPABILITY)


def _hosts(facts: FabricFacts) -> Iterator[Check]:
    """From the discovery; or, where only that was recorded, from ibhosts."""
    if facts.discovery.missing:
        found = judged((_HOSTS,), "ibhosts", facts.hosts, _hosts_listed, of_absence=True)
    else:
        found = judged((_HOSTS,), "ibnetdiscover", facts.discovery, _hosts_discovered, of_absence=True)
    yield from found


def _hosts_listed(listed: Ibhosts) -> Iterator[Check]:
    yield _named([host.name for host in listed.hosts])


def _hosts_discovered(fabric: Ibnetdiscover) -> Iterator[Check]:
    yield _named([adapter.name for adapter in fabric.of(CA)])


def _named(names: Sequence[str]) -> Check:
    """How many HCAs were found; where nine in ten have a host's name, none has that of its firmware any more."""
    if not names:
        return failed(_HOSTS, FABRIC, "no HCA", "at least 1 HCA", CAPABILITY)
    unnamed = [name for name in names if _OF_FIRMWARE.match(name)]
    # A recorded fabric with 69 of 542 unnamed was well: its storage never runs rdma-ndd.
    if 0 < 10 * len(unnamed) <= sum(bool(name) and _OF_SWITCHES not in name for name in names):
        observed = f"{len(unnamed)} of {len(names)} HCAs are called {few(sorted(set(unnamed)), _SHOWN)}"
        return failed(_HOSTS, FABRIC, observed, "each by its host's name", CAPABILITY, cause=_NO_NAME, remedy=_NAME_IT)
    return passed(_HOSTS, FABRIC, f"{len(names)} HCAs", "at least 1 HCA", CAPABILITY)


def _ping(ping: Ibping) -> Iterator[Check]:
    target = ping.target_path
    lost = ping.sent - ping.received
    # Printed losses are rounded down: the counts tell of a single packet in thousands.
    if lost > 1 or ping.loss_pct:
        cause = "" if ping.received else f"nobody answers at {target}"
        yield failed(_PING, target, f"{lost} of {ping.sent} lost", "none lost", CAPABILITY, cause=cause)
    else:
        yield passed(_PING, target, f"{ping.received} of {ping.sent} answered", "none lost", CAPABILITY)
    limit = f"at most {PING_RETRIED_ABOVE_MS:g} ms"
    if not ping.received:
        yield skipped(_RETRIED, target, f"no answer came; see {_PING}")
    elif ping.rtt_ms is None:
        yield unknown(_RETRIED, target, "ibping printed no round trip times: its output ends early")
    elif ping.rtt_ms.max > PING_RETRIED_ABOVE_MS:
        cause = (
            f"the slowest answer took {ping.rtt_ms.max:g} ms and the average {ping.rtt_ms.avg:g} "
            "ms: single datagrams were lost and sent again"
        )
        yield failed(_RETRIED, target, f"{ping.rtt_ms.max:g} ms", limit, CAPABILITY, cause=cause)
    else:
        yield passed(_RETRIED, target, f"{ping.rtt_ms.max:g} ms", limit, CAPABILITY)


AREA = Area("fabric", lambda evidence, machine, _expect: observe.observe(evidence, machine), judge)
