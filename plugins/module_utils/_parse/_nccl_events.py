# SPDX-License-Identifier: GPL-3.0-or-later
"""What single lines of an NCCL log tell, whatever release wrote them: line in, events out."""

from __future__ import annotations

import re
from typing import Any, Iterator, NamedTuple

from .._data import nccl_log as data
from ._nccl_facts import IB, SOCKET, Fabric, Hca, Interface
from ._nccl_lines import Line

# Names of events. Those of ONE_RANK are about one GPU of a process, the others about all of it.
VERSION, DRIVER, SETTING, BOOTSTRAP, OOB, SOCKETS = range(6)
HCAS, HCA, NO_IB, GDR_HCA, PLUGIN, REFUSED, HINT, LINK, USED_HCA = range(6, 15)
NETWORK, ASSIGNED, STARTED, CHANNEL, P2P, SHM, NVLS, RINGS = range(15, 23)
RANK, NODES, BEGUN, COMPLETE, PROVIDER, FABRIC, CLIQUE, ONE_GPU = range(23, 31)
COLLNET, COLLNET_PLUGIN, COLLNET_OFF = range(31, 34)
ONE_RANK = frozenset(
    (NETWORK, ASSIGNED, CHANNEL, P2P, SHM, NVLS, RINGS, RANK, NODES, BEGUN, COMPLETE, FABRIC, CLIQUE, ONE_GPU, COLLNET)
)


class Event(NamedTuple):
    """One thing that a line tells; what ``value`` is depends on the name."""

    name: int
    value: Any


class Channel(NamedTuple):
    """A way to another host: the transport's name, direction, the other rank, GPUDirect RDMA."""

    network: str
    receives: bool
    peer: int | None
    gdr: bool


