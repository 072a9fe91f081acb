# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import ibv_devinfo
from tests.unit.samples import IBV_DEVINFO

TWO = IBV_DEVINFO + IBV_DEVINFO.replace("mlx5_0", "mlx5_1")


def test_devices_and_ports_are_read() -> None:
    first, second = ibv_devinfo.parse(TWO).hcas
    assert (first.name, second.name) == ("mlx5_0", "mlx5_1")
    assert first.get("transport") == "InfiniBand (0)"
    (port,) = first.ports
    assert (port.mtu("active_mtu"), port.mtu("max_mtu")) == (4096, 4096)
    assert (port.number("sm_lid"), port.number("port_lid")) == (1, 3)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("\n", "\r\n", id="CRLF"),
        pytest.param("\t", "\u00a0 ", id="blanks that do not break"),
        pytest.param("\t", " " * 40, id="very wide"),
        pytest.param("\t\tport:\t1\n", "\tDevice ports:\n\t\tport:\t1\n", id="MLNX_OFED"),
        pytest.param("hca_id:\tmlx5_0", "ca_id:\tmlx5_0", id="the first letter lost"),
        pytest.param("\n\n", "\n", id="no blank line between devices"),
    ],
)
def test_how_it_is_shown_changes_no_fact(old: str, new: str) -> None:
    assert ibv_devinfo.parse(TWO.replace(old, new)) == ibv_devinfo.parse(TWO)


def test_an_unknown_mtu_is_none() -> None:
    text = IBV_DEVINFO.replace("active_mtu:\t\t4096 (5)", "active_mtu:\t\tinvalid MTU (0)")
    assert ibv_devinfo.parse(text).hcas[0].ports[0].mtu("active_mtu") is None


@pytest.mark.parametrize(
    "line",
    [
        "No IB devices found",
        "Failed to get IB devices list: Function not implemented",
        "IB device 'mlx5_9' wasn't found",
    ],
)
def test_an_error_is_told_not_raised(line: str) -> None:
    found = ibv_devinfo.facts(ibv_devinfo.parse(f"libibverbs: Warning: x\n{line}\n"))
    assert (found["hcas"], found["error_lines"], found["warnings"]) == ([], [line], ["x"])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param(" \n", "empty", id="nothing"),
        pytest.param("Segmentation fault", "no device", id="another's words"),
        pytest.param(IBV_DEVINFO * 2, "already listed", id="twice"),
        pytest.param("port: 1\n", "before its device", id="no header"),
    ],
)
def test_what_gives_no_facts_says_why(text: str, reason: str) -> None:
    with pytest.raises(ParseError, match=reason):
        ibv_devinfo.parse(text)


def test_a_line_whose_device_is_not_known_is_no_other_device_s() -> None:
    whole = ibv_devinfo.parse(TWO)
    found = ibv_devinfo.parse(TWO.replace("hca_id:\tmlx5_1\n", ""))
    assert found.hcas == whole.hcas[:1]
    assert found.unread > 5
    assert ibv_devinfo.parse("port: 1\n" + TWO).hcas == whole.hcas
    assert (whole.unread, ibv_devinfo.facts(found)["unread"]) == (0, found.unread)


def test_a_number_that_is_damaged_is_none() -> None:
    (hca,) = ibv_devinfo.parse(IBV_DEVINFO.replace("sm_lid:\t\t\t1", "sm_lid:\t\t\tone")).hcas
    assert hca.ports[0].number("sm_lid") is None
    (hca,) = ibv_devinfo.parse(IBV_DEVINFO[: IBV_DEVINFO.index("sm_lid:\t\t\t1") + 10]).hcas
    assert hca.ports[0].number("sm_lid") is None
