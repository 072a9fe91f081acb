# SPDX-License-Identifier: GPL-3.0-or-later
"""The log of a job over TCP, beside what diagnose knows of the HCAs of its hosts."""

from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import FAIL, SKIP
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._parse import nccl_log
from ansible_collections.ibready.cluster.plugins.module_utils._rails.ib_ports import IbFacts
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose import job_log
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts.hosts import Host
from tests.unit import fleets

LOG = "".join(
    f"node{number}:7:8 [0] NCCL INFO {line}\n"
    for number in (1, 2)
    for line in ("NCCL_IB_DISABLE set by environment to 1.", "Using network Socket")
)
BARE, UNSEEN = IbFacts(bus=Reading(())), IbFacts(bus=Reading(None, "no /sys"))
EQUALS = tuple(host.ib for host in fleets.equals(fleets.BOARD))


@pytest.mark.parametrize(
    ("seen", "result", "severity"),
    [
        pytest.param((BARE, BARE), SKIP, "error", id="no host has any"),
        pytest.param((BARE, UNSEEN), FAIL, "warning", id="nobody could look at one"),
        pytest.param((None, None), FAIL, "warning", id="nobody looked"),
        pytest.param(EQUALS, FAIL, "error", id="all have"),
    ],
)
def test_a_job_over_tcp_is_judged_by_what_is_known_of_its_hosts(
    seen: tuple[IbFacts | None, ...], result: str, severity: str
) -> None:
    hosts = [Host(f"node{number}", ib=facts) for number, facts in enumerate(seen, 1)]
    found = job_log.judge(Reading(nccl_log.parse(LOG)), hosts, fleets.NOW.date())
    check = next(check for checks in found.values() for check in checks if check.id == "nccl.log.network")
    assert (check.result, check.severity) == (result, severity)
    assert "switched off by a setting: NCCL_IB_DISABLE" in check.cause
