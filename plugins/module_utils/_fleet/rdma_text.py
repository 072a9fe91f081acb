# SPDX-License-Identifier: GPL-3.0-or-later
"""Why data did not arrive, told from the programs' words and from what is known of both ends."""

from __future__ import annotations

from typing import Mapping, Tuple

from .._between.rdma.tried import ROCE, Host, Rail, Try, Words
from .._data.rdma_tests import (
    CM,
    DAMAGED,
    GID,
    HOST,
    LATENCY,
    LOCAL,
    LOST,
    MEMLOCK,
    NO_DEVICE,
    NO_PROVIDER,
    NOT_OPENED,
    PORT,
    REFUSED,
    ROOT,
    VERBS,
)

# What is told beside a failure: its cause and its remedy.
Reported = Tuple[str, str]
_FIREWALL = (
    "run `nft list ruleset` on both: UDP 4791 has to come in and go out (role firewall, "
    "firewall_roce); where it does, look at what is between them (ACLs, security groups)"
)
_ROLE = "role container_runtime raises the engine's default; then restart the engine"


def blamed(entry: Try, hosts: Mapping[str, Host]) -> str:
    """The host at which a failure surely lies; "" where either end may be the one."""
    if DAMAGED in (entry.kind, entry.served.kind):
        # Whoever sees it has not damaged it for that.
        return ""
    if entry.served.kind in LOCAL and entry.served.kind != GID:
        return entry.server
    if entry.kind in LOCAL and entry.kind != GID:
        return entry.server if entry.at == "server" else entry.client
    if GID in (entry.kind, entry.served.kind) or entry.kind == LOST:
        bad = [name for name, rail in ends(entry, hosts) if not rail.gid_usable]
        return bad[0] if len(bad) == 1 else ""
    return entry.server if entry.at == "server" else ""


def ends(entry: Try, hosts: Mapping[str, Host]) -> list[tuple[str, Rail]]:
    """Both hosts with their rails, as far as they are known."""
    found = []
    for name in entry.hosts:
        rail = hosts[name].rails.get(entry.rail) if name in hosts else None
        if rail is not None:
            found.append((name, rail))
    return found


def why(name: str, entry: Try, siblings: Mapping[str, Try], hosts: Mapping[str, Host]) -> Reported:
    """Cause and remedy of one failure as they are told at ``name``. ``siblings``: what became of
    the other tests of the pair at the same place."""
    kind, words = _surest(entry)
    if kind in _LOCAL:
        return _LOCAL[kind](entry, words)
    if kind == GID:
        return _gid(entry, hosts)
    if kind == DAMAGED:
        return (
            f"what arrived is not what was sent, between {entry.client} and {entry.server}",
            "take both out of service until it is known which: try each with a third host, then "
            "swap HCA, cable and memory of the one that fails",
        )
    if kind == REFUSED:
        return (
            f"{entry.server} turned the connection down: nobody listens at that address of the RDMA "
            "connection manager, or another host has it",
            f"compare the addresses of {entry.rail} on both (`rdma link`, `ip -br addr`)",
        )
    if kind == LOST:
        return _lost(entry, siblings, hosts)
    said = entry.served.said or entry.said
    return (f"the program failed: {said}" if said else "", "")


def _surest(entry: Try) -> tuple[str, Words]:
    """The kind that tells most, and the words of the end that it lies at."""
    if entry.served.kind and (entry.served.kind in LOCAL or not entry.kind):
        return entry.served.kind, entry.served
    return entry.kind, entry.served if entry.at == "server" else entry.asked


def _memlock(entry: Try, words: Words) -> Reported:
    held = f"{words.memlock} KiB" if words.memlock.isdigit() else words.memlock
    text = "the program could not register its memory"
    if held and held != "unlimited":
        text += f": its user may lock {held}"
    if entry.where == HOST:
        return text, "LimitMEMLOCK=infinity for the service, and host.limits.memlock"
    return f"{text} in the container", f"{_ROLE} (container.limit.memlock)"


def _no_provider(entry: Try, words: Words) -> Reported:
    place = "this host" if entry.where == HOST else "the container"
    return (
        f"libibverbs of {place} has no provider for {entry.rail.partition('/')[0]}",
        f"install ibverbs-providers (Debian, Ubuntu) or libibverbs (EL) in {place}; the tiny image "
        "is made of the host's own files",
    )


def _no_device(entry: Try, words: Words) -> Reported:
    device = entry.rail.partition("/")[0]
    if entry.where == HOST:
        return f"{device} is not there any more", "look at `rdma link` and `dmesg`"
    nodes = [name for name in words.devices or () if name.startswith("uverbs")]
    if words.devices is not None and (not nodes or (entry.test == CM and "rdma_cm" not in nodes)):
        missing = "rdma_cm" if nodes else "uverbs*"
        if entry.test == CM and "rdma_cm" not in words.devices:
            missing = "rdma_cm"
        return (
            f"the container has no /dev/infiniband/{missing}",
            "give jobs every uverbs device and rdma_cm with --device, or the CDI device of role "
            "container_runtime (container.device.*)",
        )
    return (
        f"the container's libibverbs finds no {device}: its device file or its provider is missing",
        "`ibv_devinfo` in the container; see container.device.* and container.verbs.*",
    )


