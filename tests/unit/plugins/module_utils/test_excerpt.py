# SPDX-License-Identifier: GPL-3.0-or-later
"""What is quoted is about the finding, is what was read, and is little."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._evidence.excerpt import (
    CHARACTERS,
    GAP,
    LINES,
    Text,
    excerpt,
)
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.redact import MASK
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import Check

IBSTAT = "\n".join(
    f"""CA 'mlx5_{number}'
\tCA type: MT4129
\tNumber of ports: 1
\tFirmware version: 28.39.1002
\tPort 1:
\t\tState: {state}
\t\tPhysical state: {physical}
\t\tRate: 400
\t\tSM lid: 1"""
    for number, state, physical in (
        (0, "Active", "LinkUp"),
        (1, "Down", "Polling"),
        (10, "Down", "Disabled"),
    )
)
SMI = "\n".join(
    f"""\t<gpu id="00000000:{bus}:00.0">
\t\t<product_name>NVIDIA H100 80GB HBM3</product_name>
\t\t<persistence_mode>{mode}</persistence_mode>
\t\t<accounting_mode>Disabled</accounting_mode>
\t\t<gpu_power_readings>
\t\t\t<current_power_limit>450.00 W</current_power_limit>
\t\t\t<default_power_limit>700.00 W</default_power_limit>
\t\t</gpu_power_readings>
\t</gpu>"""
    for bus, mode in (("13", "Enabled"), ("23", "Disabled"))
)
DMESG = "\n".join(
    [
        *(f"[   {at}.500000] mlx5_core 0000:15:00.0: line {at}" for at in range(10, 20)),
        "[  146.250000] mlx5_core 0000:35:00.0: Detected insufficient power on the slot (27W).",
        "[  147.250000] NVRM: Xid (PCI:0000:43:00): 79, pid=1, GPU has fallen off the bus.",
    ]
)
UNITS = "\n\n".join(
    f"Id={name}.service\nActiveState={state}\nSubState=dead"
    for name, state in (("openibd", "failed"), ("ibacm", "active"), ("slurmd", "failed"))
)


def finding(check_id: str, subject: str, observed: str) -> Check:
    return Check(check_id, subject, "fail", "error", observed)


def command(name: str, text: str, *things: str) -> Text:
    return Text(f"$ {name}", things, text)


def test_of_a_long_output_the_line_of_the_subject_is_quoted_below_its_name() -> None:
    down = finding("ib.port.state", "mlx5_1/1", "Down")
    assert excerpt(command("ibstat", IBSTAT), down) == "CA 'mlx5_1'\n...\n\t\tState: Down"


def test_a_name_that_begins_like_another_is_not_taken_for_it() -> None:
    down = finding("ib.port.physical_state", "mlx5_10/1", "Disabled")
    reported = excerpt(command("ibstat", IBSTAT), down)
    assert reported == "CA 'mlx5_10'\n...\n\t\tPhysical state: Disabled"


def test_a_subject_that_is_not_there_is_not_quoted() -> None:
    assert not excerpt(command("ibstat", IBSTAT), finding("ib.port.rate", "mlx5_7/1", "100 Gb/s"))


def test_the_word_host_is_no_thing_to_look_for() -> None:
    packages = "".join(f"Package: p{n}\nDescription: utility to set/show the host name\n\n" for n in range(20))
    released = finding("stack.packages.held", "host", "1 of 13 are not: nvidia-open")
    assert not excerpt(Text("/var/lib/dpkg/status", (), packages), released)


def test_another_port_of_the_same_hca_is_not_quoted() -> None:
    assert not excerpt(command("ibstat", IBSTAT), finding("ib.port.state", "mlx5_1/2", "Down"))


def test_of_two_lines_with_the_value_the_one_that_is_about_the_check_is_quoted() -> None:
    mode = finding("gpu.driver.persistence", "0000:23:00.0", "Disabled")
    assert excerpt(command("nvidia-smi -q -x", SMI), mode).splitlines() == [
        '\t<gpu id="00000000:23:00.0">',
        GAP,
        "\t\t<persistence_mode>Disabled</persistence_mode>",
    ]


def test_a_number_is_found_however_it_is_written() -> None:
    limit = finding("gpu.power.limit", "0000:13:00.0", "450 W")
    assert "<current_power_limit>450.00 W<" in excerpt(command("nvidia-smi -q -x", SMI), limit)


def test_a_message_of_the_log_is_found_by_its_words() -> None:
    power = finding("host.dmesg.mlx5_warnings", "host", "Detected insufficient power (27W)")
    assert excerpt(command("dmesg", DMESG), power) == DMESG.splitlines()[10]


def test_the_kernel_names_a_gpu_without_its_function() -> None:
    fallen = finding("gpu.xid.fatal", "0000:43:00.0", "Xid 79")
    assert excerpt(command("dmesg", DMESG), fallen) == DMESG.splitlines()[11]


IBSTATUS = "\n\n".join(
    f"""Infiniband device 'mlx5_0' port {port} status:
