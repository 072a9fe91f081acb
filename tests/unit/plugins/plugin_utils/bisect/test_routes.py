# SPDX-License-Identifier: GPL-3.0-or-later
"""With the forwarding tables of a fabric, a cable between two switches is convicted.

The texts are what real ibnetdiscover and dump_fts said of one fabric that ibsim simulates, with opensm's tables.
"""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._parse import dump_fts, ibnetdiscover
from ansible_collections.ibready.cluster.plugins.plugin_utils._bisect import live, verdict
from ansible_collections.ibready.cluster.plugins.plugin_utils._bisect.parts import CABLE
from ansible_collections.ibready.cluster.plugins.plugin_utils._bisect.shapes import Flow, Measured
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric.build import build
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric.model import Hca, Inventory, guid
from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet.bench.plan import Member
from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet.bench.reported import Reported
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts.rounds import Rail
from tests.unit.flow_model import links_of

WISH = live.Desired(forks=8)
TEXT = (Path(__file__).parent / "ibnetdiscover.txt").read_text()
ROUTES = (Path(__file__).parents[3] / "parse_samples" / "dump_fts.txt").read_text()


def fabrics(routes: str) -> live.Fabrics:
    found = ibnetdiscover.parse(TEXT)
    rails = [
        Hca(node.name.split()[0], "mlx5_0/1", guid(node.guid), guid(link.port_guid), 0)
        for node in found.nodes
        for link in node.links
        if node.name.startswith("node")
    ]
    told = dump_fts.parse(routes)
    return live.Fabrics(
        (build("fabric 1", "", found, Inventory(tuple(rails))),),
        {table.guid: table.out for table in told.tables},
        told.lids,
    )


HOSTS = [
    Reported(
        f"node{number}",
        Member(f"192.0.2.{number}", {"mlx5_0/1": Rail("mlx5_0/1", "mlx5_0", 1, 0)}),
        rates={"mlx5_0/1": 400.0},
    )
    for number in range(1, 13)
]


@pytest.mark.parametrize("seed", range(6))
def test_a_cable_between_two_switches_is_convicted(seed: int) -> None:
    """Measured by the very tables, so that a flow is slow where it really goes over the cable."""
    known = fabrics(ROUTES)
    hosts, rng = list(HOSTS), random.Random(seed)
    first = live.search(hosts, known, replace(WISH, seed=seed))
    net, parts = first.engine.net, first.engine.parts
    assert first.blind == ""
    used = {
        link
        for source in range(len(net.ports))
        for target in range(len(net.ports))
        if source != target
        for link in links_of(net, source, target)
    }
    guilty = rng.choice([part for part in parts.all if part.kind == CABLE and set(part.links) <= used])
    while (found := live.search(hosts, known, replace(WISH, seed=seed))).asked is not None:
        answers: dict[str, list[Measured]] = {}
        for flow in found.asked.flows:
            slow = set(links_of(net, flow.source, flow.target)) & set(guilty.links)
            gbps = 380 * (0.5 if slow else 1.0) * rng.gauss(1, 0.03)
            answers.setdefault(net.ports[flow.source].host, []).append(Measured(flow.source, flow.target, gbps))
        hosts = [
            replace(
                host,
                answers=[
                    *host.answers,
                    *(
                        {
                            **{"test": "write_bw", "server": "", "untested": "", "at": "client", "gbps": one.gbps},
                            "rail": live.label(found.asked.number, Flow(one.source, one.target, 0.0), net),
                        }
                        for one in answers.get(host.name, ())
                    ),
                ],
            )
            for host in hosts
        ]
    told = verdict.judge(found.engine)
    assert [one.part for one in told.verdicts if one.verdict == verdict.CONVICTED] == [guilty.name]
    assert "leaf" in guilty.name
    assert "spine" in guilty.name


def test_tables_are_read_whole_or_not_at_all() -> None:
    told = dump_fts.parse(ROUTES)
    assert (len(told.tables), len(told.lids), told.cut, told.unread) == (5, 19, False, 0)
    cut = dump_fts.parse("\n".join(ROUTES.splitlines()[:40]))
    assert (len(cut.tables), cut.cut) == (1, True)
    lines = ROUTES.splitlines()
    lost = dump_fts.parse("\n".join(line for number, line in enumerate(lines) if number != 5))
    assert (len(lost.tables), lost.cut) == (4, True)
