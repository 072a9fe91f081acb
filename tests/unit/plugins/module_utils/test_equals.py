# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that tools tell of equal parts, held against most of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._equals import tell
from ansible_collections.ibready.cluster.plugins.module_utils._equals.compare import (
    NOTHING,
    UNREAD,
    Outlier,
    Part,
    outliers,
)
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import Check
from ansible_collections.ibready.cluster.plugins.module_utils._parse import leaves
from ansible_collections.ibready.cluster.plugins.module_utils._verify import catalog
from ansible_collections.ibready.cluster.plugins.module_utils._verify.verify import verify
from tests.gauntlet import render

SETTING, OTHER = "roce.equals.setting", "roce.equals.other"
assert {SETTING, OTHER} <= set(catalog.CATALOG)
TEXT = """DCBX mode: OS controlled
PFC configuration:
    enabled     0   0   0   1
tc: 0 ratelimit: unlimited, tsa: vendor
     priority:  0
tc: 1 ratelimit: unlimited, tsa: vendor
     priority:  1
"""


def rail(at: int, text: str = TEXT, **more: str) -> Part:
    texts = {"mlnx_qos": leaves.of_text(text), **({"rdma": more} if more else {})}
    return Part(("Ethernet", "MT4129"), f"mlx5_{at}/1", (f"mlx5_{at}", f"eth{at}"), texts)


def rails(size: int = 8, odd: dict[int, str] | None = None) -> list[Part]:
    """Equal rails, but for those whose text has something else."""
    return [rail(at, (odd or {}).get(at, TEXT)) for at in range(size)]


def bent(old: str, new: str) -> str:
    assert old in TEXT
    return TEXT.replace(old, new)


FIRMWARE = bent("OS controlled", "Firmware controlled")


def brief(found: list[Outlier]) -> list[tuple[str, str, str, str]]:
    return [(one.part.subject, one.leaf, one.value, one.usual) for one in found]


def checks(parts: list[Part], told: tuple[Check, ...] = (), **expect: Any) -> list[Check]:
    return list(tell.checks(outliers(parts), told, from_inventory(expect), SETTING, OTHER))


def test_leaves_are_named_in_the_words_of_the_text() -> None:
    assert leaves.of_text(TEXT) == {
        "DCBX mode": "OS controlled",
        "PFC configuration": "",
        "enabled": "0 0 0 1",
        "tc 0": "ratelimit: unlimited, tsa: vendor",
        "priority": "0",
        "tc 1": "ratelimit: unlimited, tsa: vendor",
        "priority#2": "1",
    }
    assert leaves.of_text("Operational Info\n----\nFEC   : No FEC\n") == {"Operational Info/FEC": "No FEC"}


def test_the_odd_one_of_eight_is_found_whatever_the_leaf_is_called() -> None:
    assert outliers(rails()) == []
    assert brief(outliers(rails(odd={5: FIRMWARE}))) == [
        ("mlx5_5/1", "mlnx_qos/DCBX mode", "Firmware controlled", "OS controlled")
    ]
    new = TEXT + "Word of next year: off\n"
    every = dict.fromkeys(range(8), new)
    assert brief(outliers(rails(odd={**every, 2: new.replace("off", "on")}))) == [
        ("mlx5_2/1", "mlnx_qos/Word of next year", "on", "off")
    ]


def test_a_line_that_is_left_out_in_the_middle_is_a_difference() -> None:
    (one,) = outliers(rails(odd={1: bent("DCBX mode: OS controlled\n", "")}))
    assert (one.value, one.usual) == (NOTHING, "OS controlled")


def test_a_text_that_was_cut_is_left_out() -> None:
    for lines in range(1, len(TEXT.splitlines())):
        cut = "".join(TEXT.splitlines(keepends=True)[:lines])
        assert outliers(rails(odd={1: cut})) == [], lines


