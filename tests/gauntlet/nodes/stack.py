# SPDX-License-Identifier: GPL-3.0-or-later
"""The installed stack of a simulated node: packages, kernel modules, peer memory.

`node.more` understands: planned (name and version of a plan's packages, in place of our own),
peermem (False where nvidia_peermem is not loaded), mpi and beegfs; gds: see stack_gds.py.
"""

from __future__ import annotations

import json

from tests.gauntlet.node import Node
from tests.gauntlet.nodes import stack_gds
from tests.gauntlet.tree import Tree

_NAMES = {"doca": "OFED-internal", "mlnx_ofed": "MLNX_OFED_LINUX"}
_META = {"doca": ("doca-ofed", "3.2.0-125000"), "mlnx_ofed": ("mlnx-ofed-all", "{ofed}")}
_NCCL = {"13.0": "2.28.7-1+cuda13.0", "12.2": "2.19.3-1+cuda12.2"}


def add(tree: Tree, node: Node) -> None:
    """Everything that the stack area reads."""
    vendor = node.rdma != "inbox"
    rpm = node.os_id in ("rocky", "rhel", "almalinux")
    like = "rhel centos fedora" if rpm else "debian"
    if "/etc/os-release" not in tree.files:
        text = f'NAME="{node.os_id}"\nID={node.os_id}\nID_LIKE="{like}"\n'
        tree.file("/etc/os-release", f'{text}VERSION_ID="{node.os_version}"\n')
    _packages(tree, node, rpm)
    _modules(tree, node, rpm)
    if vendor:
        tree.command("ofed_info", f"{_NAMES[node.rdma]}-{node.ofed}:\n")
    lib = "/usr/lib64" if rpm else f"/usr/lib/{node.machine}-linux-gnu"
    tree.symlink(f"{lib}/libibverbs.so.1", "libibverbs.so.1.14.0")
    tree.file(f"{lib}/libibverbs.so.1.14.0", b"\x7fELF")
    tree.symlink(f"{lib}/librdmacm.so.1", "librdmacm.so.1.3.50.0")
    tree.file(f"{lib}/librdmacm.so.1.3.50.0", b"\x7fELF")
    for provider in ("mlx4", "mlx5", "bnxt_re", "irdma"):
        tree.file(f"/etc/libibverbs.d/{provider}.driver", f"driver {provider}")
        tree.file(f"{lib}/libibverbs/lib{provider}-rdmav34.so", b"\x7fELF")
    if node.cards:
        tree.file("/proc/driver/nvidia/version", _driver(node))
        if vendor and node.more.get("peermem", True):
            tree.file("/sys/kernel/mm/memory_peers/nv_mem/version", node.driver)
            tree.file("/sys/module/nvidia_peermem/version", node.driver)
        _linker(tree, lib, node)
    if node.more.get("mpi"):
        tree.command("ompi_info", _ompi())
        tree.command("ucx_info", _ucx(node))
    if node.more.get("beegfs"):
        tree.file("/etc/beegfs/beegfs-client.conf", "sysMgmtdHost = mgmt\nconnUseRDMA = true\nlogType = syslog\n")
        for role, port in (("mgmt", 8008), ("meta", 8005), ("storage", 8003)):
            kind = "TCP" if role == "mgmt" else "RDMA"
            lines = f"{role}1 [ID: 1]\n   Connections: {kind}: 4 (192.0.2.40:{port}); \n"
            tree.file(f"/proc/fs/beegfs/1F-6507A3B2-node/{role}_nodes", lines)
    stack_gds.add(tree, node)


def _linker(tree: Tree, lib: str, node: Node) -> None:
    flag = "libc6,x86-64" if node.machine == "x86_64" else "libc6,AArch64"
    names = ("libcuda.so", "libnvidia-ml.so", "libnvidia-ptxjitcompiler.so")
    lines = []
    for name in names:
        tree.symlink(f"{lib}/{name}.1", f"{name}.{node.driver}")
        lines.append(f"\t{name}.1 ({flag}) => {lib}/{name}.1\n")
    tree.command("ldconfig", f"{len(lines)} libs found in cache `/etc/ld.so.cache'\n{''.join(lines)}")


