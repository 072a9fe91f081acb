# SPDX-License-Identifier: GPL-3.0-or-later
"""The module on a laid-out /sys, with stand-ins for the services' tools and for the kernel.

networkctl and nmcli put what the files say into kernel.json, which `ip` shows.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._act.ipoib import persist, ports
from ansible_collections.ibready.cluster.plugins.module_utils._act.ipoib.desired import Link
from ansible_collections.ibready.cluster.plugins.module_utils._data import ipoib as data
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import Live
from ansible_collections.ibready.cluster.plugins.modules import ipoib_interfaces

Run = Callable[..., dict[str, Any]]
TOOL = """#!/usr/bin/python3
import json, pathlib, re, sys
home = pathlib.Path({home!r})
tool, argv = pathlib.Path(sys.argv[0]).name, sys.argv[1:]
kernel = json.loads((home / "kernel.json").read_text())
with open(home / "calls", "a") as stream:
    stream.write(" ".join([tool, *argv]) + "\\n")

def take(text):
    name = re.search("(?m)^(?:Name|interface-name)=(.*)$", text).group(1)
    one = kernel["links"].setdefault(name, {{"mtu": 2044, "addresses": []}})
    one["addresses"] = re.findall("(?m)^(?:Address|address[0-9])=(.*)$", text)
    mtu = re.search("(?m)^(?:MTUBytes|mtu)=(.*)$", text)
    one["mtu"] = min(int(mtu.group(1)) if mtu else 2044, kernel["most"])
    place = home / "sys/class/net" / name
    place.mkdir(exist_ok=True)
    (place / "mode").write_text("datagram\\n")

if tool == "systemctl" and argv[0] == "is-active":
    if "no bus" in kernel:
        sys.exit("Failed to connect to bus")
    print("active" if argv[-1] in kernel["active"] else "inactive")
    sys.exit(0 if argv[-1] in kernel["active"] else 3)
elif tool == "systemctl":
    print("systemd 252 (252.38-1~deb12u1)")
elif tool == "ip":
    print(json.dumps([
        {{"ifindex": n, "ifname": name, "flags": ["UP", "LOWER_UP"], "mtu": one["mtu"],
          "link_type": "infiniband", "addr_info": [
            {{"family": "inet", "local": text.split("/")[0], "prefixlen": int(text.split("/")[1]),
              "scope": "global"}} for text in one["addresses"]]}}
        for n, (name, one) in enumerate(kernel["links"].items(), 1)]))
elif tool == "networkctl" and argv[0] == "reconfigure":
    for path in sorted((home / "networkd").glob("60-ibready-*.network")):
        take(path.read_text())
elif tool == "nmcli" and argv[0] == "--offline":
    sys.exit(2 if "[infiniband]" not in sys.stdin.read() else 0)
elif tool == "nmcli" and "up" in argv:
    take((home / "manager" / (argv[-1] + ".nmconnection")).read_text())