@pytest.mark.parametrize(
    ("size", "odd", "found"), [(8, 1, 1), (8, 2, 2), (8, 3, 0), (5, 1, 1), (4, 1, 1), (4, 2, 0), (3, 1, 0)]
)
def test_only_a_clear_majority_of_at_least_four_makes_one_odd(size: int, odd: int, found: int) -> None:
    assert len(outliers(rails(size, dict.fromkeys(range(odd), FIRMWARE)))) == found


def test_parts_of_another_kind_are_no_equals() -> None:
    other = [replace(part, kind=("Ethernet", "MT4127")) for part in rails(8, dict.fromkeys(range(8), FIRMWARE))]
    assert outliers([*rails(7), other[0]]) == []


def test_own_names_are_no_difference_and_are_put_back() -> None:
    named = [rail(at, TEXT, note=f"eth{at} of mlx5_{at}") for at in range(8)]
    assert outliers(named) == []
    named[3] = rail(3, TEXT, note="eth4 of mlx5_3")
    assert brief(outliers(named)) == [("mlx5_3/1", "rdma/note", "eth4 of mlx5_3", "eth3 of mlx5_3")]


def test_who_is_down_is_told_by_another_check_and_by_nothing_else() -> None:
    ports = [rail(at, FIRMWARE if at == 2 else TEXT, state="1: DOWN" if at == 2 else "4: ACTIVE") for at in range(8)]
    assert outliers(ports) == []


def test_a_file_that_is_missing_is_told_and_one_that_nobody_could_read_is_not() -> None:
    ports = [rail(at, TEXT, sm_lid="0x1", rate="400") for at in range(8)]
    ports[3] = rail(3, TEXT, sm_lid="0x1")
    ports[4] = rail(4, TEXT, sm_lid="0x7", rate=UNREAD)
    assert brief(outliers(ports)) == [
        ("mlx5_4/1", "rdma/sm_lid", "0x7", "0x1"),
        ("mlx5_3/1", "rdma/rate", NOTHING, "400"),
    ]


def test_what_was_asked_of_one_part_alone_is_no_difference() -> None:
    assert outliers([rail(at, TEXT, sm_lid="0x1", **({"why": "x"} if at == 3 else {})) for at in range(8)]) == []


def gpu(at: int, state: str = "P0", memory: str = "2619 MHz") -> Part:
    told = {"performance_state": state, "clocks/mem_clock": memory, "last": "x"}
    return Part(("GPU", "H100"), f"0000:{at}3:00.0", (f"0000:{at}3:00.0",), {"nvidia-smi": told})


def test_a_clock_is_compared_within_one_state_and_more_is_fine() -> None:
    slow = [gpu(at, memory="1593 MHz" if at == 3 else "2619 MHz") for at in range(8)]
    assert [one.value for one in outliers(slow)] == ["1593 MHz"]
    assert outliers([gpu(at, "P8" if at == 3 else "P0", "405 MHz" if at == 3 else "2619 MHz") for at in range(8)]) == []
    assert outliers([gpu(at, memory="3201 MHz" if at == 3 else "2619 MHz") for at in range(8)]) == []


def test_what_no_row_names_is_a_warning_in_the_words_of_its_source() -> None:
    (check,) = checks(rails(odd={5: bent("priority:  1", "priority:  2")}))
    assert (check.id, check.result, check.severity, check.subject) == (OTHER, "fail", "warning", "mlx5_5/1")
    assert (check.observed, check.expected) == ("mlnx_qos/priority#2: 2", "1")
    assert check.expected_from == "equals 7/8"
    assert "ibready_expect.differs: [mlnx_qos/priority#2]" in check.remedy


def test_a_row_gives_cause_severity_and_remedy() -> None:
    (check,) = checks(
        rails(odd={5: bent("tc: 1 ratelimit: unlimited, tsa: vendor", "tc: 1 ratelimit: unlimited, tsa: ets, bw: 2%")})
    )
    assert (check.id, check.severity) == (SETTING, "error")
    assert "another share of the wire" in check.cause
    assert "mlnx_qos -i eth5" in check.remedy


