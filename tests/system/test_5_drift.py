# SPDX-License-Identifier: GPL-3.0-or-later
"""What drifts from the lock after a converge is found by stackverify, until it is mended."""

from __future__ import annotations

import re

import pytest

from tests.system.conftest import Box, said

pytestmark = pytest.mark.thorough

INSTALL = (
    "DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "
    "--allow-downgrades --allow-change-held-packages {} >/dev/null"
)
# Past apt, whose dependencies would not let it.
FORCE = (
    "cd /root; apt-get -qq download nvidia-utils-580={} 2>/dev/null; "
    "dpkg --force-depends -i nvidia-utils-580_*.deb >/dev/null 2>&1; rm nvidia-utils-580_*.deb"
)
NOW = "$(dpkg-query -W -f '${Version}' nvidia-utils-580)"
MODULE = "/lib/modules/$(uname -r)/updates/dkms/nvidia.ko"


def by_hand(*packages: str) -> str:
    return INSTALL.format(" ".join(packages))


OTHER = "580.126.20-1ubuntu1"
DRIFT = [
    pytest.param(
        FORCE.format(OTHER),
        FORCE.format("$V"),
        ["stack.lock.match driver"],
        id="a driver changed by hand",
    ),
    pytest.param(
        by_hand(f"nvidia-fabricmanager={OTHER}"),
        by_hand("nvidia-fabricmanager=$V"),
        ["stack.lock.match fabric_manager"],
        id="the fabric manager is of another patch",
    ),
    pytest.param(
        f"mv {MODULE} /root/ && depmod",
        f"mv /root/nvidia.ko {MODULE} && depmod",
        ["stack.kmod.built nvidia"],
        id="no module for the running kernel",
    ),
    pytest.param(
        "cp /usr/lib/x86_64-linux-gnu/libibverbs.so.1 /usr/local/lib/",
        "rm /usr/local/lib/libibverbs.so.1",
        ["stack.rdma.single host"],
        id="a second RDMA stack",
    ),
]


def judge(box: Box) -> tuple[int, str]:
    done = box.adhoc("node1", "-m", "stackverify")
    return done.returncode, said(done.stdout)


@pytest.mark.parametrize(("spoil", "mend", "found"), DRIFT)
def test_drift_is_found_and_gone_when_mended(ready: Box, spoil: str, mend: str, found: list[str]) -> None:
    version = ready.root("node1", f"echo {NOW}").strip()
    ready.root("node1", spoil)
    try:
        status, text = judge(ready)
        assert status != 0
        for one in found:
            assert f"{one}: " in text, text
    finally:
        ready.root("node1", mend.replace("$V", version))
    status, text = judge(ready)
    assert status == 0, text


def test_what_was_brought_and_taken_away_is_found_by_all_three(ready: Box) -> None:
    """mft is no name of the plan: it came with another package."""
    ready.root("node1", "dpkg --force-depends --force-hold --remove mft >/dev/null 2>&1")
    status, text = judge(ready)
    assert status != 0
    assert "stack.packages.brought host: 1 of" in text, text
    assert "stack.packages.whole host: " in text, text
    drift = ready.playbook("playbooks/drift.yml", "--limit", "node1")
    assert "mft" in said(drift.stdout), drift.stdout
    converged = ready.playbook("playbooks/converge.yml", "--limit", "node1")
    assert converged.returncode == 0, converged.stdout
    assert "mft" in ready.root("node1", "apt-mark showhold").split()
    status, text = judge(ready)
    assert status == 0, text


def test_a_lock_of_another_matrix_is_told(ready: Box) -> None:
    lock = ready.rig.state / "stack.lock.yml"
    text = lock.read_text()
    by_hand = re.sub("^sum: .*\n", "", text, flags=re.MULTILINE)
    lock.write_text(re.sub("^matrix: .*$", "matrix: 0123abcd", by_hand, flags=re.MULTILINE))
    try:
        done = ready.adhoc("node1", "-m", "stackverify")
        assert '"verdict": "degraded"' in done.stdout
        assert "stack.lock.matrix" in done.stdout
    finally:
        lock.write_text(text)
