# SPDX-License-Identifier: GPL-3.0-or-later
"""``python gpu.py QEMU ...``: a machine with a GPU on its PCI bus that is simulated, and does nothing.

qemu has a device whose other half is another program (x-pci-proxy-dev), and this is that program: it answers
with the ids of an A100 and with the first registers that NVIDIA's driver reads, so that the real driver binds
it. Whatever the driver asks next is 0, as of a GPU that has fallen off the bus: it is there, and never starts.
The words are those of include/hw/remote/mpqemu-link.h in qemu 7.
"""

from __future__ import annotations

import contextlib
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence

# What stands in qemu's command line where the number of the connection belongs.
CONNECTION = "GPU"
# command, the number of bytes that follow; here and below as the C compiler lays them out.
_HEAD = struct.Struct("@iN")
_CONFIGURATION = struct.Struct("@IIi")
_REGION = struct.Struct("@QQI?3x")
_VALUE = struct.Struct("@Q")
_ANSWER, _WRITE_CONFIGURATION, _READ_CONFIGURATION, _WRITE_REGION, _READ_REGION, _RESET = 1, 2, 3, 4, 5, 7
_REGIONS_AT, _REGIONS = 0x10, 6
_COMMAND, _INTERRUPT_LINE = 0x04, 0x3C
# What the kernel may write: whether memory is decoded and the bus mastered, and the interrupt's line.
_KEPT = {_COMMAND: 0x0406, _INTERRUPT_LINE: 0xFF}


class Device:
    """A PCI function: its configuration (256 bytes), its regions of memory (size by index), what registers hold.

    ``registers``: by their place in region 0.
    """

    def __init__(self, configuration: bytes, regions: Mapping[int, int], registers: Mapping[int, int]) -> None:
        self._configuration = bytearray(configuration.ljust(256, b"\0"))
        self._regions = regions
        self._registers = registers

    def configured(self, place: int, size: int) -> int:
        """Read the configuration; where there is none, all bits are set, as on a bus without a device."""
        if place + size > len(self._configuration):
            return (1 << 8 * size) - 1
        return int.from_bytes(self._configuration[place : place + size], "little")

    def configure(self, place: int, value: int, size: int) -> None:
        """Write the configuration: of a region as much of its address as its size leaves open."""
        index, rest = divmod(place - _REGIONS_AT, 4)
        if 0 <= index < _REGIONS and rest == 0 and size == 4:
            value &= -self._regions[index] if index in self._regions else 0
        elif place in _KEPT:
            value &= _KEPT[place]
        else:
            return
        self._configuration[place : place + size] = (value & ((1 << 8 * size) - 1)).to_bytes(size, "little")

    def read(self, address: int) -> int:
        """Read what memory's address holds."""
        start = self.configured(_REGIONS_AT, 4)
        return self._registers.get(address - start, 0)


def a100() -> Device:
    """An A100 with PCIe as it is before anybody started it."""
    head = struct.pack("<HHHHBBBB", 0x10DE, 0x20F1, 0, 0, 0xA1, 0x00, 0x02, 0x03)
    subsystem = struct.pack("<HH", 0x10DE, 0x145F)
    interrupt = bytes([0, 1])
    configuration = head.ljust(0x2C, b"\0") + subsystem + bytes(12) + interrupt
    # The registers by which the driver tells chips apart, with what 535.274.02 takes for a GA100.
    return Device(configuration, {0: 16 << 20, 1: 256 << 20, 2: 32 << 20}, {0x0: 0x170000A1, 0xA00: 0x17001000})


def answer(device: Device, command: int, data: bytes) -> int | None:
    """Do what qemu asks; the value for it, or None where it waits for none."""
    if command == _READ_CONFIGURATION:
        place, _, size = _CONFIGURATION.unpack(data)
        return device.configured(place, size)
    if command == _WRITE_CONFIGURATION:
        device.configure(*_CONFIGURATION.unpack(data))
        return 0
    if command == _READ_REGION:
        address, _, size, _ = _REGION.unpack(data)
        return int(device.read(address) & ((1 << 8 * size) - 1))
    return 0 if command in (_WRITE_REGION, _RESET) else None


def serve(device: Device, line: socket.socket) -> None:
    """Answer until qemu ends."""
    with line, line.makefile("rb") as asked:
        while len(head := asked.read(_HEAD.size)) == _HEAD.size:
            command, size = _HEAD.unpack(head)
            value = answer(device, command, asked.read(size))
            if value is not None:
                line.sendall(_HEAD.pack(_ANSWER, _VALUE.size) + _VALUE.pack(value))


def _served(line: socket.socket) -> None:
    # qemu that is killed may leave an answer untaken.
    with contextlib.suppress(ConnectionError):
        serve(a100(), line)


def main(command: Sequence[str]) -> int:
    """Run qemu with the GPU, and end as it ends."""
    ours, theirs = socket.socketpair()
    number = theirs.fileno()
    words = [word.replace(f"fd={CONNECTION}", f"fd={number}") for word in command]
    machine = subprocess.Popen(words, pass_fds=[number])
    theirs.close()
    signal.signal(signal.SIGTERM, lambda *_: machine.terminate())
    threading.Thread(target=_served, args=[ours], daemon=True).start()
    return machine.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
