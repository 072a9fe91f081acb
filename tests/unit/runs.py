# SPDX-License-Identifier: GPL-3.0-or-later
"""Run objects, with what hosts say drawn or given."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._expect.waivers import Waiver
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import (
    FAIL,
    PASS,
    SKIP,
    UNKNOWN,
    Check,
    verdict,
)
from ansible_collections.ibready.cluster.plugins.module_utils._verify.catalog import CATALOG
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts import hosts as _hosts
from ansible_collections.ibready.cluster.plugins.plugin_utils._run import build, changed

NOW = datetime.datetime(2026, 11, 22, 19, 41, tzinfo=datetime.UTC)
RUN = build.Run(playbooks=["playbooks/verify.yml"], size=3, fail_on="not_ready")
# Each means something to one of the formats, or to a terminal.
NASTY = (
    "<script>alert(1)</script>",
    "]]><failure/>&amp;&#0;",
    '"} 1\nibready_run_info{x="',
    "a\\\nb\\n",
    "| x | y |\n# head [a](http://evil.example) @octocat `code` ![i](//e)",
    "www.evil.example <!-- -->",
    "\x00\x01\x1b[31mred\x1b]8;;http://e\x07\r\n\t\x85\u2028\u202etxt",
    "\ud800\udfff\ufffe\uffff",
    "节点 π 🟢",
    "",
    "x" * 5000,
)
TEXT = st.one_of(st.sampled_from(NASTY), st.text(st.characters(exclude_categories=()), max_size=20))


def check(result: str = PASS, check_id: str = "ib.port.state", subject: str = "mlx5_0/1", **bent: Any) -> Check:
    """One check; a failure has all that one has."""
    said = {"observed": "Down", "expected": "Active", "expected_from": "capability"}
    known = CATALOG.get(check_id)
    more = {"cause": "the cable is pulled", "remedy": known.remedy if known and result == FAIL else "plug it in"}
    filled = {**(said if result in (PASS, FAIL) else {}), **(more if result != PASS else {})}
    return Check(check_id, subject, result, bent.pop("severity", "error"), **{**filled, **bent})


def judged(*checks: Check, **facts: Any) -> dict[str, Any]:
    """A host, or a fabric, of these checks."""
    return {
        "verdict": verdict(checks),
        "checks": [one.to_dict() for one in checks],
        "facts": {"node": {}, "ib": None, **facts},
    }


def run(
    hosts: Mapping[str, Mapping[str, Any]],
    *,
    created: datetime.datetime | str = NOW,
    waivers: Sequence[Waiver] = (),
    listened: changed.Reported | None = None,
    plan: Mapping[str, Any] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """A run object of these hosts; ``more`` replaces keys of the judgement."""
    report = {
        "schema": "ibready/report/2",
        "created": str(created).replace(" ", "T"),
        "ibready": "0.1.0",
        "simulated": "",
        "hosts": dict(hosts),
        "pings": [],
        "ping_again": [],
        "ping_coverage": None,
        "ping_matrix": None,
        "tcp": [],
        **more,
    }
    known = [_hosts.Host(name, waivers=waivers) for name in hosts]
    return build.complete(report, known, RUN, plan=plan, listened=listened or changed.Reported(), ansible="2.19.14")


def fabric(*checks: Check, name: str = "fabric", error: str = "") -> dict[str, Any]:
    """What a run says of its fabrics: one."""
    one = {**judged(*checks), "name": name, "asked": "n1 mlx5_0/1", "nodes": [], "links": []}
    del one["facts"]
    return {"fabrics": [one] if checks else [], "error": error, "skipped": ""}


MIXED = {
    "n1": judged(check(), check(SKIP, "gpu.count", "host")),
    "n2": judged(check(FAIL), check(UNKNOWN, "fabric.sm.answers", "mlx5_0/1")),
    "n3": judged(check(FAIL, severity="warning"), check(FAIL, "ib.port.rate", waived="until 2026-12-31: ordered")),
}


@st.composite
def hostile(draw: st.DrawFn) -> dict[str, Any]:
    """A run object in which every text of a host is drawn; a fabric may tell of what is a host's."""
    names = draw(st.lists(TEXT, max_size=4, unique=True))

    def drawn_check(of_fabric: bool = False) -> Check:
        result = draw(st.sampled_from((PASS, FAIL, UNKNOWN, SKIP)))
        of_host = of_fabric and names and draw(st.booleans())
        return Check(
            "fabric.hca.known" if of_host else draw(st.one_of(st.just("ib.port.state"), TEXT)),
            f"{draw(st.sampled_from(names))} {draw(TEXT)}" if of_host else draw(TEXT),
            result,
            draw(st.sampled_from(("error", "warning"))),
            *(draw(TEXT) for _ in range(5)),
            evidence={draw(TEXT): draw(TEXT)},
            waived=draw(TEXT) if result == FAIL and draw(st.booleans()) else "",
        )

    hosts = {name: judged(*(drawn_check() for _ in range(draw(st.integers(0, 3))))) for name in names}
    told_of = fabric(
        *(drawn_check(of_fabric=True) for _ in range(draw(st.integers(0, 2)))),
        name=draw(TEXT),
        error=draw(st.one_of(st.just(""), TEXT)),
    )
    until = NOW.date()
    return run(hosts, fabric=told_of, simulated=draw(TEXT), waivers=[Waiver(draw(TEXT), draw(TEXT), until, draw(TEXT))])
