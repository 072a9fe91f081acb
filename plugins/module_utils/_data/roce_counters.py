# SPDX-License-Identifier: GPL-3.0-or-later
"""Counters of RoCE ports that tell of loss and of congestion, by driver: how fast each may rise. Data only.

A value says nothing by itself: it holds all since the driver was loaded. What counts is its rise
between two looks. ``source``/``confidence`` as in gpus.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

# What a rise means for jobs: packets or connections are lost now, or the rail is held back now.
LOSS = "loss"
CONGESTION = "congestion"
# Where it is told: ports/N/hw_counters of the RDMA device, or `ethtool -S` of its interface.
HW = "hw_counters"
ETHTOOL = "ethtool -S"
# Stands for the priority in a name; of those with flow control each has a counter of its own.
PRIORITY = "{}"
# The driver whose `ethtool -S` is read: it tells its channels last, so that what is cut is seen.
ETHTOOL_DRIVER = "mlx5_core"
LAST_LINES = "ch0_"

_MLX5 = "kernel: drivers/infiniband/hw/mlx5/counters.c (names)"
_PHY = "kernel: Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst (names, meaning, units)"
_BNXT = "kernel: drivers/infiniband/hw/bnxt_re/hw_counters.c (names)"
_IRDMA = "kernel: drivers/infiniband/hw/irdma/verbs.c (names)"
_IONIC = "AMD's collective tracer: counters of ionic_rdma (names)"
_SENTINEL = "; NVSentinel's NIC monitor (rate)"
_PLAIN = "; inferred (rate): far above what a job's start or end leaves, far below what slows one"
# mlx5 sends at most one CNP in 4 us (mlxconfig: MIN_TIME_BETWEEN_CNPS), 250,000/s; DCQCN halves a
# flow's rate with few of them, so that a 25th of that holds flows back without a pause.
_CNP_PER_S = 10_000.0
_CNP = "; inferred (rate): a 25th of the most that mlx5 sends (MIN_TIME_BETWEEN_CNPS 4 us)"
# Microseconds of pause in a second: a tenth of the time.
_PAUSED_PER_S = 100_000.0
_PAUSED = "; inferred (rate): paused for a tenth of the time"


@dataclass(frozen=True)
class Counter:
    """It is a fault when between two looks it rose by at least ``at_least`` and faster than ``per_s``.

    ``means``: what its rise says.
    """

    name: str
    home: str
    harm: str
    means: str
    per_s: float
    at_least: int
    source: str
    confidence: str = "medium"


_loss = partial(Counter, harm=LOSS)
_held = partial(Counter, harm=CONGESTION)
_LOST = "packets are lost on the way, and sent again"
_ORDER = "packets arrive out of order: those before them were lost on the way"
_ACK = "answers stay out until the HCA sends again: packets get lost on the way"
_BROKEN = "a connection broke: the other end answered none of the tries"
_RNR = "the other end has nowhere to put what arrives, and asks for it again"
_DROPPED = "the HCA drops packets that arrive: its buffers are full, and flow control stops nobody"
_FULL = "packets are dropped because no receive buffer is posted for them"
_MARKED = "the switches mark packets as congested, so that senders slow down"
_TOLD = "this host tells senders to slow down (CNP)"
_SLOWED = "this host is told to slow down (CNP)"
_HELD = "the network pauses this port: it cannot take what this host sends"
_HOLDS = "this port pauses the network: the host cannot take what arrives (PCIe, memory)"
_WIRE = "damaged packets arrive and are dropped: the cable, or the transceiver at either end"

COUNTERS = (
    _loss("packet_seq_err", HW, means=_LOST, per_s=10, at_least=10, source=_MLX5 + _PLAIN),
    _loss("implied_nak_seq_err", HW, means=_LOST, per_s=10, at_least=10, source=_MLX5 + _PLAIN),
    _loss("out_of_sequence", HW, means=_ORDER, per_s=100, at_least=100, source=_MLX5 + _PLAIN),
    _loss("local_ack_timeout_err", HW, means=_ACK, per_s=1, at_least=5, source=_MLX5 + _SENTINEL),
    _loss("rnr_nak_retry_err", HW, means=_RNR, per_s=10, at_least=10, source=_MLX5 + _PLAIN),
    _loss("req_transport_retries_exceeded", HW, means=_BROKEN, per_s=0, at_least=1, source=_MLX5 + _SENTINEL),
    _loss("req_rnr_retries_exceeded", HW, means=_BROKEN, per_s=0, at_least=1, source=_MLX5 + _SENTINEL),
    _loss(
        "rx_icrc_encapsulated",
        HW,
        means="packets with a broken checksum arrive: a defect between the two hosts",
        per_s=0,
        at_least=1,
        source=_MLX5 + _PLAIN,
    ),
    _loss("roce_adp_retrans", HW, means=_LOST, per_s=10, at_least=10, source=_MLX5 + _PLAIN),
    _loss("roce_adp_retrans_to", HW, means=_ACK, per_s=1, at_least=5, source=_MLX5 + _PLAIN),
    _loss("roce_slow_restart", HW, means=_LOST, per_s=10, at_least=10, source=_MLX5 + _SENTINEL),
    _loss("out_of_buffer", HW, means=_FULL, per_s=100, at_least=100, source=_MLX5 + _PLAIN),
    _loss("rx_prio{}_discards", ETHTOOL, means=_DROPPED, per_s=10, at_least=10, source=_PHY + _PLAIN),
    _loss("rx_discards_phy", ETHTOOL, means=_DROPPED, per_s=100, at_least=100, source=_PHY + _PLAIN),
    _loss(
        "tx_discards_phy",
        ETHTOOL,
        means="the HCA throws packets away before they leave: the other end pauses it for too long",
        per_s=100,
        at_least=100,
        source=_PHY + _PLAIN,
    ),
    _loss("rx_crc_errors_phy", ETHTOOL, means=_WIRE, per_s=1, at_least=5, source=_PHY + _PLAIN),
    _loss("rx_symbol_err_phy", ETHTOOL, means=_WIRE, per_s=1, at_least=5, source=_PHY + _PLAIN),
    _loss(
        "tx_pause_storm_error_events",
        ETHTOOL,
        means="this port paused the network for so long that it may pause no more: packets are dropped",
        per_s=0,
        at_least=1,
        source=_PHY,
        confidence="confirmed",
    ),
    _held("roce_slow_restart_cnps", HW, means=_SLOWED, per_s=_CNP_PER_S, at_least=1000, source=_MLX5 + _CNP),
    _held("np_cnp_sent", HW, means=_TOLD, per_s=_CNP_PER_S, at_least=1000, source=_MLX5 + _CNP),
    _held("np_ecn_marked_roce_packets", HW, means=_MARKED, per_s=_CNP_PER_S, at_least=1000, source=_MLX5 + _CNP),
    _held("rp_cnp_handled", HW, means=_SLOWED, per_s=_CNP_PER_S, at_least=1000, source=_MLX5 + _CNP),
    _held(
        "rp_cnp_ignored",
        HW,
        means="this host is told to slow down (CNP) and does not: congestion control is off in that priority",
        per_s=100,
        at_least=100,
        source=_MLX5 + _PLAIN,
    ),
    _held("rx_prio{}_pause_duration", ETHTOOL, means=_HELD, per_s=_PAUSED_PER_S, at_least=1000, source=_PHY + _PAUSED),
    _held("tx_prio{}_pause_duration", ETHTOOL, means=_HOLDS, per_s=_PAUSED_PER_S, at_least=1000, source=_PHY + _PAUSED),
    _held("rx_prio{}_pause", ETHTOOL, means=_HELD, per_s=_CNP_PER_S, at_least=1000, source=_PHY + _PLAIN),
    _held("tx_prio{}_pause", ETHTOOL, means=_HOLDS, per_s=_CNP_PER_S, at_least=1000, source=_PHY + _PLAIN),
    _held("rx_global_pause_duration", ETHTOOL, means=_HELD, per_s=_PAUSED_PER_S, at_least=1000, source=_PHY + _PAUSED),
    _held("tx_global_pause_duration", ETHTOOL, means=_HOLDS, per_s=_PAUSED_PER_S, at_least=1000, source=_PHY + _PAUSED),
    _held("tx_pause_storm_warning_events", ETHTOOL, means=_HOLDS, per_s=0, at_least=1, source=_PHY),
    _held("rx_out_of_buffer", ETHTOOL, means=_FULL, per_s=1000, at_least=1000, source=_PHY + _PLAIN),
    # Broadcom.
    _loss("seq_err_naks_rcvd", HW, means=_LOST, per_s=10, at_least=10, source=_BNXT + _PLAIN),
    _loss("oos_drop_count", HW, means=_ORDER, per_s=100, at_least=100, source=_BNXT + _PLAIN),
    _loss("to_retransmits", HW, means=_ACK, per_s=1, at_least=5, source=_BNXT + _PLAIN),
    _loss("missing_resp", HW, means=_LOST, per_s=10, at_least=10, source=_BNXT + _PLAIN),
    _loss("max_retry_exceeded", HW, means=_BROKEN, per_s=0, at_least=1, source=_BNXT + _PLAIN),
    _loss("rnr_naks_rcvd", HW, means=_RNR, per_s=10, at_least=10, source=_BNXT + _PLAIN),
    _loss("rx_roce_discards", HW, means=_DROPPED, per_s=10, at_least=10, source=_BNXT + _PLAIN),
    _loss("rx_roce_errors", HW, means=_WIRE, per_s=10, at_least=10, source=_BNXT + _PLAIN),
    _loss("rx_out_of_buffer", HW, means=_FULL, per_s=100, at_least=100, source=_BNXT + _PLAIN),
    _held("tx_cnp_pkts", HW, means=_TOLD, per_s=_CNP_PER_S, at_least=1000, source=_BNXT + _CNP),
    _held("rx_cnp_pkts", HW, means=_SLOWED, per_s=_CNP_PER_S, at_least=1000, source=_BNXT + _CNP),
    _held("rx_ecn_marked_pkts", HW, means=_MARKED, per_s=_CNP_PER_S, at_least=1000, source=_BNXT + _CNP),
    # Intel.
    _loss("ip4InDiscards", HW, means=_DROPPED, per_s=10, at_least=10, source=_IRDMA + _PLAIN),
    _loss("ip6InDiscards", HW, means=_DROPPED, per_s=10, at_least=10, source=_IRDMA + _PLAIN),
    _loss("RetransSegs", HW, means=_LOST, per_s=10, at_least=10, source=_IRDMA + _PLAIN),
    _loss("tcpRetransSegs", HW, means=_LOST, per_s=10, at_least=10, source=_IRDMA + _PLAIN),
    _held("cnpSent", HW, means=_TOLD, per_s=_CNP_PER_S, at_least=1000, source=_IRDMA + _CNP),
    _held("cnpHandled", HW, means=_SLOWED, per_s=_CNP_PER_S, at_least=1000, source=_IRDMA + _CNP),
    _held("RxECNMrkd", HW, means=_MARKED, per_s=_CNP_PER_S, at_least=1000, source=_IRDMA + _CNP),
    # AMD.
    _loss("req_rx_pkt_seq_err", HW, means=_LOST, per_s=10, at_least=10, source=_IONIC + _PLAIN),
    _loss("resp_rx_outouf_seq", HW, means=_ORDER, per_s=100, at_least=100, source=_IONIC + _PLAIN),
    _loss("tx_rdma_ack_timeout", HW, means=_ACK, per_s=1, at_least=5, source=_IONIC + _PLAIN),
    _held("tx_rdma_cnp_pkts", HW, means=_TOLD, per_s=_CNP_PER_S, at_least=1000, source=_IONIC + _CNP),
    _held("rx_rdma_cnp_pkts", HW, means=_SLOWED, per_s=_CNP_PER_S, at_least=1000, source=_IONIC + _CNP),
    _held("rx_rdma_ecn_pkts", HW, means=_MARKED, per_s=_CNP_PER_S, at_least=1000, source=_IONIC + _CNP),
)
