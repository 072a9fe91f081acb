# SPDX-License-Identifier: GPL-3.0-or-later
"""What it means that a part differs from its equals in a leaf. Data only.

A leaf without a row is told in the words of its source, as a warning; a row makes words, severity and remedy
better. What follows for jobs is the project's own judgement, from the source beside each row.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """``leaf``: matches the whole path, in the form of leaf_excuses. ``harms``: jobs wait for it or fail.

    ``told_by``: beginnings of ids of checks that judge this very thing, and whose finding is not told twice; None: a
    check that has the leaf's name among its words. ``wish``: a key of ibready_expect by which the site says
    what it wants of all, and another check then judges it. ``firmware``: told apart from settings, of GPUs.
    """

    leaf: str
    means: str
    remedy: str
    harms: bool = True
    told_by: tuple[str, ...] | None = None
    wish: str = ""
    firmware: bool = False


def _gpu(leaf: str, what: str, remedy: str, *told_by: str, wish: str = "", firmware: bool = False) -> Row:
    """A property of GPUs: alike in recorded outputs of nine hosts with four or eight equal GPUs (460 to 595)."""
    means = f"{what}: unlike the equal GPUs"
    return Row(f"nvidia_smi/{leaf}", means, remedy, not firmware, told_by, wish, firmware)


_CLOCKS = "`nvidia-smi -i BUS-ID -rac` and `-rgc` give it its own clocks again"
_BUNDLE = "update the baseboard's firmware with the machine maker's bundle, in a maintenance window"
_MIG = "drain the host, then `nvidia-smi -i BUS-ID -mig 0` or 1; or say by ibready_expect.mig what is wanted"


# What each has for itself, whatever the others have: two that share it are one too many. By the whole path.
UNIQUE = ("^/etc/machine_id$", "rdma/addresses$")
# What stands in the place of a number that nobody gave.
UNSAID = ("not specified", "not available", "unknown")
# By source: whose other version makes it tell other things.
FOLLOWS = {
    "nvidia-smi": ("fleet.driver.version",),
    "mlxlink": ("fleet.rdma.version",),
    "mlnx_qos": ("fleet.rdma.version",),
    "": ("fleet.host.kernel",),
}

ROWS = (
    # NVIDIA's mlxlink manual, "Loopback Mode": a port in loopback sends to itself.
    Row(
        "mlxlink/.*loopback_mode",
        "no packet leaves the port: a test was left on",
        "`mlxlink -d DEVICE --loopback NO` gives it back its cable",
        told_by=(),
    ),
    # mlxlink manual, "FEC": what IEEE 802.3 and the InfiniBand specification ask of links of 50 Gb/s a lane and more.
    Row(
        "mlxlink/.*/fec",
        "the link corrects errors in another way than the others, or not at all",
        "set the FEC of the switch port as the others are (mlxlink --fec AU on this side), then look at its bit errors",
        harms=False,
        told_by=(),
    ),
    # mlnx_qos manual: --buffer_size, --prio2buffer.
    Row(
        "mlnx_qos/(?:buffer|receive_buffer_size.*)",
        "what must not be dropped fills a buffer of another size or kind than on the other rails",
        "`mlnx_qos -i INTERFACE` beside another rail's, then --prio2buffer and --buffer_size as there",
        told_by=("roce.qos.pfc",),
    ),
    # mlnx_qos manual: --tsa, --tcbw, --ratelimit.
    Row(
        "mlnx_qos/tc_[0-9]+",
        "a class of traffic gets another share of the wire than on the other rails",
        "`mlnx_qos -i INTERFACE` beside another rail's, then --tsa, --tcbw and --ratelimit as there",
        told_by=("roce.qos.priority",),
    ),
    # mlnx_qos manual: --set_dcbx: firmware takes over what the switch advertises.
    Row(
        "mlnx_qos/dcbx_mode",
        "the switch may change this rail's flow control, and not that of the others",
        "`mlnx_qos -i INTERFACE -d os`, or fw as on the other rails",
        harms=False,
        told_by=(),
    ),
    # InfiniBand specification, 14.2.5.6 (PortInfo): MasterSMLID is the manager of the port's own subnet.
    Row(
        "rdma/sm_lid",
        "its subnet manager is another: it is cabled into another fabric than its equals",
        "look where the cable ends (`iblinkinfo`); if the fabric is meant, leave the rail out (ibready_expect.ignore)",
        told_by=("ib.port.fabric",),
    ),
    # nvidia-smi manual, "Clocks": the memory's clock follows the performance state alone.
    Row(
        "nvidia_smi/clocks/mem_clock",
        "its memory runs slower than that of equal GPUs in the same state",
        "`nvidia-smi -i BUS-ID -rmc` unlocks the clock of the memory; if it stays low, reset the GPU",
        told_by=(),
    ),
    # The kernel's ABI document sysfs-class-infiniband, gid_attrs/ndevs: the interface, with its VLAN, of an address.
    Row(
        "rdma/interfaces",
        "its addresses are on another interface or VLAN than those of the same rail: packets do not arrive",
        "compare `ip -d link` and `show_gids` with an equal host's, and give the address the same VLAN",
        told_by=("roce.gid", "fleet.roce.gid"),
    ),
    # nvidia-smi manual, "Clocks": the clock of the SMs follows load, power, heat and what was set.
    Row(
        "nvidia_smi/clocks/graphics_clock",
        "it runs slower than equal GPUs that work as hard, and says no reason",
        "`nvidia-smi -i BUS-ID -rgc` unlocks the clock; if it stays low, look at `nvidia-smi -q -d PERFORMANCE`, power "
        "and cooling of the host",
        harms=False,
        told_by=("gpu.clocks",),
    ),
    _gpu("mig_mode/.*", "MIG mode", _MIG, "gpu.mig.", wish="mig"),
    # nvidia-smi manual, "Persistence Mode": without it the driver is unloaded where nobody uses the GPU.
    Row(
        "nvidia_smi/persistence_mode",
        "persistence mode: unlike the equal GPUs",
        "`nvidia-smi -i BUS-ID -pm 1`, or 0 as on the others",
        harms=False,
        told_by=("gpu.driver.persistence",),
    ),
    _gpu("compute_mode", "compute mode", "`nvidia-smi -i BUS-ID -c DEFAULT`", "gpu.device.compute_mode"),
    _gpu("ecc_mode/.*", "ECC mode", "`nvidia-smi -i BUS-ID -e 1` and reset the GPU", "gpu.ecc.", wish="ecc"),
    _gpu(
        "(?:gpu_)?power_readings/.*limit",
        "power limit",
        "`nvidia-smi -i BUS-ID -pl WATTS`; a lower default comes from the machine: look at the BMC's power cap",
        "gpu.power.limit",
    ),
    _gpu("applications_clocks/.*", "application clock", _CLOCKS, "gpu.clocks.applications"),
    _gpu("clocks_(?:event|throttle)_reasons/.*applications_clocks_setting", "clocks held by a setting", _CLOCKS),
    _gpu("max_clocks/.*", "highest clock", _BUNDLE),
    _gpu("bar1_memory_usage/total", "BAR1 size", "look at the BIOS's settings of its slot; power cycle the host"),
    _gpu("addressing_mode", "addressing mode", "compare the driver's options in /etc/modprobe.d; reset the GPU"),
    _gpu("driver_model/.*", "driver model", "`nvidia-smi -i BUS-ID -dm 1` and reboot"),
    _gpu(
        "gsp_firmware_version",
        "GSP firmware",
        "reload the driver, or reboot the node",
        "fleet.driver.version",
        firmware=True,
    ),
    _gpu("vbios_version", "VBIOS", _BUNDLE, "fleet.gpu.vbios", firmware=True),
    _gpu("inforom_version/.*", "infoROM image", _BUNDLE, "gpu.device.inforom", firmware=True),
    # PCI Express Base Specification, 7.5.3: what software sets in a function's control registers.
    Row(
        "pci_config/.*",
        "a control register of its PCI function is set otherwise: by the BIOS, a driver or setpci",
        "compare `lspci -vvv -s` of both; set it as on the others, and look who set it",
        harms=False,
        told_by=("pci.",),
    ),
    # mlnx_qos manual: --trust.
    Row(
        "mlnx_qos/priority_trust_state",
        "packets get their priority from another field than on the other rails",
        "`mlnx_qos -i INTERFACE --trust dscp`, or pcp as on the other rails",
        harms=False,
        told_by=("roce.qos.trust", "fleet.roce.qos"),
    ),
    # mlnx_qos manual: --pfc, --dscp2prio.
    Row(
        "mlnx_qos/(?:enabled|prio_[0-9]+)",
        "other priorities are paused, or other packets get them, than on the other rails",
        "`mlnx_qos -i INTERFACE` beside another rail's, then --pfc and --dscp2prio as there",
        told_by=("roce.qos.",),
    ),
    # The kernel's ABI document sysfs-class-net.
    Row(
        "/sys/class/net/[^/]+/(?:speed|duplex)",
        "the port of the network runs at another rate than the same port of equal hosts",
        "look at the cable, and at what the switch port is set to: `ethtool` shows what both sides offer",
        harms=False,
        told_by=("roce.port", "ib.port"),
    ),
    # The kernel's document cpufreq.rst: the governor chooses the clock.
    Row(
        "/sys/devices/system/cpu/cpufreq/[^/]+/scaling_governor",
        "its CPUs are clocked by another rule than those of equal hosts",
        "`cpupower frequency-set -g` gives them the governor of the others",
        harms=False,
        told_by=("host.cpu.governor",),
    ),
    # The kernel's ABI document sysfs-module: the version by which a module's source calls itself.
    Row(
        "/sys/module/nvidia[^/]*/version",
        "another release of NVIDIA's module is loaded than on equal hosts",
        "bring the host to the planned driver (site.yml) and reboot it",
        harms=False,
        told_by=("fleet.driver.version",),
    ),
    Row(
        "/sys/module/mlx5_core/version",
        "another release of the RDMA stack's module is loaded than on equal hosts",
        "bring the host to the planned stack (site.yml) and reboot it",
        harms=False,
        told_by=("fleet.rdma.version", "fleet.host.kernel"),
    ),
    # timedatectl(1): NTP says whether a service is to keep the clock.
    Row(
        "timedatectl/ntp",
        "no service keeps its clock, as one does on equal hosts",
        "`timedatectl set-ntp true`, or start the service that the others run",
        harms=False,
        told_by=("host.clock",),
    ),
    # Intel and AMD: microcode comes with the BIOS or the distribution's package.
    Row(
        "/proc/cpuinfo/microcode",
        "its CPUs run another microcode than those of equal hosts",
        "update the BIOS or the microcode package as on the others, and reboot",
        harms=False,
        told_by=(),
    ),
)
