# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import ibstat
from ansible_collections.ibready.cluster.plugins.module_utils._parse.ibstat import Ca, Ibstat, Port

# The layout that infiniband-diags 44.0 prints; the values are made up.
TWO_CAS = """\
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
CA 'mlx5_1'
\tCA type: MT4119
\tNumber of ports: 2
\tFirmware version: 16.35.2000
\tHardware version: 0
\tNode GUID: 0x08c0eb030054b372
\tSystem image GUID: 0x08c0eb030054b372
\tPort 1:
\t\tState: Down
\t\tPhysical state: Polling
\t\tRate: 10
\t\tBase lid: 65535
\t\tLMC: 0
\t\tSM lid: 0
\t\tCapability mask: 0x2651e848
\t\tPort GUID: 0x08c0eb030054b372
\t\tLink layer: InfiniBand
\tPort 2:
\t\tState: Active
\t\tPhysical state: LinkUp
\t\tRate: 2.5
\t\tBase lid: 0
\t\tLMC: 0
\t\tSM lid: 0
\t\tCapability mask: 0x00010000
\t\tPort GUID: 0x0ac0ebfffe54b373
\t\tLink layer: Ethernet
"""
FACTS = Ibstat(
    cas=(
        Ca(
            name="mlx5_0",
            type="MT4129",
            n_ports=1,
            fw="28.39.1002",
            hw="0",
            node_guid="0xa088c20300e3142a",
            system_guid="0xa088c20300e3142a",
            ports=(
                Port(
                    num=1,
                    state="Active",
                    physical_state="LinkUp",
                    rate=400.0,
                    lid=26,
                    lmc=0,
                    sm_lid=1,
                    capability_mask="0xa751e848",
                    port_guid="0xa088c20300e3142a",
                    link_layer="InfiniBand",
                ),
            ),
        ),
        Ca(
            name="mlx5_1",
            type="MT4119",
            n_ports=2,
            fw="16.35.2000",
            hw="0",
            node_guid="0x08c0eb030054b372",
            system_guid="0x08c0eb030054b372",
            ports=(
                Port(
                    num=1,
                    state="Down",
                    physical_state="Polling",
                    rate=10.0,
                    lid=65535,
                    lmc=0,
                    sm_lid=0,
                    capability_mask="0x2651e848",
                    port_guid="0x08c0eb030054b372",
                    link_layer="InfiniBand",
                ),
                Port(
                    num=2,
                    state="Active",
                    physical_state="LinkUp",
                    rate=2.5,
                    lid=0,
                    lmc=0,
                    sm_lid=0,
                    capability_mask="0x00010000",
                    port_guid="0x0ac0ebfffe54b373",
                    link_layer="Ethernet",
                ),
            ),
        ),
    ),
    error_lines=(),
)
PANIC = "ibpanic: [1204] main: stat of IB device 'mlx5_2' failed: No such file or directory"
# Recorded from infiniband-diags 44.0 on a host without an HCA: `ibstat mlx5_0`, exit status 255.
NO_DEVICE = "ibpanic: [13299] main: 'mlx5_0' IB device can't be found: Success"
WARNING = "ibwarn: [13303] mad_rpc_open_port: can't open UMAD port ((null):0)"


def without(start: str) -> str:
    """Return the sample without its first line that starts with `start`."""
    lines = TWO_CAS.splitlines()
    lines.remove(next(line for line in lines if line.strip().startswith(start)))
    return "\n".join(lines)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(TWO_CAS, id="as printed"),
        pytest.param(TWO_CAS.replace("\t", ""), id="indentation lost"),
        pytest.param(TWO_CAS.replace("\t", "        "), id="spaces for TABs"),
        pytest.param(TWO_CAS.replace("\t", "\u00a0 "), id="no-break spaces of a mail client"),
        pytest.param(TWO_CAS.replace(": ", ":\t"), id="TABs before the values"),
        pytest.param(TWO_CAS.replace("\n", "\n\n"), id="blank line between every line"),
        pytest.param(TWO_CAS.replace("\n", "\r\n"), id="CRLF"),
        pytest.param(TWO_CAS.replace("\n", "\r"), id="CR alone"),
        pytest.param(TWO_CAS.replace("CA '", "\x1b[1mCA\x1b[0m '"), id="coloured"),
        pytest.param(TWO_CAS.replace("\tLMC", "\tFuture key: 7\n\tLMC"), id="unknown key"),
        pytest.param(TWO_CAS.replace("\tLMC", f"{WARNING}\n\tLMC"), id="warning in between"),
        pytest.param(TWO_CAS + "..\n0x0002c90300048ca1\n", id="something else after the end"),
        pytest.param(TWO_CAS.replace("Rate: 10", "Rate: 10 (FDR10)"), id="rate with its FDR10 tag"),
        pytest.param("\n".join(line + "\n" + line for line in TWO_CAS.split("\n")), id="doubled"),
    ],
)
def test_every_layout_gives_the_same_facts(text: str) -> None:
    assert ibstat.parse(text) == FACTS


