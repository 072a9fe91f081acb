# SPDX-License-Identifier: GPL-3.0-or-later
"""What a node reads before, while and after an incast, of a made-up sysfs."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._between.bench import incast
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import Live, Unavailable

ETHTOOL = """NIC statistics:
     rx_packets: 12
     rx_prio3_bytes: 700
     rx_prio3_pause: 42
     rx_prio3_discards: 1
     rx_pause_ctrl_phy: 43
     ch0_events: 5
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    base = tmp_path / "sys/class/infiniband/mlx5_0"
    files = {
        "ports/1/hw_counters/out_of_sequence": "11\n",
        "ports/1/hw_counters/np_cnp_sent": "12\n",
        "ports/1/hw_counters/lifespan": "10\n",
        "ports/1/counters/port_rcv_data": "1000\n",
        "device/net/ens1/keep": "",
    }
    for name, text in files.items():
        (base / name).parent.mkdir(parents=True, exist_ok=True)
        (base / name).write_text(text)
    (tmp_path / "sys/class/net/ens1").mkdir(parents=True)
    (tmp_path / "sys/class/net/ens1/dev_port").write_text("0\n")
    bound(base, "mlx5_core")
    tool(tmp_path, ETHTOOL, monkeypatch)
    return tmp_path


class Refused(Live):
    """A node on which one path may not be read; root reads all, so that permissions prove nothing."""

    def __init__(self, root: Path, end: str) -> None:
        super().__init__(root)
        self.end = end

    def read(self, path: str) -> str:
        return super().read(self._asked(path))

    def list(self, path: str) -> list[str]:
        return super().list(self._asked(path))

    def _asked(self, path: str) -> str:
        if path.endswith(self.end):
            raise Unavailable(path, "permission denied")
        return path


def bound(base: Path, driver: str) -> None:
    link = base / "device/driver"
    link.unlink(missing_ok=True)
    link.symlink_to(f"../../bus/pci/drivers/{driver}")


def tool(root: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "bin").mkdir(exist_ok=True)
    (root / "said").write_text(text)
    program = root / "bin/ethtool"
    program.write_text(f'#!/bin/sh\n[ "$*" = "-S ens1" ] || exit 64\n/bin/cat {root}/said\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(root / "bin"))


def test_counters_of_both_homes_are_read_and_no_others(root: Path) -> None:
    assert incast.look(Live(root), "mlx5_0", 1) == {
        "driver": "mlx5_core",
        "why": "",
        "values": {
            "out_of_sequence": 11,
            "np_cnp_sent": 12,
            "ethtool -S rx_prio3_bytes": 700,
            "ethtool -S rx_prio3_pause": 42,
            "ethtool -S rx_prio3_discards": 1,
            "ethtool -S rx_pause_ctrl_phy": 43,
        },
    }


def test_what_cannot_be_read_says_so(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool(root, ETHTOOL.replace("     ch0_events: 5\n", ""), monkeypatch)
    assert "the output was cut" in incast.look(Live(root), "mlx5_0", 1)["why"]
    tool(root, "no stats available\n", monkeypatch)
    assert "NIC statistics" in incast.look(Live(root), "mlx5_0", 1)["why"]
    bad = root / "sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence"
    bad.write_text("many\n")
    told = incast.look(Live(root), "mlx5_0", 1)
    assert (told["values"], "is no number" in told["why"]) == ({}, True)


def test_without_ethtool_the_driver_s_counters_are_left(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "bin/ethtool").unlink()
    told = incast.look(Live(root), "mlx5_0", 1)
    assert (told["why"], told["values"]) == ("", {"out_of_sequence": 11, "np_cnp_sent": 12})


def test_interfaces_that_cannot_be_listed_are_said(root: Path) -> None:
    told = incast.look(Refused(root, "device/net"), "mlx5_0", 1)
    assert (told["values"], "permission denied" in told["why"]) == ({}, True)


def test_without_an_interface_the_driver_s_counters_are_left(root: Path) -> None:
    shutil.rmtree(root / "sys/class/infiniband/mlx5_0/device/net")
    told = incast.look(Live(root), "mlx5_0", 1)
    assert (told["why"], told["values"]) == ("", {"out_of_sequence": 11, "np_cnp_sent": 12})


@pytest.mark.parametrize("port", ["unreadable", "1\n"])
def test_another_port_s_interface_is_never_taken(root: Path, port: str) -> None:
    (root / "sys/class/infiniband/mlx5_0/device/net/ens2").mkdir()
    (root / "sys/class/net/ens2").mkdir()
    (root / "sys/class/net/ens2/dev_port").write_text("1\n")
    evidence = Refused(root, "ens1/dev_port") if port == "unreadable" else Live(root)
    if port != "unreadable":
        (root / "sys/class/net/ens1/dev_port").write_text(port)
    told = incast.look(evidence, "mlx5_0", 1)
    assert told["values"] == {}
    assert "which of ens1, ens2 is port 1 is not known" in told["why"]
    assert ("permission denied" in told["why"]) == (port == "unreadable")


def test_an_only_interface_is_the_port_s_whatever_number_it_has(root: Path) -> None:
    assert incast.look(Refused(root, "ens1/dev_port"), "mlx5_0", 1)["values"]["ethtool -S rx_prio3_pause"] == 42


def test_bytes_come_from_where_the_driver_tells_them(root: Path) -> None:
    base = root / "sys/class/infiniband/mlx5_0"
    assert incast.received(Live(root), "mlx5_0", 1) == 4000
    (base / "ports/1/counters/port_rcv_data").unlink()
    assert incast.received(Live(root), "mlx5_0", 1) is None
    (base / "ports/1/hw_counters/rx_roce_good_bytes").write_text("77\n")
    assert incast.received(Live(root), "mlx5_0", 1) is None
    bound(base, "bnxt_en")
    assert incast.received(Live(root), "mlx5_0", 1) == 77


@pytest.mark.parametrize(("servers", "limit", "looks"), [(3, 99.0, 4), (50, 5.0, 6), (0, 99.0, 1)])
def test_a_port_is_watched_until_its_servers_are_gone_or_time_is_up(
    root: Path, servers: int, limit: float, looks: int
) -> None:
    counter = root / "sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data"
    now, left = [100.0], [servers]

    def busy() -> bool:
        left[0] -= 1
        return left[0] >= 0

    def sleep(seconds: float) -> None:
        now[0] += seconds
        counter.write_text(f"{int(counter.read_text()) + 25}\n")

    found: list[Any] = incast.watch(Live(root), "mlx5_0", 1, limit, busy, sleep, lambda: now[0])
    assert found == [[float(at), 4000 + 100 * at] for at in range(looks)]


def test_a_port_that_does_not_tell_is_waited_for_all_the_same(root: Path) -> None:
    (root / "sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data").unlink()
    waited: list[float] = []
    assert incast.watch(Live(root), "mlx5_0", 1, 99.0, lambda: len(waited) < 4, waited.append) == []
    assert waited == [1.0] * 4
