# SPDX-License-Identifier: GPL-3.0-or-later
"""Rails held against switch ports: healthy pairs without a finding, every planted disagreement by its id."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._fleet.checks import SWITCH
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from tests.unit import switch_texts as made
from tests.unit.switch_texts import INTERFACES, QOS, ROCE, STATUS, Db, bad, changed, cumulus, host, judged, rail, sonic

OWN = made.OF_PORT
ABSENT: Reading[Any] = Reading(None, "no such file", missing=True)
DENIED: Reading[Any] = Reading(None, "denied")


def mapped(table: str, key: str, value: str | None) -> Db:
    return changed(sonic(), table, "AZURE", **{key: value})


def without(table: str, key: str) -> Db:
    db = sonic()
    del db[table][key]
    return db


def shared() -> Db:
    """Rows for several ports and queues in one, as older databases have them."""
    db = sonic()
    db["PORT_QOS_MAP"] = {"Ethernet0,Ethernet8": dict(QOS)}
    db["QUEUE"] = {"Ethernet0,Ethernet8|3-4": {"wred_profile": "AZURE_LOSSLESS"}}
    return db


def pausing(back: str, stops: str) -> Db:
    """With maps of what a pause of priority 3 stands for and stops; healthy where both are 3."""
    db = changed(sonic(), "PORT_QOS_MAP", "Ethernet0", pfc_to_pg_map="AZURE", pfc_to_queue_map="AZURE")
    db["PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"] = {"AZURE": {"3": back, "4": "4"}}
    db["MAP_PFC_PRIORITY_TO_QUEUE"] = {"AZURE": {**{str(at): str(at) for at in range(8)}, "3": stops}}
    return db


def unsaid(version: str) -> Db:
    """Nothing says which priorities are watched, in a database of this version."""
    db = changed(sonic(), "PORT_QOS_MAP", "Ethernet0", pfcwd_sw_enable=None)
    return changed(db, "VERSIONS", "DATABASE", VERSION=version)


def member(mtu: str | None) -> Db:
    """The port is one of a port channel, whose MTU counts."""
    db = changed(sonic(), "PORTCHANNEL", "PortChannel1", min_links="1", mtu=mtu)
    return changed(db, "PORTCHANNEL_MEMBER", "PortChannel1|Ethernet0")


def of_switch() -> Db:
    """The map of DSCPs is the whole switch's."""
    db = changed(sonic(), "PORT_QOS_MAP", "Ethernet0", dscp_to_tc_map=None)
    return changed(db, "PORT_QOS_MAP", "global", dscp_to_tc_map="AZURE")


SONIC_RAIL, NVUE_RAIL = ("leaf1", "Ethernet0"), ("leaf1", "swp1")
HEALTHY: dict[str, tuple[Any, tuple[str, str]]] = {
    "SONiC": (sonic(), SONIC_RAIL),
    "SONiC with references in brackets": (made.old(sonic()), SONIC_RAIL),
    "SONiC with rows for several ports": (shared(), SONIC_RAIL),
    "SONiC with one map for the switch": (of_switch(), SONIC_RAIL),
    "SONiC by the port's other name": (sonic(), ("LEAF1.example.com", "etp1")),
    "SONiC with maps of pauses": (pausing("3", "3"), SONIC_RAIL),
    "SONiC of before pfcwd_sw_enable": (unsaid("version_3_0_4"), SONIC_RAIL),
    "SONiC with a port channel": (member("9100"), SONIC_RAIL),
    "Cumulus Linux": (cumulus(), NVUE_RAIL),
    "Cumulus Linux, a port by itself": (
        {**cumulus(roce=ROCE.replace("pfc-priority      3", "pfc-priority      4")), OWN: STATUS},
        NVUE_RAIL,
    ),
}


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_pair_has_no_finding(tmp_path: Path, name: str) -> None:
    told, heard = HEALTHY[name]
    made.write(tmp_path, {"leaf1": told})
    checks = judged(tmp_path, host("node1", rail(heard=heard)))["node1"]
    assert bad(checks) == {}
    assert {check.id for check in checks} == {entry.id for entry in SWITCH}
    passed = {check.id for check in checks if check.result == "pass"}
    # Alone of its kind there is no odd one; Cumulus Linux tells nothing of its watchdog.
    left = {"roce.switch.alike"} | ({"roce.switch.watchdog"} if heard is NVUE_RAIL else set())
    assert {entry.id for entry in SWITCH} - passed == left


