# SPDX-License-Identifier: GPL-3.0-or-later
"""Which interface bootstrap takes, by NCCL_SOCKET_IFNAME and its company.

Sources: NCCL's source, and what the real library did. The library is asked by test_ifname.py, in a
network of its own whose interfaces have these names: they are veth pairs, nothing else about them
is InfiniBand or docker.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.nccl.rows import By

LO = "lo"
# What ncclGetUniqueId returns where it finds no interface.
NONE = "no interface"
NO_INTERFACE = By(3, v2_24=5)


@dataclass(frozen=True)
class Network:
    """Interfaces in the kernel's order, each with its addresses (CIDR); those of ``silent`` are up
    and have nobody at the other end."""

    name: str
    interfaces: dict[str, tuple[str, ...]]
    silent: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ifname:
    """``takes``: the interface, or an address where that says more, NONE, or "result N".
    ``uses``: the interface where ``takes`` is an address of another host; ``port`` likewise.
    """

    network: Network
    env: dict[str, str] = field(default_factory=dict)
    takes: By[str] = field(default_factory=lambda: By(NONE))
    uses: By[str] | None = None
    port: int | None = None

    @property
    def name(self) -> str:
        said = " ".join(f"{name}={value}" for name, value in self.env.items())
        return f"{self.network.name}: {said or 'nothing set'}"


def four(at: int) -> tuple[str, ...]:
    return (f"10.77.{at}.2/24",)


def names(*interfaces: str) -> dict[str, tuple[str, ...]]:
    return {name: four(at) for at, name in enumerate(interfaces, 1)}


PLAIN = Network("plain", names("eth0", "eth10", "docker0", "virbr0", "ib0", "ib1"))
NO_IB = Network("no ib", names("docker0", "virbr0", "eno1", "eno2"))
ONLY_DOCKER = Network("only docker", names("docker0", "virbr0"))
ONLY_LO = Network("only lo", {})
SILENT = Network("silent", names("ib0", "eth0"), silent=("ib0",))
TWO_ADDRESSES = Network("two addresses", {"eth0": ("10.77.1.2/24", "fd77::2/64")})
SIX = Network("IPv6", {"eth0": ("fd77::2/64",), "eth1": ("10.77.2.2/24",)})
BARE = Network("no address", {"eth0": (), "eth1": four(2)})


def ifname(network: Network, value: str, takes: str, **since: str) -> Ifname:
    return Ifname(network, {"NCCL_SOCKET_IFNAME": value}, By(takes, **since))


def listed(count: int) -> str:
    """A list with eth10 as the last of this many."""
    return ",".join([*(f"none{at}" for at in range(count - 1)), "eth10"])


def comm_id(
    value: str,
    takes: str,
    *,
    uses: By[str],
    network: Network = PLAIN,
    port: int = 4000,
    **env: str,
) -> Ifname:
    return Ifname(network, {"NCCL_COMM_ID": value, **env}, By(takes), uses, port)


ROWS = (
    # Nothing set.
    Ifname(PLAIN, {}, By("ib0")),
    Ifname(NO_IB, {}, By("virbr0", v2_28="eno1")),
    Ifname(ONLY_DOCKER, {}, By("virbr0", v2_28="docker0")),
    Ifname(ONLY_LO, {}, By(LO)),
    Ifname(SILENT, {}, By("ib0", v2_28="eth0")),
    Ifname(BARE, {}, By("eth1")),
    # Prefixes, lists, exact names.
    ifname(PLAIN, "eth", "eth0"),
    ifname(PLAIN, "eth1", "eth10"),
    ifname(PLAIN, "=eth1", NONE),
    ifname(PLAIN, "=eth10", "eth10"),
    ifname(PLAIN, "=eth10,eth0", "eth0"),
    ifname(PLAIN, "eth10,ib1", "eth10"),
    ifname(PLAIN, "ib1", "ib1"),
    ifname(PLAIN, "docker0", "docker0"),
    ifname(PLAIN, "virbr", "virbr0"),
    ifname(PLAIN, "lo", LO),
    ifname(PLAIN, "enp", NONE),
    ifname(PLAIN, "eth0,", "eth0"),
    ifname(PLAIN, "eth10, eth0", "eth10"),
    ifname(PLAIN, listed(16), "eth10"),
    ifname(PLAIN, listed(17), NONE),
    ifname(PLAIN, '"eth0"', NONE),
    ifname(PLAIN, "eth0 eth10", NONE),
    ifname(PLAIN, "ETH0", NONE),
    ifname(PLAIN, "eth*", NONE),
    # Exclusion.
    ifname(PLAIN, "^ib", LO),
    ifname(PLAIN, "^ib,^docker,^lo", LO),
    ifname(PLAIN, "^ib,docker,lo", "eth0"),
    ifname(PLAIN, "^ib,docker,lo,virbr,veth", "eth0"),
    ifname(PLAIN, "^=ib,lo", "eth0"),
    ifname(PLAIN, "^=eth0,lo", "eth10"),
    ifname(PLAIN, "=^eth0", NONE),
    ifname(PLAIN, "^lo", "eth0"),
    ifname(NO_IB, "^lo", "docker0"),
    # Values that are too short to count.
    ifname(PLAIN, "", "ib0"),
    ifname(PLAIN, "^", "ib0"),
    ifname(PLAIN, "e", "ib0"),
    # Families.
    Ifname(TWO_ADDRESSES, {"NCCL_SOCKET_IFNAME": "eth0"}, By("10.77.1.2")),
    Ifname(
        TWO_ADDRESSES,
        {"NCCL_SOCKET_IFNAME": "eth0", "NCCL_SOCKET_FAMILY": "AF_INET6"},
        By("fd77::2"),
    ),
    Ifname(
        TWO_ADDRESSES,
        {"NCCL_SOCKET_IFNAME": "eth0", "NCCL_SOCKET_FAMILY": "AF_INET"},
        By("10.77.1.2"),
    ),
    Ifname(TWO_ADDRESSES, {"NCCL_SOCKET_IFNAME": "eth0", "NCCL_SOCKET_FAMILY": "IPv6"}, By("10.77.1.2")),
    # The kernel lists every IPv4 address ahead of the IPv6 ones.
    Ifname(SIX, {}, By("eth1")),
    Ifname(SIX, {"NCCL_SOCKET_FAMILY": "AF_INET"}, By("eth1")),
    Ifname(SIX, {"NCCL_SOCKET_FAMILY": "AF_INET6"}, By("eth0")),
    Ifname(SIX, {"NCCL_SOCKET_IFNAME": "eth1", "NCCL_SOCKET_FAMILY": "AF_INET6"}, By(NONE)),
    # NCCL_COMM_ID stands for the search; the interface is then one in its subnet. In 2.29 it is the
    # first that is not in the subnet, of the IPv4 addresses.
    comm_id("10.77.2.9:4000", "10.77.2.9", uses=By("eth10", v2_29=LO, v2_30="eth10")),
    comm_id(
        "10.77.2.9:4000",
        "10.77.2.9",
        uses=By("eth10", v2_29=LO, v2_30="eth10"),
        NCCL_SOCKET_IFNAME="=ib0",
    ),
    Ifname(
        PLAIN,
        {"NCCL_COMM_ID": "10.88.2.9:4000"},
        By("result 2", v2_29="10.88.2.9", v2_30="result 2"),
    ),
    comm_id("localhost:4000", "127.0.0.1", uses=By(LO, v2_29="eth0", v2_30=LO)),
    comm_id("10.77.2.9", "10.77.2.9", uses=By("eth10", v2_29=LO, v2_30="eth10"), port=65535),
    comm_id("10.77.2.9:x", "10.77.2.9", uses=By("eth10", v2_29=LO, v2_30="eth10"), port=0),
    comm_id("10.77.2.9:99999", "10.77.2.9", uses=By("eth10", v2_29=LO, v2_30="eth10"), port=34463),
    comm_id("[fd77::9]:4000", "fd77::9", uses=By("eth0"), network=SIX),
    Ifname(SIX, {"NCCL_COMM_ID": "[fd78::9]:4000"}, By("result 2")),
    # It asks for an address with a zone, and finds no interface in its subnet.
    Ifname(SIX, {"NCCL_COMM_ID": "[fd77::9%eth0]:4000"}, By("result 2")),
    Ifname(PLAIN, {"NCCL_COMM_ID": "no-such-host.invalid:4000"}, By("result 4")),
    Ifname(PLAIN, {"NCCL_COMM_ID": ":4000"}, By("result 4")),
    Ifname(PLAIN, {"NCCL_COMM_ID": "x"}, By("result 4")),
    Ifname(PLAIN, {"NCCL_COMM_ID": ""}, By("result 4")),
)
