# SPDX-License-Identifier: GPL-3.0-or-later
"""The catalog's entries for the PCI Express side of GPUs and HCAs (pci.*)."""

from __future__ import annotations

from ..._ground.catalog import declare, error, warning

_DEVICES = "/sys/bus/pci/devices"
# What the bus consists of: without these no check of this area can tell anything.
_BUS = (
    _DEVICES,
    f"{_DEVICES}/*/class",
    f"{_DEVICES}/*/vendor",
    f"{_DEVICES}/*/device",
)
_CONFIG = f"{_DEVICES}/*/config"
_RDMA = "/sys/class/infiniband"

ENTRIES = declare(
    error(
        "pci.device.answers",
        "Every GPU, HCA and NVSwitch answers on the bus",
        "A function that fell off the bus is still listed, but all that is read from it is ones. "
        "One that was reset under its driver answers, but with bus mastering or memory decode off.",
        (
            "the device lost power or its link (fell off the bus)",
            "the device is in the middle of a reset",
        ),
        "look for XID 79 and `pcieport` in dmesg; power cycle the host; if it comes again, reseat the device",
        (*_BUS, _CONFIG),
    ),
    error(
        "pci.gpu.driver",
        "Every GPU on the bus is bound to the nvidia driver",
        "A GPU without its driver is no GPU to any program.",
        (
            "the nvidia driver is not loaded, or refused this GPU",
            "nouveau or vfio-pci took it",
        ),
        "look at `lspci -k -d 10de:` and `dmesg | grep NVRM`; install the NVIDIA driver again",
        (*_BUS, f"{_DEVICES}/*/driver"),
    ),
    error(
        "pci.gpu.listed",
        "Bus and nvidia-smi know of the same GPUs",
        "nvidia-smi leaves out a GPU that it cannot start, and says little about it.",
        (
            "the driver could not start the GPU: its firmware, memory or power failed",
            "the GPU fell off the bus",
        ),
        "look at `dmesg | grep -E 'NVRM|Xid'`; reset the GPU, power cycle the host, replace it",
        (*_BUS, "nvsmi_xml"),
    ),
    error(
        "pci.hca.driver",
        "Every HCA on the bus is bound to a driver",
        "An HCA without a driver is a missing rail.",
        (
            "mlx5_core is not loaded, or gave up on this HCA",
            "it is held for a virtual machine",
        ),
        "look at `lspci -k -d 15b3:` and `dmesg | grep mlx5_core`; load mlx5_core, update firmware",
        (*_BUS, f"{_DEVICES}/*/driver"),
    ),
    error(
        "pci.hca.rdma",
        "Every HCA on the bus is an RDMA device, and every RDMA device is on the bus",
        "RDMA needs mlx5_ib (or the vendor's like) on top of the network driver.",
        (
            "mlx5_ib is not loaded, or failed on this HCA",
            "RDMA is switched off for this function (devlink enable_rdma)",
        ),
        "run `modprobe mlx5_ib`; look at `dmesg | grep mlx5` and `devlink dev param show`",
        (*_BUS, _RDMA, f"{_RDMA}/*/device"),
    ),
    warning(
        "pci.hca.vfs",
        "An HCA has as many virtual functions as it was told to make",
        "Virtual functions that are gone were taken off the bus, or never came up.",
        ("a virtual function was removed, or failed to start",),
        "compare `ls /sys/bus/pci/devices/ADDRESS/virtfn*` with sriov_numvfs; set it to 0 and anew",
        (*_BUS, f"{_DEVICES}/*/sriov_numvfs"),
    ),
    error(
        "pci.nvswitch.driver",
        "Every NVSwitch on the bus is bound to a driver",
        "The fabric manager reaches the NVSwitches through the nvidia-nvswitch driver.",
        (
            "the nvidia driver is not loaded, or refused the NVSwitch",
            "it is held for a virtual machine",
        ),
        "look at `lspci -k -d 10de:` and `dmesg | grep -i nvswitch`",
        (*_BUS, f"{_DEVICES}/*/driver"),
    ),
    error(
        "pci.nvswitch.count",
        "All NVSwitches of the board are on the bus",
        "With an NVSwitch missing the fabric manager does not start, or the GPUs have fewer links.",
        ("an NVSwitch fell off the bus or did not come up at boot",),
        "look for NVSwitch and SXid in dmesg; power cycle the host; have the baseboard looked at",
        _BUS,
    ),
    error(
        "pci.link.width",
        "Every link on the way to GPUs, HCAs and NVSwitches is as wide as both of its ends can be",
        "A link that lost lanes has half of its bandwidth or less, whatever the speed says. A GPU with fewer lanes "
        "than its equals is found by nvidia-smi as well.",
        (
            "a lane has bad contact: the card, riser or cable is not seated",
            "the slot is wired or set (bifurcation) narrower than it says",
        ),
        "reseat card, riser and cable; look at `lspci -vv -s ADDRESS` (LnkCap, LnkSta)",
        (
            *_BUS,
            f"{_DEVICES}/*/current_link_width",
            f"{_DEVICES}/*/max_link_width",
        ),
    ),
    error(
        "pci.link.speed",
        "Every link on the way to GPUs and HCAs runs at the speed that both of its ends can",
        "A link trains at a lower generation when its signal is bad. Idle GPUs do so on purpose, but all of one "
        "kind alike: one that is lower than its equals in the same state is a finding.",
        (
            "the signal is bad: riser, cable or retimer",
            "the firmware limits the slot to an older generation",
        ),
        "look at `lspci -vv -s ADDRESS` (LnkSta, LnkCtl2); check the BIOS; reseat riser and cable",
        (
            *_BUS,
            f"{_DEVICES}/*/current_link_speed",
            f"{_DEVICES}/*/max_link_speed",
        ),
    ),
    warning(
        "pci.gpu.slot",
        "Slot and switch give every GPU the link that it can have",
        "A port that is capped below what the GPU can do agrees with it on a slow link, so nothing "
        "is downtrained; the same goes for the uplink of a switch above it. The slots of cards are held against "
        "those of equal cards, for slots come in many kinds.",
        (
            "the firmware limits this port to an older generation or fewer lanes",
            "the switch's own settings (its EEPROM) differ from those of its neighbours",
        ),
        "compare `lspci -vv -s ADDRESS` (LnkCap) with a neighbour's; lift the limit in the BIOS, "
        "update the firmware of the switch board",
        (*_BUS, f"{_DEVICES}/*/max_link_speed", f"{_DEVICES}/*/max_link_width"),
    ),
    warning(
        "pci.hca.slot",
        "The slot of an HCA can carry what its port does",
        "Slot and card agree on a link that is too slow for the port, so nothing is downtrained.",
        (
            "the HCA is in a slot of an older generation or with fewer lanes",
            "the firmware limits the slot",
        ),
        "move the HCA to a slot of its own generation with 16 lanes, or lift the limit in the BIOS",
        (
            *_BUS,
            f"{_DEVICES}/*/max_link_speed",
            f"{_DEVICES}/*/max_link_width",
            _RDMA,
            f"{_RDMA}/*/device",
            f"{_RDMA}/*/ports/*/state",
            f"{_RDMA}/*/ports/*/rate",
        ),
    ),
    warning(
        "pci.hca.numa",
        "Every rail has a GPU on its own socket, and is on the NUMA node of the GPU beside it",
        "What a GPU sends through an HCA of another socket crosses the link between processors. Rail and GPU below "
        "one root port are on one socket, whatever they say: a node that is told wrongly has buffers and threads "
        "placed on the other one.",
        (
            "the HCA is in a slot of the wrong socket",
            "the firmware tells the NUMA nodes of its slots wrongly",
        ),
        "move the HCA beside the GPU that it serves; compare `nvidia-smi topo -m`",
        (*_BUS, f"{_DEVICES}/*/numa_node", "/sys/devices/system/node"),
    ),
    error(
        "pci.gpu.rail",
        "Every GPU has as many rails behind its PCIe switch as its equals have",
        "NCCL sends by the rail that is nearest to a GPU. Where two rails hang beside one GPU and none beside another, "
        "two GPUs share one way out, or what they send crosses the processor. The board's order is told by its own "
        "GPUs: what most have.",
        (
            "a cable between a slot and its PCIe switch (MCIO) is in another socket, or an HCA in another slot",
            "the rail of this GPU is gone, and another HCA has the same link layer",
            "a virtual machine was given the HCA below another switch",
        ),
        "compare `nvidia-smi topo -m` and `lspci -tv` with a host that is right; put HCA or cable where that GPU's "
        "switch is, or correct the definition of the virtual machine",
        _BUS,
    ),
    error(
        "pci.gpu.bar",
        "The firmware gave every GPU an address for its memory",
        "Without it the driver cannot start the GPU: the BIOS found no room of that size.",
        (
            "Above 4G decoding is switched off in the BIOS, or its MMIO window is too small",
            "too many devices ask for address space",
        ),
        "switch on Above 4G decoding (and Resizable BAR) in the BIOS; look at dmesg for `BAR`",
        (*_BUS, f"{_DEVICES}/*/resource"),
    ),
    warning(
        "pci.gpu.above_4g",
        "The GPU's memory lies above 4 GiB",
        "Below 4 GiB there is no room for the memory of several GPUs, nor for GPUDirect RDMA.",
        ("Above 4G decoding is switched off in the BIOS",),
        "switch on Above 4G decoding in the BIOS",
        (*_BUS, f"{_DEVICES}/*/resource"),
    ),
    warning(
        "pci.gpu.bar_size",
        "The GPU shows all of its memory on the bus",
        "What does not show cannot be reached by HCAs (GPUDirect RDMA) or mapped by gdrcopy.",
        (
            "the firmware shrank the BAR (Resizable BAR is off, the MMIO window is small)",
            "the GPU is in a display mode",
        ),
        "switch on Resizable BAR and enlarge the MMIO window in the BIOS",
        (*_BUS, f"{_DEVICES}/*/resource", "nvsmi_xml"),
    ),
    warning(
        "pci.hca.read_request",
        "An HCA asks for 4096 bytes at once",
        "Small read requests keep an HCA from its rate. The kernel's default is 512 bytes.",
        ("nobody raised MaxReadReq after this boot (it does not last)",),
        "setpci -s ADDRESS CAP_EXP+8.w=5000:7000, after every boot",
        (*_BUS, _CONFIG),
    ),
    warning(
        "pci.hca.aspm",
        "The PCI Express link of an HCA does not sleep",
        "With ASPM on, each small message waits until the link wakes: microseconds more, and unsteady.",
        (
            "the BIOS lets links sleep; pcie_aspm=off leaves that as it is",
            "the kernel command line does (pcie_aspm=force, pcie_aspm.policy=powersave)",
        ),
        "switch ASPM off in the BIOS, or start the kernel with pcie_aspm.policy=performance, without pcie_aspm=force; "
        "until then `setpci -s ADDRESS CAP_EXP+10.w=0:3`",
        (*_BUS, _CONFIG),
    ),
    warning(
        "pci.path.max_payload",
        "All bridges above a GPU or HCA use its payload size, and equal ones in equal places use one",
        "Packets that are larger than the next function takes are errors, not slow; smaller ones than those of equal "
        "functions carry less.",
        (
            "a device was plugged in or reset after the firmware had set the sizes",
            "the kernel was started with pci=pcie_bus_perf",
        ),
        "boot anew; start the kernel with pci=pcie_bus_safe; look at `lspci -vv` (MaxPayload)",
        (*_BUS, _CONFIG),
    ),
    error(
        "pci.bridge.acs",
        "PCIe switches hand over directly between GPUs and HCAs (no ACS)",
        "With Access Control Services on, what a GPU and an HCA below one switch have for each "
        "other goes up to the processor and back: GPUDirect RDMA at a fraction of its rate.",
        (
            "the BIOS or the kernel (IOMMU on) switched on ACS",
            "nobody cleared it after this boot (it does not last)",
        ),
        "setpci -s ADDRESS ECAP_ACS+6.w=0000 after every boot, or switch ACS off in the BIOS",
        (*_BUS, _CONFIG),
    ),
    error(
        "pci.aer.fatal",
        "No GPU, HCA, NVSwitch or bridge above them reported a fatal error",
        "A fatal error takes the link down: what was on its way is lost, and the device is reset or gone. It "
        "stays counted until the next boot.",
        (
            "a device or its link failed, or was reset under load",
            "a device was plugged or its power failed",
        ),
        "look at `dmesg | grep -i aer`; drain the host and boot anew; if it comes back, reseat the device",
        (*_BUS, f"{_DEVICES}/*/aer_dev_fatal"),
    ),
    warning(
        "pci.aer.uncorrectable",
        "No GPU, HCA, NVSwitch or bridge above them reported an uncorrectable error that is not fatal",
        "Each one is a lost or damaged transaction; the link stays up. They stay counted until the next boot.",
        (
            "a device or its link failed, or was reset under load",
            "a program read from a device that was gone",
        ),
        "look at `dmesg | grep -i aer`; boot anew; if it comes back, reseat the device",
        (*_BUS, f"{_DEVICES}/*/aer_dev_nonfatal"),
    ),
    warning(
        "pci.aer.correctable",
        "Links have no more bit errors than the specification allows",
        "Links repeat what arrived damaged. Many repeats cost bandwidth and end in a lost link.",
        (
            "the signal is bad: riser, cable, retimer or a dirty connector",
            "the link runs faster than the slot's wiring allows",
        ),
        "reseat or swap riser and cable; look at `dmesg | grep -i aer` for the link's address",
        (*_BUS, f"{_DEVICES}/*/aer_dev_correctable", "/proc/uptime"),
    ),
)
