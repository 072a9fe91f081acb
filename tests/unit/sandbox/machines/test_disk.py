# SPDX-License-Identifier: GPL-3.0-or-later
"""The first sector of a machine's disk."""

from __future__ import annotations

import struct

from sandbox.machines.disk import boot_sector

GRUB = bytes(range(1, 256)) * 2 + b"\x01\x02"


def test_the_boot_sector_is_grubs_with_one_active_linux_partition_to_the_end() -> None:
    sector = boot_sector(GRUB, 16384)
    assert len(sector) == 512
    assert sector[:440] == GRUB[:440]
    assert sector[510:] == b"\x55\xaa"
    active, _, kind, _, first, size = struct.unpack("<B3sB3sII", sector[446:462])
    assert (active, kind) == (0x80, 0x83)
    assert (first, first + size) == (2048, 16384)
    assert sector[462:510] == bytes(48)