# Processes may write theirs into the same line, without a blank between. AMD: `RCCL version : 2.22.3-HEAD:7d8d67c`.
_VERSION = re.compile(
    r"[NR]CCL version (?:: )?(\d{1,3}\.\d{1,3}\.\d{1,3}(?:(?!NCCL)\w){0,10})(\+(?:cuda|hip)\d{1,3}\.\d{1,3})?"
    r"(?=NCCL version|[^\w.]|\.?$)"
)
# PyTorch tells it without CUDA: `NCCL error in: ..., NCCL version 2.18.3`.
_TOLD_VERSION = re.compile(r"NCCL error in: .{1,400}, NCCL version (\d{1,3}\.\d{1,3}\.\d{1,3})\b")
_DRIVER = re.compile(r"cudaDriverVersion (\d{4,6})\b")
_SETTING = re.compile(r"(NCCL_[A-Z0-9_]{1,80}) set (?:by environment )?to(?: (.*))?")
_WHOLE_NUMBER = re.compile(r"(-?\d{1,20})\.")
_BOOTSTRAP = re.compile(r"Bootstrap ?: Using ?(.+)")
# `[0]eth0:192.0.2.1<0>`; the number was always there up to 2.7. An address may be IPv6.
_INTERFACE = re.compile(r"(?:\[\d{1,3}\])?([^\s:\[\]<>]{1,64}):([^\s<>]{1,100})<\d{1,5}>")
_SOCKETS = re.compile(r"NET/Socket ?: Using (.+)")
_IB_USING = re.compile(r"NET/IB\w{0,20} ?: Using\b(.*)")
_OOB = re.compile(r"; ?OOB ([^\s:<>]{1,64}):([^\s<>]{0,100})<")
# `[0]mlx5_0:1/IB/SHARP`, from 2.30 `mlx5_0:1:RAIL:PLANE/IB`, merged `[0]={[0] mlx5_2:1/RoCE, ...}`.
_HCA = re.compile(r"\[\d{1,4}\] ?([^\s:,/={}\[\]]{1,64}):(\d{1,4})(?::-?\d{1,6}){0,4}/(IB|RoCE)(?![A-Za-z])")
# One line a device, before the list.
_ONE_HCA = re.compile(
    r"NET/IB\w{0,20} ?: \[\d{1,4}\] ([^\s:,/={}\[\]]{1,64}):(?:uverbs\d{1,4}:)?(\d{1,4})"
    r"/(IB|RoCE)\b"
)
_NO_IB = re.compile(r"NET/IB\w{0,20} ?: No device found|libibverbs\.so(?:\[\.1\]|\.1)")
_NETWORK = re.compile(r"Using (?:internal )?[Nn]etwork (\S.{0,60})")
_NET_PLUGIN = re.compile(r"(Assigned|Initialized) NET plugin (\S.{0,60}?)(?: to comm)?$")
_PLUGIN = re.compile(
    r"P2P plugin (\S{1,60})|Loaded net plugin (\S.{0,60}?)(?: \(v\d{1,3}\))?$"
    r"|Successfully loaded external network plugin (\S{1,200})"
)
_NO_PLUGIN = re.compile(r"No plugin found|Could not find: libnccl-net|[Uu]sing internal (?:network plugin|implement)")
_REFUSED = re.compile(
    r"NCCL_IBEXT_DISABLE set by environment to [1-9]|(?:plugin/)?net\.cc:\d{1,5} -> 3"
    r"|Failed to initialize NET plugin IB\w"
)
_GDR_HCA = re.compile(
    r"NET/(IB\w{0,20}) ?: GPU Direct RDMA (?:\([^)]{0,40}\) )?([Ee]nabled|Disabled) for HCA \d{1,4} '"
)
_OFI = re.compile(
    r"NET/OFI (?:Initializing|Using) (aws-ofi-[nr]ccl \S{1,40})|NET/OFI Selected [Pp]rovider is ([\w;-]{1,40})"
)
_LIBFABRIC = "Libfabric"
_WAY = re.compile(r"\bvia (NET/|P2P/|SHM/|COLLNET/|direct shared memory)(.*)")
# `CollNet 05/0 : 5 [receive] via COLLNET/SHARP/5/GDRDMA`: only where the plugin took the group.
_COLLNET = re.compile(r"([\w-]{1,60})/\d{1,5}(?:/|$)")
_COLLNET_UP = re.compile(r"(?:rank \d{1,7} )?Connected [Cc]oll[Nn]et\b")
_COLLNET_PLUGIN = re.compile(r"Loaded coll(?:net)? plugin (\S.{0,60}?)(?: \(v\d{1,3}\))?$")
_NO_COLLNET_PLUGIN = re.compile(r"Failed to find ncclCollNetPlugin")
_COLLNET_OFF = re.compile(
    r"Communicator has (\d{1,7}) nodes which is less than CollNet node threshold (\d{1,7}), disabling CollNet"
)
_CHANNEL_ENDS = re.compile(r"(?:^| : )(\d{1,7})(?:\[\w{1,16}\])? -> (\d{1,7})(?:\[\w{1,16}\])?")
_NET = re.compile(r"([^/]{1,60})/\d{1,5}(?:\(\d{1,7}\))?(/GDRDMA)?")
_P2P = re.compile(r"[A-Za-z]{2,20}(?: pointer| device)?")
_RINGS = re.compile(r"Connected all rings, use ring PXN \d GDR (\d)")
_NVLS = re.compile(r"Connected NVLS tree|\b[1-9]\d{0,4} nvls channels|^NVLS comm 0x[0-9a-f]{1,20} headRank")
_ONE_GPU = re.compile(r"Connected all (?:rings|trees)|\d{1,5} coll channels, ")
_FABRIC = re.compile(
    r"MNNVL busId 0x[0-9a-f]{1,16} fabric UUID ([0-9a-f]{1,16}\.[0-9a-f]{1,16}) cliqueId (0x[0-9a-f]{1,8})"
    r" state (\d{1,3}) healthMask 0x([0-9a-f]{1,8})"
)
_CLIQUE = re.compile(r"MNNVL [1-9]\d{0,3} cliqueId [0-9a-f]{1,8} cliqueSize (\d{1,6})\b")
_COMM = re.compile(r"\bcomm ([0-9a-fx]{1,20}) rank (\d{1,7}) n[rR]anks (\d{1,7})\b")
_NODES = re.compile(r" nNodes (\d{1,7})\b")
# HPC-X's plugin has C files without directories, NCCL itself transport/ and misc/.
_OF_THE_PLUGIN = re.compile(r"(?:ibvwrap|ib_plugin|p2p_plugin)\.c:\d{1,7}")
_OF_NCCL = re.compile(r"(?:transport/net_ib(?:\.cc|/\w{1,40}\.cc)|misc/ibvwrap\.cc):\d{1,7}")
# A call of a transport that ended with a number: `transport/net_socket.cc:336 -> 2`.
_ENDED = re.compile(r"transport/net_(ib|socket)(?:\.cc|/\w{1,40}\.cc):\d{1,7} -> [1-9]")
_TRANSPORTS = {"ib": IB, "socket": SOCKET}
PLUGIN_IB = "IBext"


