# SPDX-License-Identifier: GPL-3.0-or-later
"""Firmware of cards, written by a simulated mstflint: with consent, one host first, booted into, then the others."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.system.conftest import ROOT, Box, said

pytestmark = pytest.mark.thorough

NODES = ("node1", "node2", "node3")
OLD, NEW = "28.39.1002", "28.43.2026"
PLACE = "/var/lib/simulated-mstflint"
# Where nothing is booted, the other roles have no part in it.
ALONE = ("--tags", "rdma_firmware")


@pytest.fixture(scope="module")
def cards(ready: Box) -> Iterator[Box]:
    """Nodes that have the simulated mstflint, and nothing of it afterwards."""
    script = (ROOT / "tests/system/simulated_mstflint.sh").read_text()
    for node in NODES:
        ready.root(node, f"cat > /usr/local/sbin/mstflint <<'END'\n{script}\nEND\nchmod 755 /usr/local/sbin/mstflint")
    yield ready
    for node in NODES:
        ready.root(node, "dpkg --purge mstflint")
        ready.root(node, f"rm -rf /usr/local/sbin/mstflint {PLACE} /run/simulated-mstflint /var/lib/ibready/firmware*")


def converged(box: Box, image: Path, *words: str, **consent: bool) -> str:
    """What a converge says that has this image for the cards; every host came through."""
    digest = hashlib.sha256(image.read_bytes()).hexdigest()
    wish = {"psid": "SIMULATED0001", "version": NEW, "image": str(image), "sha256": digest}
    done = box.playbook("playbooks/converge.yml", *words, "-e", json.dumps({"rdma_firmware": [wish], **consent}))
    assert done.returncode == 0, done.stdout
    return said(done.stdout)


def written(box: Box, node: str) -> list[str]:
    """The versions that were written to this node's cards, a card after the other."""
    return [line.split()[1] for line in box.root(node, f"test ! -e {PLACE}/log || cat {PLACE}/log").splitlines()]


def test_firmware_is_written_with_consent_and_to_one_host_first(cards: Box, tmp_path: Path) -> None:
    image = tmp_path / "fw.bin"
    image.write_text(f"{NEW} SIMULATED0001\n")

    refused = converged(cards, image, *ALONE)
    assert f"(SIMULATED0001) has {OLD} instead of {NEW}" in refused
    assert "allow it with ibready_firmware_ok=true" in refused
    assert [written(cards, node) for node in NODES] == [[], [], []]

    first = converged(cards, image, ibready_firmware_ok=True, ibready_reboot_ok=True)
    assert "It waits for node1, which is given it first" in first
    counts = [written(cards, node) for node in NODES]
    assert counts[0], first
    assert set(counts[0]) == {NEW}
    assert counts[1:] == [[], []]
    cards.root("node1", "test ! -e /var/lib/ibready/firmware")
    # What was written runs: the card of the first line of the log tells no other version.
    asked = "mstflint -d $(sed -n '1s/ .*//p' " + f"{PLACE}/log) -qq query"
    told = cards.root("node1", asked)
    assert f"FW Version:            {NEW}" in told
    assert "FW Version(Running)" not in told

    converged(cards, image, ibready_firmware_ok=True, ibready_reboot_ok=True)
    assert [len(written(cards, node)) for node in NODES] == [len(counts[0])] * 3
    assert "It waits for" not in converged(cards, image, *ALONE, ibready_firmware_ok=True)
    assert [len(written(cards, node)) for node in NODES] == [len(counts[0])] * 3
