# SPDX-License-Identifier: GPL-3.0-or-later
"""One end of one test: which program, on which port of the host, with which words.

Both ends have the same options, as the programs need it. They meet by TCP at a port of their own
(rping at an address of the rail) and then move data over the RDMA port that they were named.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import asdict, dataclass
from typing import Any, Mapping

from ..._data.rdma_tests import BANDWIDTH, CM, HARD, HOST, LATENCY, LOCKED, PROGRAMS, SOFT, TESTS, VERBS, WHERE, Amount

NO_GID = -1
_DEVICE = re.compile(r"\A[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}\Z")
_NAME = re.compile(r"\A[A-Za-z0-9_][A-Za-z0-9_./:@ -]{0,254}\Z")
_HOST = re.compile(r"\A[A-Za-z0-9][A-Za-z0-9_.:-]{0,254}\Z")
_MTUS = (0, 256, 512, 1024, 2048, 4096)


@dataclass(frozen=True)
class End:
    """``where``, ``test``: of _data/rdma_tests. ``gid_index``: NO_GID on InfiniBand. ``mtu``: bytes
    that a packet may carry, 0 for the program's own choice. ``address``: the serving rail's, for
    rping. ``soft``: one of the two devices is software. ``rail``, ``client``, ``server``, ``run``:
    labels, which the answers carry.
    """

    where: str
    test: str
    device: str
    port: int
    tcp_port: int
    gid_index: int = NO_GID
    mtu: int = 0
    address: str = ""
    soft: bool = False
    rail: str = ""
    client: str = ""
    server: str = ""
    run: str = ""

    @property
    def amount(self) -> Amount:
        """What it moves."""
        if self.where != HOST and self.test == VERBS:
            return LOCKED
        return (SOFT if self.soft else HARD)[self.test]

    def words(self, server: str | None) -> list[str]:
        """The command; ``server``: whom to ask, None to wait for who asks."""
        if self.test == CM:
            return self._rping(server)
        words = [PROGRAMS[self.test].name, "-d", self.device, "-i", str(self.port)]
        words += ["-p", str(self.tcp_port)]
        if self.gid_index != NO_GID:
            words += ["-g" if self.test == VERBS else "-x", str(self.gid_index)]
        words += ["-s", str(self.amount.size), "-n", str(self.amount.count)]
        if self.test == VERBS:
            words += ["-c", *(["-m", str(self.mtu)] if self.mtu else [])]
        else:
            words += ["-F"]
        if self.test == BANDWIDTH:
            words += ["--report_gbits", "-q", str(self.amount.pairs)]
        return [*words, server] if server is not None else words

    def _rping(self, server: str | None) -> list[str]:
        side = "-s" if server is None else "-c"
        words = [PROGRAMS[CM].name, side, "-a", self.address, "-p", str(self.tcp_port), "-v", "-V"]
        return [*words, "-S", str(self.amount.size), "-C", str(self.amount.count)]

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


def end(raw: Mapping[str, Any]) -> End:
    """Check one; raises ValueError, for its words go into commands."""
    found = End(**{name: raw[name] for name in End.__dataclass_fields__ if name in raw})
    if found.where not in WHERE or found.test not in TESTS:
        raise ValueError(f"{found.where!r} and {found.test!r} are no place and no test of ours")
    if not _DEVICE.match(found.device):
        raise ValueError(f"{found.device!r} is not an RDMA device name")
    _number("port", found.port, 1, 254)
    _number("tcp_port", found.tcp_port, 1024, 65535)
    _number("gid_index", found.gid_index, NO_GID, 1023)
    if found.mtu not in _MTUS:
        raise ValueError(f"{found.mtu} is no MTU of RDMA")
    if found.test == CM or found.address:
        try:
            ipaddress.ip_address(found.address)
        except ValueError:
            raise ValueError(f"{found.address!r} is no address of a rail") from None
    for name in (found.rail, found.client, found.server, found.run):
        if name and not _NAME.match(name):
            raise ValueError(f"{name!r} is no name of a host, a rail or a run")
    return found


def address(text: str) -> str:
    """Check where the other end is; raises ValueError."""
    if not _HOST.match(text):
        raise ValueError(f"{text!r} is no address of a host")
    return text


def _number(name: str, value: Any, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"{name} {value!r} is not between {least} and {most}")


__all__ = ["BANDWIDTH", "CM", "LATENCY", "NO_GID", "VERBS", "End", "address", "end"]
