# SPDX-License-Identifier: GPL-3.0-or-later
"""What makes one machine out of the base image."""

from __future__ import annotations

import io
import tarfile

from sandbox.keys import KeyPair
from sandbox.machines.config import pair
from sandbox.machines.seed import seed

BOX = pair("ibready-test", "198.18.90")


def files(machine: str) -> dict[str, tuple[str, int]]:
    packed = seed(BOX, machine, "ssh-ed25519 OPS\n", KeyPair("SECRET\n", "ssh-ed25519 HOST\n"))
    found = {}
    with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
        for entry in tar.getmembers():
            content = tar.extractfile(entry)
            assert content is not None
            found[entry.name] = (content.read().decode(), entry.mode)
    return found


def test_each_machine_has_its_name_and_its_address() -> None:
    found = files("vm2")
    assert found["etc/hostname"][0] == "vm2\n"
    assert "Address=198.18.90.12/24" in found["etc/systemd/network/20-data.network"][0]
    assert "198.18.90.11 vm1" in found["etc/hosts"][0]


def test_only_root_may_read_the_host_key() -> None:
    assert files("vm1")["etc/ssh/ssh_host_ed25519_key"] == ("SECRET\n", 0o600)


def test_an_archive_is_whole_sectors_as_a_disk_has_to_be() -> None:
    packed = seed(BOX, "vm1", "", KeyPair("", ""))
    assert len(packed) % 512 == 0
