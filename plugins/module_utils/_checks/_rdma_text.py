# SPDX-License-Identifier: GPL-3.0-or-later
"""Why data did not arrive, told from the programs' words and from what is known of both ends."""

from __future__ import annotations

from typing import Mapping, Tuple

from ansible_collections.ibready.cluster.plugins.module_utils._data.rdma_tests import (
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
from ansible_collections.ibready.cluster.plugins.module_utils._rdma.tried import (
    ROCE,
    Host,
    Rail,
    Try,
    Words,
)

# What is told beside a failure: its cause and its remedy.
Told = Tuple[str, str]
_FIREWALL = (
    "run `nft list ruleset` on both: UDP 4791 has to come in and go out (role firewall, "
    "firewall_roce); where it does, look at what is between them (ACLs, security groups)"
)
_ROLE = "role container_runtime raises the engine's default; then restart the engine"


def blamed(one: Try, hosts: Mapping[str, Host]) -> str:
    """The host at which a failure surely lies; "" where either end may be the one."""
    if DAMAGED in (one.kind, one.served.kind):
        # Whoever sees it has not damaged it for that.
        return ""
    if one.served.kind in LOCAL and one.served.kind != GID:
        return one.server
    if one.kind in LOCAL and one.kind != GID:
        return one.server if one.at == "server" else one.client
    if GID in (one.kind, one.served.kind) or one.kind == LOST:
        bad = [name for name, rail in ends(one, hosts) if not rail.gid_usable]
        return bad[0] if len(bad) == 1 else ""
    return one.server if one.at == "server" else ""


def ends(one: Try, hosts: Mapping[str, Host]) -> list[tuple[str, Rail]]:
    """Both hosts with their rails, as far as they are known."""
    found = []
    for name in one.hosts:
        rail = hosts[name].rails.get(one.rail) if name in hosts else None
        if rail is not None:
            found.append((name, rail))
    return found


def why(name: str, one: Try, siblings: Mapping[str, Try], hosts: Mapping[str, Host]) -> Told:
    """Cause and remedy of one failure as they are told at ``name``. ``siblings``: what became of
    the other tests of the pair at the same place."""
    kind, words = _surest(one)
    if kind in _LOCAL:
        return _LOCAL[kind](one, words)
    if kind == GID:
        return _gid(one, hosts)
    if kind == DAMAGED:
        return (
            f"what arrived is not what was sent, between {one.client} and {one.server}",
            "take both out of service until it is known which: try each with a third host, then "
            "swap HCA, cable and memory of the one that fails",
        )
    if kind == REFUSED:
        return (
            f"{one.server} turned the connection down: nobody listens at that address of the RDMA "
            "connection manager, or another host has it",
            f"compare the addresses of {one.rail} on both (`rdma link`, `ip -br addr`)",
        )
    if kind == LOST:
        return _lost(one, siblings, hosts)
    said = one.served.said or one.said
    return (f"the program failed: {said}" if said else "", "")


def _surest(one: Try) -> tuple[str, Words]:
    """The kind that tells most, and the words of the end that it lies at."""
    if one.served.kind and (one.served.kind in LOCAL or not one.kind):
        return one.served.kind, one.served
    return one.kind, one.served if one.at == "server" else one.asked


def _memlock(one: Try, words: Words) -> Told:
    held = f"{words.memlock} KiB" if words.memlock.isdigit() else words.memlock
    text = "the program could not register its memory"
    if held and held != "unlimited":
        text += f": its user may lock {held}"
    if one.where == HOST:
        return text, "LimitMEMLOCK=infinity for the service, and host.limits.memlock"
    return f"{text} in the container", f"{_ROLE} (container.limit.memlock)"


def _no_provider(one: Try, words: Words) -> Told:
    place = "this host" if one.where == HOST else "the container"
    return (
        f"libibverbs of {place} has no provider for {one.rail.partition('/')[0]}",
        f"install ibverbs-providers (Debian, Ubuntu) or libibverbs (EL) in {place}; the tiny image "
        "is made of the host's own files",
    )


def _no_device(one: Try, words: Words) -> Told:
    device = one.rail.partition("/")[0]
    if one.where == HOST:
        return f"{device} is not there any more", "look at `rdma link` and `dmesg`"
    nodes = [name for name in words.devices or () if name.startswith("uverbs")]
    if words.devices is not None and (not nodes or (one.test == CM and "rdma_cm" not in nodes)):
        missing = "rdma_cm" if nodes else "uverbs*"
        if one.test == CM and "rdma_cm" not in words.devices:
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


def _not_opened(one: Try, words: Words) -> Told:
    device = one.rail.partition("/")[0]
    if one.test == CM and words.devices is not None and "rdma_cm" not in words.devices:
        if one.where == HOST:
            return "there is no /dev/infiniband/rdma_cm", "`modprobe rdma_ucm` (role rdma)"
        return (
            "the container has no /dev/infiniband/rdma_cm",
            "add --device=/dev/infiniband/rdma_cm",
        )
    if one.where != HOST and words.devices is not None:
        if not any(name.startswith("uverbs") for name in words.devices):
            return _no_device(one, words)
        return (
            f"the container may not open {device}: a volume in place of --device, or the file's "
            "permissions",
            "give it with --device; keep the files' mode at 0666: container.device.opens",
        )
    return f"{device} cannot be opened", "`ls -l /dev/infiniband`, and host.rdma.devices"


def _port(one: Try, words: Words) -> Told:
    return f"the port of {one.rail} is not up", "mend ib.port.state or roce.port.state first"


_LOCAL = {
    MEMLOCK: _memlock,
    NO_PROVIDER: _no_provider,
    NO_DEVICE: _no_device,
    NOT_OPENED: _not_opened,
    PORT: _port,
}


def _gid(one: Try, hosts: Mapping[str, Host]) -> Told:
    found = ends(one, hosts)
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
        f"the two ends cannot be joined by their GIDs ({shown}): no way leads from one address to "
        "the other",
        f"`ip route get` the other's address on {one.client} and {one.server}",
    )