(home / "kernel.json").write_text(json.dumps(kernel))
"""
ADDRESS = "10.1.0.11/16"


class Host:
    def __init__(self, home: Path, run: Run) -> None:
        self.home, self._run = home, run
        self.kernel: dict[str, Any] = {
            "active": ["systemd-networkd.service"],
            "most": 4092,
            "links": {"ib0": {"mtu": 2044, "addresses": []}},
        }
        self.put()
        self.sysfs("class/infiniband/mlx5_0/ports/1/link_layer", "InfiniBand")
        self.sysfs("class/net/ib0/type", "32")
        self.sysfs("class/net/ib0/dev_port", "0")
        self.sysfs("class/net/ib0/mode", "datagram")
        function = home / "sys/devices/pci/0000:18:00.0"
        (function / "net/ib0").mkdir(parents=True)
        (function / "driver").symlink_to("../../bus/pci/drivers/mlx5_core")
        (home / "sys/class/infiniband/mlx5_0/device").symlink_to(function)
        (home / "proc/net").mkdir(parents=True)
        (home / "proc/net/tcp").write_text("  sl  local_address rem_address   st\n")

    def sysfs(self, path: str, text: str) -> None:
        place = self.home / "sys" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"{text}\n")

    def put(self, **more: Any) -> None:
        self.kernel.update(more)
        (self.home / "kernel.json").write_text(json.dumps(self.kernel))

    def links(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.home / "kernel.json").read_text())["links"]
        return found

    def calls(self) -> list[str]:
        path = self.home / "calls"
        found = path.read_text().splitlines() if path.exists() else []
        path.write_text("")
        return [one for one in found if not one.startswith(("systemctl", "ip "))]

    def apply(self, *, check: bool = False, **more: Any) -> dict[str, Any]:
        one = {"port": "mlx5_0/1", "addresses": [ADDRESS], **more.pop("one", {})}
        given = {"interfaces": [one], "wait": 0.2, **more}
        return self._run(ipoib_interfaces.main, check=check, **given)


@pytest.fixture
def host(tmp_path: Path, run_module: Run, monkeypatch: pytest.MonkeyPatch) -> Host:
    (tmp_path / "bin").mkdir()
    for name in ("systemctl", "networkctl", "nmcli", "ip"):
        path = tmp_path / "bin" / name
        path.write_text(TOOL.format(home=str(tmp_path)))
        path.chmod(0o755)
    monkeypatch.setattr(
        "ansible_collections.ibready.cluster.plugins.module_utils._ground.command._search_path",
        lambda: f"{tmp_path}/bin",
    )
    monkeypatch.setattr(ipoib_interfaces, "Live", lambda: Live(tmp_path))
    monkeypatch.setattr(data, "NETWORKD_FOLDER", f"{tmp_path}/networkd")
    monkeypatch.setattr(data, "MANAGER_FOLDER", f"{tmp_path}/manager")
    monkeypatch.setattr(data, "NETPLAN_FILE", f"{tmp_path}/netplan/90-ibready-ipoib.yaml")
    monkeypatch.setattr(persist, "LINKS", f"{tmp_path}/networkd/05-ibready-*.link")
    monkeypatch.setattr(persist, "_PAUSE", 0.05)
    return Host(tmp_path, run_module)


def test_networkd_is_told_and_the_kernel_asked(host: Host) -> None:
    result = host.apply(one={"mtu": 4092})
    assert result["changed"], result
    assert result["backend"] == "networkd"
    assert host.links()["ib0"] == {"mtu": 4092, "addresses": [ADDRESS]}
    assert host.calls() == ["networkctl reload", "networkctl reconfigure ib0"]

    again = host.apply(one={"mtu": 4092})
    assert not again["changed"], again
    assert host.calls() == []


def test_a_partition_has_an_interface_of_its_own(host: Host) -> None:
    result = host.apply(one={"pkeys": [{"pkey": 1, "addresses": ["10.9.0.11/16"]}]})
    assert sorted(result["interfaces"]) == ["ib0", "ib0.8001"], result
    assert host.links()["ib0.8001"]["addresses"] == ["10.9.0.11/16"]
    assert (host.home / "networkd/60-ibready-ib0.8001.netdev").exists()
    # One that is no longer wished goes.
    assert host.apply()["changed"]
    assert sorted(path.name for path in (host.home / "networkd").iterdir()) == ["60-ibready-ib0.network"]


def test_networkmanager_has_a_profile_that_only_root_reads(host: Host) -> None:
    host.put(active=["NetworkManager.service"])
    result = host.apply()
    assert result["backend"] == "networkmanager", result
    path = host.home / "manager/ibready-ib0.nmconnection"
    assert path.stat().st_mode & 0o777 == 0o600
    assert [one.split(" ")[1] for one in host.calls()] == ["--offline", "connection", "--wait"]
    assert host.links()["ib0"]["addresses"] == [ADDRESS]


def test_check_mode_changes_nothing(host: Host) -> None:
    result = host.apply(check=True)
    assert result["changed"]
    assert ADDRESS in result["diff"][0]["after"]
    assert not (host.home / "networkd").exists()
    assert host.calls() == []


def test_what_does_not_become_as_wished_goes_back(host: Host) -> None:
    host.apply()
    before = (host.home / "networkd/60-ibready-ib0.network").read_text()
    host.put(most=2044, links=host.links())
    result = host.apply(one={"mtu": 4092})
    assert "ib0 has MTU 2044, not 4092: its partition's broadcast group" in result["msg"]
    assert "The files are as before" in result["msg"]
    assert (host.home / "networkd/60-ibready-ib0.network").read_text() == before


def test_an_interface_that_carries_a_login_is_left_alone(host: Host) -> None:
    host.put(links={"ib0": {"mtu": 2044, "addresses": ["10.1.0.99/16"]}})
    tcp = host.home / "proc/net/tcp"
    # 10.1.0.99:22 with 10.1.0.1:40000, established; a little-endian machine's words.
    tcp.write_text("  sl  local_address rem_address   st\n   0: 6300010A:0016 0100010A:9C40 01\n")
    result = host.apply()
    assert "ib0 carries a login to 10.1.0.99 (TCP port 22)" in result["msg"], result
    assert not (host.home / "networkd").exists()
    # The port by which Ansible comes may be forwarded to the host's 22.
    assert "(TCP port 22 or 2222)" in host.apply(ssh_port=2222)["msg"]
    tcp.write_text(tcp.read_text().replace(":0016", ":08AE"))
    assert "(TCP port 22 or 2222)" in host.apply(ssh_port=2222)["msg"]
    assert host.apply()["changed"]
    host.put(links={"ib0": {"mtu": 2044, "addresses": ["10.1.0.99/16"]}})
    assert host.apply(connection_ok=True, ssh_port=2222)["changed"]


@pytest.mark.parametrize("service", ["systemd-networkd.service", "NetworkManager.service"])
def test_an_interface_that_is_wished_no_longer_keeps_its_login(host: Host, service: str) -> None:
    host.put(active=[service])
    host.apply(one={"pkeys": [{"pkey": 1, "addresses": ["10.9.0.11/16"]}]})
    tcp = host.home / "proc/net/tcp"
    # 10.9.0.11:22, of the partition's interface.
    tcp.write_text("  sl  local_address rem_address   st\n   0: 0B00090A:0016 0100090A:9C40 01\n")
    host.calls()
    result = host.apply()
    assert "ib0.8001 carries a login to 10.9.0.11" in result["msg"], result
    assert host.calls() == []
    assert host.apply(connection_ok=True)["changed"]


def test_the_interfaces_of_a_file_are_told_from_it() -> None:
    own = Link("mlx5_0/1", 0, "datagram", 2044, ("10.1.0.11/16",))
    links = (own, Link("mlx5_0/1", 0x8001, "datagram", 0, ("10.9.0.11/16",)))
    for backend in data.BACKENDS:
        texts = persist.render(backend, links, {"mlx5_0/1": "ib0"})
        found = {name for path, text in texts.items() for name in persist.interfaces_in(path, text)}
        assert found == {"ib0", "ib0.8001"}, backend
    assert persist.interfaces_in(f"{data.NETWORKD_FOLDER}/05-ibready-rail0.link", "") == []


def test_who_is_logged_in_has_to_be_known(host: Host) -> None:
    (host.home / "proc/net/tcp").unlink()
    assert "who is logged in cannot be told" in host.apply()["msg"]
    assert not (host.home / "networkd").exists()
    assert host.apply(connection_ok=True)["changed"]


def test_an_address_of_version_6_is_read_as_well(host: Host) -> None:
    tcp = host.home / "proc/net/tcp6"
    local = "000000FD" + "0" * 16 + "0B000000"
    mapped = "0" * 16 + "FFFF0000" + "6300010A"
    rows = [f"   0: {one}:0016 {one}:9C40 01" for one in (local, mapped)]
    tcp.write_text("\n".join(["  sl  local_address", *rows, ""]))
    assert ports.sessions(Live(host.home), [22]) == {"fd00::b", "10.1.0.99"}


@pytest.mark.parametrize(
    ("one", "said"),
    [
        ({"port": "mlx5_7/1"}, "has no port mlx5_7/1: its RDMA devices are mlx5_0"),
        ({"port": "mlx5_0/2"}, "has no port mlx5_0/2"),
        ({"mode": "connected"}, "mlx5_core does IPoIB in datagram mode only"),
        ({"mtu": 9000}, "not between 1280 and 4092"),
    ],
)
def test_what_the_host_cannot_is_refused(host: Host, one: dict[str, Any], said: str) -> None:
    assert said in host.apply(one=one)["msg"]
    assert not (host.home / "networkd").exists()


def test_a_port_of_ethernet_is_refused(host: Host) -> None:
    host.sysfs("class/infiniband/mlx5_0/ports/1/link_layer", "Ethernet")
    assert "mlx5_0/1 is Ethernet, and IPoIB needs InfiniBand" in host.apply()["msg"]


def test_a_port_without_an_interface_leads_to_the_module(host: Host) -> None:
    host.sysfs("class/net/ib0/type", "1")
    assert "has no IPoIB interface. Next: see that ib_ipoib is loaded" in host.apply()["msg"]


def test_a_host_of_neither_service_is_left_to_the_site(host: Host) -> None:
    host.put(active=[])
    assert "neither NetworkManager nor systemd-networkd runs" in host.apply()["msg"]


def test_a_name_waits_for_the_next_boot(host: Host) -> None:
    result = host.apply(one={"name": "rail0"})
    assert "ib0 becomes rail0 at the next boot" in result["waits"], result
    rule = (host.home / "networkd/05-ibready-rail0.link").read_text()
    assert "Path=pci-0000:18:00.0" in rule
    assert host.links()["ib0"]["addresses"] == [], "the files are for rail0"


def test_absent_takes_the_files_away(host: Host) -> None:
    host.apply()
    result = host._run(ipoib_interfaces.main, state="absent")
    assert result["changed"], result
    assert list((host.home / "networkd").iterdir()) == []
    assert not host._run(ipoib_interfaces.main, state="absent")["changed"]
