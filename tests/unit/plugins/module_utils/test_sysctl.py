# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._act.tuning.sysctl import (
    HEADER,
    Setting,
    SysctlError,
    is_ours,
    proc_path,
    read_settings,
    render,
    same_value,
)


@pytest.mark.parametrize(
    ("key", "path"),
    [
        pytest.param("vm.swappiness", "vm/swappiness", id="dots become slashes"),
        pytest.param("net/ipv4/ip_forward", "net/ipv4/ip_forward", id="slashes stay"),
        pytest.param(
            "net.ipv4.conf.eth0/200.forwarding",
            "net/ipv4/conf/eth0.200/forwarding",
            id="after a dot a slash is a dot of the name",
        ),
        pytest.param(
            "net/ipv4/conf/eth0.200/forwarding",
            "net/ipv4/conf/eth0.200/forwarding",
            id="after a slash a dot stays a dot",
        ),
        pytest.param("nonesuch", "nonesuch", id="one word"),
    ],
)
def test_a_key_leads_to_its_file(key: str, path: str) -> None:
    assert proc_path(key) == path


@pytest.mark.parametrize(
    "key",
    [
        pytest.param("", id="empty"),
        pytest.param("Vm.swappiness", id="begins with a capital"),
        pytest.param("/etc/passwd", id="absolute path"),
        pytest.param("-vm.swappiness", id="the ignore prefix is ours to write"),
        pytest.param("vm.swappiness ", id="trailing blank"),
        pytest.param("vm.swappiness\n", id="trailing newline"),
        pytest.param("vm.swappiness\nkernel.panic", id="two lines"),
        pytest.param("vm/../../etc/passwd", id="climbs with slashes"),
        pytest.param("vm..swappiness", id="double dot"),
        pytest.param("a.//.//.etc.passwd", id="climbs with slashes that become dots"),
        pytest.param("net.ipv4.conf.*.rp_filter", id="glob"),
        pytest.param("vm.", id="ends in a separator"),
    ],
)
def test_a_bad_key_is_refused(key: str) -> None:
    with pytest.raises(SysctlError, match="is not the name of a kernel setting"):
        proc_path(key)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param(0, "0", id="number"),
        pytest.param(" 1 ", "1", id="blanks around"),
        pytest.param("4096\t87380\t6291456", "4096 87380 6291456", id="tabs"),
    ],
)
def test_a_value_becomes_one_line(value: object, text: str) -> None:
    assert read_settings({"a.b": value}, {}) == (Setting("a.b", text),)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        pytest.param(True, "True is a bool", id="yes and no are no kernel values"),
        pytest.param(None, "None is a NoneType", id="null"),
        pytest.param(0.5, "0.5 is a float", id="fraction"),
        pytest.param([1, 2], "is a list", id="list"),
        pytest.param("  ", "the value is empty", id="blanks only"),
        pytest.param("1\nkernel.panic = 1", "more than one line", id="smuggled second setting"),
        pytest.param("1\r2", "more than one line", id="carriage return"),
        pytest.param("1\x00", "control characters", id="nul"),
    ],
)
def test_a_bad_value_is_refused_by_key(value: object, why: str) -> None:
    with pytest.raises(SysctlError, match=r"^a\.b: .*" + why):
        read_settings({"a.b": value}, {})


def test_two_names_for_one_setting_are_refused() -> None:
    with pytest.raises(SysctlError, match=r"'vm/x' and 'vm.x' are the same kernel setting"):
        read_settings({"vm.x": 1, "vm/x": 2}, {})


def test_reasons_are_one_line_and_belong_to_settings() -> None:
    reasons: dict[str, Any] = {"a.b": "one\n  evil.key = 1", "c.d": "not set", "e.f": None}
    assert read_settings({"a.b": 1, "e.f": 2}, reasons) == (
        Setting("a.b", "1", "one evil.key = 1"),
        Setting("e.f", "2"),
    )


def test_tabs_and_blanks_are_equal() -> None:
    assert same_value("4096\t87380\t6291456\n", "4096 87380 6291456")
    assert not same_value("4096 87380", "4096 87381")


def test_the_drop_in_reads_well() -> None:
    settings = (Setting("z.y", "0", "Because."), Setting("a.b", "1 2"))
    text = render(settings, absent=["a.b"])
    assert text == f"{HEADER}\n\n# Because.\nz.y = 0\n\n-a.b = 1 2\n"
    assert is_ours(text)
    assert not is_ours("# by hand\nvm.swappiness = 1\n")
