# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulated GPU, asked as qemu asks it."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator

import pytest

from sandbox.real.gpu import a100, serve

_WRITE_CONFIGURATION, _READ_CONFIGURATION, _WRITE_REGION, _READ_REGION, _SET_IRQ, _RESET = 2, 3, 4, 5, 6, 7
_FIRST_REGION = 0x10


class Bus:
    """qemu's end of the connection."""

    def __init__(self, line: socket.socket) -> None:
        self.line = line

    def tell(self, command: int, data: bytes) -> None:
        self.line.sendall(struct.pack("=ixxxxQ", command, len(data)) + data)

    def ask(self, command: int, data: bytes) -> int:
        self.tell(command, data)
        answered = self.line.recv(24, socket.MSG_WAITALL)
        kind, size, value = struct.unpack("=ixxxxQQ", answered)
        assert (kind, size) == (1, 8)
        return int(value)

    def configured(self, place: int, size: int) -> int:
        return self.ask(_READ_CONFIGURATION, struct.pack("=IIi", place, 0, size))

    def configure(self, place: int, value: int, size: int = 4) -> None:
        assert self.ask(_WRITE_CONFIGURATION, struct.pack("=IIi", place, value, size)) == 0

    def read(self, address: int, size: int = 4) -> int:
        return self.ask(_READ_REGION, struct.pack("=QQI?3x", address, 0, size, True))


@pytest.fixture
def bus() -> Iterator[Bus]:
    ours, theirs = socket.socketpair()
    device = threading.Thread(target=serve, args=[a100(), theirs])
    device.start()
    with ours:
        ours.settimeout(10)
        yield Bus(ours)
    device.join(10)
    assert not device.is_alive()


def test_it_is_an_a100_on_the_bus(bus: Bus) -> None:
    assert (bus.configured(0, 2), bus.configured(2, 2)) == (0x10DE, 0x20F1)
    # A 3D controller.
    assert bus.configured(8, 4) >> 8 == 0x030200
    assert bus.configured(0x100, 4) == 0xFFFFFFFF


@pytest.mark.parametrize(("index", "mib"), [(0, 16), (1, 256), (2, 32)])
def test_a_region_tells_its_size_as_every_pci_function_does(bus: Bus, index: int, mib: int) -> None:
    place = _FIRST_REGION + 4 * index
    bus.configure(place, 0xFFFFFFFF)
    assert (~bus.configured(place, 4) & 0xFFFFFFFF) + 1 == mib << 20
    bus.configure(place, 0xD0000000)
    assert bus.configured(place, 4) == 0xD0000000


@pytest.mark.parametrize("index", [3, 4, 5])
def test_what_is_no_region_has_no_address(bus: Bus, index: int) -> None:
    bus.configure(_FIRST_REGION + 4 * index, 0xFFFFFFFF)
    assert bus.configured(_FIRST_REGION + 4 * index, 4) == 0


def test_the_driver_finds_the_chip_wherever_the_kernel_put_it(bus: Bus) -> None:
    bus.configure(_FIRST_REGION, 0xFA000000)
    # The architecture of PMC_BOOT_0: an Ampere.
    assert bus.read(0xFA000000) >> 24 == 0x17
    assert bus.read(0xFA300000) == 0
    assert bus.read(0x1000) == 0


def test_only_what_a_kernel_may_write_is_kept(bus: Bus) -> None:
    bus.configure(0, 0x12345678)
    assert bus.configured(0, 4) == 0x20F110DE
    bus.configure(4, 0xFFFF, 2)
    assert bus.configured(4, 2) == 0x0406


def test_what_asks_for_no_answer_gets_none(bus: Bus) -> None:
    bus.tell(_SET_IRQ, b"")
    bus.tell(0, bytes(192))
    assert bus.ask(_RESET, b"") == 0
    assert bus.ask(_WRITE_REGION, struct.pack("=QQI?3x", 0, 1, 4, True)) == 0
