# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts that cannot be administered: unknown with their cause, and the others are judged."""

from __future__ import annotations

import pytest

from tests.system.conftest import Box, said

pytestmark = pytest.mark.thorough

OURS = "/etc/security/limits.d/90-ibready.conf"
ABSENT = [
    pytest.param(
        "node2",
        # Open sessions end too, such as a connection that Ansible keeps.
        "systemctl kill --kill-whom=all --signal=KILL ssh.service; systemctl stop ssh.service",
        "systemctl start ssh.service",
        "unreachable by ssh",
        id="ssh does not answer",
    ),
    pytest.param(
        "node3",
        "mkdir -p /root/sudo && mv /etc/sudoers.d/* /root/sudo/",
        "mv /root/sudo/* /etc/sudoers.d/",
        "could not become root",
        id="no sudo rights",
        marks=pytest.mark.thorough,
    ),
]


@pytest.mark.parametrize(("node", "spoil", "mend", "cause"), ABSENT)
def test_the_others_are_ready_where_one_cannot_be_administered(
    ready: Box, node: str, spoil: str, mend: str, cause: str
) -> None:
    others = {"node1", "node2", "node3"} - {node}
    # The whole way once: with something to do for those that are there.
    site = node == "node2"
    if site:
        for other in others:
            ready.root(other, f"rm {OURS}")
    ready.root(node, spoil)
    try:
        done = ready.playbook("site.yml" if site else "playbooks/verify.yml")
        assert done.returncode != 0
        assert ready.verdicts() == {**dict.fromkeys(others, "ready"), node: "unknown"}
        assert all(ready.root(other, f"ls {OURS}") for other in others)
        check = ready.report()["hosts"][node]["checks"][0]
        assert check["id"] == "host.access.reachable"
        assert cause in check["cause"]
        assert check["remedy"]
        untested = [ping for ping in ready.report()["pings"] if ping["untested"]]
        assert {ping["culprit"] for ping in untested} == {node}
        assert len(untested) == 8
        converge = ready.playbook("playbooks/converge.yml", "--tags", "rdma_packages")
        assert converge.returncode != 0
        assert f"{node} was not converged" in said(converge.stdout)
    finally:
        ready.root(node, mend)
