# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import datetime
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._expect.waivers import Waiver
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.html.models import plan
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.html.sections import told
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.speech.speech import Speech
from tests.unit import runs
from tests.unit.markup import Piece

T = Speech()
CLASS = {
    "verdict": "known",
    "because": ["DOCA 3.2 <ships> it"],
    "digest": "0123456789abcdef" * 4,
    "stack": {
        "rdma": {"flavour": "doca", "version": "3.2.0"},
        "driver": {"branch": "580", "version": "580.95.05", "modules": "open"},
        "container_toolkit": {"version": "1.18"},
    },
    "hosts": [f"n{at}" for at in range(9)],
}


def test_a_class_has_its_stack_its_hosts_and_why() -> None:
    found = told.plan(runs.run({}, plan={"h100": CLASS}), T)
    assert found is not None
    piece = Piece(found.html)
    assert piece.row("RDMA stack") == ["RDMA stack", "doca 3.2.0"]
    assert piece.row("NVIDIA driver") == ["NVIDIA driver", "580.95.05 open"]
    assert piece.row("container toolkit") == ["container toolkit", "1.18"]
    assert "known to work together" in piece.text
    assert "9 hosts: n0, n1, n2, n3, n4, n5 and 3 more" in piece.text
    assert "DOCA 3.2 <ships> it" in piece.text


def test_the_biggest_class_comes_first_and_what_is_odd_stays_text() -> None:
    odd = {**CLASS, "hosts": ["x"], "verdict": "<b>", "stack": {"rdma": 7, "nccl": {"x": 1}}}
    reported = plan.read({"plan": {"small": odd, "big": CLASS}})
    assert reported is not None
    assert [one.name for one in reported.classes] == ["big", "small"]
    assert reported.classes[1].stack == [("RDMA stack", "7"), ("NCCL", "{'x': 1}")]
    found = told.plan({"plan": {"small": odd}}, T)
    assert found is not None
    assert "<b>" not in found.html


def test_verify_planned_nothing() -> None:
    assert told.plan(runs.run({}), T) is None


def waived() -> dict[str, Any]:
    used = runs.check("fail", "ib.port.rate", waived="until 2026-12-31: ordered")
    until = datetime.date(2026, 12, 31)
    return runs.run(
        {"n1": runs.judged(used)},
        waivers=[
            Waiver("ib.port.rate", "n1", until, "RMA 1"),
            Waiver("gpu.count", "n1", until, "RMA 2"),
            Waiver("ib.port.rate", "n1", datetime.date(2026, 1, 1), "RMA 3"),
        ],
    )


def test_expired_waivers_come_first_and_all_are_counted() -> None:
    reported = plan.waivers(waived())
    assert reported is not None
    assert [(one.state, one.reason) for one in reported.rows] == [
        *(("expired", "RMA 3"), ("unused", "RMA 2"), ("used", "RMA 1")),
    ]
    found = told.waivers(waived(), T)
    assert found is not None
    piece = Piece(found.html)
    assert "1 used, 1 not used, 1 expired." in piece.text
    assert piece.row("expired")[1:] == ["ib.port.rate", "n1", "\N{EN DASH}", "2026-01-01", "RMA 3"]


def test_no_waivers_no_section_and_many_are_cut() -> None:
    assert told.waivers(runs.run({}), T) is None
    one = {"check": "a", "host": "b", "subject": "", "until": "", "reason": "", "state": "odd"}
    reported = plan.waivers({"waivers": [one] * 230})
    assert reported is not None
    assert (len(reported.rows), reported.more, reported.counts["unused"]) == (plan.WAIVERS, 30, 230)
