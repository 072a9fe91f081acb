# SPDX-License-Identifier: GPL-3.0-or-later
"""Switches' texts: an error names file and line, nothing that was not understood is an answer; whose port is whose."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse.lldpctl import Neighbour
from ansible_collections.ibready.cluster.plugins.plugin_utils._switch import judge, nvue, sonic, texts
from ansible_collections.ibready.cluster.plugins.plugin_utils._switch.port import SwitchPort, Text, numbers
from tests.unit import switch_texts as made
from tests.unit.switch_texts import INTERFACES, ROCE, STATUS, bad, cumulus, host, judged, rail

FEW = settings(max_examples=80, deadline=None, database=None)
DB = json.dumps(made.sonic(), indent=4)
# How the texts of systems begin that are not read; made up, in their published formats.
NXOS = "!Command: show running-config\n\nhostname leaf1\ninterface Ethernet1/1\n  priority-flow-control mode on\n"
EOS = "! Command: show running-config\nhostname leaf1\ninterface Ethernet1/1\n   priority-flow-control on\nend\n"
ONYX = "RoCE mode      : lossless\nLLDP           : enabled\nPort trust mode: L3\n"
PARSERS: dict[str, tuple[Callable[[Text], Any], str]] = {
    "sonic": (sonic.read, DB),
    "roce": (nvue.roce, ROCE),
    "status": (nvue.roce, STATUS),
    "interfaces": (nvue.interfaces, INTERFACES),
}
EACH = pytest.mark.parametrize("parser", PARSERS)


def read(name: str, text: str) -> Any:
    """What a parser gives, or None for its error, which names the file and a line that there is."""
    return made.told(lambda said: PARSERS[name][0](Text("leaf1/file", said)), text, "leaf1/file")


@EACH
@FEW
@given(text=st.text())
def test_any_text_is_an_error_that_names_the_file(parser: str, text: str) -> None:
    assert read(parser, text) is None


@EACH
@FEW
@given(data=st.data())
def test_a_text_with_a_hole_is_read_or_refused(parser: str, data: st.DataObject) -> None:
    read(parser, made.holed(data, PARSERS[parser][1]))


@EACH
@FEW
@given(data=st.data())
def test_a_text_with_lines_taken_out_tells_nothing_else(parser: str, data: st.DataObject) -> None:
    """A value that is told is that of the whole text, or it is not told: no line, no value."""
    lines = PARSERS[parser][1].splitlines(keepends=True)
    gone = data.draw(st.integers(0, len(lines) - 1))
    whole, found = read(parser, "".join(lines)), read(parser, "".join(lines[:gone] + lines[gone + 1 :]))
    if parser == "interfaces" and found:
        assert {name: port.mtu.value for name, port in found.items()}.items() <= {
            name: port.mtu.value for name, port in whole.items()
        }.items()
    if parser in ("roce", "status") and found:
        mine, its = found.classes.value or {}, whole.classes.value or {}
        assert all(its[mark].priority == entry.priority for mark, entry in mine.items())
        assert set(found.pfc.value or ()) <= set(whole.pfc.value or ())
        assert set(found.ecn.value or ()) <= set(whole.ecn.value or ())


@FEW
@given(end=st.integers(0, len(DB.rstrip()) - 1))
def test_a_database_that_was_cut_is_refused(end: int) -> None:
    assert read("sonic", DB[:end]) is None


@FEW
@given(data=st.data())
def test_a_row_of_any_shape_is_read_or_refused_with_its_line(data: st.DataObject) -> None:
    db: Any = copy.deepcopy(made.sonic())
    table = data.draw(st.sampled_from(sorted(set(db) - {"DEVICE_METADATA"})))
    row = data.draw(st.sampled_from(sorted(db[table])))
    anything = st.one_of(st.text(max_size=6), st.integers(), st.none(), st.lists(st.integers(), max_size=2))
    if data.draw(st.booleans()):
        db[table][row] = data.draw(anything)
    else:
        db[table][row][data.draw(st.sampled_from(sorted(db[table][row])))] = data.draw(anything)
    read("sonic", json.dumps(db, indent=1))


@FEW
@given(depth=st.integers(1, 5000))
def test_depth_ends_no_reader(depth: int) -> None:
    assert read("sonic", '{"PORT":' * depth) is None
    assert read("sonic", "[" * depth + "]" * depth) is None


@FEW
@given(st.sets(st.integers(0, 63)))
def test_numbers_come_back(some: set[int]) -> None:
    assert numbers(",".join(map(str, sorted(some))), range(64)) == tuple(sorted(some))


@pytest.mark.parametrize("said", ["3,", "a", "3-", "5-3", "64", "1 2", "٣", "1e3", "0-9999999999", "-1"])
def test_numbers_that_are_none(said: str) -> None:
    with pytest.raises(ValueError, match=r"is no number|is not within"):
        numbers(said, range(64))


def bent(table: str, key: str, field: str, value: Any) -> str:
    db: Any = made.sonic()
    db[table][key][field] = value
    return json.dumps(db, indent=4)


@pytest.mark.parametrize(
    ("text", "field", "why"),
    [
        pytest.param(bent("PORT_QOS_MAP", "Ethernet8", "pfc_enable", "9"), "pfc_enable", "not within 0 to 7", id="pfc"),
        pytest.param(bent("PORT_QOS_MAP", "Ethernet8", "pfc_enable", 3), "pfc_enable", "no text", id="no text"),
        pytest.param(bent("PORT", "Ethernet8", "mtu", "jumbo"), "mtu", "no MTU", id="mtu"),
        pytest.param(bent("PORT", "Ethernet8", "mtu", "99999"), "mtu", "no MTU", id="large"),
        pytest.param(bent("DSCP_TO_TC_MAP", "AZURE", "26", "x"), "26", "'x' is no number", id="class"),
        pytest.param(bent("DSCP_TO_TC_MAP", "AZURE", "26", ""), "26", "no pair of numbers", id="empty"),
        pytest.param(bent("DSCP_TO_TC_MAP", "AZURE", "64", "3"), "64", "no pair of numbers", id="mark"),
    ],
)
def test_a_field_that_is_not_understood_is_refused_with_its_line(text: str, field: str, why: str) -> None:
    with pytest.raises(ParseError, match=why) as refused:
        sonic.read(Text("leaf1/config_db.json", text))
    assert text.splitlines()[refused.value.line_no - 1].strip().startswith(f'"{field}": ')


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        pytest.param('{"PORT": {}}', 0, "no table DEVICE_METADATA", id="no whole database"),
        pytest.param('{"DEVICE_METADATA": {"localhost": {}}, "PORT": {}}', 0, "no table PORT", id="no ports"),
        pytest.param('{\n"PORT": {\n"Ethernet0"\n', 3, "no JSON from here on", id="cut"),
        pytest.param('{\n\n"QUEUE": []}', 3, "no table of rows", id="list"),
        pytest.param("[]", 1, "no object of tables", id="array"),
        pytest.param("", 1, "no JSON", id="empty"),
    ],
)
def test_what_is_no_database_is_refused(text: str, line: int, why: str) -> None:
    with pytest.raises(ParseError, match=why) as refused:
        sonic.read(Text("leaf1/config_db.json", text))
    assert refused.value.line_no == line


@pytest.mark.parametrize(
    ("parse", "text", "words", "why"),
    [
        pytest.param(
            nvue.roce, ROCE.replace("pfc-priority      3", "pfc-priority      three"), "three", "is no number", id="pfc"
        ),
        pytest.param(nvue.roce, ROCE.replace("pcp,dscp\n", "exp\n"), "exp", "no trust that is known", id="trust"),
        pytest.param(nvue.roce, ROCE.replace("0,3\n", "0,9\n"), "0,9", "not within", id="ecn"),
        pytest.param(nvue.roce, ROCE.replace("31  3", "31  x"), "31  x", "is no priority", id="map"),
        pytest.param(nvue.roce, ROCE.replace("31  3", "31"), "30,31", "fewer than 4 columns", id="column"),
        pytest.param(
            nvue.interfaces,
            INTERFACES.replace("9216   swp       node1", "big    swp       node1"),
            "node1",
            "is no MTU",
            id="mtu",
        ),
        pytest.param(nvue.interfaces, INTERFACES.replace("swp2", "swp1"), "node2", "there twice", id="twice"),
    ],
)
def test_a_line_of_nvue_that_is_not_understood_is_named(
    parse: Callable[[Text], Any], text: str, words: str, why: str
) -> None:
    with pytest.raises(ParseError, match=why) as refused:
        parse(Text("leaf1/nv.txt", text))
    assert words in text.splitlines()[refused.value.line_no - 1]


@pytest.mark.parametrize(
    ("line", "check"),
    [("pfc-priority", "roce.switch.pfc"), ("congestion-mode", "roce.switch.ecn"), ("trust-mode", "roce.switch.trust")],
)
def test_a_line_that_is_not_there_tells_nothing(tmp_path: Path, line: str, check: str) -> None:
    text = "".join(one for one in ROCE.splitlines(keepends=True) if line not in one)
    made.write(tmp_path, {"leaf1": cumulus(roce=text)})
    bare = rail(heard=("leaf1", "swp1"), pfc=Reading(()))
    found = bad(
        judged(tmp_path, host("node1", bare if line == "pfc-priority" else rail(heard=("leaf1", "swp1"))))["node1"]
    )
    assert (found[check].result, line in found[check].cause) == ("unknown", True)


def test_roce_that_is_switched_off_pauses_and_marks_nothing() -> None:
    text = ROCE[: ROCE.index("mode ")].replace("enabled", "disabled")
    port: SwitchPort = nvue.roce(Text("leaf1/nv.txt", text))
    assert (port.pfc.value, port.ecn.value, port.trust.value) == ((), frozenset(), None)
    assert "switched off" in port.trust.why


@pytest.mark.parametrize("rest", ["", ROCE[ROCE.index("mode ") :]], ids=["alone", "with what was set up"])
@pytest.mark.parametrize("line", ["state                                      disabled", "enable              off"])
def test_roce_is_off_in_either_spelling(line: str, rest: str) -> None:
    head = "".join(ROCE.splitlines(keepends=True)[:2])
    port = nvue.roce(Text("leaf1/nv.txt", f"{head}{line}\n{rest}"))
    assert (port.pfc.value, port.ecn.value, port.trust.value, port.classes.value) == ((), frozenset(), None, None)
    assert port.pfc.line.endswith(" ".join(line.split()))


@pytest.mark.parametrize(("parse", "text"), [(nvue.roce, ROCE), (nvue.interfaces, INTERFACES)], ids=["roce", "ports"])
def test_a_text_that_ends_within_a_line_was_cut(parse: Callable[[Text], Any], text: str) -> None:
    cut = text.rstrip()[:-1]
    with pytest.raises(ParseError, match="it was cut") as refused:
        parse(Text("leaf1/nv.txt", cut))
    assert refused.value.line_no == len(cut.splitlines())


def test_a_port_of_nvue_has_its_mtu_and_who_is_behind_it() -> None:
    found = nvue.interfaces(Text("leaf1/nv.txt", INTERFACES))
    assert set(found) == {"br_default", "eth0", "swp1", "swp2"}
    assert found["swp1"].remote == ("node1", "eth0")
    assert (found["swp1"].mtu.value, found["swp1"].mtu.line[:19]) == (9216, "leaf1/nv.txt line 6")
    # What the table has cut short names nobody.
    assert found["swp2"].remote == ("", "")


@pytest.mark.parametrize(
    ("files", "why"),
    [
        pytest.param(
            {"show_running-config.txt": NXOS},
            "leaf1/show_running-config.txt: nothing reads it; ibready reads config_db.json (SONiC)",
            id="NX-OS",
        ),
        pytest.param({"show_roce.txt": ONYX}, "and no switch of another system", id="Onyx"),
        pytest.param({"config_db.json": NXOS}, "config_db.json: line 1", id="NX-OS under SONiC's name"),
        pytest.param({**cumulus(), "nv_show_qos_roce.txt": ONYX}, "nv_show_qos_roce.txt: line 1", id="Onyx as NVUE"),
        pytest.param(
            {**cumulus(), "nv_show_interface.txt": EOS}, "nv_show_interface.txt: no columns", id="EOS as NVUE"
        ),
        pytest.param(
            {"config_db.json": DB, "show_pfc_counters.txt": ""}, "show_pfc_counters.txt: nothing", id="counters"
        ),
        pytest.param({"config_db.json": DB, **cumulus()}, "texts of two systems", id="two systems"),
        pytest.param({"nv_show_qos_roce.txt": ROCE}, "hand in nv_show_interface.txt", id="no interfaces"),
        pytest.param(
            {**cumulus(), "nv_show_interface_swp9_qos_roce_status.txt": STATUS}, "no interface swp9", id="no port"
        ),
        pytest.param({"config_db.json": "{"}, "leaf1/config_db.json: line 1", id="cut"),
        pytest.param({}, "leaf1: no text", id="nothing"),
        pytest.param(
            {**cumulus(), f"{made.OF_PORT}.bak": STATUS}, f"{made.OF_PORT}.bak: nothing reads it", id="another name"
        ),
        pytest.param(
            {"config_db.json": json.dumps(made.sonic("leaf7"))}, "calls itself leaf7", id="another switch's text"
        ),
    ],
)
def test_a_switch_whose_texts_are_not_understood_is_unknown_with_the_file(
    tmp_path: Path, files: dict[str, str], why: str
) -> None:
    made.write(tmp_path, {"leaf1": files, "leaf2": made.sonic("leaf2")})
    handed = texts.asked({"ibready_switch_texts": str(tmp_path)})
    assert handed is not None
    assert [why in error for error in handed.errors] == [True]
    hosts = [host("node1", rail()), host("node2", rail(heard=("leaf2", "Ethernet0")))]
    found = judged(tmp_path, *hosts)
    assert set(bad(found["node1"])) == {"roce.switch.neighbour"}
    check = bad(found["node1"])["roce.switch.neighbour"]
    assert (check.result, why in check.cause) == ("unknown", True)
    assert not any(one.result == "pass" for one in found["node1"])
    assert bad(found["node2"]) == {}


def test_a_file_that_is_no_text_is_an_error(tmp_path: Path) -> None:
    made.write(tmp_path, {"leaf1": made.sonic()})
    (tmp_path / "leaf1/config_db.json").write_bytes(b"\xff\xfe{}")
    handed = texts.asked({"ibready_switch_texts": str(tmp_path)})
    assert handed is not None
    assert len(handed.errors) == 1


@pytest.mark.parametrize("folder", ["nowhere", "empty"])
def test_a_folder_without_switches_makes_every_host_unknown(tmp_path: Path, folder: str) -> None:
    (tmp_path / "empty").mkdir()
    check = bad(judged(tmp_path / folder, host("node1", rail()))["node1"])["roce.switch.neighbour"]
    assert (check.result, folder in check.cause) == ("unknown", True)


def test_the_site_hands_in_what_any_of_its_hosts_has(tmp_path: Path) -> None:
    made.write(tmp_path / "switches", {"leaf1": made.sonic()})
    said = {"ibready_switch_texts": str(tmp_path / "switches")}
    handed = texts.of_hosts({"login": {}, "node1": said, "node2": said}, ["login", "node1", "node2"])
    assert handed is not None
    assert [switch.name for switch in handed.switches] == ["leaf1"]
    assert handed.errors == ()
    assert texts.of_hosts({"login": {}}, ["login"]) is None


def test_hosts_that_hand_in_different_things_are_named(tmp_path: Path) -> None:
    made.write(tmp_path, {"leaf1": made.sonic()})
    said = {"ibready_switch_texts": str(tmp_path)}
    handed = texts.of_hosts(
        {"login": {}, "node1": said, "node2": {**said, "ibready_switch_cabling": "c.csv"}}, ["login", "node1", "node2"]
    )
    assert handed is not None
    assert handed.errors == ("ibready_switch_texts and ibready_switch_cabling differ between node1, node2",)
    (check, *rest) = judge.judge([host("node1", rail())], handed)["node1"]
    assert (check.result, {one.result for one in rest}) == ("unknown", {"skip"})


def test_where_nobody_hands_in_anything_the_check_is_skipped() -> None:
    assert texts.asked({}) is None
    (check,) = judge.judge([host("node1", rail())], None)["node1"]
    assert (check.id, check.result) == ("roce.switch.neighbour", "skip")


def test_a_folder_beside_the_inventory_is_found(tmp_path: Path) -> None:
    made.write(tmp_path / "switches", {"leaf1": made.sonic()})
    handed = texts.asked({"ibready_switch_texts": "switches", "inventory_dir": str(tmp_path)})
    assert handed is not None
    assert [switch.name for switch in handed.switches] == ["leaf1"]


@pytest.mark.parametrize("way", ["plan", "switch"])
def test_a_switch_that_is_heard_and_not_handed_in_is_unknown_whatever_others_say(tmp_path: Path, way: str) -> None:
    db = made.sonic()
    if way == "switch":
        db["DEVICE_NEIGHBOR"] = {"Ethernet0": {"name": "node1", "port": "eth0"}}
    made.write(tmp_path / "switches", {"leaf1": db})
    (tmp_path / "cables.csv").write_text(f"{HEAD}node1,eth0,leaf1,Ethernet0\n")
    site = {"ibready_switch_cabling": str(tmp_path / "cables.csv")} if way == "plan" else {}
    checks = judged(tmp_path / "switches", host("node1", rail(heard=("spine9", "Ethernet0"))), **site)["node1"]
    assert not any(check.result == "pass" for check in checks)
    assert "hears spine9 Ethernet0 by LLDP, of which no text is handed in" in checks[0].cause
    assert ("names leaf1 Ethernet0" in checks[0].cause) is (way == "plan")


def test_a_neighbour_without_a_name_of_its_own_leaves_the_plan_to_tell(tmp_path: Path) -> None:
    made.write(tmp_path / "switches", {"leaf1": made.sonic()})
    (tmp_path / "cables.csv").write_text(f"{HEAD}node1,eth0,leaf1,Ethernet0\n")
    site = {"ibready_switch_cabling": str(tmp_path / "cables.csv")}
    nameless = rail(neighbours=Reading((Neighbour("eth0", "", "aa:bb", "Ethernet0"),)))
    assert bad(judged(tmp_path / "switches", host("node1", nameless), **site)["node1"]) == {}


@pytest.mark.parametrize(
    ("named", "port"),
    [
        (("Ethernet0",), None),
        (("etp1", "Ethernet8"), "Ethernet0"),
        (("aa:bb", "ETHERNET8"), "Ethernet8"),
        (("aa:bb", ""), None),
    ],
    ids=["of two ports", "the id before the description", "the description", "neither"],
)
def test_a_port_is_found_by_a_name_that_no_other_has(tmp_path: Path, named: tuple[str, ...], port: str | None) -> None:
    db = made.sonic(ports=3)
    db["PORT"]["Ethernet16"]["alias"] = "Ethernet0"
    made.write(tmp_path, {"leaf1": db})
    handed = texts.asked({"ibready_switch_texts": str(tmp_path)})
    assert handed is not None
    found = handed.switches[0].port(*named)
    assert (found.name if found else None) == port


HEAD = "from,from_port,to,to_port\n"


@pytest.mark.parametrize(
    "line",
    ["node1,eth0,leaf1,Ethernet0", "leaf1,etp1,node1,mlx5_0", "NODE1,mlx5_0/1,LEAF1,ethernet0"],
)
def test_a_plan_names_the_port_where_nobody_hears(tmp_path: Path, line: str) -> None:
    made.write(tmp_path / "switches", {"leaf1": made.sonic()})
    (tmp_path / "cables.csv").write_text(f"{HEAD}{line}\n")
    site = {"ibready_switch_cabling": str(tmp_path / "cables.csv")}
    found = judged(tmp_path / "switches", host("node1", rail(heard=None)), **site)["node1"]
    assert bad(found) == {}
    assert found[0].observed == "leaf1 Ethernet0 (the plan)"


def test_a_cable_that_is_not_where_the_plan_has_it_fails(tmp_path: Path) -> None:
    made.write(tmp_path / "switches", {"leaf1": made.sonic()})
    (tmp_path / "cables.csv").write_text(f"{HEAD}node1,eth0,leaf1,Ethernet8\n")
    site = {"ibready_switch_cabling": str(tmp_path / "cables.csv")}
    found = bad(judged(tmp_path / "switches", host("node1", rail()), **site)["node1"])
    assert set(found) == {"roce.switch.neighbour"}
    assert found["roce.switch.neighbour"].observed == "leaf1 Ethernet0 (LLDP)"
    assert found["roce.switch.neighbour"].expected.startswith("leaf1 Ethernet8")


def test_the_switch_names_the_host_where_nobody_else_does(tmp_path: Path) -> None:
    made.write(tmp_path, {"leaf1": cumulus()})
    found = judged(tmp_path, host("node1.example.com", rail(heard=None)))["node1.example.com"]
    assert found[0].observed == "leaf1 swp1 (the switch)"


def test_a_sonic_that_names_its_neighbour_counts_as_well(tmp_path: Path) -> None:
    db = made.sonic()
    db["DEVICE_NEIGHBOR"] = {"Ethernet8": {"name": "node1", "port": "eth0"}}
    made.write(tmp_path, {"leaf1": db})
    assert judged(tmp_path, host("node1", rail(heard=None)))["node1"][0].observed == "leaf1 Ethernet8 (the switch)"


@pytest.mark.parametrize(
    ("one", "why"),
    [
        pytest.param(
            rail(heard=("spine9", "Ethernet0")), "hears spine9 Ethernet0 by LLDP, of which no text", id="stranger"
        ),
        pytest.param(rail(heard=("leaf1", "Ethernet4")), "leaf1 has no port Ethernet4", id="no port"),
        pytest.param(rail(heard=None), "nobody is heard by LLDP", id="nobody"),
        pytest.param(
            rail(neighbours=Reading(None, "lldpctl: not installed", missing=True)), "not installed", id="no lldpd"
        ),
        pytest.param(
            rail(
                neighbours=Reading(
                    (Neighbour("eth0", "leaf1", "a", "Ethernet0"), Neighbour("eth0", "leaf1", "a", "Ethernet8"))
                )
            ),
            "several switches are heard",
            id="several",
        ),
    ],
)
def test_a_rail_of_which_nobody_knows_where_it_hangs_is_unknown(tmp_path: Path, one: Any, why: str) -> None:
    made.write(tmp_path, {"leaf1": made.sonic()})
    checks = judged(tmp_path, host("node1", one))["node1"]
    assert set(bad(checks)) == {"roce.switch.neighbour"}
    assert why in checks[0].cause
    assert {check.result for check in checks[1:]} == {"skip"}


@pytest.mark.parametrize("rows", ["", "node1,eth0,leaf1\n", "node1,eth0,leaf1,\n", "a,1,b,2\na,1,c,3\n", "\0"])
def test_a_plan_that_cannot_be_read_makes_every_host_unknown(tmp_path: Path, rows: str) -> None:
    made.write(tmp_path / "switches", {"leaf1": made.sonic()})
    (tmp_path / "cables.csv").write_text(HEAD + rows)
    site = {"ibready_switch_cabling": str(tmp_path / "cables.csv")}
    check = bad(judged(tmp_path / "switches", host("node1", rail()), **site)["node1"])["roce.switch.neighbour"]
    assert (check.result, "ibready_switch_cabling" in check.cause) == ("unknown", True)


def test_names_without_their_domain_are_one_only_where_nobody_else_has_them(tmp_path: Path) -> None:
    made.write(tmp_path, {"leaf1.a": made.sonic("leaf1.a"), "leaf1.b": made.sonic("leaf1.b")})
    handed = texts.asked({"ibready_switch_texts": str(tmp_path)})
    assert handed is not None
    assert handed.find("leaf1") is None
    assert getattr(handed.find("LEAF1.B"), "name", "") == "leaf1.b"
    assert texts.bare("10.0.0.1") == "10.0.0.1"


def test_a_text_longer_than_any_switch_s_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    most = 2**20
    monkeypatch.setattr(texts, "_MOST", most)
    made.write(tmp_path, {"leaf1": {"config_db.json": " " * (most + 1)}})
    handed = texts.asked({"ibready_switch_texts": str(tmp_path)})
    assert handed is not None
    (error,) = handed.errors
    assert "leaf1/config_db.json" in str(error)
    assert "no file of at most 1 MiB" in str(error)