def beegfs_said() -> list[str]:
    """What a client of BeeGFS that logs to the kernel says of its mount; made by its format strings, not recorded."""
    connected = "beegfs: {}: NodeConn (acquire stream): Connected: beegfs-{}@192.0.2.40:{} (protocol: {})"
    return [
        "beegfs: mount(3019): Built without NVFS RDMA support.",
        "beegfs: mount(3019): App_logInfos: BeeGFS Client Version: 8.1.0",
        "beegfs: mount(3019): App_logInfos: Usable NICs: ib0(RDMA) ib0(TCP) eth0(TCP)",
        connected.format("beegfs_XNodeSyn(3021)", "mgmtd", 8008, "TCP"),
        connected.format("mount(3019)", "meta", 8005, "RDMA"),
        connected.format("mount(3019)", "storage", 8003, "RDMA"),
        "beegfs: mount(3019): BeeGFS mount ready.",
    ]


def _ompi() -> str:
    components = ("cm", "ob1", "ucx", "v")
    lines = [f'mca:pml:{name}:version:"component:5.0.7"' for name in components]
    lines += ["mca:pml:base:param:pml:value:", "mca:pml:base:param:pml:source:default"]
    help_text = "mca:pml:{}:param:pml_{}_priority:help:Priority of the component"
    lines += [help_text.format(name, name) for name in components for _line in range(8)]
    lines.append("mca:pml:ucx:param:pml_ucx_tls:value:rc_verbs,ud_verbs,rc_mlx5,dc_mlx5,ud_mlx5")
    # The parameters of ucx come after those of the others.
    return "\n".join(sorted(lines, key=lambda line: ":ucx:param:" in line)) + "\n"


def _ucx(node: Node) -> str:
    blocks = ["# Library version: 1.18.1\n#\n"]
    ways = [("self", "memory"), ("tcp", "eth0")]
    ways += [(name, f"{hca.name}:1") for hca in node.hcas for name in ("dc_mlx5", "rc_mlx5")]
    for transport, device in ways:
        blocks.append(
            f"#      Transport: {transport}\n#         Device: {device}\n"
            "#           Type: network\n#\n#      capabilities:\n"
            "#       error handling: peer failure, ep_check\n#\n"
        )
    return "".join(blocks)


def _driver(node: Node) -> str:
    kind = f"Open Kernel Module for {node.machine}" if node.modules == "open" else ""
    kind = kind or f"{node.machine} Kernel Module"
    built = "Release Build  (dvs-builder@U22-I3)  Wed Oct 29 20:26:34 UTC 2025"
    return f"NVRM version: NVIDIA UNIX {kind}  {node.driver}  {built}\nGCC version: 13.3.0\n"


def _release(node: Node) -> str:
    """The release as kernel packages write it: 25.10.1.2.8.1."""
    return node.ofed.replace("-", ".").rpartition(".")[0] + ".1"


def _list(node: Node, rpm: bool) -> list[tuple[str, str]]:
    train = node.ofed.split("-")[0]
    # What rpm, or dpkg, needs itself; zlib1g is the last in dpkg's order of names.
    needs = {"glibc": "2.39-1", "rpm": "4.19-1"} if rpm else {"dpkg": "1.22-1", "libc6": "2.39-1", "zlib1g": "1.3-1"}
    found = [*needs.items(), ("bash", "5.2-1"), ("systemd", "255-1")]
    if node.rdma == "inbox":
        verbs = "50.0-2"
    else:
        scheme = {"doca": "{}.0.11-1", "mlnx_ofed": "{0}mlnx47-1.{0}322"}[node.rdma]
        verbs = scheme.format(train.replace(".", ""))
        name, version = _META[node.rdma]
        if "planned" not in node.more:
            found.append((name, version.format(ofed=node.ofed)))
        kernel = f"{train}{'-' if rpm else '.'}OFED.{_release(node)}"
        found.append(
            ("mlnx-ofa_kernel", f"{kernel}.rhel9u4"[:-8] + "-1.rhel9u4")
            if rpm
            else ("mlnx-ofed-kernel-dkms", f"{kernel}-1")
        )
    libraries = (
        ("libibverbs", "librdmacm", "libibumad")
        if rpm
        else ("libibverbs1", "ibverbs-providers", "librdmacm1", "libibumad3")
    )
    found += [(name, verbs) for name in (*libraries, "rdma-core")]
    if "planned" in node.more:
        return [*found, *node.more["planned"]]
    if node.cards:
        branch = node.driver.split(".")[0]
        version = f"{node.driver}-1"
        found.append((f"nvidia-dkms-{branch}" if not rpm else "kmod-nvidia-open-dkms", version))
        found.append(("nvidia-container-toolkit", "1.18.1-1"))
        found.append(("libnccl" if rpm else "libnccl2", _NCCL[node.cuda]))
        if node.fabric_manager:
            found.append(("nvidia-fabricmanager", version))
        if node.imex:
            found.append(("nvidia-imex", version))
    return found


