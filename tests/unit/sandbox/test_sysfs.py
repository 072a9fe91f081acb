# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulated /sys/class/infiniband is written as the kernel writes the real one."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from sandbox.config import REPOSITORY
from sandbox.fabric.dump import Node, Port
from sandbox.fabric.sysfs import files, guid, rate, write

HARDWARE = yaml.safe_load((REPOSITORY / "sandbox/hardware/hca.yml").read_text())
NAMES = {"node": "node1", "hca": "ibsim0"}


def node(state: str = "Active", physical: str = "LinkUp", width: int = 4) -> Node:
    port = Port(
        num=1,
        guid=0x0200000000010001,
        lid=26,
        lmc=0,
        sm_lid=1,
        width=width,
        lane_gbps=100.0,
        state=state,
        physical=physical,
    )
    return Node("H-node1-0", "Ca", 0x0200000000010000, 0x0200000000010000, (port,))


@pytest.mark.parametrize(
    ("width", "lane", "words"),
    [
        pytest.param(4, 100.0, "400 Gb/sec (4X NDR)", id="a whole NDR link"),
        pytest.param(1, 100.0, "100 Gb/sec (1X NDR)", id="one lane of NDR"),
        pytest.param(4, 50.0, "200 Gb/sec (4X HDR)", id="HDR"),
        pytest.param(4, 14.0, "56 Gb/sec (4X FDR)", id="FDR"),
        pytest.param(1, 2.5, "2.5 Gb/sec (1X SDR)", id="half gigabits"),
        pytest.param(4, 2.5, "10 Gb/sec (4X SDR)", id="halves that make a whole"),
    ],
)
def test_rates_are_in_the_kernel_s_words(width: int, lane: float, words: str) -> None:
    assert rate(width, lane) == words


def test_guids_are_in_groups_of_four_digits() -> None:
    assert guid(0x0200000000010010) == "0200:0000:0001:0010"


def test_an_active_port_has_every_file_that_ibstat_reads() -> None:
    tree = files(node(), NAMES, HARDWARE, {})
    assert tree["ports/1/state"] == "4: ACTIVE\n"
    assert tree["ports/1/phys_state"] == "5: LinkUp\n"
    assert tree["ports/1/rate"] == "400 Gb/sec (4X NDR)\n"
    assert tree["ports/1/lid"] == "0x1a\n"
    assert tree["ports/1/sm_lid"] == "0x1\n"
    assert tree["ports/1/gids/0"] == "fe80:0000:0000:0000:0200:0000:0001:0001\n"
    assert tree["ports/1/link_layer"] == "InfiniBand\n"
    assert tree["node_guid"] == "0200:0000:0001:0000\n"


def test_a_port_without_a_link_has_neither_lid_nor_sm_nor_its_rate() -> None:
    tree = files(node("Down", "Polling"), NAMES, HARDWARE, {})
    assert tree["ports/1/state"] == "1: DOWN\n"
    assert tree["ports/1/phys_state"] == "2: Polling\n"
    assert tree["ports/1/lid"] == "0xffff\n"
    assert tree["ports/1/sm_lid"] == "0x0\n"
    assert "NDR" not in tree["ports/1/rate"]


def test_the_hca_says_that_it_is_simulated() -> None:
    tree = files(node(), NAMES, HARDWARE, {})
    assert tree["node_desc"] == "node1 ibsim0 (simulated)\n"
    assert "SIMULATED" in tree["board_id"]


def test_an_override_replaces_only_what_it_names() -> None:
    true = files(node(), NAMES, HARDWARE, {})
    false = files(node(), NAMES, HARDWARE, {"fw_ver": "28.36.1010"})
    assert {name for name in true if true[name] != false[name]} == {"fw_ver"}


def test_only_changed_files_are_written_and_nothing_else_lies_around(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    home = tmp_path / "infiniband/ibsim0"
    tree = files(node(), NAMES, HARDWARE, {})
    assert write(home, tree, scratch) == len(tree)
    assert write(home, tree, scratch) == 0
    assert write(home, files(node(width=1), NAMES, HARDWARE, {}), scratch) == 1
    assert (home / "ports/1/rate").read_text() == "100 Gb/sec (1X NDR)\n"
    there = {str(path.relative_to(home)) for path in home.rglob("*") if path.is_file()}
    assert there == set(tree)
    assert list(scratch.iterdir()) == []