@pytest.mark.parametrize(
    ("line", "field", "absent"),
    [
        pytest.param("CA type:", "type", "", id="CA type"),
        pytest.param("Number of ports:", "n_ports", None, id="number of ports"),
        pytest.param("Firmware version:", "fw", "", id="firmware"),
        pytest.param("Hardware version:", "hw", "", id="hardware"),
        pytest.param("Node GUID:", "node_guid", "", id="node GUID"),
        pytest.param("System image GUID:", "system_guid", "", id="system GUID"),
    ],
)
def test_a_missing_ca_line_leaves_its_field_empty(line: str, field: str, absent: object) -> None:
    first, second = ibstat.parse(without(line)).cas
    assert getattr(first, field) == absent
    assert first.ports == FACTS.cas[0].ports
    assert second == FACTS.cas[1]


@pytest.mark.parametrize(
    ("line", "field", "absent"),
    [
        pytest.param("State:", "state", "", id="state"),
        pytest.param("Physical state:", "physical_state", "", id="physical state"),
        pytest.param("Rate:", "rate", None, id="rate"),
        pytest.param("Base lid:", "lid", None, id="LID"),
        pytest.param("LMC:", "lmc", None, id="LMC"),
        pytest.param("SM lid:", "sm_lid", None, id="SM LID"),
        pytest.param("Capability mask:", "capability_mask", "", id="capability mask"),
        pytest.param("Port GUID:", "port_guid", "", id="port GUID"),
        pytest.param("Link layer:", "link_layer", "", id="link layer"),
    ],
)
def test_a_missing_port_line_leaves_its_field_empty(line: str, field: str, absent: object) -> None:
    first, second = ibstat.parse(without(line)).cas
    assert getattr(first.ports[0], field) == absent
    assert second == FACTS.cas[1]


def test_empty_values_are_missing_values() -> None:
    # Soft-RoCE has neither type nor firmware.
    ca = ibstat.parse("CA 'rxe0'\n\tCA type:\n\tFirmware version: \n\tPort 1:\n\t\tRate:\n").cas[0]
    assert (ca.type, ca.fw, ca.n_ports, ca.ports[0].rate) == ("", "", None, None)


def test_a_port_that_is_announced_but_not_listed_stays_visible() -> None:
    cut = TWO_CAS[: TWO_CAS.index("\tPort 2:")]
    ca = ibstat.parse(cut).cas[1]
    assert (ca.n_ports, [port.num for port in ca.ports]) == (2, [1])


def test_one_port_asked_for_by_number_is_read() -> None:
    ca = ibstat.parse("CA: 'mlx5_0'\nPort 1:\nState: Active\nRate: 400\n").cas[0]
    assert (ca.name, ca.n_ports, ca.ports[0].rate) == ("mlx5_0", None, 400.0)