# What eight GPUs show, and what one of them may have instead: by leaf, with the check that tells it.
HELD = "clocks_event_reasons/clocks_event_reason_applications_clocks_setting"
GPUS = {
    "mig_mode/current_mig": ("Disabled", "Enabled", "setting"),
    "compute_mode": ("Default", "Exclusive_Process", "setting"),
    "ecc_mode/current_ecc": ("Enabled", "Disabled", "setting"),
    "gpu_power_readings/current_power_limit": ("700.00 W", "650.00 W", "setting"),
    "applications_clocks/graphics_clock": ("1980 MHz", "1200 MHz", "setting"),
    "applications_clocks/mem_clock": ("2619 MHz", "1593 MHz", "setting"),
    "max_clocks/graphics_clock": ("1980 MHz", "1755 MHz", "setting"),
    "bar1_memory_usage/total": ("131072 MiB", "65536 MiB", "setting"),
    "addressing_mode": ("HMM", "ATS", "setting"),
    "driver_model/current_dm": ("TCC", "WDDM", "setting"),
    HELD: ("Not Active", "Active", "setting"),
    "gsp_firmware_version": ("580.105.08", "570.86.15", "firmware"),
    "vbios_version": ("96.00.A5.00.01", "96.00.61.00.01", "firmware"),
    "inforom_version/img_version": ("G520.0200.00.05", "G520.0200.00.04", "firmware"),
    "persistence_mode": ("Enabled", "Disabled", "other"),
    "accounting_mode": ("Enabled", "Disabled", "other"),
}
USUAL = {leaf: usual for leaf, (usual, _odd, _id) in GPUS.items()}


def cards(odd: dict[str, str], size: int = 8, number: int = 1) -> list[Part]:
    """Equal GPUs, of which so many have something else."""
    texts = [{"nvidia-smi": {**USUAL, **(odd if at < number else {})}} for at in range(size)]
    return [Part(("GPU",), f"0000:{at}3:00.0", (f"0000:{at}3:00.0",), text) for at, text in enumerate(texts)]


def told_of(parts: list[Part], *told: Check, **expect: Any) -> list[tuple[str, str, str]]:
    ids = [f"gpu.equals.{which}" for which in ("setting", "other", "firmware")]
    found = tell.checks(outliers(parts), told, from_inventory(expect), *ids)
    return [(one.id, one.subject, one.observed) for one in found]


@pytest.mark.parametrize("leaf", GPUS)
def test_the_gpu_that_differs_is_told_by_the_check_of_its_row(leaf: str) -> None:
    _usual, odd, which = GPUS[leaf]
    found = (f"gpu.equals.{which}", "0000:03:00.0", f"nvidia-smi/{leaf}: {odd}")
    assert told_of(cards({leaf: odd})) == [found]
    # Half of them are the site's own pattern; of three, two are no majority.
    assert told_of(cards({leaf: odd}, number=4)) == told_of(cards({leaf: odd}, size=3)) == []


@pytest.mark.parametrize("status", [0, 14])
def test_gpus_are_compared_also_where_nvidia_smi_ends_with_a_warning(status: int) -> None:
    node = render.node("hgx-h800-8")
    node.more["smi"] = {3: {"current_power_limit": "450.00 W"}}
    tree = render.render(node)
    tree.commands["nvsmi_xml"] = replace(tree.commands["nvsmi_xml"], rc=status)
    found = verify(tree, from_inventory(node.expect)).checks
    mine = [one for one in found if one.result == "fail" and "450" in str(one.observed)]
    assert [(one.id, one.subject) for one in mine] == [("gpu.equals.setting", "0000:43:00.0")]


@pytest.mark.parametrize(
    ("leaf", "fine"),
    [
        ("gpu_power_readings/current_power_limit", "720.00 W"),
        ("applications_clocks/graphics_clock", "2000 MHz"),
        ("max_clocks/graphics_clock", "2000 MHz"),
        ("vbios_version", "Unknown Error"),  # gpu.device.answers tells that.
        ("applications_clocks/graphics_clock", "Requested functionality has been deprecated"),
    ],
)
def test_more_than_most_and_no_answer_are_no_difference(leaf: str, fine: str) -> None:
    assert told_of(cards({leaf: fine})) == []