def planted(check: str, told: Any, words: str, *also: str, heard: tuple[str, str] = SONIC_RAIL, **bent: Any) -> Any:
    return pytest.param(check, told, words, set(also), heard, bent, id=f"{check} {words}")


def cumulus_with(before: str, after: str) -> dict[str, str]:
    assert before in ROCE
    return cumulus(roce=ROCE.replace(before, after))


PLANTED = [
    planted("roce.switch.pfc", changed(sonic(), "PORT_QOS_MAP", "Ethernet0", pfc_enable=None), "no pfc_enable"),
    planted(
        "roce.switch.pfc",
        changed(sonic(), "PORT_QOS_MAP", "Ethernet0", pfc_enable="3,4"),
        "pfc_enable = 3,4",
        "roce.switch.watchdog",
    ),
    planted("roce.switch.pfc", sonic(), "pfc_enable = 3", pfc=Reading(())),
    planted("roce.switch.pfc", without("PORT_QOS_MAP", "Ethernet0"), "no row PORT_QOS_MAP", "roce.switch.trust"),
    planted(
        "roce.switch.trust",
        changed(
            changed(sonic(), "PORT_QOS_MAP", "Ethernet0", dscp_to_tc_map=None),
            "PORT_QOS_MAP",
            "Ethernet0",
            dot1p_to_tc_map="AZURE",
        ),
        "trusts pcp",
    ),
    planted("roce.switch.trust", sonic(), "trusts dscp", trust=Reading("pcp")),
    planted("roce.switch.dscp", mapped("DSCP_TO_TC_MAP", "26", "0"), "DSCP 26 in priority 0", "roce.switch.ecn"),
    planted(
        "roce.switch.dscp", mapped("DSCP_TO_TC_MAP", "26", None), "has no DSCP 26", "roce.switch.ecn", "roce.switch.cnp"
    ),
    planted("roce.switch.dscp", mapped("TC_TO_PRIORITY_GROUP_MAP", "3", "0"), "TC_TO_PRIORITY_GROUP_MAP"),
    planted(
        "roce.switch.dscp",
        sonic(),
        "DSCP_TO_TC_MAP|AZURE 34 = 4",
        "roce.switch.ecn",
        traffic_class=Reading(138),
        priority=Reading(((34, 3), (48, 6))),
    ),
    planted("roce.switch.dscp", pausing("0", "3"), "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP|AZURE 3 = 0"),
    planted("roce.switch.dscp", pausing("3", "0"), "MAP_PFC_PRIORITY_TO_QUEUE|AZURE 3 = 0"),
    planted("roce.switch.ecn", changed(sonic(), "QUEUE", "Ethernet0|3", wred_profile=None), "ECN in queues none"),
    planted("roce.switch.ecn", changed(sonic(), "WRED_PROFILE", "AZURE_LOSSLESS", ecn="ecn_none"), "ecn = ecn_none"),
    planted("roce.switch.ecn", mapped("TC_TO_QUEUE_MAP", "3", "1"), "ECN in queues 3"),
    planted("roce.switch.mtu", changed(sonic(), "PORT", "Ethernet0", mtu="1500"), "MTU 1500"),
    planted("roce.switch.mtu", sonic(), "MTU 9100", mtu=Reading(9101)),
    planted("roce.switch.mtu", member("1500"), "PORTCHANNEL|PortChannel1 mtu = 1500"),
    planted("roce.switch.cnp", mapped("DSCP_TO_TC_MAP", "48", "3"), "DSCP 48 in queue 3"),
    planted("roce.switch.cnp", sonic(), "DSCP 26 in queue 3", cnp_dscp=Reading(26)),
    planted("roce.switch.watchdog", without("PFC_WD", "Ethernet0"), "no row PFC_WD"),
    planted(
        "roce.switch.watchdog", changed(sonic(), "PORT_QOS_MAP", "Ethernet0", pfcwd_sw_enable=""), "pfcwd_sw_enable"
    ),
    planted("roce.switch.watchdog", unsaid("version_3_0_5"), "no pfcwd_sw_enable in PORT_QOS_MAP|Ethernet0"),
    planted("roce.switch.watchdog", unsaid("version_202305_01"), "no pfcwd_sw_enable"),
    planted("roce.switch.watchdog", changed(sonic(), "PFC_WD", "Ethernet0", action="alert"), "action = alert"),
    planted(
        "roce.switch.watchdog",
        changed(sonic(), "PFC_WD", "Ethernet0", detection_time=None, pfc_stat_history="enable"),
        "no detection_time in PFC_WD|Ethernet0",
    ),
    planted("roce.switch.watchdog", changed(sonic(), "PFC_WD", "Ethernet0", detection_time="0"), "detection_time = 0"),
    planted(
        "roce.switch.watchdog", changed(sonic(), "PFC_WD", "GLOBAL", BIG_RED_SWITCH="enable"), "BIG_RED_SWITCH = enable"
    ),
    planted(
        "roce.switch.pfc", cumulus_with("pfc-priority      3", "pfc-priority      -"), "pfc-priority -", heard=NVUE_RAIL
    ),
    planted(
        "roce.switch.pfc",
        cumulus_with("rx-enabled        enabled", "rx-enabled        disabled"),
        "rx-enabled",
        heard=NVUE_RAIL,
    ),
    planted("roce.switch.trust", cumulus_with("pcp,dscp", "pcp"), "trusts pcp", heard=NVUE_RAIL),
    planted(
        "roce.switch.dscp",
        cumulus_with("24,25,26,27,28,29,30,31  3", "24,25,26,27,28,29,30,31  7"),
        "in priority 7",
        heard=NVUE_RAIL,
    ),
    planted(
        "roce.switch.ecn",
        cumulus_with("enabled-tc        0,3", "enabled-tc        0"),
        "ECN in queues 0",
        heard=NVUE_RAIL,
    ),
    planted(
        "roce.switch.cnp",
        cumulus_with("    6  6            6 ", "    6  6            3 "),
        "DSCP 48 in queue 3",
        heard=NVUE_RAIL,
    ),
    planted(
        "roce.switch.mtu",
        cumulus(interfaces=INTERFACES.replace("400G   9216   swp       node1", "400G   1500   swp       node1")),
        "MTU 1500",
        heard=NVUE_RAIL,
    ),
    planted(
        "roce.switch.pfc",
        {**cumulus(), OWN: STATUS.replace("pfc-priority      3", "pfc-priority      5")},
        "priorities 5",
        heard=NVUE_RAIL,
    ),
]