def test_an_iwarp_adapter_is_not_mixed_up_with_the_ca_before_it() -> None:
    text = TWO_CAS + "iWARP RNIC 'i40iw0'\n\tiWARP RNIC type: I40IW\n\tNumber of ports: 1\n"
    *cas, rnic = ibstat.parse(text).cas
    assert tuple(cas) == FACTS.cas
    assert (rnic.name, rnic.type) == ("i40iw0", "I40IW")


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        pytest.param(TWO_CAS + PANIC + "\n", Ibstat(FACTS.cas, (PANIC,)), id="panic after complete CAs"),
        pytest.param(
            TWO_CAS + WARNING + "\n" + PANIC, Ibstat(FACTS.cas, (PANIC,)), id="a warning is no error beside CAs"
        ),
        pytest.param(NO_DEVICE, Ibstat((), (NO_DEVICE,)), id="an error that ends in Success"),
        pytest.param(WARNING, Ibstat((), (WARNING,)), id="a warning and nothing else"),
        pytest.param(f"{WARNING}\n{PANIC}", Ibstat((), (WARNING, PANIC)), id="a warning explains the panic"),
    ],
)
def test_errors_are_kept_beside_the_facts(text: str, facts: Ibstat) -> None:
    assert ibstat.parse(text) == facts


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("", "ibstat: empty output", id="empty"),
        pytest.param(" \r\n\t\n\0", "ibstat: empty output", id="blank"),
        pytest.param("bash: ibstat: command not found", "no CA and no error", id="foreign text"),
        pytest.param("mlx5_0\nmlx5_1\n", "line 1 'mlx5_0': no CA", id="the -l list"),
        pytest.param("Gerät 'mlx5_0'\n\tTyp: MT4129", "line 1 'Gerät", id="localized text"),
        pytest.param("CA 'mlx5_0'\n\tTyp: MT4129", "not one line", id="localized fields"),
        pytest.param("CA 'mlx5_0'\nPort 1:", "not one line", id="headers and no fields"),
        pytest.param("Port 1:\nState: Active", "before the first CA", id="begins with a port"),
        pytest.param(TWO_CAS * 2, "line 45 .* already listed", id="two hosts in one text"),
    ],
)
def test_text_that_cannot_be_trusted_is_refused(text: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        ibstat.parse(text)


def test_the_error_shows_the_line_escaped_and_cut() -> None:
    with pytest.raises(ParseError) as caught:
        ibstat.parse("\x07" + "x" * 500)
    assert (caught.value.tool, caught.value.line_no) == ("ibstat", 1)
    assert caught.value.line == "\x07" + "x" * 500
    assert f"'\\x07{'x' * 116}...'" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "ports"),
    [
        pytest.param(without("CA 'mlx5_0'"), ["mlx5_1/1"], id="first CA line lost"),
        pytest.param(without("CA 'mlx5_1'"), ["mlx5_0/1"], id="second CA line lost"),
        pytest.param(TWO_CAS.replace("Port 2:", "Port 1:"), ["mlx5_0/1"], id="one port twice"),
    ],
)
def test_a_line_whose_ca_or_port_is_not_known_is_no_other_one_s(text: str, ports: list[str]) -> None:
    whole = {f"{ca.name}/{port.num}": port for ca in ibstat.parse(TWO_CAS).cas for port in ca.ports}
    found = ibstat.parse(text)
    told = {f"{ca.name}/{port.num}": port for ca in found.cas for port in ca.ports}
    assert all(whole[name] == port for name, port in told.items())
    assert set(ports) <= set(told)
    assert found.partial
    assert found.unread
    assert (ibstat.facts(found)["cut"], ibstat.facts(found)["unread"]) == (True, found.unread)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        pytest.param(TWO_CAS.replace("Rate: 400", "Rate: fast", 1), "rate", id="rate"),
        pytest.param(TWO_CAS.replace("Base lid: 26", "Base lid: -1"), "lid", id="LID"),
        pytest.param(TWO_CAS.replace("LMC: 0", f"LMC: {'9' * 5000}", 1), "lmc", id="endless number"),
        pytest.param(TWO_CAS[: TWO_CAS.index("Base lid: 26") + len("Base lid: 2")], "lid", id="the end"),
    ],
)
def test_a_number_that_is_damaged_is_none(text: str, name: str) -> None:
    found = ibstat.parse(text)
    ports = [port for ca in found.cas for port in ca.ports]
    assert any(getattr(port, name) is None for port in ports)
    assert (bool(found.partial), found.unread) == (True, 1)


def test_a_number_of_ports_that_is_damaged_leaves_the_ca_in_doubt() -> None:
    found = ibstat.parse(TWO_CAS.replace("ports: 1", "ports: one", 1))
    assert [ca.n_ports for ca in found.cas].count(None) == 1
    assert [name for name in found.partial if name in {ca.name for ca in found.cas}]
