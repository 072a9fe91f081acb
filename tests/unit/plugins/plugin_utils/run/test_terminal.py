# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

from hypothesis import given, settings, strategies as st

from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet.bench import render as bench_table
from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet.rdma import judge
from ansible_collections.ibready.cluster.plugins.plugin_utils._ground.plain import plain
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts import summary
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.plan import table as plan_table
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.plan.lock import Class
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.plan.table import Row
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.resolve.refuse import Refusal
from ansible_collections.ibready.cluster.plugins.plugin_utils._run.compare import compare
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell import render_text
from tests.unit import runs

EVIL = "\x1b[2J\x1b]0;x\x07\nn9 is ready\u202e"


def test_what_cannot_be_printed_is_seen_and_breaks_no_line() -> None:
    assert plain(EVIL) == "?[2J?]0;x? n9 is ready?"
    assert plain("  节点 π 🟢") == "  节点 π 🟢"


def test_a_host_cannot_write_lines_of_the_table() -> None:
    bad = runs.judged(runs.check("fail", observed=EVIL, cause=EVIL))
    run = runs.run({"n1": bad}, fabric=runs.fabric(runs.check("fail", observed=EVIL)))
    before = runs.run({"n1": runs.judged()})
    shown = (render_text.render(run), render_text.since(compare(before, run)))
    for text in (*shown, *summary.bad(run).values()):
        assert all(one.isprintable() or one == "\n" for one in text)
        assert "n9" not in {line.split(" ")[0] for line in text.split("\n")}
    assert "n9 is ready" in shown[0]


@settings(deadline=None)
@given(runs.hostile(), runs.hostile())
def test_whatever_hosts_say_nothing_of_it_moves_the_cursor(before: dict[str, Any], now: dict[str, Any]) -> None:
    for text in (
        render_text.render(now),
        render_text.since(compare(before, now)),
        *summary.bad(now).values(),
    ):
        assert all(one.isprintable() or one == "\n" for one in text)


@settings(deadline=None)
@given(runs.hostile(), st.lists(runs.TEXT, min_size=6, max_size=6))
def test_no_other_table_lets_them_either(report: dict[str, Any], said: list[str]) -> None:
    client, server, rail, unit, why, name = said
    ping = {"client": client, "server": server, "rail": rail, "culprit": server, "untested": why}
    pings = [{**ping, "sent": 0, "received": 0}]
    moved = [{"client": client, "server": server, "state": why}]
    pair = {"test": rail, "rail": rail, "client": client, "server": server, "unit": unit}
    nccl = {"busbw": 1.5, "hosts": name, "ranks": 8}
    bench = {
        "simulated": why,
        "pairs": [{**pair, "value": 2.5}],
        "nccl_nodes": nccl,
        "mpi": {
            "transports": [why],
            "measured": [{**dict.fromkeys(("bytes", "median", "mad", "least", "busbw"), 1.0), "ranks": 2}],
        },
        "baseline": {rail: {"created": why, "changes": {name: [why]}}},
        "hosts": {key: {**one, "measured": True, "nccl": nccl} for key, one in report["hosts"].items()},
    }
    refused = Refusal(why, client, server, rail, unit, {"rdma": {"version": why}}, {name: why})
    planned = Class((name,), why, why, why, (why,), (why,), {"rdma": {"version": why}}, why, (why,))
    rows = [
        Row(name, [client, server], {"rdma": {why: 1}}, planned=planned, missing=[rail]),
        Row(why, [client], {}, refused=refused),
        Row(server, [client], {}),
    ]
    for text in (
        render_text.render({**report, "pings": pings, "rdma": moved}),
        judge.text({**report, "rdma": moved}),
        bench_table.render(bench),
        plan_table.render(rows, [why], why, name),
    ):
        assert all(one.isprintable() or one == "\n" for one in text)