@pytest.mark.parametrize(("check", "told", "words", "also", "heard", "bent"), PLANTED)
def test_every_planted_disagreement_is_found_by_its_id(
    tmp_path: Path, check: str, told: Any, words: str, also: set[str], heard: tuple[str, str], bent: dict[str, Any]
) -> None:
    made.write(tmp_path, {"leaf1": told})
    found = bad(judged(tmp_path, host("node1", rail(heard=heard, **bent)))["node1"])
    assert set(found) == {check} | also
    assert found[check].result == "fail"
    assert words in found[check].observed
    # Both lines: the switch's with its file, the host's with its name.
    assert f"leaf1 {heard[1]}" in found[check].observed
    assert "node1 eth0" in found[check].expected or check == "roce.switch.watchdog"


def test_the_line_of_the_text_is_quoted(tmp_path: Path) -> None:
    db = changed(sonic(), "PORT_QOS_MAP", "Ethernet0", pfc_enable="4", pfcwd_sw_enable="4")
    made.write(tmp_path, {"leaf1": db})
    lines = (tmp_path / "leaf1/config_db.json").read_text().splitlines()
    found = bad(judged(tmp_path, host("node1", rail()))["node1"])["roce.switch.pfc"]
    number = int(found.observed.split("config_db.json line ")[1].split(":")[0])
    assert lines[number - 1].strip().startswith('"pfc_enable": "4"')