def events(line: Line) -> Iterator[Event]:
    """All that the line tells beyond known messages (_nccl_failures)."""
    text = line.text
    if not line.level:
        if not line.cut:
            yield from _versions(text)
        return
    if _OF_THE_PLUGIN.fullmatch(line.place):
        yield Event(HINT, PLUGIN_IB)
    elif _OF_NCCL.fullmatch(line.place):
        yield Event(HINT, IB)
    # The log ends within this line: what is missing could change any of the rest.
    if line.cut:
        return
    if " version" in text and not text.startswith("NCCL_"):
        yield from _versions(text)
    ended = _ENDED.match(text)
    if ended is not None:
        yield Event(HINT, _TRANSPORTS[ended.group(1)])
    way = _WAY.search(text) if " via " in text else None
    if way is not None:
        yield from _channel(text, way)
    elif text.startswith(("NET/", "Failed to open", "Could not open", "Count not open")):
        yield from _net(text)
    else:
        yield from _other(text)


def _channel(text: str, way: re.Match[str]) -> Iterator[Event]:
    kind, rest = way.groups()
    if kind == "NET/":
        net = _NET.match(rest)
        if net is not None:
            receives = "[receive]" in text
            ends = _CHANNEL_ENDS.search(text)
            peer = int(ends.group(1 if receives else 2)) if ends else None
            yield Event(CHANNEL, Channel(net.group(1), receives, peer, net.group(2) is not None))
    elif kind == "P2P/":
        how = _P2P.match(rest)
        yield Event(P2P, how.group(0) if how else "")
    elif kind == "COLLNET/":
        by = _COLLNET.match(rest)
        if by is not None:
            yield Event(COLLNET, by.group(1))
    else:
        yield Event(SHM, True)


def _net(text: str) -> Iterator[Event]:
    using = _IB_USING.match(text)
    if using is not None:
        hcas = tuple(Hca(name, int(port), link) for name, port, link in _HCA.findall(text))
        yield Event(HCAS, hcas)
        oob = _OOB.search(using.group(1))
        if oob is not None:
            yield Event(OOB, Interface(oob.group(1), oob.group(2)))
        return
    sockets = _SOCKETS.match(text)
    if sockets is not None:
        yield Event(SOCKETS, tuple(Interface(*match) for match in _INTERFACE.findall(sockets.group(1))))
        return
    entry = _ONE_HCA.match(text)
    if entry is not None:
        yield Event(HCA, Hca(entry.group(1), int(entry.group(2)), entry.group(3)))
    gdr = _GDR_HCA.match(text)
    if gdr is not None:
        yield Event(GDR_HCA, gdr.group(2) != "Disabled")
        yield Event(HINT, gdr.group(1))
    ofi = _OFI.match(text)
    if ofi is not None and ofi.group(1):
        yield Event(PLUGIN, ofi.group(1))
    elif ofi is not None:
        yield Event(PROVIDER, ofi.group(2))
        yield Event(HINT, _LIBFABRIC)
    if _NO_IB.search(text):
        yield Event(NO_IB, True)
    yield from _plugin(text)


