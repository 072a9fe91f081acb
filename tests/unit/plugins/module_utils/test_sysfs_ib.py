# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.ib.sysfs import read_cas
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import Bundle, Live, Unavailable
from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import ibstat

BASE = "sys/class/infiniband"
# The files of the mlx5 driver that are read; the values are made up.
HCA = {
    "hca_type": "MT4129",
    "fw_ver": "28.39.1002",
    "hw_rev": "0",
    "node_guid": "a088:c203:00e3:142a",
    "sys_image_guid": "a088:c203:00e3:142a",
    "ports/1/state": "4: ACTIVE",
    "ports/1/phys_state": "5: LinkUp",
    "ports/1/rate": "400 Gb/sec (4X NDR)",
    "ports/1/lid": "0x1a",
    "ports/1/lid_mask_count": "0",
    "ports/1/sm_lid": "0x1",
    "ports/1/cap_mask": "0xa751e848",
    "ports/1/gids/0": "fe80:0000:0000:0000:a088:c203:00e3:142a",
    "ports/1/link_layer": "InfiniBand",
}
IBSTAT = """\
CA 'mlx5_0'
\tCA type: MT4129
\tNumber of ports: 1
\tFirmware version: 28.39.1002
\tHardware version: 0
\tNode GUID: 0xa088c20300e3142a
\tSystem image GUID: 0xa088c20300e3142a
\tPort 1:
\t\tState: Active
\t\tPhysical state: LinkUp
\t\tRate: 400
\t\tBase lid: 26
\t\tLMC: 0
\t\tSM lid: 1
\t\tCapability mask: 0xa751e848
\t\tPort GUID: 0xa088c20300e3142a
\t\tLink layer: InfiniBand
"""


def grow(root: Path, name: str = "mlx5_0", files: dict[str, str] = HCA) -> None:
    for path, text in files.items():
        place = root / BASE / name / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text + "\n")


@pytest.mark.parametrize("kind", ["live", "bundle"])
def test_sysfs_says_what_ibstat_says(tmp_path: Path, kind: str) -> None:
    grow(tmp_path / "files")
    evidence = Bundle(tmp_path) if kind == "bundle" else Live(tmp_path / "files")
    assert read_cas(evidence) == ibstat.parse(IBSTAT).cas


def test_devices_are_found_through_the_links_of_sysfs(tmp_path: Path) -> None:
    grow(tmp_path, "../../devices/pci0/mlx5_0")
    (tmp_path / BASE / "mlx5_0").symlink_to("../../devices/pci0/mlx5_0")
    assert read_cas(Live(tmp_path)) == ibstat.parse(IBSTAT).cas


def test_ports_come_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for num in (10, 2, 1):
        grow(tmp_path, files={f"ports/{num}/state": "1: DOWN"})
    (ca,) = read_cas(Live(tmp_path))
    assert ca.n_ports == 3
    assert [port.num for port in ca.ports] == [1, 2, 10]


@pytest.mark.parametrize(
    ("file", "text", "field", "value"),
    [
        pytest.param("state", "1: DOWN", "state", "Down", id="down"),
        pytest.param("state", "2: INIT", "state", "Initializing", id="initializing"),
        pytest.param("state", "3: ARMED", "state", "Armed", id="armed"),
        pytest.param("phys_state", "2: Polling", "physical_state", "Polling", id="polling"),
        pytest.param("phys_state", "7: Phy Test", "physical_state", "PhyTest", id="test"),
        pytest.param("phys_state", "0: <unknown>", "physical_state", "???", id="no known state"),
        pytest.param("rate", "2.5 Gb/sec (1X SDR)", "rate", 2.5, id="slowest rate"),
        pytest.param("rate", "10 Gb/sec (4X)", "rate", 10.0, id="rate of an old kernel"),
        pytest.param("lid", "0xffff", "lid", 65535, id="no LID given yet"),
    ],
)
def test_values_become_the_words_of_ibstat(tmp_path: Path, file: str, text: str, field: str, value: object) -> None:
    grow(tmp_path, files={**HCA, f"ports/1/{file}": text})
    (ca,) = read_cas(Live(tmp_path))
    assert getattr(ca.ports[0], field) == value


@pytest.mark.parametrize("missing", sorted(HCA))
def test_a_missing_file_leaves_only_its_field_empty(tmp_path: Path, missing: str) -> None:
    grow(tmp_path, files={name: text for name, text in HCA.items() if name != missing})
    (ca,) = read_cas(Live(tmp_path))
    (port,) = ca.ports
    values = [*vars(ca).values(), *vars(port).values()]
    assert len([value for value in values if value in ("", None)]) == 1


def test_a_device_without_ports_has_an_unknown_number_of_them(tmp_path: Path) -> None:
    grow(tmp_path, files={"node_guid": HCA["node_guid"]})
    (ca,) = read_cas(Live(tmp_path))
    assert (ca.n_ports, ca.ports) == (None, ())


def test_no_device_is_not_the_same_as_no_directory(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="/sys/class/infiniband: no such directory"):
        read_cas(Live(tmp_path))
    (tmp_path / BASE).mkdir(parents=True)
    assert read_cas(Live(tmp_path)) == ()


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        pytest.param("ports/1/rate", "fast", "ports/1/rate: line 1 'fast': not a num", id="rate"),
        pytest.param("ports/1/state", "4: AKTIV", "not a port state", id="localized state"),
        pytest.param("ports/1/state", "ACTIVE", "not a port state", id="state without number"),
        pytest.param("ports/1/phys_state", "5: Up", "not a port state", id="physical state"),
        pytest.param("ports/1/lid", "-1", "ports/1/lid: line 1 '-1': not a num", id="LID"),
        pytest.param("ports/1/gids/0", "fe80::1", "not a GID", id="GID"),
        pytest.param("ports/1/gids/0", HCA["ports/1/gids/0"] + ":0000", "not a GUID", id="long GID"),
        pytest.param("node_guid", "a088", "mlx5_0/node_guid: .* not a GUID", id="GUID"),
        pytest.param("ports/one/state", "4: ACTIVE", "'one': not a port number", id="port number"),
    ],
)
def test_garbage_in_a_file_names_the_file(tmp_path: Path, file: str, text: str, message: str) -> None:
    grow(tmp_path, files={**HCA, file: text})
    with pytest.raises(ParseError, match=message) as caught:
        read_cas(Live(tmp_path))
    assert caught.value.tool.startswith("/sys/class/infiniband/mlx5_0")