def test_the_inventory_tells_which_end_is_wrong(tmp_path: Path) -> None:
    made.write(tmp_path, {"leaf1": changed(sonic(), "PORT_QOS_MAP", "Ethernet0", pfc_enable="4", pfcwd_sw_enable="4")})
    found = bad(judged(tmp_path, host("node1", rail(), roce_pfc=[3]))["node1"])
    assert "leaf1 Ethernet0 differs" in found["roce.switch.pfc"].cause
    found = bad(judged(tmp_path, host("node1", rail(), roce_pfc=[4]))["node1"])
    assert "node1 eth0 differs" in found["roce.switch.pfc"].cause


@pytest.mark.parametrize(
    ("bent", "check", "result", "why"),
    [
        pytest.param(
            {"pfc": Reading(None, "mlnx_qos failed")}, "roce.switch.pfc", "unknown", "mlnx_qos failed", id="pfc"
        ),
        pytest.param({"trust": Reading(None, "no word")}, "roce.switch.trust", "unknown", "no word", id="trust"),
        pytest.param({"mtu": Reading(None, "denied")}, "roce.switch.mtu", "unknown", "denied", id="mtu"),
        pytest.param({"cnp_dscp": Reading(None, "denied")}, "roce.switch.cnp", "unknown", "denied", id="cnp"),
        pytest.param({"cnp_dscp": ABSENT}, "roce.switch.cnp", "skip", "does not show", id="no cnp"),
        pytest.param(
            {"priority": Reading(()), "pfc": Reading(())}, "roce.switch.dscp", "unknown", "no priority for", id="map"
        ),
        pytest.param({"priority": DENIED}, "roce.switch.dscp", "unknown", "denied", id="map denied"),
        pytest.param(
            {"priority": Reading(((48, 6),))}, "roce.switch.dscp", "unknown", "no priority for DSCP 26", id="no rule"
        ),
        pytest.param({"trust": DENIED}, "roce.switch.dscp", "unknown", "denied", id="trust denied: class"),
        pytest.param({"trust": DENIED}, "roce.switch.ecn", "unknown", "denied", id="trust denied: ECN"),
        pytest.param({"trust": DENIED}, "roce.switch.cnp", "unknown", "denied", id="trust denied: CNP"),
        pytest.param({"traffic_class": DENIED}, "roce.switch.dscp", "unknown", "denied", id="mark denied: class"),
        pytest.param({"traffic_class": DENIED}, "roce.switch.ecn", "unknown", "denied", id="mark denied: ECN"),
        pytest.param({"traffic_class": DENIED}, "roce.switch.cnp", "unknown", "denied", id="mark denied: CNP"),
        pytest.param({"traffic_class": ABSENT}, "roce.switch.dscp", "skip", "nothing marks", id="no such mark"),
        pytest.param({"traffic_class": Reading(104)}, "roce.switch.ecn", "skip", "understands ECN", id="no ECN"),
        pytest.param({"traffic_class": Reading(-1)}, "roce.switch.dscp", "skip", "nothing marks RoCE", id="no mark"),
    ],
)
def test_an_end_that_does_not_tell_passes_nothing(
    tmp_path: Path, bent: dict[str, Any], check: str, result: str, why: str
) -> None:
    made.write(tmp_path, {"leaf1": sonic()})
    checks = {one.id: one for one in judged(tmp_path, host("node1", rail(**bent)))["node1"]}
    assert (checks[check].result, why in checks[check].cause) == (result, True)


@pytest.mark.parametrize(
    ("table", "check"),
    [
        pytest.param("DSCP_TO_TC_MAP", "roce.switch.dscp", id="marks"),
        pytest.param("TC_TO_QUEUE_MAP", "roce.switch.ecn", id="queues"),
        pytest.param("WRED_PROFILE", "roce.switch.ecn", id="profiles"),
    ],
)
def test_a_table_that_a_row_names_and_that_is_not_there_is_unknown(tmp_path: Path, table: str, check: str) -> None:
    db = sonic()
    del db[table]
    made.write(tmp_path, {"leaf1": db})
    found = bad(judged(tmp_path, host("node1", rail()))["node1"])
    assert found[check].result == "unknown"
    assert f"no row {table}|AZURE" in found[check].cause