def _plugin(text: str) -> Iterator[Event]:
    collnet = _COLLNET_PLUGIN.search(text)
    if collnet is not None or _NO_COLLNET_PLUGIN.search(text):
        yield Event(COLLNET_PLUGIN, collnet.group(1) if collnet is not None else "")
        return
    if _NO_PLUGIN.search(text):
        yield Event(PLUGIN, "")
        return
    found = _PLUGIN.search(text)
    if found is not None:
        yield from (Event(PLUGIN, name) for name in found.groups() if name)


def _other(text: str) -> Iterator[Event]:
    setting = _SETTING.fullmatch(text)
    if setting is not None:
        value = setting.group(2) or ""
        number = _WHOLE_NUMBER.fullmatch(value)
        yield Event(SETTING, (setting.group(1), number.group(1) if number else value))
    for name, pattern in ((DRIVER, _DRIVER), (BOOTSTRAP, _BOOTSTRAP)):
        found = pattern.match(text)
        if found is not None:
            yield from _start(name, found)
            return
    network = _NETWORK.match(text)
    if network is not None:
        yield Event(NETWORK, network.group(1))
        return
    plugin = _NET_PLUGIN.match(text)
    if plugin is not None:
        name = ASSIGNED if plugin.group(1) == "Assigned" else STARTED
        yield Event(name, plugin.group(2))
        return
    rings = _RINGS.match(text)
    if rings is not None:
        yield Event(RINGS, rings.group(1) == "1")
    if _REFUSED.match(text):
        yield Event(REFUSED, True)
    if _NVLS.search(text):
        yield Event(NVLS, True)
    if _COLLNET_UP.match(text):
        yield Event(COLLNET, "")
    off = _COLLNET_OFF.match(text)
    if off is not None:
        yield Event(COLLNET_OFF, (int(off.group(1)), int(off.group(2))))
    if _ONE_GPU.match(text):
        yield Event(ONE_GPU, True)
    yield from _fabric(text)
    yield from _communicator(text)
    yield from _plugin(text)


def _start(name: int, found: re.Match[str]) -> Iterator[Event]:
    if name == DRIVER:
        level = int(found.group(1))
        yield Event(DRIVER, f"{level // 1000}.{level % 1000 // 10}")
    else:
        interface = _INTERFACE.match(found.group(1))
        if interface is not None:
            yield Event(BOOTSTRAP, Interface(*interface.groups()))


def _versions(text: str) -> Iterator[Event]:
    """Of NCCL or RCCL; several where processes wrote into the same line."""
    if _VERSION.match(text):
        for found in _VERSION.finditer(text):
            yield Event(VERSION, found.group(1) + (found.group(2) or ""))
        return
    told = _TOLD_VERSION.search(text)
    if told is not None:
        yield Event(VERSION, told.group(1))


def _fabric(text: str) -> Iterator[Event]:
    """NVLink between hosts: what the driver says of a GPU, and the hosts that NCCL takes together."""
    found = _FABRIC.match(text)
    if found is not None:
        state = int(found.group(3))
        known = data.FABRIC_STATES[state] if state < len(data.FABRIC_STATES) else str(state)
        yield Event(FABRIC, Fabric(found.group(1), found.group(2), known, _unhealthy(int(found.group(4), 16))))
    clique = _CLIQUE.match(text)
    if clique is not None:
        yield Event(CLIQUE, int(clique.group(1)))


def _unhealthy(mask: int) -> tuple[str, ...]:
    bad = [name for at, name in enumerate(data.FABRIC_HEALTH) if mask >> 2 * at & 3 == data.FABRIC_BAD]
    if mask >> 8 & 0xF > 1:
        bad.append(data.FABRIC_CONFIGURATION)
    return tuple(bad)


def _communicator(text: str) -> Iterator[Event]:
    comm = _COMM.search(text)
    if comm is None:
        return
    yield Event(RANK, (int(comm.group(3)), int(comm.group(2))))
    nodes = _NODES.search(text)
    if nodes is not None:
        yield Event(NODES, int(nodes.group(1)))
    for words, name in (("Init START", BEGUN), ("Init COMPLETE", COMPLETE)):
        if words in text:
            yield Event(name, comm.group(1))