\tdefault gid:\t fe80:0000:0000:0000:a088:c203:00e3:142a
\tbase lid:\t 0x1
\tsm lid:\t\t 0x2
\tstate:\t\t {state}
\tphys state:\t 2: Polling
\trate:\t\t {rate}
\tlink_layer:\t InfiniBand"""
    for port, state, rate in ((1, "1: DOWN", "10 Gb/sec"), (2, "4: ACTIVE", "100 Gb/sec"))
)
IBLINKINFO = """Switch: 0xfc6a1c0300a1b2c0 MF0;leaf-1:
           1    3[  ] ==( 4X   106.25 Gbps Active/  LinkUp)==>   12    7[  ] "leaf-2" ( )
           1    7[  ] ==( 4X    25.78 Gbps Active/  LinkUp)==>   13    1[  ] "node-b" ( )
           1    9[  ] ==( 4X   106.25 Gbps Active/  LinkUp)==>   14    1[  ] "node-c" ( )
           1   10[  ] ==( 4X   106.25 Gbps Active/  LinkUp)==>   15    1[  ] "node-d" ( )
           1   11[  ] ==( 4X   106.25 Gbps Active/  LinkUp)==>   16    1[  ] "node-e" ( )
           1   12[  ] ==( 4X   106.25 Gbps Active/  LinkUp)==>   17    1[  ] "node-f" ( )
