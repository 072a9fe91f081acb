# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings

from ansible_collections.ibready.cluster.plugins.module_utils._verify.catalog import CATALOG
from ansible_collections.ibready.cluster.plugins.plugin_utils._run import changed
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell import render_prometheus
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.render_prometheus import render
from tests.unit import runs
from tests.unit.prometheus_text import read

Value = Callable[..., float | None]


def values(report: dict[str, Any]) -> Value:
    """The value of a metric with these labels, None where there is none."""
    reported = read(render(report))
    return lambda name, **labels: reported.get((f"ibready_run_{name}", frozenset(labels.items())))


def test_verdicts_and_checks_are_counted() -> None:
    value = values(runs.run(runs.MIXED))
    assert value("info", version="0.1.0", simulated="no") == 1
    assert value("timestamp_seconds") == runs.NOW.timestamp()
    for verdict, count in {"ready": 1, "degraded": 1, "not_ready": 1, "unknown": 0}.items():
        assert value("hosts", verdict=verdict) == count
    assert value("host_verdict", host="n2", verdict="not_ready") == 1
    assert value("host_verdict", host="n2", verdict="ready") == 0
    assert value("host_checks", host="n3", result="waived") == 1
    assert value("host_errors", host="n2") == 2
    assert value("host_errors", host="n3") == 0
    assert value("checks", area="ib", result="fail") == 2
    assert value("trouble_hosts", check="ib.port.state", result="fail", severity="warning") == 1
    assert value("trouble_hosts", check="ib.port.rate", result="fail", severity="error") is None


def test_what_was_not_looked_at_has_no_series() -> None:
    value = values(runs.run(runs.MIXED))
    assert value("changed_hosts") is None
    assert value("fabric_unasked") is None
    listened = changed.Reported()
    listened.begin(runs.NOW)
    listened.changed("n1", "rdma : install")
    value = values(runs.run(runs.MIXED, listened=listened, fabric=runs.fabric(error="no")))
    assert value("changed_hosts") == 1
    assert value("fabric_unasked") == 1
    checked = runs.run(runs.MIXED, listened=listened)
    checked["run"]["check_mode"] = True
    assert values(checked)("changed_hosts") is None


def test_pings_are_told_apart() -> None:
    ping = {"client": "n1", "server": "n2", "rail": "r", "culprit": ""}
    pings = [
        {**ping, "untested": "", "sent": 5, "received": 5},
        {**ping, "untested": "", "sent": 5, "received": 4},
        {**ping, "untested": "no port", "sent": 0, "received": 0},
        {**ping, "untested": "", "sent": 0, "received": 0},
    ]
    value = values(runs.run(runs.MIXED, pings=pings))
    found = [value("ping_pairs", result=one) for one in ("answered", "lost", "untested")]
    assert found == [1, 1, 2]


def test_of_many_fabrics_a_bad_one_is_among_those_that_are_told() -> None:
    (good,) = runs.fabric(runs.check())["fabrics"]
    (bad,) = runs.fabric(runs.check("fail"), name="last")["fabrics"]
    many = [{**good, "name": f"ib{number}"} for number in range(40)]
    fabric = {**runs.fabric(), "fabrics": [*many, bad]}
    value = values(runs.run(runs.MIXED, fabric=fabric))
    assert value("fabric_verdict", fabric="last", verdict="not_ready") == 1
    assert value("fabric_verdict", fabric="ib39", verdict="ready") is None


@pytest.mark.parametrize("count", [1, 50])
def test_ten_series_a_host_and_no_more(count: int) -> None:
    bad = runs.judged(*(runs.check("fail", one, f"port {one}") for one in sorted(CATALOG)))
    reported = read(render(runs.run({f"n{number}": bad for number in range(count)})))
    of_hosts = [key for key in reported if "host" in dict(key[1])]
    assert len(of_hosts) == 10 * count
    assert len(reported) - len(of_hosts) <= 5 * len(CATALOG)


@settings(deadline=None)
@given(runs.hostile())
def test_whatever_hosts_say_the_file_is_read(report: dict[str, Any]) -> None:
    reported = read(render(report))
    hosts = {dict(labels)["host"] for _, labels in reported if "host" in dict(labels)}
    assert len(hosts) == len(report["hosts"])
    checks = {dict(labels)["check"] for _, labels in reported if "check" in dict(labels)}
    assert checks <= {*CATALOG, "other"}


def test_fabrics_beyond_the_worst_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    run = runs.run(runs.MIXED, fabric=runs.fabric(runs.check()))
    assert values(run)("fabrics_left_out") == 0
    monkeypatch.setattr(render_prometheus, "_MOST_FABRICS", 0)
    assert values(run)("fabrics_left_out") == 1
