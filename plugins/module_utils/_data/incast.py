# SPDX-License-Identifier: GPL-3.0-or-later
"""What an incast shows in the counters of its ports, by driver, and what makes a port full. Data only.

Loss is told by the counters of roce_counters. Names are keys as a look at a port has them: those of
`ethtool -S` with its words before them, {} for the priority. ``source``/``confidence`` as in gpus.py.
"""

from __future__ import annotations

from dataclasses import dataclass

from .roce_counters import COUNTERS, ETHTOOL, HW, LOSS, PRIORITY

# Of a directory beside hw_counters: bytes that the port received by RDMA, divided by four.
# Source: kernel, Documentation/ABI/stable/sysfs-class-infiniband, and mlx5's mad.c (of RoCE: unicast and
# multicast octets of the vport). Confidence: confirmed.
DATA = "counters/port_rcv_data"
DATA_BYTES = 4

# A port is full from this share of its rate on: RoCE v2 at the smallest MTU in use (1024) carries 92 % of it as
# data, and the floors of bench.py are nine tenths. Source: inferred. Confidence: medium.
FULL = 0.9
# So long it has to be full. A switch's whole buffer (hundreds of MB) fills within milliseconds at two to one, and
# one look a second may be cut short by what else the host does. Source: inferred. Confidence: medium.
FULL_S = 2.0
# With fewer CNPs than that a sender may have got none by chance. Source: inferred. Confidence: medium.
CNP_FEW = 100
# Of an even share of the port's rate: a sender that reached less was stopped, or came when the others were done.
# Source: inferred. Confidence: medium.
LEAST = 0.05

# Counters of loss that tell of the wire, and those that tell of a host that took too long: no flow control helps.
# Source: their meaning in roce_counters. Confidence: confirmed.
WIRE = frozenset(("rx_crc_errors_phy", "rx_symbol_err_phy", "rx_icrc_encapsulated", "rx_roce_errors"))
BEHIND = frozenset(
    ("out_of_buffer", "rx_out_of_buffer", "rnr_nak_retry_err", "rnr_naks_rcvd", "req_rnr_retries_exceeded")
)


@dataclass(frozen=True)
class Names:
    """``paused``: pauses that came in, by priority; ``pauses``: those that the port sent. ``plain``: came in, of the
    whole link; ``every``: of any kind. ``arrived``, ``left``: bytes by priority. ``received``: bytes by RDMA, where
    DATA does not tell. ``marked``: packets that came with ECN's mark; ``told``: CNPs sent; ``slowed``: CNPs obeyed;
    ``ignored``: CNPs that came and were not. Of several names the first that is there."""

    paused: str = ""
    pauses: str = ""
    plain: str = ""
    every: str = ""
    arrived: str = ""
    left: str = ""
    received: tuple[str, ...] = ()
    marked: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    slowed: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    source: str = ""
    confidence: str = "confirmed"


def _e(name: str) -> str:
    return f"{ETHTOOL} {name}"


NAMES = {
    # Those of pauses by priority are there only where flow control is on in that priority.
    "mlx5_core": Names(
        paused=_e("rx_prio{}_pause"),
        pauses=_e("tx_prio{}_pause"),
        plain=_e("rx_global_pause"),
        every=_e("rx_pause_ctrl_phy"),
        arrived=_e("rx_prio{}_bytes"),
        left=_e("tx_prio{}_bytes"),
        marked=("np_ecn_marked_roce_packets",),
        told=("np_cnp_sent",),
        slowed=("rp_cnp_handled",),
        ignored=("rp_cnp_ignored",),
        source="kernel: Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst; "
        "drivers/infiniband/hw/mlx5/counters.c",
    ),
    # Releases of the driver outside the kernel have mlx5's names for CNPs and marks.
    "bnxt_en": Names(
        paused=_e("rx_pfc_ena_frames_pri{}"),
        pauses=_e("tx_pfc_ena_frames_pri{}"),
        arrived=_e("rx_bytes_pri{}"),
        left=_e("tx_bytes_pri{}"),
        received=("rx_roce_good_bytes", "rx_roce_only_bytes"),
        marked=("rx_ecn_marked_pkts", "np_ecn_marked_roce_packets"),
        told=("tx_cnp_pkts", "np_cnp_sent", "np_cnp_pkts"),
        slowed=("rx_cnp_pkts", "rp_cnp_handled"),
        source="kernel: drivers/net/ethernet/broadcom/bnxt/bnxt_ethtool.c, drivers/infiniband/hw/bnxt_re/"
        "hw_counters.c (names); AMD's rccl-tests, its collector of counters (both homes, second names)",
        confidence="medium",
    ),
    "ionic": Names(
        paused=_e("frames_rx_pripause{}"),
        pauses=_e("frames_tx_pripause{}"),
        received=("rx_rdma_ucast_bytes",),
        marked=("rx_rdma_ecn_pkts",),
        told=("tx_rdma_cnp_pkts",),
        slowed=("rx_rdma_cnp_pkts",),
        source="AMD's rccl-tests, its collector of counters (names)",
        confidence="medium",
    ),
    # Its pauses by priority have no published meaning that was found.
    "irdma": Names(
        marked=("RxECNMrkd",),
        told=("cnpSent",),
        slowed=("cnpHandled",),
        source="kernel: drivers/infiniband/hw/irdma/verbs.c (names)",
        confidence="medium",
    ),
}
# How else the functions of a driver may be bound, by their PCI driver.
SAME = {"bnxt_re": "bnxt_en", "ice": "irdma", "i40e": "irdma", "idpf": "irdma"}


def names_of(driver: str) -> Names:
    """Those of a port whose function is bound to this driver; none where it is not known here."""
    return NAMES.get(SAME.get(driver, driver), Names())


def hw() -> tuple[str, ...]:
    """Every name of hw_counters that is read."""
    mine = [
        name
        for names in NAMES.values()
        for some in (names.received, names.marked, names.told, names.slowed, names.ignored)
        for name in some
    ]
    return tuple(dict.fromkeys([*(entry.name for entry in COUNTERS if entry.home == HW), *mine]))


def by_ethtool() -> tuple[str, ...]:
    """Every key of `ethtool -S` that is read."""
    mine = [
        name
        for names in NAMES.values()
        for name in (names.paused, names.pauses, names.plain, names.every, names.arrived, names.left)
        if name
    ]
    lost = [_e(entry.name) for entry in COUNTERS if entry.home == ETHTOOL and entry.harm == LOSS]
    found = [name.replace(PRIORITY, str(at)) for name in [*lost, *mine] for at in range(8)]
    return tuple(dict.fromkeys(found))