def test_a_setting_that_holds_clocks_is_compared_in_one_state_and_counts_where_it_holds() -> None:
    idle = "clocks_event_reasons/clocks_event_reason_gpu_idle"
    assert told_of(cards({HELD: "Active", idle: "Active"})) == []
    every = [replace(part, texts={"nvidia-smi": {**part.texts["nvidia-smi"], HELD: "Active"}}) for part in cards({})]
    every[3] = cards({})[3]
    assert told_of(every) == []


@pytest.mark.parametrize(
    ("leaf", "expect", "check"),
    [
        ("mig_mode/current_mig", {"mig": False}, "gpu.mig.mode"),
        ("ecc_mode/current_ecc", {"ecc": True}, "gpu.ecc.mode"),
    ],
)
def test_what_the_site_wants_or_another_check_told_is_not_told_again(
    leaf: str, expect: dict[str, Any], check: str
) -> None:
    parts = cards({leaf: GPUS[leaf][1]})
    assert told_of(parts, **expect) == told_of(parts, failed(check, parts[0].subject)) == []
    assert len(told_of(parts, failed(check, parts[1].subject))) == 1


def test_a_value_that_another_finding_has_as_well_hides_nothing() -> None:
    parts = cards({"persistence_mode": "Disabled", "accounting_mode": "Disabled"})
    told = failed("gpu.driver.persistence", parts[0].subject, "Disabled")
    assert [observed for _id, _subject, observed in told_of(parts, told)] == ["nvidia-smi/accounting_mode: Disabled"]


def test_parts_that_differ_alike_are_one_finding() -> None:
    (check,) = checks(rails(odd={5: FIRMWARE, 6: FIRMWARE}))
    assert check.subject == "mlx5_5/1 mlx5_6/1"
    many = "".join(f"w{at} off\n" for at in range(9)) + TEXT
    (check,) = checks(rails(odd={**dict.fromkeys(range(8), many), 2: many.replace("off", "on")}))
    assert check.observed == "mlnx_qos/w0: on; mlnx_qos/w1: on; mlnx_qos/w2: on; mlnx_qos/w3: on and 5 more"


def test_the_site_says_in_what_parts_are_meant_to_differ() -> None:
    parts = rails(odd={5: FIRMWARE})
    assert checks(parts, differs=["mlnx_qos/DCBX mode"]) == []
    assert len(checks(parts, differs=["mlnx_qos/enabled"])) == 1


def failed(check_id: str, subject: str, observed: str = "") -> Check:
    return Check(check_id, subject, "fail", "error", observed)


def test_what_another_check_told_of_the_part_is_not_told_twice() -> None:
    text = TEXT + "Priority trust state: dscp\n"
    parts = rails(odd={**dict.fromkeys(range(8), text), 5: text.replace("dscp", "pcp")})
    assert checks(parts, (failed("roce.qos.trust", "mlx5_5", "pcp"),)) == []
    assert len(checks(parts, (failed("roce.qos.trust", "mlx5_4", "pcp"),))) == 1
    text = TEXT + "Word of next year: off\n"
    parts = rails(odd={**dict.fromkeys(range(8), text), 5: text.replace("off", "on")})
    assert checks(parts, (failed("roce.qos.other", "mlx5_5", "its word of next year is odd"),)) == []


