# SPDX-License-Identifier: GPL-3.0-or-later
"""What the host area reads of a simulated node.

`node.more` understands: cmdline, domain (of every GPU and HCA; "" for no IOMMU), governor,
numa_balancing, zone_reclaim, sysctls (by name), memlock and nofile (systemd's defaults),
secure_boot (on, off, none), log (more lines of dmesg, with a time of their own where they begin with
one in brackets), modules (loaded besides), missing (not
loaded), units (name to active state), ipoib (configured interfaces), modes (of device files, "" for
none), enabled (units' state by name, where it is another one), slurmd_memlock, slurmd_asks (its
unit's LimitMEMLOCK), slurmd_dropin (a file that says so), synchronised, and what host_machine.py tells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._data import boot_sources, host_units
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import entry_name
from tests.gauntlet.node import Node
from tests.gauntlet.nodes import host_machine, stack
from tests.gauntlet.nodes.pci import DEVICES, place
from tests.gauntlet.tree import Tree

_SECURE_BOOT = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
_OTHER_VARIABLE = "/sys/firmware/efi/efivars/BootCurrent-8be4df61-93ca-11d2-aa0d-00e098032b8c"
_CPUS = 8  # a real host has some hundred; one tells as much
_SLURMD, _SSHD = 4242, 871
_PIDS = {"slurmd": _SLURMD, "ssh": _SSHD, "sharp_am": 5151}
# As the role host_tuning leaves them; the memory policies are settings of their own.
_SYSCTLS = {
    "vm.max_map_count": 1048576,
    "net.core.netdev_max_backlog": 250000,
    "net.core.rmem_max": 16777216,
    "net.core.wmem_max": 16777216,
    **{
        f"net.ipv4.conf.{scope}.{name}": value
        for scope in ("all", "default")
        for name, value in (("arp_announce", 2), ("arp_ignore", 1), ("rp_filter", 2))
    },
}
_KERNELS = {
    "kernel.pid_max": 4194304,
    "fs.file-max": 9223372036854775807,
    "fs.nr_open": 1048576,
    "kernel.threads-max": 16504064,
    "net.core.somaxconn": 4096,
    "net.ipv4.ip_local_port_range": "32768\t60999",
    "net.ipv4.tcp_rmem": "4096\t131072\t6291456",
    "vm.overcommit_memory": 0,
}
_CLOCKS = {"scaling_cur_freq": 3492118, "scaling_max_freq": 3800000, "cpuinfo_max_freq": 3800000}
_POLICY = {"vm.zone_reclaim_mode": 0, "kernel.numa_balancing": 0}
# Modules with their users, as lsmod has them.
_RDMA = {
    "rdma_ucm": (),
    "rdma_cm": ("rdma_ucm",),
    "iw_cm": ("rdma_cm",),
    "ib_umad": (),
    "ib_cm": ("rdma_cm",),
    "mlx5_ib": (),
    "mlx5_core": ("mlx5_ib",),
    "ib_uverbs": ("rdma_ucm", "mlx5_ib"),
    "ib_core": ("rdma_cm", "iw_cm", "rdma_ucm", "ib_umad", "ib_cm", "mlx5_ib", "ib_uverbs"),
}
_GPU = {"nvidia_uvm": (), "nvidia_modeset": (), "nvidia": ("nvidia_uvm", "nvidia_modeset")}


def add(tree: Tree, node: Node) -> None:
    """Everything that the host area reads."""
    _kernel(tree, node)
    _modules(tree, node)
    _devices(tree, node)
    _log(tree, node)
    _services(tree, node)
    _updates(tree, node)
    host_machine.add(tree, node)
    _boot(tree, node)


def _rocky(node: Node) -> bool:
    return node.os_id == "rocky"


def _kernel(tree: Tree, node: Node) -> None:
    more = node.more
    if not node.virtual:
        _iommu(tree, node)
        for number in range(_CPUS):
            base = f"/sys/devices/system/cpu/cpufreq/policy{number}"
            tree.file(f"{base}/scaling_governor", more.get("governor", "performance"))
            for clock, khz in _CLOCKS.items():
                tree.file(f"{base}/{clock}", str(khz))
        tree.file("/sys/module/pcie_aspm/parameters/policy", "[default] performance powersave powersupersave")
    passthrough = "iommu.passthrough=1" if node.machine == "aarch64" else "intel_iommu=on iommu=pt"
    asked = "" if node.virtual or _rocky(node) else f" {passthrough}"
    root = f"BOOT_IMAGE=/vmlinuz-{node.kernel} root=/dev/mapper/vg0-root ro{asked}"
    tree.file("/proc/cmdline", more.get("cmdline", f"{root} quiet"))
    tree.file("/proc/sys/kernel/numa_balancing", str(more.get("numa_balancing", 0)))
    tree.file("/proc/sys/vm/zone_reclaim_mode", str(more.get("zone_reclaim", 0)))
    for name, value in {**_KERNELS, **_SYSCTLS, **more.get("sysctls", {})}.items():
        tree.file(f"/proc/sys/{name.replace('.', '/')}", str(value))
    usual = {"gb200-nvl72-node": "none", "hgx-h200-8-roce": "on"}.get(node.name, "off")
    secure = more.get("secure_boot", usual)
    tree.file(_OTHER_VARIABLE, bytes([7, 0, 0, 0, 1, 0]))
    if secure != "none":
        tree.file(_SECURE_BOOT, bytes([6, 0, 0, 0, secure == "on"]))


def _iommu(tree: Tree, node: Node) -> None:
    """A group for each function, or none at all; the Rocky host runs without an IOMMU."""
    tree.folder("/sys/kernel/iommu_groups")
    domain = node.more.get("domain", "" if _rocky(node) else "identity")
    if not domain:
        return
    for number, one in enumerate([*node.cards, *node.hcas]):
        group = f"/sys/kernel/iommu_groups/{number + 20}"
        tree.file(f"{group}/type", domain)
        up = "../" * (len(one.path) + 3)
        tree.symlink(f"{place(one.path)}/iommu_group", f"{up}{group[len('/sys/') :]}")
        tree.symlink(f"{group}/devices/{one.address}", f"../../../..{DEVICES[4:]}/{one.address}")


def _ipoib(node: Node) -> Sequence[str]:
    """The DGX reaches its storage over IP."""
    names: Sequence[str] = node.more.get("ipoib", ("ib8",) if node.name == "dgx-h100-8" else ())
    return names


def _loaded(node: Node) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {"nvme": (), "ipmi_si": ()}
    if node.cards:
        found.update(_GPU)
        if node.rdma != "inbox":
            found["nvidia_peermem"] = ()
    if node.hcas:
        found.update(_RDMA)
    found.update({name: () for name in node.more.get("modules", ())})
    if _ipoib(node):
        found["ib_ipoib"] = ()
    gone = node.more.get("missing", ())
    return {name: tuple(one for one in users if one not in gone) for name, users in found.items() if name not in gone}


def _modules(tree: Tree, node: Node) -> None:
    loaded = _loaded(node)
    lines = ["Module                  Size  Used by"]
    for name, users in loaded.items():
        tree.folder(f"/sys/module/{name}")
        tree.file(f"/sys/module/{name}/initstate", "live")
        lines.append(f"{name:<20} {16384 * (1 + len(users)):>7}  {len(users)} {','.join(users)}")
    tree.folder("/sys/module/kernel")
    tree.command("lsmod", "\n".join(line.rstrip() for line in lines) + "\n")
    for name, directory in (
        ("ib_core", "infiniband"),
        ("ib_uverbs", "infiniband_verbs"),
        ("ib_umad", "infiniband_mad"),
    ):
        if name in loaded:
            tree.folder(f"/sys/class/{directory}")


def _devices(tree: Tree, node: Node) -> None:
    if "ib_uverbs" in _loaded(node):
        for number, hca in enumerate(node.hcas):
            tree.file(f"/sys/class/infiniband_verbs/uverbs{number}/ibdev", hca.name)
            tree.file(f"/sys/class/infiniband_verbs/uverbs{number}/abi_version", "1")
            mode = node.more.get("modes", {}).get(f"uverbs{number}", "0666")
            if mode:
                tree.file(f"/dev/infiniband/uverbs{number}", b"", mode=int(mode, 8))
    if "rdma_ucm" in _loaded(node):
        tree.file("/dev/infiniband/rdma_cm", b"", mode=0o666)
    for name in _ipoib(node):
        tree.file(f"/etc/NetworkManager/system-connections/{name}.nmconnection", "[connection]")


def _log(tree: Tree, node: Node) -> None:
    lines = [
        f"Linux version {node.kernel} (buildd@lcy02-amd64-080) (gcc-13) #81-Ubuntu SMP",
        f"Command line: {tree.read('/proc/cmdline').strip()}",
    ]
    for hca in node.hcas:
        at = f"mlx5_core {hca.address}"
        lines.append(f"{at}: firmware version: {hca.firmware}")
        lines.append(f"{at}: 504.112 Gb/s available PCIe bandwidth (32.0 GT/s PCIe x16 link)")
        lines.append(f"{at}: Port module event: module 0, Cable plugged")
        lines.append(f"{at} {hca.name}: Port: 1 Link ACTIVE")
    if node.cards:
        lines.append("nvidia: loading out-of-tree module taints kernel.")
        lines.append("nvidia: module verification failed: signature and/or required key missing - tainting kernel")
        lines.append(f"NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  {node.driver}")
    if node.more.get("beegfs"):
        lines += stack.beegfs_said()
    lines += node.more.get("log", ())
    stamped = [
        f"{line}\n" if line.startswith("[") else f"[{3.25 * number:12.6f}] {line}\n"
        for number, line in enumerate(lines)
    ]
    tree.command("dmesg", "".join(stamped))


def _services(tree: Tree, node: Node) -> None:
    more = node.more
    memlock, nofile = more.get("memlock", "infinity"), more.get("nofile", 1048576)
    slurm = bool(node.cards) and not node.virtual
    manager = {
        "Version": "255",
        "Environment": "LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin",
        "DefaultLimitNOFILE": nofile,
        "DefaultLimitNOFILESoft": 1024,
        "DefaultLimitMEMLOCK": memlock,
        "DefaultLimitMEMLOCKSoft": memlock,
        "DefaultTasksMax": 629145,
    }
    tree.command("systemctl_show", "".join(f"{k}={v}\n" for k, v in manager.items()))
    active = {"slurmd": "active"} if slurm else {}
    active["chronyd" if _rocky(node) else "chrony"] = "active"
    if node.rdma != "inbox":
        active["openibd"] = "active"
        active["ibacm"] = "inactive"
    active.update(more.get("units", {}))
    active["ssh"] = "active"
    tree.file(f"/proc/{_SSHD}/limits", _limits("8388608"))
    tree.file("/etc/pam.d/sshd", "@include common-account\nsession required pam_limits.so\n")
    tree.file("/etc/ssh/sshd_config", "Include /etc/ssh/sshd_config.d/*.conf\nUsePAM yes\n")
    tree.file("/etc/pam.d/common-account", "account required pam_unix.so\n")
    lines = "* soft memlock unlimited\n* hard memlock unlimited\n"
    tree.file("/etc/security/limits.d/90-ibready.conf", lines)
    tree.file("/etc/security/limits.conf", "#* soft memlock 64\n")
    active["nvidia-persistenced"] = "active" if node.cards else ""
    active[boot_sources.IMEX] = more.get("imex", {}).get("state", "active") if node.imex else ""
    active.update({name: state for name, state in more.get("units", {}).items() if name == "nvidia-persistenced"})
    rack = [(boot_sources.IMEX,)] if node.imex else []
    if node.expect.get("sharp_manager"):
        active.setdefault(host_units.SHARP[0], "active")
        rack.append(host_units.SHARP)
    for names in (host_units.ALWAYS, host_units.UPDATES, *rack):
        _units(tree, names, active, more)
    if active.get("slurmd") == "active":
        tree.file(f"/proc/{_SLURMD}/limits", _limits(more.get("slurmd_memlock", "unlimited")))
    synchronised = more.get("synchronised", "yes")
    reported = f"Timezone=Etc/UTC\nLocalRTC=no\nCanNTP=yes\nNTP={synchronised}\n"
    now = "Thu 2025-11-20 13:00:00 UTC"
    reported += f"NTPSynchronized={synchronised}\nTimeUSec={now}\nRTCTimeUSec={now}\n"
    tree.command("timedatectl_show", reported)


def _units(tree: Tree, names: Sequence[str], active: dict[str, str], more: Mapping[str, Any]) -> None:
    blocks = []
    for name in names:
        state = active.get(name)
        unit = name if "." in name else f"{name}.service"
        loaded = "loaded" if state else "not-found"
        pid = _PIDS.get(name, 0) if state == "active" else 0
        enabled = "enabled" if state in ("active", "failed") else "disabled" if state else ""
        enabled = more.get("enabled", {}).get(name, enabled)
        blocks.append(
            f"MainPID={pid}\nEnvironment=\nId={unit}\nLoadState={loaded}\n"
            f"ActiveState={state or 'inactive'}\nUnitFileState={enabled}\n"
        )
        if unit.endswith(".service"):
            asks, dropin, path = "8388608", "", f"/lib/systemd/system/{unit}" if state else ""
            if name == "slurmd" and pid:
                asks, dropin = more.get("slurmd_asks", "infinity"), more.get("slurmd_dropin", "")
            blocks[-1] += f"LimitMEMLOCKSoft={asks}\nLimitNOFILE=131072\nFragmentPath={path}\nDropInPaths={dropin}\n"
    option = f"--property={host_units.PROPERTIES}"
    tree.command(entry_name("systemctl_show", option, *names), "\n".join(blocks))


def _limits(memlock: str) -> str:
    def line(name: str, soft: object, hard: object, unit: str) -> str:
        return f"{name:<26}{soft!s:<21}{hard!s:<21}{unit:<10}\n"

    return (
        line("Limit", "Soft Limit", "Hard Limit", "Units")
        + line("Max cpu time", "unlimited", "unlimited", "seconds")
        + line("Max file size", "unlimited", "unlimited", "bytes")
        + line("Max data size", "unlimited", "unlimited", "bytes")
        + line("Max stack size", 8388608, "unlimited", "bytes")
        + line("Max core file size", 0, "unlimited", "bytes")
        + line("Max resident set", "unlimited", "unlimited", "bytes")
        + line("Max processes", 8252032, 8252032, "processes")
        + line("Max open files", 131072, 1048576, "files")
        + line("Max locked memory", memlock, memlock, "bytes")
        + line("Max address space", "unlimited", "unlimited", "bytes")
        + line("Max file locks", "unlimited", "unlimited", "locks")
        + line("Max pending signals", 8252032, 8252032, "signals")
        + line("Max msgqueue size", 819200, 819200, "bytes")
        + line("Max nice priority", 0, 0, "")
        + line("Max realtime priority", 0, 0, "")
        + line("Max realtime timeout", "unlimited", "unlimited", "us")
    )


def _boot(tree: Tree, node: Node) -> None:
    """As role host_tuning and the RDMA stack's packages leave it."""
    lines = "".join(f"{name} = {value}\n" for name, value in {**_SYSCTLS, **_POLICY}.items())
    tree.file("/etc/sysctl.d/90-ibready.conf", lines)
    tree.file("/usr/lib/sysctl.d/50-default.conf", "kernel.sysrq = 16\nnet.ipv4.conf.*.rp_filter = 2\n")
    tree.file("/etc/sysctl.conf", "#net.ipv4.ip_forward=1\n")
    tree.symlink("/etc/sysctl.d/99-sysctl.conf", "../sysctl.conf")
    tree.folder("/etc/modules-load.d")
    if node.cards and node.rdma != "inbox":
        tree.file("/etc/modules-load.d/ibready-nvidia-peermem.conf", "nvidia_peermem")
    if node.rdma == "inbox":
        tree.file("/etc/rdma/modules/rdma.conf", "# every RDMA device\nib_uverbs\nrdma_ucm")
        tree.file("/etc/rdma/modules/infiniband.conf", "ib_ipoib\nib_umad\n# ib_srpt")
    else:
        switches = ("UMAD", "UVERBS", "UCM", "RDMA_CM", "RDMA_UCM", "IPOIB")
        lines = "".join(f"{name}_LOAD=yes\n" for name in switches)
        tree.file("/etc/infiniband/openib.conf", f"ONBOOT=yes\n{lines}")


def _updates(tree: Tree, node: Node) -> None:
    """Off, or on with exceptions; the virtual machine's image has them on."""
    if _rocky(node):
        tree.file("/etc/dnf/automatic.conf", "[commands]\napply_updates = no\n")
        tree.file("/etc/dnf/dnf.conf", "[main]\ngpgcheck=1\nbest=True\n")
        return
    switch = "1" if node.virtual else "0"
    periodic = f'APT::Periodic::Unattended-Upgrade "{switch}";\n'
    tree.file("/etc/apt/apt.conf.d/20auto-upgrades", periodic)
    tree.file(
        "/etc/apt/apt.conf.d/50unattended-upgrades",
        'Unattended-Upgrade::Package-Blacklist {\n  "nvidia-";\n  "libnvidia";\n  "mlnx-";\n'
        '  "doca-"; // the RDMA stack\n};\n',
    )
