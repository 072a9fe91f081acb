# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts to derive an nccl.conf for, from a short description to what their files would hold.

Made up, in the formats of a kernel and of iproute2; no host was recorded. A description has

- ``gpus``: how many, ``gpu``: their PCI device id; ``switches``: NVSwitches; ``product``;
- ``nccl``: the version, "" for none; ``driver``: open, proprietary or ""; ``peermem``: registered,
  loaded or ""; ``kernel``; ``virtual``: a virtual machine; ``bus``: false where PCI cannot be read;
- ``hcas``: groups, each with ``count``, ``model`` (CA type), ``layer``, ``rate``, ``state``,
  ``beside`` (gpu, gpus: one switch further, cpu), ``name`` (with {}), ``ports`` (a list of what is
  different on each), ``functions`` (of one adapter), ``of`` (the device that these are virtual
  functions of), ``manages`` (the NVLink switches), ``vpd`` (false where it cannot be read),
  ``subnet``, ``netdev``, ``gids`` (local, ipv4, zeroconf, ipv6), ``driver``, ``node_type``,
  ``traffic_class``, ``software``, ``umad`` (false: ibstat does not show it);
- ``ibstat``: true where it is installed, else the kernel alone tells of the devices;
- ``without``: paths that are taken away again; ``container``: seen from one;
- ``interfaces``: name to {``kind``, ``up``, ``running``, ``addresses``}; ``routes``: address of a
  peer to [interface, source], or to a complaint of ``ip``; ``ip``: false where it is not installed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._areas.nccl.observe_host import look
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.host import NcclHost
from tests.gauntlet.nodes.pci import place, vpd
from tests.gauntlet.tree import Tree

_STATES = {"Active": "4: ACTIVE", "Down": "1: DOWN", "Initializing": "2: INIT"}
_PHYSICAL = {"Active": "5: LinkUp", "Down": "2: Polling", "Initializing": "5: LinkUp"}
_IDS = {"MT41692": "a2dc", "MT41686": "a2d6"}
_KERNEL = "6.8.0-88-generic"
_GIDS = {
    "local": "fe80:0000:0000:0000:0ac0:ebff:fe00:00{:02x}",
    "ipv4": "0000:0000:0000:0000:0000:ffff:0a64:00{:02x}",
    "zeroconf": "0000:0000:0000:0000:0000:ffff:a9fe:00{:02x}",
    "ipv6": "fd00:0000:0000:0000:0000:0000:0000:00{:02x}",
}


def host(spec: Mapping[str, Any], expect: Mapping[str, Any] | None = None) -> NcclHost:
    """What the collection sees of the host."""
    return look(render(spec), from_inventory(expect), sorted(spec.get("routes", {})))


def render(spec: Mapping[str, Any]) -> Tree:
    """The host's files, and what its commands print."""
    tree = Tree()
    _machine(tree, spec)
    _stack(tree, spec)
    _network(tree, spec)
    if not spec.get("bus", True):
        tree.broken["/sys/bus/pci/devices"] = "permission denied"
    tree.folder("/sys/bus/pci/devices")
    gpus = spec.get("gpus", 0)
    for index in range(gpus):
        bus = 0x10 + 0x10 * index
        ids = ("030200", "10de", spec.get("gpu", "2330"))
        _function(tree, [*_switch(bus), f"0000:{bus + 3:02x}:00.0"], ids, index, gpus)
    for index in range(spec.get("switches", 0)):
        address = f"0000:{0xE0 + 2 * index:02x}:00.0"
        _function(tree, ["0000:df:01.0", address], ("068000", "10de", "22a3"), 0, 1)
    places = [index for group in spec.get("hcas", ()) for index in range(group.get("count", 1))]
    for made, (index, (name, group)) in enumerate(zip(places, _devices(spec), strict=True)):
        _hca(tree, spec, group, index, made, name)
    if spec.get("ibstat"):
        _ibstat(tree, spec)
    for path in spec.get("without", ()):
        tree.remove(path)
    if spec.get("container"):
        tree.file("/.dockerenv", "")
    return tree


def _machine(tree: Tree, spec: Mapping[str, Any]) -> None:
    tree.file("/sys/class/dmi/id/product_name", spec.get("product", "made up"))
    tree.file("/sys/class/dmi/id/sys_vendor", "Supermicro")
    tree.file("/proc/sys/kernel/osrelease", spec.get("kernel", _KERNEL))
    flags = "lm sse4_2" + (" hypervisor" if spec.get("virtual") else "")
    tree.file("/proc/cpuinfo", f"processor\t: 0\nvendor_id\t: GenuineIntel\nflags\t\t: {flags}\n")
    tree.folder("/sys/bus")