@pytest.mark.parametrize(
    ("path", "told", "found"),
    [
        ("/sys/class/net/eth0/mtu", failed("roce.netdev.mtu", "mlx5_0/1", "eth0 1500, RDMA MTU 1024"), 0),
        ("/sys/class/net/eth1/mtu", failed("roce.netdev.mtu", "mlx5_0/1", "eth0 1500, RDMA MTU 1024"), 1),
        ("/proc/sys/vm/overcommit_memory", failed("host.floor.usual", "vm.overcommit_memory", "2"), 0),
        ("/proc/sys/vm/swappiness", failed("host.floor.usual", "vm.overcommit_memory", "2"), 1),
        ("/proc/sys/vm/swappiness", failed("host.memory.available", "host", "1"), 1),
        ("/sys/class/net/eth1/speed", failed("roce.port.loss", "mlx5_1/1", "3 % of packets"), 1),
        ("timedatectl/NTP", failed("host.clock.synchronised", "host", "not synchronised"), 0),
        ("timedatectl/Timezone", failed("host.clock.synchronised", "host", "not synchronised"), 1),
    ],
)
def test_what_a_host_differs_in_is_told_once_by_whatever_part_a_check_calls_it(
    path: str, told: Check, found: int
) -> None:
    source, leaf = ("", path) if path.startswith("/") else path.split("/")
    hosts = [
        Part(("host",), "host", (), {source.rstrip("/"): {leaf.lstrip("/"): "1" if at else "2"}}) for at in range(5)
    ]
    assert len(checks(hosts, (told,))) == found


def test_what_another_check_told_of_something_else_hides_nothing() -> None:
    parts = rails(odd={5: bent("priority:  1", "priority:  2")})
    assert len(checks(parts, (failed("roce.qos.trust", "mlx5_5", "pcp"),))) == 1
    # A row says by whom the very thing is judged.
    parts = rails(odd={5: bent("enabled     0   0   0   1", "enabled     0   0   0   0")})
    assert checks(parts, (failed("roce.qos.pfc", "mlx5_5", "none"),)) == []
    assert len(checks(parts, (failed("ib.port.errors", "mlx5_5", "0"),))) == 1
    # A row says which checks judge the very thing: none looks at who sets the flow control.
    assert len(checks(rails(odd={5: FIRMWARE}), (failed("roce.qos.trust", "mlx5_5"),))) == 1


@pytest.mark.parametrize(
    ("address", "found"),
    [("0000:45:00.0", ("ib.equals.other", "mlx5_3/1")), ("0000:43:00.0", ("gpu.equals.other", "0000:43:00.0"))],
)
def test_a_control_register_of_one_part_is_told_by_its_area(address: str, found: tuple[str, str]) -> None:
    node = render.node("hgx-h100-8")
    tree = render.render(node)
    path = f"/sys/bus/pci/devices/{address}/config"
    data = bytearray(tree.read_bytes(path))
    at = data[0x34]
    while data[at] != 0x10:
        at = data[at + 1]
    data[at + 0x10] |= 0x80  # Link control: extended synch.
    tree.files[tree._resolve(path)] = bytes(data)
    (check,) = [one for one in verify(tree, from_inventory(node.expect)).checks if one.result == "fail"]
    assert (check.id, check.subject) == found
    assert (check.observed, check.expected) == ("PCI config/link control: 0x0080", "0x0000")


def test_a_gpu_with_fewer_processes_is_compared_as_the_others_are() -> None:
    def having(at: int, processes: int, mode: str = "Enabled") -> Part:
        listed = {f"accounted_processes/p/is_running#{number}": "1" for number in range(2, 2 + processes)}
        told = {"persistence_mode": mode, "accounted_processes/p/is_running": "1", **listed}
        return replace(gpu(at), texts={"nvidia-smi": told})

    parts = [*(having(at, 5) for at in range(7)), having(7, 4, "Disabled")]
    assert [(one.part.subject, one.leaf) for one in outliers(parts)] == [
        (parts[7].subject, "nvidia-smi/persistence_mode")
    ]


def test_a_leaf_that_is_told_often_is_numbered_and_nothing_is_left_out() -> None:
    element = ElementTree.fromstring("<gpu>" + "<p><pid>1</pid></p>" * 5000 + "<last>x</last></gpu>")
    found = leaves.of_element(element)
    assert (len(found), found["p/pid#5000"], found["last"]) == (5001, "1", "x")