def _entry(rail: Rail) -> str:
    return f"index {rail.gid_index} is {rail.gid or 'empty'}"


def _apart(found: list[tuple[str, Rail]]) -> Told | None:
    """What two ends that both are well cannot do with each other."""
    if len(found) < 2:
        return None
    (one, mine), (two, other) = found
    if mine.gid_type != other.gid_type:
        return (
            f"{_entry(mine)} on {one} and {_entry(other)} on {two}: two versions of RoCE do not "
            "understand each other",
            "expect one roce_gid_index that is RoCE v2 on every host, or none (roce.gid.index)",
        )
    if mine.address and mine.address == other.address:
        return (
            f"both ends have the address {mine.address} ({mine.netdev} on {one}, {other.netdev} on "
            f"{two}): the RDMA device is on an interface that each host has for itself",
            "set up the RDMA device on the interface of the rail (`rdma link`)",
        )
    return None


def _lost(one: Try, siblings: Mapping[str, Try], hosts: Mapping[str, Host]) -> Told:
    found = ends(one, hosts)
    if any(not rail.gid_usable for _, rail in found):
        return _gid(one, hosts)
    apart = _apart(found)
    if apart:
        return apart
    if carries_less(one, siblings):
        mtu = min((rail.mtu for _, rail in found), default=0)
        return (
            f"small messages arrive and packets of {mtu or 'full size'} bytes do not: something "
            f"between {one.client} and {one.server} has a smaller MTU",
            "give switches and bridges between them at least the MTU of the rails' interfaces",
        )
    devices = {rail.netdev for _, rail in found if rail.netdev}
    between = f"between {one.client} and {one.server}"
    if any(rail.kind != ROCE for _, rail in found):
        return (
            f"no packet came through {between}, though the programs met by TCP",
            "trace the way with ibtracert, and compare the partition keys of both ports",
        )
    met = "though the programs met by TCP" if one.test != CM else "and nothing answered"
    if any(other.arrived for other in siblings.values()):
        return (f"the data stopped on its way {between}, {met}", "")
    on = f" on {', '.join(sorted(devices))}" if devices else ""
    return (f"no RDMA packet came through {between}{on}, {met}: UDP 4791 is blocked", _FIREWALL)


def carries_less(one: Try, siblings: Mapping[str, Try]) -> bool:
    """Whether full packets are lost where small ones arrive."""
    small = siblings.get(LATENCY)
    return one.test == VERBS and one.kind == LOST and small is not None and small.arrived


def place(one_where: str, host: Host) -> str:
    """ "", "as root" or "as user N": who in a container."""
    if one_where == HOST:
        return ""
    return "as root" if one_where == ROOT else f"as user {host.user}"
