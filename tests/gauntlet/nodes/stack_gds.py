# SPDX-License-Identifier: GPL-3.0-or-later
"""GPUDirect Storage of a simulated node: nvidia-fs, gdscheck in the formats of 1.7 and 1.16, cufile.json, mounts.

`node.more` understands `gds`: release (of GDS), nvidia_fs (version in the kernel), drivers (gdscheck's words by file
system, in place of those of all others), hooked (modules), p2pdma (whether cufile.json switches it on), addresses
(of cufile.json, with the interface that has each), mounts (lines of /proc/self/mounts), raid (disks below md0).
`modules` names nvidia_fs and the storage's: nodes/host.py loads them.
"""

from __future__ import annotations

import json
from typing import Any

from tests.gauntlet.node import Node
from tests.gauntlet.nodes.pci import place
from tests.gauntlet.tree import Tree

_DRIVERS = ("NVMe", "NVMeOF", "SCSI", "ScaleFlux CSD", "NVMesh", "DDN EXAScaler", "IBM Spectrum Scale", "NFS", "BeeGFS")
_BAR = "=" * 21


def add(tree: Tree, node: Node) -> None:
    """Everything that observe_gds.py reads, on a node that has it."""
    found = node.more.get("gds")
    if not found:
        return
    if "nvidia_fs" in node.more.get("modules", ()):
        version = found["nvidia_fs"]
        tree.file("/proc/driver/nvidia-fs/version", f"version: {'.'.join(version.split('.')[:2])}")
        tree.file("/proc/driver/nvidia-fs/modules", "".join(f"{name}: 5.1\n" for name in found["hooked"]))
    tree.command("gdscheck", _said(node, found))
    tree.file("/etc/cufile.json", _conf(found))
    mounts = tree.files["/proc/self/mounts"].decode() + "".join(f"{line}\n" for line in found["mounts"])
    tree.file("/proc/self/mounts", mounts)
    named = found.get("addresses", {}).values()
    for hca in node.hcas:
        if hca.netdev in named:
            tree.folder(f"{place(hca.path)}/net/{hca.netdev}")
    for number in range(4):
        tree.file(f"/sys/class/nvme/nvme{number}/transport", "pcie")
    tree.symlink("/sys/class/block/md0", "../../devices/virtual/block/md0")
    for disk in found.get("raid", ("nvme2n1", "nvme3n1")):
        tree.symlink(f"/sys/devices/virtual/block/md0/slaves/{disk}", f"../../../../{disk}")
        if not disk.startswith("nvme"):
            tree.symlink(f"/sys/class/block/{disk}", f"../../devices/pci0000:00/0000:00:17.0/block/{disk}")


def interfaces(node: Node) -> list[dict[str, Any]]:
    """What `ip addr` has besides, for nodes/nccl.py."""
    named = (node.more.get("gds") or {}).get("addresses", {})
    return [
        {
            "ifname": name,
            "flags": ["BROADCAST", "MULTICAST", "UP", "LOWER_UP"],
            "mtu": 2044,
            "link_type": "infiniband",
            "addr_info": [{"family": "inet", "local": address, "prefixlen": 24, "scope": "global"}],
        }
        for address, name in named.items()
        if name
    ]


def _said(node: Node, found: dict[str, Any]) -> str:
    new = int(found["release"].split(".")[1]) >= 16
    oldest = "nvidia_fs minimum version" if new else "libcufile version"
    driver = ".".join(found["nvidia_fs"].split(".")[:2])
    modes = {name: "compat" if new else "Unsupported" for name in _DRIVERS} | found["drivers"]
    lines = [
        f"GDS release version: {found['release']}",
        f"nvidia_fs version:  {driver} {oldest}: 2.12",
        f"Platform: {node.machine}",
        *_heading("ENVIRONMENT:"),
        *_heading("DRIVER CONFIGURATION:"),
        *(f"{name:<18} : {said}" for name, said in modes.items()),
        "Userspace RDMA     : Unsupported",
        "--Mellanox PeerDirect : Enabled",
        "--rdma library        : Not Loaded (libcufile_rdma.so)",
        "--rdma_device_status  : Up: 0 Down: 0",
        *_heading("CUFILE CONFIGURATION:"),
        *([f"properties.use_pci_p2pdma : {_word(found.get('p2pdma'))}"] if new else []),
        "properties.use_compat_mode : true",
        f"properties.force_compat_mode : {_word(found.get('force'))}",
        "properties.max_direct_io_size_kb : 16384",
        "fs.lustre.posix_gds_min_kb: 0",
        "execution.parallel_io : true",
        *_heading("GPU INFO:"),
        *(
            f"GPU index {card.index} {node.gpu_name} bar:1 bar size (MiB):131072 supports GDS, IOMMU State: Disabled"
            for card in node.cards
        ),
        *_heading("PLATFORM INFO:"),
        "IOMMU: disabled",
        *(["Nvidia Driver Info Status: Supported(Nvidia Open Driver Installed)"] if node.modules == "open" else []),
        f"Platform: {node.product}, Arch: {node.machine}(Linux {node.kernel})",
        "Platform verification succeeded",
    ]
    return "".join(f" {line}\n" for line in lines)


def _heading(name: str) -> tuple[str, ...]:
    return _BAR, name, _BAR


def _word(flag: object) -> str:
    return "true" if flag else "false"


def _conf(found: dict[str, Any]) -> str:
    """As NVIDIA's package writes it, as far as anything is judged: comments, and keys of which nobody knows."""
    addresses = json.dumps(list(found.get("addresses", {})))
    return f"""\
{{
    // NOTE : Application can override custom configuration via export CUFILE_ENV_PATH_JSON=<filepath>
    "logging": {{
        // log directory, if not enabled will create log file under current working directory
        //"dir": "/home/<xxxx>",
        "level": "ERROR"
    }},
    "properties": {{
        // max IO chunk size (parameter should be multiples of 64K)
        "max_direct_io_size_kb" : 16384,
        "use_poll_mode" : false,
        "use_pci_p2pdma": {_word(found.get("p2pdma"))},
        "allow_compat_mode": true, /* falls back */
        "rdma_dev_addr_list": {addresses},
        "rdma_load_balancing_policy": "RoundRobin",
        "a_key_of_tomorrow": [1, 2]
    }},
    "fs": {{
        "generic": {{ "posix_unaligned_writes" : false }},
        "nfs": {{
            //"rdma_dev_addr_list" : []
            "mount_table" : {{ "/data" : {{ "rdma_dev_addr_list" : {addresses} }} }}
        }}
    }},
    "block": {{ "nvme": {{ "use_pci_p2pdma": {_word(found.get("p2pdma"))} }} }}
}}
"""
