# SPDX-License-Identifier: GPL-3.0-or-later
"""What equal hosts tell of their parts, held against each other place by place; and what two of them share."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._equals import parts, summary
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import Cached
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._fleet.fleet_equals import Told, judge
from ansible_collections.ibready.cluster.plugins.module_utils._fleet.fleet_same import Group
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import Check
from ansible_collections.ibready.cluster.plugins.module_utils._verify import catalog
from ansible_collections.ibready.cluster.plugins.module_utils._verify.verify import verify
from tests.gauntlet.tree import Tree

OTHER, SETTING = "fleet.equals.other", "fleet.equals.setting"
assert {OTHER, SETTING, "fleet.host.identity", "fleet.rail.address"} <= set(catalog.CATALOG)
GPU = """<gpu id="00000000:{at}3:00.0"><product_name>H100</product_name><uuid>GPU-{host}-{at}</uuid>
<vbios_version>96.00</vbios_version><new_word>{new}</new_word><performance_state>{state}</performance_state>
<clocks_event_reasons><clocks_event_reason_gpu_idle>{idle}</clocks_event_reason_gpu_idle></clocks_event_reasons>
<clocks><graphics_clock>{clock} MHz</graphics_clock></clocks></gpu>"""
FILES = {
    "/etc/machine-id": "4c4c4544003957108035b4c04f564d3{host}",
    "/proc/cpuinfo": "processor\t: 0\nmicrocode\t: 0x2b000603\ncpu MHz\t\t: 20{host}0\n\nprocessor\t: 1\n",
    "/proc/sys/net/ipv4/ip_local_port_range": "32768\t60999",
    "/sys/class/net/eth0/speed": "25000",
}


CARDS = "0000:03:00.0 0000:13:00.0 0000:23:00.0 0000:33:00.0"
SPEED = "/sys/class/net/eth0/speed"


def told(host: int, gpus: int = 4, files: dict[str, str] | None = None, **more: str) -> Told:
    """What a host tells that is like the others but for this."""
    tree = Tree()
    values = {"host": str(host), "new": "off", "state": "P0", "idle": "Not Active", "clock": "1980", **more}
    texts = [GPU.format(at=at, **values) for at in range(gpus)]
    tree.command("nvsmi_xml", f"<nvidia_smi_log>{''.join(texts)}</nvidia_smi_log>")
    tree.command("timedatectl_show", f"Timezone={more.get('zone', 'Etc/UTC')}\nTimeUSec=it is {host}\n")
    for path, text in {**FILES, **(files or {})}.items():
        tree.file(path, text.format(host=host))
    seen = Cached(tree)
    for name in ("nvsmi_xml", "timedatectl_show"):
        seen.run(name)
    for path in FILES:
        seen.read(path)
    found = summary.told([*parts.of(seen), parts.host(seen, ())])
    json.dumps(found)
    return Told(found["equals"], found["own"])


def fleet(*hosts: Told) -> dict[str, list[Check]]:
    named = {f"n{at}": host for at, host in enumerate(hosts)}
    return judge(named, [Group(tuple(named))])


def brief(found: dict[str, list[Check]]) -> list[tuple[str, str, str, str, str]]:
    return [(host, one.id, one.subject, one.observed, one.expected) for host, checks in found.items() for one in checks]


def test_equal_hosts_tell_the_same_to_the_byte_and_have_their_own_apart() -> None:
    one, other = told(1), told(2)
    assert json.dumps(one.equals) == json.dumps(other.equals)
    assert one.own["nvidia-smi/uuid"]["0000:23:00.0"] == "GPU-1-2"
    assert "4c4c4544" not in json.dumps([one.own, one.equals])
    assert brief(fleet(one, other, told(3))) == []


@pytest.mark.parametrize(
    ("odd", "subject", "observed", "expected"),
    [
        ({"new": "on"}, CARDS, "nvidia-smi/new_word: on", "off"),
        ({"zone": "Asia/Tokyo"}, "host", "timedatectl/Timezone: Asia/Tokyo", "Etc/UTC"),
        (
            {"files": {"/proc/sys/net/ipv4/ip_local_port_range": "60000 60010"}},
            "host",
            "/proc/sys/net/ipv4/ip_local_port_range: 60000 60010",
            "32768\t60999",
        ),
        ({"files": {"/sys/class/net/eth0/speed": "1000"}}, "host", "/sys/class/net/eth0/speed: 1000", "25000"),
        (
            {"files": {"/proc/cpuinfo": "processor: 0\nmicrocode: 0x1\n"}},
            "host",
            "/proc/cpuinfo/microcode: 0x1",
            "0x2b000603",
        ),
        ({"clock": "1200"}, CARDS, "nvidia-smi/clocks/graphics_clock: 1200 MHz", "1980 MHz"),
    ],
)
def test_the_host_that_differs_is_found_in_whatever_leaf(
    odd: dict[str, Any], subject: str, observed: str, expected: str
) -> None:
    found = fleet(told(1), told(2), told(3, **odd))
    assert brief(found) == [("n2", OTHER, subject, observed, expected)]
    assert found["n2"][0].expected_from == "fleet 2/3"


def test_two_that_differ_have_no_majority() -> None:
    assert brief(fleet(told(1), told(2, new="on"))) == []
    assert brief(fleet(told(1), told(2), told(3, new="on"), told(4, new="on"))) == []


@pytest.mark.parametrize(
    "odd",
    [
        {"clock": "1800"},  # By silicon: less than 15 %.
        {"clock": "345", "state": "P8"},
        {"clock": "345", "idle": "Active"},
        {"clock": "2100"},
    ],
)
def test_a_clock_is_compared_where_the_load_is_the_same_and_roughly(odd: dict[str, str]) -> None:
    assert brief(fleet(told(1), told(2), told(3, **odd))) == []


def test_hosts_without_a_part_or_a_text_are_not_blamed_for_it() -> None:
    assert brief(fleet(told(1), told(2), told(3, gpus=0))) == []
    assert brief(fleet(told(1), told(2), told(3), told(4, files={"/sys/class/net/eth0/speed": "\n"}))) == []


def test_what_another_version_tells_is_no_finding_of_its_own() -> None:
    odd = told(3, new="on", files={"/proc/sys/net/ipv4/ip_local_port_range": "1 2"})
    checks = [Check("fleet.driver.version", "host", "fail", "error"), Check("fleet.host.kernel", "host", "fail", "x")]
    assert brief(fleet(told(1), told(2), Told(odd.equals, odd.own, checks))) == []
    assert len(brief(fleet(told(1), told(2), Told(odd.equals, odd.own, checks[:1])))) == 1


def test_another_version_hides_nothing_that_a_row_names() -> None:
    odd = told(3, clock="1200", files={SPEED: "1000"})
    checks = [
        Check("fleet.driver.version", "host", "fail", "error"),
        Check("fleet.host.kernel", "host", "unknown", "x"),
    ]
    found = brief(fleet(told(1), told(2), Told(odd.equals, odd.own, checks)))
    assert [observed for *_rest, observed, _usual in found] == [
        "nvidia-smi/clocks/graphics_clock: 1200 MHz",
        f"{SPEED}: 1000",
    ]


@pytest.mark.parametrize(("port", "found"), [("mlx5_0/1", 0), ("mlx5_1/1", 1)])
def test_a_slow_rail_is_told_once_and_hides_no_other_interface(port: str, found: int) -> None:
    names = {"mlx5_0/1": ["mlx5_0", "0000:45:00.0", "eth0"], "mlx5_1/1": ["mlx5_1", "0000:46:00.0", "eth1"]}

    def rails(**odd: str) -> Any:
        differs = {place: {"net/speed": odd[place[:6]]} if place[:6] in odd else {} for place in names}
        return {"Ethernet MT4129": {"usual": {"net/speed": "400000"}, "differs": differs, "names": names}}

    slow = Check("roce.port.rate", port, "fail", "error", "1 Gb/s")
    hosts = [Told(rails(**odd), {}, [slow]) for odd in ({}, {}, {"mlx5_0": "1000"})]
    assert len(brief(fleet(*hosts))) == found


@pytest.mark.parametrize("said", ["-1", "unknown"])
def test_an_interface_without_a_link_does_not_tell_its_rate(said: str) -> None:
    assert brief(fleet(told(1), told(2), told(3, files={SPEED: said}))) == []


def test_what_a_finding_told_already_is_not_told_again() -> None:
    odd = told(3, files={"/sys/class/net/eth0/speed": "1000"})
    known = Check("roce.equals.other", "host", "fail", "warning", "/sys/class/net/eth0/speed: 1000")
    assert brief(fleet(told(1), told(2), Told(odd.equals, odd.own, [known]))) == []
    other = Check("host.cpu.governor", "host", "fail", "warning", "powersave on 4 CPUs")
    assert len(brief(fleet(told(1), told(2), Told(odd.equals, odd.own, [other])))) == 1


def test_a_site_says_in_what_hosts_are_meant_to_differ() -> None:
    odd = told(3, zone="Asia/Tokyo")
    meant = from_inventory({"differs": ["timedatectl/Timezone"]})
    assert brief(fleet(told(1), told(2), Told(odd.equals, odd.own, (), meant))) == []


def test_one_machine_id_on_two_hosts_is_told_of_both_and_not_shown() -> None:
    twin = told(2, files={"/etc/machine-id": FILES["/etc/machine-id"].format(host=1)})
    found = fleet(told(1), twin, told(3))
    assert [(host, check) for host, check, *_rest in brief(found)] == [
        ("n0", "fleet.host.identity"),
        ("n1", "fleet.host.identity"),
    ]
    check = found["n0"][0]
    assert check.severity == "warning"
    assert check.observed.startswith("/etc/machine-id ")
    assert check.observed.endswith(", also on n1")
    assert "4c4c4544" not in check.observed


def test_a_word_that_all_parts_have_alike_is_no_identity_and_one_that_nearly_all_have_for_themselves_is() -> None:
    hosts = [told(at) for at in range(1, 4)]
    copied = {**hosts[1].own, "nvidia-smi/uuid": {**hosts[1].own["nvidia-smi/uuid"], "0000:33:00.0": "GPU-1-3"}}
    found = brief(fleet(hosts[0], Told(hosts[1].equals, copied), hosts[2]))
    assert [(host, check, subject) for host, check, subject, *_rest in found] == [
        ("n0", "fleet.host.identity", "0000:33:00.0"),
        ("n1", "fleet.host.identity", "0000:33:00.0"),
    ]
    every = [Told(one.equals, {**one.own, "nvidia-smi/board_id": {"GPU 0": "0x8f000000"}}) for one in hosts]
    assert brief(fleet(*every)) == []


def own(host: int, *addresses: str) -> Told:
    return Told(
        {}, {"rdma/addresses": {f"mlx5_{at}/1": f"10.{at}.{host}.5 {word}" for at, word in enumerate(addresses)}}
    )


def test_one_address_on_two_hosts_is_told_of_both_and_fails_neither_by_the_others_word() -> None:
    hosts = [own(1, "fd00::1", "fd00::2"), own(2, "fd00::3", "fd00::1"), own(3, "fd00::5", "fd00::6")]
    found = fleet(*hosts)
    assert brief(found) == [
        ("n0", "fleet.rail.address", "mlx5_0/1", "address fd00::1, also on n1 mlx5_1/1", "on no other"),
        ("n1", "fleet.rail.address", "mlx5_1/1", "address fd00::1, also on n0 mlx5_0/1", "on no other"),
    ]
    assert {(check.severity, check.result) for checks in found.values() for check in checks} == {("error", "unknown")}
    assert "by its own word, and n1 mlx5_1/1 by theirs" in found["n0"][0].cause


def test_few_addresses_and_copies_on_most_hosts_are_told_all_the_same() -> None:
    assert len(brief(fleet(own(1, "fd00::1"), own(2, "fd00::1")))) == 2
    assert len(brief(fleet(*(own(at, "fd00::1") for at in range(4))))) == 4


@pytest.mark.parametrize("said", ["[GPU requires reset]", "Unknown Error", "Not Specified"])
def test_no_answer_is_no_identity(said: str) -> None:
    tree = Tree()
    text = f"<gpu id='00000000:13:00.0'><uuid>{said}</uuid><serial>1650000000001</serial></gpu>"
    tree.command("nvsmi_xml", f"<nvidia_smi_log>{text}</nvidia_smi_log>")
    seen = Cached(tree)
    seen.run("nvsmi_xml")
    assert summary.told(parts.of(seen))["own"] == {"nvidia-smi/serial": {"0000:13:00.0": "1650000000001"}}


def test_what_is_left_out_of_a_host_is_not_told() -> None:
    tree = Tree()
    tree.command("nvsmi_xml", "<nvidia_smi_log><gpu id='00000000:13:00.0'><uuid>GPU-1-2</uuid></gpu></nvidia_smi_log>")
    for ignored, told in (({}, True), ({"ignore": ["0000:13:00.0"]}, False)):
        found = verify(tree, from_inventory(ignored), ["host", "gpu"]).facts
        assert any(kind.startswith(parts.GPU) for kind in found["equals"]) is told