def _packages(tree: Tree, node: Node, rpm: bool) -> None:
    arch = node.machine if rpm else {"x86_64": "amd64", "aarch64": "arm64"}[node.machine]
    found = _list(node, rpm)
    if rpm:
        tree.command("rpm_qa", "".join(f"{name} {version} {arch}\n" for name, version in found))
        tree.command("rpm_verify", "")
        tree.command("rpm_names", "".join(f"{name}\n" for name, _version in found))
        return
    paragraphs = [
        f"Package: {name}\nStatus: install ok installed\nPriority: optional\nArchitecture: {arch}\n"
        f"Version: {version}\nDescription: {name}\n of a simulated node\n"
        for name, version in sorted(found)
    ]
    tree.command("apt_check", "Reading package lists...\nBuilding dependency tree...\nReading state information...\n")
    tree.file("/var/lib/dpkg/status", "\n".join(paragraphs) + "\n")


def _modules(tree: Tree, node: Node, rpm: bool) -> None:
    vendor = node.rdma != "inbox"
    place = "extra/{}.ko.xz" if rpm else "updates/dkms/{}.ko.zst"
    own = "kernel/drivers/net/ethernet/mellanox/mlx5/core/mlx5_core.ko.zst"
    lines = ["kernel/drivers/nvme/host/nvme.ko.zst: kernel/drivers/nvme/host/nvme-core.ko.zst"]
    lines.append(f"{place.format('mlx5_core') if vendor else own}:")
    if node.cards:
        lines.append(f"{place.format('nvidia')}:")
    tree.file(f"/lib/modules/{node.kernel}/modules.dep", "\n".join(lines))
    tree.file(f"/boot/vmlinuz-{node.kernel}", b"MZ")
    tree.folder("/sys/module/mlx5_core")
    tree.file("/sys/module/mlx5_core/srcversion", "B1B9A2F8D1A4B3E6C5D4E3F")
    if vendor:
        tree.file("/sys/module/mlx5_core/version", node.ofed.rpartition(".")[0])
    _dkms(tree, "nvidia", node.driver, node) if node.cards else None
    if "gds" in node.more:
        _dkms(tree, "nvidia-fs", node.more["gds"].get("dkms", node.more["gds"]["nvidia_fs"]), node)
    if vendor:
        name = "mlnx-ofa_kernel" if rpm else "mlnx-ofed-kernel"
        _dkms(tree, name, f"{node.ofed.split('-')[0]}.OFED.{_release(node)}", node)
    if node.cards:
        cuda = {"cuda": {"name": "CUDA SDK", "version": f"{node.cuda}.1"}}
        tree.file("/usr/local/cuda/version.json", json.dumps(cuda))


def _dkms(tree: Tree, name: str, version: str, node: Node) -> None:
    base = f"/var/lib/dkms/{name}/{version}"
    tree.file(f"{base}/{node.kernel}/{node.machine}/module/{name}.ko.zst", b"\x28\xb5\x2f\xfd")
    tree.symlink(f"{base}/source", f"/usr/src/{name}-{version}")
    link = f"/var/lib/dkms/{name}/kernel-{node.kernel}-{node.machine}"
    tree.symlink(link, f"{version}/{node.kernel}/{node.machine}")