def _stack(tree: Tree, spec: Mapping[str, Any]) -> None:
    tree.file("/etc/os-release", "ID=ubuntu\n")
    packages = {"bash": "5.2-1", "libnccl2": spec.get("nccl", "2.28.7-1+cuda13.0")}
    packages.update({"dpkg": "1.22-1", "libc6": "2.39-1", "zlib1g": "1.3-1"})
    text = "Package: {}\nStatus: install ok installed\nArchitecture: amd64\nVersion: {}\n"
    found = [text.format(name, version) for name, version in packages.items() if version]
    tree.file("/var/lib/dpkg/status", "\n".join(found) + "\n")
    kind = {"open": "Open Kernel Module for x86_64", "proprietary": "x86_64 Kernel Module"}
    driver = spec.get("driver", "open")
    if driver:
        said = f"NVRM version: NVIDIA UNIX {kind[driver]}  580.105.08  Release Build\n"
        tree.file("/proc/driver/nvidia/version", said)
    if spec.get("peermem", "registered"):
        tree.folder("/sys/module/nvidia_peermem")
    if spec.get("peermem", "registered") == "registered":
        tree.file("/sys/kernel/mm/memory_peers/nv_mem/version", "580.105.08")


def _network(tree: Tree, spec: Mapping[str, Any]) -> None:
    if not spec.get("ip", True):
        return
    known = {"lo": {"kind": "loopback", "addresses": ["127.0.0.1/8"]}, **spec.get("interfaces", {})}
    tree.command("ip_addr", json.dumps([_interface(name, one) for name, one in known.items()]))
    for peer, way in spec.get("routes", {}).items():
        if isinstance(way, str):
            tree.command(f"ip_route@{peer}", "", 2, f"RTNETLINK answers: {way}\n")
            continue
        route = {"dst": peer, "dev": way[0], "prefsrc": way[1], "flags": [], "cache": []}
        tree.command(f"ip_route@{peer}", json.dumps([route]))


def _interface(name: str, one: Mapping[str, Any]) -> dict[str, Any]:
    kind = one.get("kind", "")
    flags = [*(["UP"] if one.get("up", True) else ()), *(["LOWER_UP"] * one.get("running", True))]
    return {
        "ifname": name,
        "flags": flags,
        "mtu": one.get("mtu", 1500),
        "link_type": {"loopback": "loopback", "ipoib": "infiniband"}.get(kind, "ether"),
        **({"linkinfo": {"info_kind": kind}} if kind not in ("", "loopback") else {}),
        **({"master": one["master"]} if "master" in one else {}),
        "addr_info": [
            {
                "family": "inet6" if ":" in address else "inet",
                "local": address.partition("/")[0],
                "prefixlen": int(address.partition("/")[2] or (128 if ":" in address else 32)),
                "scope": "global",
            }
            for address in one.get("addresses", ())
        ],
    }


def _switch(bus: int, port: int = 0) -> list[str]:
    """Root port, and the switch's ports on the way down."""
    return [f"0000:{bus:02x}:01.0", f"0000:{bus + 1:02x}:00.0", f"0000:{bus + 2:02x}:{port:02x}.0"]