@pytest.mark.parametrize(
    ("db", "check", "why"),
    [
        pytest.param(member(None), "roce.switch.mtu", "no mtu in PORTCHANNEL|PortChannel1", id="port channel"),
        pytest.param(
            changed(sonic(), "QUEUE", "Ethernet0|3-4", scheduler="scheduler.1"),
            "roce.switch.ecn",
            "several rows QUEUE tell of queue 3 of Ethernet0",
            id="two rows of a queue",
        ),
    ],
)
def test_what_a_database_does_not_tell_clearly_is_unknown(tmp_path: Path, db: Db, check: str, why: str) -> None:
    made.write(tmp_path, {"leaf1": db})
    found = bad(judged(tmp_path, host("node1", rail()))["node1"])
    assert {name: one.result for name, one in found.items()} == {check: "unknown"}
    assert why in found[check].cause


def test_a_mark_of_nccl_that_could_not_be_read_is_unknown(tmp_path: Path) -> None:
    made.write(tmp_path, {"leaf1": sonic()})
    one = host("node1", rail(traffic_class=Reading(-1)))
    one.facts["roce"]["nccl_tc"] = {"value": None, "why": "denied", "missing": False}
    checks = {check.id: check.result for check in judged(tmp_path, one)["node1"]}
    assert {checks[f"roce.switch.{name}"] for name in ("dscp", "ecn", "cnp")} == {"unknown"}


@pytest.mark.parametrize(
    ("told", "heard"),
    [
        pytest.param(mapped("TC_TO_QUEUE_MAP", "6", None), SONIC_RAIL, id="SONiC"),
        pytest.param(cumulus(roce=ROCE.replace("    6  6            6      ", "    -  -  ")), NVUE_RAIL, id="NVUE"),
    ],
)
def test_cnps_that_are_led_into_no_queue_are_unknown(tmp_path: Path, told: Any, heard: tuple[str, str]) -> None:
    made.write(tmp_path, {"leaf1": told})
    found = bad(judged(tmp_path, host("node1", rail(heard=heard)))["node1"])
    assert (found["roce.switch.cnp"].result, "DSCP 48 into no queue" in found["roce.switch.cnp"].cause) == (
        "unknown",
        True,
    )


ROCE_FILE, INTERFACE_FILE = "nv_show_qos_roce.txt", "nv_show_interface.txt"
# Hosts that agree with the whole text, and hosts that would agree with a part of it.
ENDS: dict[str, dict[str, Any]] = {
    "healthy": {},
    "without flow control": {"pfc": Reading(())},
    "small": {"mtu": Reading(68)},
    "with CNPs in the class of RoCE": {"cnp_dscp": Reading(26)},
}
WRONG = {
    "healthy": ("", ""),
    "CNPs with RoCE": ("    6  6            6 ", "    6  6            3 "),
    "no ECN for RoCE": ("enabled-tc        0,3", "enabled-tc        0"),
}


def results(folder: Path, files: dict[str, str], end: str) -> dict[str, str]:
    """Of each check; skipped because of another is nothing told."""
    checks = judged(made.write(folder, {"leaf1": files}), host("node1", rail(heard=NVUE_RAIL, **ENDS[end])))["node1"]
    return {check.id: check.result for check in checks if not (check.result == "skip" and "see roce." in check.cause)}


