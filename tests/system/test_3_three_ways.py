# SPDX-License-Identifier: GPL-3.0-or-later
"""An operator's commands on ready nodes: ad hoc modules by both names, a server's lease, `--limit`."""

from __future__ import annotations

import json
import re

import pytest

from tests.system.conftest import Box, command, run


@pytest.mark.parametrize("module", ["ibverify", "ibready.cluster.ibverify"])
def test_ad_hoc_by_short_and_full_name(ready: Box, module: str) -> None:
    done = ready.adhoc("all", "-m", module)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count('"verdict": "ready"') == 3
    # It fits a screen; what each check saw is for those who ask.
    assert len(done.stdout.splitlines()) < 60
    assert '"checks"' not in done.stdout


def test_ad_hoc_folds_equal_hosts_as_the_checkout_has_it(ready: Box) -> None:
    done = run(command("ansible"), *ready.inventories, "all", "-m", "ibverify")
    assert done.returncode == 0, done.stdout
    assert re.search(r"^node\[1-3\] ready \d+ pass", done.stdout, re.MULTILINE)
    assert "3 hosts: 3 ready" in done.stdout
    assert "=>" not in done.stdout


@pytest.mark.thorough
def test_ad_hoc_tells_everything_where_more_is_asked_for(ready: Box) -> None:
    done = ready.adhoc("node1", "-m", "ibverify", "-v")
    assert done.returncode == 0, done.stdout
    assert '"id": "ib.port.state"' in done.stdout
    assert '"facts"' in done.stdout


@pytest.mark.thorough
def test_ad_hoc_fails_where_the_inventory_expects_something_else(ready: Box) -> None:
    less = {"hcas": 2, "rate_gbps": 200}
    done = ready.adhoc("all", "-m", "ibverify", "-e", json.dumps({"ibready_expect": less}))
    assert done.returncode != 0
    assert done.stdout.count('"verdict": "not_ready"') == 3
    assert "expected 200 Gb/s (inventory)" in done.stdout


@pytest.mark.thorough
def test_a_server_ends_by_its_lease_when_nobody_stops_it(ready: Box) -> None:
    # Long enough for the looks at it, on a machine that is busy with others.
    serve = '{"state": "serving", "lease": 60, "endpoints": [{"device": "ibsim0"}]}'
    done = ready.adhoc("node1", "-m", "ibping", "-a", serve)
    assert done.returncode == 0, done.stdout
    units = "systemctl list-units --all --plain --no-legend 'ibready-ibping-*'"
    assert "ibready-ibping-ibsim0-1.service" in ready.root("node1", units)
    assert "ibping -S" in ready.root("node1", "pgrep -a ibping")
    ready.root("node1", f'for i in $(seq 90); do [ -n "$({units})" ] || exit 0; sleep 1; done; exit 1')
    # Status 1 is pgrep's word for none; any other would mean that it did not look.
    ready.root("node1", "pgrep -a ibping && exit 9; test $? -eq 1")


def test_limit_judges_the_named_hosts_and_only_those(ready: Box) -> None:
    ready.reports.mkdir(exist_ok=True)
    of_all = ready.reports / "ibready-report.json"
    of_all.write_text("the report of all hosts\n")
    done = ready.playbook("playbooks/verify.yml", "--limit", "node1,node2")
    assert done.returncode == 0, done.stdout
    assert ready.verdicts("ibready-report-limited") == {"node1": "ready", "node2": "ready"}
    assert of_all.read_text() == "the report of all hosts\n"


@pytest.mark.thorough
def test_a_limit_never_hides_a_fault(ready: Box) -> None:
    ready.sandbox("break", "firmware", "node1")
    try:
        done = ready.playbook("playbooks/verify.yml", "--limit", "node1,node2")
        assert done.returncode != 0
        # Two that differ have no majority.
        assert set(ready.verdicts("ibready-report-limited").values()) == {"unknown"}, done.stdout
    finally:
        ready.sandbox("heal")
