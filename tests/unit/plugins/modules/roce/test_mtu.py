# SPDX-License-Identifier: GPL-3.0-or-later
"""The MTU of an interface, and the file that keeps it."""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.module_utils._data import roce_files as data
from tests.unit.roce_box import Box


def test_an_interface_that_carries_a_login_keeps_its_mtu(box: Box) -> None:
    line = "0: 0501000A:0016 0101000A:C000 01 00000000:00000000 00:00000000 00000000"
    (box.root / "proc/net/tcp").write_text(f"  sl  local_address rem_address   st\n{line}\n")
    reported = box.apply(mtu=9000)
    assert "eth0 carries a login to 10.0.1.5" in reported["msg"]
    assert "set roce_connection_ok" in reported["msg"]
    assert box.apply(mtu=9000, connection_ok=True)["changed"]


def test_netplans_own_file_gets_the_drop_in(box: Box) -> None:
    box.state(file="/run/systemd/network/10-netplan-eth0.network")
    box.apply(mtu=9000)
    path = box.root / "etc/systemd/network/10-netplan-eth0.network.d/ibready-roce.conf"
    assert path.read_text().endswith("[Link]\nMTUBytes=9000\n")
    assert "networkctl reload" in box.calls("networkctl")
    box.apply()
    assert not path.parent.exists()


def test_a_file_that_sets_another_interface_up_as_well_gets_no_mtu(box: Box) -> None:
    (box.root / "sys/class/net/eth9").mkdir()
    before, values = box.files(), box.values()
    reported = box.apply(trust="dscp", mtu=9000)
    assert "eth0 and eth9 are set up by one file of networkd, 20-rail.network" in reported["msg"]
    assert (box.files(), box.values()) == (before, values)
    box.state(eth9="/etc/systemd/network/10-management.network")
    assert box.apply(trust="dscp", mtu=9000)["changed"]


def test_an_interface_that_nobody_sets_up_is_refused(box: Box) -> None:
    box.state(file="n/a")
    reported = box.apply(mtu=9000)
    assert "systemd-networkd has no file for eth0" in reported["msg"]
    box.state(active=[])
    assert "neither NetworkManager nor systemd-networkd runs" in box.apply(mtu=9000)["msg"]
    assert box.values()["mtu"] == "1500"


def test_networkmanager_gets_a_default_unless_the_profile_says_otherwise(box: Box) -> None:
    box.state(active=["NetworkManager.service"])
    box.apply(mtu=9000)
    text = (box.root / data.MANAGER_FILE[1:]).read_text()
    assert "match-device=interface-name:eth0\nethernet.mtu=9000\n" in text
    assert "nmcli general reload conf" in box.calls("nmcli")
    box.apply()
    assert not (box.root / data.MANAGER_FILE[1:]).exists()
    box.state(own_mtu="1500")
    assert "profile 'rail' says MTU 1500" in box.apply(mtu=9000)["msg"]
    box.state(profile="")
    assert "NetworkManager has no profile for eth0" in box.apply(mtu=9000)["msg"]