@pytest.mark.parametrize(
    ("file", "wrong", "end"),
    [
        (ROCE_FILE, "healthy", "without flow control"),
        (ROCE_FILE, "healthy", "with CNPs in the class of RoCE"),
        (ROCE_FILE, "CNPs with RoCE", "healthy"),
        (ROCE_FILE, "no ECN for RoCE", "healthy"),
        (OWN, "healthy", "without flow control"),
        (OWN, "healthy", "with CNPs in the class of RoCE"),
        (INTERFACE_FILE, "healthy", "small"),
    ],
)
def test_a_text_without_some_of_its_lines_passes_nothing_more(tmp_path: Path, file: str, wrong: str, end: str) -> None:
    """Cut behind each line, within each line, and without each line: what passes or is skipped, is so by the whole."""
    files = {**cumulus(roce=ROCE.replace(*WRONG[wrong])), **({OWN: STATUS} if file == OWN else {})}
    lines = files[file].splitlines(keepends=True)
    parts = {f"behind {at}": "".join(lines[:at]) for at in range(len(lines))}
    parts.update(
        (f"within {at}", "".join(lines[:at]) + lines[at][: len(lines[at]) * 2 // 3]) for at in range(len(lines))
    )
    parts.update((f"without {at}", "".join(lines[:at] + lines[at + 1 :])) for at in range(len(lines)))
    whole = results(tmp_path, files, end)
    for name, part in parts.items():
        told = {check: result for check, result in results(tmp_path, {**files, file: part}, end).items()}
        strange = {check for check, result in told.items() if result in ("pass", "skip") and whole[check] != result}
        assert not strange, name


ESSENTIAL = [
    ("PORT_QOS_MAP", "Ethernet0", "pfc_enable", "roce.switch.pfc"),
    ("PORT_QOS_MAP", "Ethernet0", "dscp_to_tc_map", "roce.switch.dscp"),
    ("PORT_QOS_MAP", "Ethernet0", "tc_to_pg_map", "roce.switch.dscp"),
    ("PORT_QOS_MAP", "Ethernet0", "tc_to_queue_map", "roce.switch.ecn"),
    ("PORT_QOS_MAP", "Ethernet0", "pfcwd_sw_enable", "roce.switch.watchdog"),
    ("DSCP_TO_TC_MAP", "AZURE", "26", "roce.switch.dscp"),
    ("TC_TO_PRIORITY_GROUP_MAP", "AZURE", "3", "roce.switch.dscp"),
    ("TC_TO_QUEUE_MAP", "AZURE", "3", "roce.switch.ecn"),
    ("QUEUE", "Ethernet0|3", "wred_profile", "roce.switch.ecn"),
    ("WRED_PROFILE", "AZURE_LOSSLESS", "ecn", "roce.switch.ecn"),
    ("PORT", "Ethernet0", "mtu", "roce.switch.mtu"),
    ("PFC_WD", "Ethernet0", "detection_time", "roce.switch.watchdog"),
    ("PFC_WD", "Ethernet0", "action", "roce.switch.watchdog"),
]
ODD = [[], ["3"], ["AZURE"], {}, {"3": "3"}, None, True, 3.5, -1, "None", "true", "3;4", "[", "|", "٣", "3\n4"]


@pytest.mark.parametrize(("table", "key", "field", "check"), ESSENTIAL)
@pytest.mark.parametrize("value", ODD, ids=repr)
def test_a_value_of_another_form_passes_nothing(
    tmp_path: Path, table: str, key: str, field: str, check: str, value: Any
) -> None:
    db: Any = sonic()
    db[table][key][field] = value
    made.write(tmp_path, {"leaf1": db})
    checks = {one.id: one.result for one in judged(tmp_path, host("node1", rail()))["node1"]}
    assert checks[check] != "pass"


def test_a_mark_that_only_the_inventory_tells_counts(tmp_path: Path) -> None:
    made.write(tmp_path, {"leaf1": mapped("DSCP_TO_TC_MAP", "26", "0")})
    bent: dict[str, Callable[..., Any] | Any] = {"traffic_class": Reading(-1)}
    assert "roce.switch.dscp" in bad(judged(tmp_path, host("node1", rail(**bent), roce_tos=106))["node1"])


def test_a_virtual_function_and_a_host_of_infiniband_are_left_alone(tmp_path: Path) -> None:
    made.write(tmp_path, {"leaf1": sonic()})
    assert judged(tmp_path, host("node1", rail(virtual=True))) == {}
    assert judged(tmp_path, host("node1", rail(), link_layer="InfiniBand")) == {}