def _not_opened(entry: Try, words: Words) -> Reported:
    device = entry.rail.partition("/")[0]
    if entry.test == CM and words.devices is not None and "rdma_cm" not in words.devices:
        if entry.where == HOST:
            return "there is no /dev/infiniband/rdma_cm", "`modprobe rdma_ucm` (role rdma)"
        return (
            "the container has no /dev/infiniband/rdma_cm",
            "add --device=/dev/infiniband/rdma_cm",
        )
    if entry.where != HOST and words.devices is not None:
        if not any(name.startswith("uverbs") for name in words.devices):
            return _no_device(entry, words)
        return (
            f"the container may not open {device}: a volume in place of --device, or the file's permissions",
            "give it with --device; keep the files' mode at 0666: container.device.opens",
        )
    return f"{device} cannot be opened", "`ls -l /dev/infiniband`, and host.rdma.devices"


def _port(entry: Try, words: Words) -> Reported:
    return f"the port of {entry.rail} is not up", "fix ib.port.state or roce.port.state first"


_LOCAL = {
    MEMLOCK: _memlock,
    NO_PROVIDER: _no_provider,
    NO_DEVICE: _no_device,
    NOT_OPENED: _not_opened,
    PORT: _port,
}


def _gid(entry: Try, hosts: Mapping[str, Host]) -> Reported:
    found = ends(entry, hosts)
    bad = [f"{name}: {_entry(rail)}" for name, rail in found if not rail.gid_usable]
    remedy = (
        "correct roce_gid_index in the inventory, or give the rails their addresses in the same "
        "order on every host (roce.gid.index); without an index NCCL picks one by itself"
    )
    if bad:
        return f"the GID index leads nowhere on {'; '.join(bad)}", remedy
    apart = _apart(found)
    if apart:
        return apart
    shown = "; ".join(f"{name}: {_entry(rail)}" for name, rail in found)
    return (
        f"the two ends cannot be joined by their GIDs ({shown}): no way leads from one address to the other",
        f"`ip route get` the other's address on {entry.client} and {entry.server}",
    )


def _entry(rail: Rail) -> str:
    return f"index {rail.gid_index} is {rail.gid or 'empty'}"


def _apart(found: list[tuple[str, Rail]]) -> Reported | None:
    """What two ends that both are well cannot do with each other."""
    if len(found) < 2:
        return None
    (item, mine), (two, other) = found
    if mine.gid_type != other.gid_type:
        return (
            f"{_entry(mine)} on {item} and {_entry(other)} on {two}: two versions of RoCE do not understand each other",
            "expect one roce_gid_index that is RoCE v2 on every host, or none (roce.gid.index)",
        )
    if mine.address and mine.address == other.address:
        return (
            f"both ends have the address {mine.address} ({mine.netdev} on {item}, {other.netdev} on "
            f"{two}): the RDMA device is on an interface that each host has for itself",
            "set up the RDMA device on the interface of the rail (`rdma link`)",
        )
    return None


def _lost(entry: Try, siblings: Mapping[str, Try], hosts: Mapping[str, Host]) -> Reported:
    found = ends(entry, hosts)
    if any(not rail.gid_usable for _unused, rail in found):
        return _gid(entry, hosts)
    apart = _apart(found)
    if apart:
        return apart
    if carries_less(entry, siblings):
        mtu = min((rail.mtu for _unused, rail in found), default=0)
        return (
            f"small messages arrive and packets of {mtu or 'full size'} bytes do not: something "
            f"between {entry.client} and {entry.server} has a smaller MTU",
            "give switches and bridges between them at least the MTU of the rails' interfaces",
        )
    devices = {rail.netdev for _unused, rail in found if rail.netdev}
    between = f"between {entry.client} and {entry.server}"
    if any(rail.kind != ROCE for _unused, rail in found):
        return (
            f"no packet came through {between}, though the programs met by TCP",
            "trace the way with ibtracert, and compare the partition keys of both ports",
        )
    met = "though the programs met by TCP" if entry.test != CM else "and nothing answered"
    if any(other.arrived for other in siblings.values()):
        return (f"the data stopped on its way {between}, {met}", "")
    on = f" on {', '.join(sorted(devices))}" if devices else ""
    return (f"no RDMA packet came through {between}{on}, {met}: UDP 4791 is blocked", _FIREWALL)


def carries_less(entry: Try, siblings: Mapping[str, Try]) -> bool:
    """Whether full packets are lost where small ones arrive."""
    small = siblings.get(LATENCY)
    return entry.test == VERBS and entry.kind == LOST and small is not None and small.arrived


def place(one_where: str, host: Host) -> str:
    """ "", "as root" or "as user N": who in a container."""
    if one_where == HOST:
        return ""
    return "as root" if one_where == ROOT else f"as user {host.user}"
