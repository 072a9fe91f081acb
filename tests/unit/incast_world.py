# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulated hosts with a RoCE rail each on one simulated switch, and what their counters say after an incast.

The switch is a few lines: senders that together want more than the receiver's port takes are marked, paused or
dropped, as it is set up. Names of counters are mlx5's, or bnxt_re's where a test says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._data.rdma_drivers import ROCE
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._rails.roce_ports import (
    UNSET,
    GidEntry,
    Qos,
    RoceFacts,
    RocePort,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._playbooks.filters import incast_parts, incast_plan
from tests.unit.rdma_hosts import IbFacts

NAMES = ("n1", "n2", "n3")
RATE, SECONDS = 400.0, 10
BYTES = int(RATE / 8 * 1e9)
IDLE = {"jobs": [], "unknown": []}
MLX5 = {
    "paused": "ethtool -S rx_prio{}_pause",
    "arrived": "ethtool -S rx_prio{}_bytes",
    "left": "ethtool -S tx_prio{}_bytes",
    "marked": "np_ecn_marked_roce_packets",
    "told": "np_cnp_sent",
    "slowed": "rp_cnp_handled",
    "seq": "out_of_sequence",
    "nak": "packet_seq_err",
}
BNXT = {
    "paused": "ethtool -S rx_pfc_ena_frames_pri{}",
    "arrived": "ethtool -S rx_bytes_pri{}",
    "left": "ethtool -S tx_bytes_pri{}",
    "marked": "rx_ecn_marked_pkts",
    "told": "tx_cnp_pkts",
    "slowed": "rx_cnp_pkts",
    "seq": "oos_drop_count",
    "nak": "seq_err_naks_rcvd",
}


@dataclass
class World:
    """What the switch and the HCAs do. ``pauses``: the priority in which the switch pauses senders, None for no pause;
    ``needed``: whether queues ever get so full. ``plain``: it pauses the whole link. ``marks``: by ECN; ``tells``: the
    receiver answers by CNPs, which ``reach`` the senders, who ``obey``. ``priority``: of RoCE where it arrives;
    ``sent``: where it leaves. ``lost``: packets that the switch drops though it pauses. ``share``: of the port's rate
    that comes in."""

    pauses: int | None = 3
    needed: bool = True
    plain: bool = False
    marks: bool = True
    tells: bool = True
    reach: bool = True
    obey: bool = True
    priority: int = 3
    sent: int = 3
    lost: int = 0
    share: float = 0.97
    driver: str = "mlx5_core"
    names: Mapping[str, str] = field(default_factory=lambda: MLX5)
    # Of a host's counters, by host and key: added at the end, so that anything may be planted.
    more: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    # The priorities in which the HCAs have flow control, and so count pauses.
    shows: tuple[int, ...] = (3,)

    def before(self) -> dict[str, int]:
        """Counters of a port that has been up for a while."""
        found = {self.names[kind]: 1000 for kind in ("marked", "told", "slowed", "seq", "nak")}
        found.update({self.names["paused"].format(at): 500 for at in self.shows})
        if self.names is MLX5:
            found.update({"rp_cnp_ignored": 7, "local_ack_timeout_err": 2, "rnr_nak_retry_err": 1, "out_of_buffer": 3})
            found.update({"ethtool -S rx_pause_ctrl_phy": 500, "ethtool -S rx_discards_phy": 9})
            found.update({"ethtool -S rx_prio3_discards": 4, "ethtool -S rx_crc_errors_phy": 1})
            found.update({"ethtool -S rx_global_pause": 0} if self.plain else {})
        for way in ("arrived", "left"):
            found.update({self.names[way].format(at): 10_000 for at in range(8)})
        return {key: value for key, value in found.items() if key not in self.without}

    def _moves(self, receives: bool) -> dict[str, int]:
        """What an incast adds."""
        held = self.marks and self.tells and self.reach and self.obey
        found: dict[str, int] = {}

        def add(key: str, by: int) -> None:
            found[key] = found.get(key, 0) + by

        dropped = self.lost or (9000 if self.needed and self.pauses is None and not held and not self.plain else 0)
        if receives:
            add(self.names["arrived"].format(self.priority), BYTES * SECONDS)
            add(self.names["marked"], 80_000 if self.marks else 0)
            add(self.names["told"], 40_000 if self.marks and self.tells else 0)
            add(self.names["seq"], dropped)
            return found
        add(self.names["left"].format(self.sent), BYTES * SECONDS // 2)
        add(self.names["nak"], dropped // 2)
        if self.needed and (self.pauses is not None or self.plain):
            key = "ethtool -S rx_global_pause" if self.plain else self.names["paused"].format(self.pauses)
            add(key, 3000)
            add("ethtool -S rx_pause_ctrl_phy", 3000)
        if self.marks and self.tells and self.reach:
            add(self.names["slowed"] if self.obey else "rp_cnp_ignored", 20_000)
        return found

    def counted(self, host: str, receives: bool) -> dict[str, dict[str, Any]]:
        before = self.before()
        after = dict(before)
        for key, by in [*self._moves(receives).items(), *self.more.get(host, {}).items()]:
            if key in after:
                after[key] += by
        look = {"driver": self.driver, "why": ""}
        return {"before": {**look, "values": before}, "after": {**look, "values": after}}

    def received(self) -> list[list[float]]:
        each = int(BYTES * self.share)
        return [[float(at), at * each] for at in range(SECONDS + 1)]


def port(number: int, **bent: Any) -> RocePort:
    """A port of 400 Gb/s with flow control in priority 3, and DSCP 26 in it."""
    good: dict[str, Any] = {
        "driver": "mlx5_core",
        "protocol": ROCE,
        "state": "Active",
        "physical_state": "LinkUp",
        "rate": RATE,
        "netdev": Reading("ens1"),
        "uplink": "ens1",
        "mtu": Reading(9000),
        "gids": Reading((GidEntry(3, f"10.1.0.{number}", "IPv4", "RoCE v2", "ens1"),)),
        "gids_read": 4,
        "qos": Qos(Reading("dscp"), Reading((3,)), Reading(((26, 3),))),
        "traffic_class": Reading(106),
    }
    return RocePort("mlx5_0", 1, "MT4129", **{**good, **bent})


def host(number: int, *ports: RocePort, **more: Any) -> dict[str, Any]:
    """The variables of a host of which rdma.yml knows all but what was sent."""
    roce = RoceFacts(Reading(("mlx5_0",)), Reading(ports or (port(number),)), Reading(UNSET))
    return {
        "ansible_host": f"10.0.0.{number}",
        "ibready_node": {"node": {"kernel": "6.12", "root": True, "simulated": ""}},
        "ibready_ibverify": {"checks": [], "facts": {"ib": IbFacts().to_dict(), "roce": roce.to_dict()}},
        "ibready_expect": {"link_layer": "Ethernet", "roce_pfc": [3], "roce_tos": 104},
        "ibready_bench_jobs": IDLE,
        "ibready_incast_told": [],
        **more,
    }


def hosts(count: int = 3, **more: Any) -> dict[str, dict[str, Any]]:
    return {f"n{at}": host(at, **more) for at in range(1, count + 1)}


def sent(
    known: dict[str, dict[str, Any]], world: World, plan: dict[str, Any] | None = None, **wish: Any
) -> dict[str, dict[str, Any]]:
    """The same hosts after all rounds of incasts, as the playbook leaves them."""
    plan = plan or incast_plan(known, list(known), **wish)
    for one in known.values():
        one["ibready_incast_plan"] = plan
    for number in range(len(plan["rounds"])):
        for name, part in incast_parts(plan, known, number).items():
            if part["left"]:
                known[name]["ibready_incast_told"].append({"number": number, "left": part["left"]})
                continue
            receives = part["state"] == "watched"
            entry: dict[str, Any] = {"number": number, "counted": world.counted(name, receives)}
            entry["received"] = world.received() if receives else []
            entry["answers"] = [
                {"test": "write_bw", "server": ask["server"], "rail": ask["rail"], "untested": "", "at": "client"}
                | {"gbps": RATE * world.share / len(plan["rounds"][0][0]["senders"])}
                for ask in part["questions"]
            ]
            known[name]["ibready_incast_told"].append(entry)
    return known