"""


def test_of_an_hca_with_two_ports_the_right_one_is_quoted() -> None:
    slow = finding("ib.port.rate", "mlx5_0/2", "100 Gb/s")
    reported = excerpt(command("ibstatus", IBSTATUS), slow)
    assert reported.splitlines() == [
        "Infiniband device 'mlx5_0' port 2 status:",
        GAP,
        "\trate:\t\t 100 Gb/sec",
    ]


def test_of_a_switch_the_port_of_its_own_end_is_quoted() -> None:
    slow = finding("fabric.link.speed", "MF0;leaf-1/7", "25.78 Gbps")
    reported = excerpt(command("iblinkinfo", IBLINKINFO), slow).splitlines()
    assert reported == [IBLINKINFO.splitlines()[at] if at >= 0 else GAP for at in (0, -1, 2)]


def test_what_was_asked_about_another_port_is_not_quoted() -> None:
    said = command("mlxlink -d mlx5_0 -p 1", "-E- no cable plugged", "mlx5_0", "1")
    assert excerpt(said, finding("ib.port.ber", "mlx5_0/1", "no cable plugged"))
    assert not excerpt(said, finding("ib.port.ber", "mlx5_0/2", "no cable plugged"))


def test_another_hca_with_the_same_value_is_not_quoted() -> None:
    old = finding("ib.hca.firmware", "mlx5_3", "28.39.1002")
    assert excerpt(Text("/sys/x/mlx5_3/fw_ver", ("mlx5_3",), "28.39.1002\n"), old)
    assert not excerpt(Text("/sys/x/mlx5_0/fw_ver", ("mlx5_0",), "28.39.1002\n"), old)
    layer = finding("ib.port.link_layer", "mlx5_0/2", "Ethernet")
    path = "/sys/x/mlx5_0/ports/1/link_layer"
    assert not excerpt(Text(path, ("mlx5_0", "1"), "Ethernet\n"), layer)


def test_of_a_short_output_the_line_of_the_subject_is_quoted() -> None:
    said = command("rdma link", "link mlx5_0/1 state ACTIVE\nlink mlx5_1/1 state DOWN\n")
    reported = excerpt(said, finding("ib.port.idle", "mlx5_1/1", "Down"))
    assert reported == "link mlx5_1/1 state DOWN"


def test_why_a_command_failed_is_quoted_for_the_host_alone() -> None:
    said = Text("$ nvidia-smi -q -x", (), "No devices were found\n", failed=True)
    assert excerpt(said, finding("gpu.device.count", "host", "0")) == "No devices were found"
    assert not excerpt(said, finding("gpu.ecc.mode", "0000:13:00.0", "Disabled"))
    assert not excerpt(said._replace(failed=False), finding("gpu.device.count", "host", "0"))


def test_a_part_of_a_word_relates_nothing() -> None:
    said = command("systemctl show", "Version=255\nDefaultLimitMEMLOCK=infinity\n")
    assert not excerpt(said, finding("host.limit.memlock", "slurmd.service", "64 KiB (hard 64 KiB)"))
    assert not excerpt(said, finding("nccl.conf.harm", "/etc/environment:4", "A=1, in a file"))


def test_half_characters_are_not_quoted() -> None:
    link = Text("/sys/bus/pci/devices/0000:33:00.0/driver", ("0000:33:00.0",), "../a\udcff")
    assert excerpt(link, finding("pci.gpu.driver", "0000:33:00.0", "a")) == "../a?"


def test_of_units_the_paragraph_of_the_one_is_quoted() -> None:
    asked = command("systemctl show", UNITS, "openibd.service", "ibacm.service", "slurmd.service")
    failed = finding("host.service.failed", "slurmd.service", "failed")
    assert excerpt(asked, failed).splitlines() == UNITS.splitlines()[-3:]


def test_a_file_of_another_thing_is_not_quoted() -> None:
    path = "/sys/class/infiniband/mlx5_{}/ports/1/state"
    down = finding("ib.port.state", "mlx5_1/1", "Down")
    assert excerpt(Text(path.format(1), ("mlx5_1", "1"), "1: DOWN\n"), down) == "1: DOWN"
    assert not excerpt(Text(path.format(2), ("mlx5_2", "1"), "1: DOWN\n"), down)


def test_of_a_table_the_entry_with_what_was_observed_is_quoted() -> None:
    path = "/sys/class/infiniband/mlx5_3/ports/1/pkeys/"
    limited = finding("ib.port.pkey", "mlx5_3/1", "0x7fff")
    assert excerpt(Text(f"{path}0", ("mlx5_3", "1", "0"), "0x7fff\n"), limited) == "0x7fff"
    # The 1 is the port's and no entry's.
    assert not excerpt(Text(f"{path}1", ("mlx5_3", "1", "1"), "0x0000\n"), limited)


def test_a_short_answer_that_names_nothing_of_the_finding_is_not_quoted() -> None:
    said = command("sminfo", "sminfo: sm lid 1 sm guid 0xb8599f0300a10001, SMINFO_MASTER\n")
    assert not excerpt(said, finding("fabric.tool.answered", "ibqueryerrors", "Query SA failed"))


def test_secrets_and_control_characters_are_not_quoted() -> None:
    text = Text("/proc/cmdline", (), "ro token=abc123 \x1b[31mred\x07 http://me:secret@proxy\n")
    reported = excerpt(text, finding("host.kernel.iommu", "host", "translates"))
    assert reported == f"ro token={MASK} ?[31mred? http://me:{MASK}@proxy"


@pytest.mark.parametrize("observed", ["", "?", "(", "\\", "[a-"])
def test_what_was_observed_is_no_pattern(observed: str) -> None:
    excerpt(command("ibstat", IBSTAT), finding("ib.port.state", f"{observed}/1", observed))


@given(text=st.text(), subject=st.text(), observed=st.text(), things=st.lists(st.text()))
def test_whatever_a_host_says_little_is_quoted_and_nothing_is_made_up(
    text: str, subject: str, observed: str, things: list[str]
) -> None:
    reported = excerpt(Text("/a/file", tuple(things), text), finding("ib.port.state", subject, observed))
    assert len(reported) <= CHARACTERS
    assert reported.count("\n") < LINES
    if reported.isascii() and MASK not in reported and "?" not in reported:
        lines = [one for one in reported.removesuffix(GAP).split("\n") if one]
        assert all(one in text for one in lines if one != GAP)