def _path(group: Mapping[str, Any], index: int, made: int, gpus: int) -> list[str]:
    functions = group.get("functions", 1)
    adapter, function = index // functions, index % functions
    beside = group.get("beside", "gpu" if gpus else "cpu")
    if group.get("of"):
        return [f"0000:{0x91 + 2 * made:02x}:01.0", f"0000:{0x92 + 2 * made:02x}:00.{made % 8}"]
    if beside == "cpu":
        bus = 0x90 + 2 * (made - function)
        return [f"0000:{bus:02x}:02.0", f"0000:{bus + 1:02x}:00.{function}"]
    bus = 0x10 + 0x10 * (adapter * gpus // max(1, group.get("count", 1) // functions))
    if beside == "gpu":
        return [*_switch(bus, 1), f"0000:{bus + 4:02x}:{adapter:02x}.{function}"]
    below = _switch(bus + 4)[1:]
    return [*_switch(bus, 2), *below, f"0000:{bus + 8:02x}:{made:02x}.{function}"]


def _function(tree: Tree, path: list[str], ids: tuple[str, str, str], index: int, count: int) -> str:
    base = place(path)
    tree.symlink(f"/sys/bus/pci/devices/{path[-1]}", "../../../" + base[len("/sys/") :])
    for name, text in zip(("class", "vendor", "device"), ids, strict=True):
        tree.file(f"{base}/{name}", f"0x{text}")
    tree.file(f"{base}/numa_node", str(int(2 * index >= count)))
    return base


def _hca(
    tree: Tree,
    spec: Mapping[str, Any],
    group: Mapping[str, Any],
    index: int,
    made: int,
    name: str,
) -> None:
    gpus, model = spec.get("gpus", 0), group.get("model", "MT4129")
    layer = group.get("layer", "InfiniBand")
    if group.get("software"):
        above = "/sys/devices/virtual"
    else:
        path = _path(group, index, made, gpus)
        kind = "020700" if layer == "InfiniBand" else "020000"
        device = _IDS.get(model, f"{int(model[2:]):04x}") if model.startswith("MT") else "1593"
        vendor = "15b3" if model.startswith("MT") else "8086"
        above = _function(tree, path, (kind, vendor, device), index, group.get("count", 1))
        tree.symlink(f"{above}/driver", f"../drivers/{group.get('driver', 'mlx5_core')}")
        tree.file(f"{above}/vpd", vpd(model, bool(group.get("manages"))))
        if not group.get("vpd", True):
            tree.broken[f"/sys/bus/pci/devices/{path[-1]}/vpd"] = "permission denied"
        if group.get("of"):
            tree.symlink(f"{above}/physfn", "../" + _address(tree, group["of"]))
    base = f"{above}/infiniband/{name}"
    tree.symlink(f"/sys/class/infiniband/{name}", "../../" + base[len("/sys/") :])
    if not group.get("software"):
        tree.symlink(f"{base}/device", f"../../../{above.rpartition('/')[2]}")
    guid = f"a088:c203:00e3:{0x1000 + made - index % group.get('functions', 1):04x}"
    tree.file(f"{base}/hca_type", model)
    tree.file(f"{base}/node_type", group.get("node_type", "1: CA"))
    tree.file(f"{base}/sys_image_guid", guid)
    tree.file(f"{base}/node_guid", f"a088:c203:00e3:{0x2000 + made:04x}")
    for number, bent in enumerate(group.get("ports", [{}]), 1):
        _port(tree, base, name, number, {**group, **bent}, made)


def _address(tree: Tree, device: str) -> str:
    return tree.links[f"/sys/class/infiniband/{device}"].split("/")[-3]


def _port(tree: Tree, base: str, name: str, number: int, group: Mapping[str, Any], made: int) -> None:
    port, state = f"{base}/ports/{number}", group.get("state", "Active")
    layer = group.get("layer", "InfiniBand")
    rate = group.get("rate", 400) if state == "Active" else 10
    tree.file(f"{port}/state", _STATES[state])
    tree.file(f"{port}/phys_state", _PHYSICAL[state])
    tree.file(f"{port}/rate", f"{rate} Gb/sec (4X NDR)")
    if layer:
        tree.file(f"{port}/link_layer", layer)
    if layer == "InfiniBand":
        tree.file(f"{port}/lid", f"0x{made + 2:x}")
        tree.file(f"{port}/gids/0", f"fe80:0000:0000:0000:a088:c203:00e3:{made:04x}")
        if state == "Active":
            guid = 0xB8599F0300A10000 + group.get("subnet", 0)
            said = f"sminfo: sm lid 1 sm guid 0x{guid:x}, activity count 5 priority 15 state 3 "
            tree.command(f"sminfo@{name}-{number}", said + "SMINFO_MASTER\n")
        return
    netdev = group.get("netdev", "eth{}").format(made)
    used = [_GIDS[one].format(made + 1) for one in group.get("gids", ["local", "ipv4"])]
    table = [one for one in used for _version in (1, 2)] if state == "Active" else []
    for index in range(40):
        there = index < len(table)
        tree.file(f"{port}/gids/{index}", table[index] if there else ":".join(["0000"] * 8))
        if there:
            tree.file(f"{port}/gid_attrs/types/{index}", ("IB/RoCE v1", "RoCE v2")[index % 2])
            tree.file(f"{port}/gid_attrs/ndevs/{index}", netdev)
    if "traffic_class" in group:
        tree.file(f"{base}/tc/{number}/traffic_class", f"Global tclass={group['traffic_class']}")


def _ibstat(tree: Tree, spec: Mapping[str, Any]) -> None:
    """What the tool makes of the same files."""
    reported = ""
    for name, group in _devices(spec):
        if not group.get("umad", True):
            continue
        ports = group.get("ports", [{}])
        reported += f"CA '{name}'\n\tCA type: {group.get('model', 'MT4129')}\n"
        reported += f"\tNumber of ports: {group.get('n_ports', len(ports))}\n"
        for number, bent in enumerate(ports, 1):
            one = {**group, **bent}
            state = one.get("state", "Active")
            reported += f"\tPort {number}:\n\t\tState: {state}\n\t\tPhysical state: LinkUp\n"
            reported += f"\t\tRate: {one.get('rate', 400)}\n"
            reported += f"\t\tLink layer: {one.get('layer', 'InfiniBand')}\n"
    tree.command("ibstat", reported)


def _devices(spec: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Every device's name, with its group."""
    groups = [(index, group) for group in spec.get("hcas", ()) for index in range(group.get("count", 1))]
    return [
        (group.get("name", "mlx5_{}").format(made if "name" not in group else index), group)
        for made, (index, group) in enumerate(groups)
    ]
