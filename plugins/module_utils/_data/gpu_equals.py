# SPDX-License-Identifier: GPL-3.0-or-later
"""What equal GPUs of one host have alike, as nvidia-smi shows it. Data only.

source: nvidia-smi outputs of nine hosts with four or eight equal GPUs (drivers 460 to 595; A100,
H100, B200, GB200, GB300, RTX 4090), in which all of it was alike; confidence: confirmed. Not in the
table, for healthy hosts differ in it: board part numbers (a GPU that was exchanged), temperatures,
replays. Two GPUs are equal by name, virtualization and MIG mode.
"""

from __future__ import annotations

from dataclasses import dataclass

# The check of settings and limits that make a GPU slower than its equals or keep jobs from it, and
# that of firmware.
SETTING = "gpu.equals.setting"
FIRMWARE = "gpu.equals.firmware"


@dataclass(frozen=True)
class Alike:
    """One property. ``name``: the field of Gpu, or ``event NAME`` of what holds the clocks back.

    What makes a difference harmless: ``wish`` is a key of ibready_expect by which the site says
    what it wants, and another check then judges it; ``beside`` are fields by which alone GPUs may
    differ in it; with ``more_is_fine`` a GPU that has more than most is no straggler.
    ``told_by``: the check that finds the odd one by itself, and whose finding is not told twice.
    ``fault``: of a moment's state the value that is wrong, if it is the odd one; "" where any is.
    """

    name: str
    what: str
    check_id: str
    remedy: str
    wish: str = ""
    beside: tuple[str, ...] = ()
    more_is_fine: bool = False
    told_by: str = ""
    fault: str = ""


# Cards of several makers have one name.
_MAKER = ("subsystem",)
_CLOCKS = "`nvidia-smi -i BUS-ID -rac` and `-rgc` give it its own clocks again"
_BUNDLE = "update the baseboard's firmware with the machine maker's bundle, in a maintenance window"
_BIOS = "look at the BIOS's settings of its slot; power cycle the host"

ALIKE = (
    Alike(
        "mig",
        "MIG mode",
        SETTING,
        "drain the host, then `nvidia-smi -i BUS-ID -mig 0` or 1; or say by ibready_expect.mig what is wanted",
        wish="mig",
    ),
    Alike(
        "compute_mode", "compute mode", SETTING, "`nvidia-smi -i BUS-ID -c DEFAULT`", told_by="gpu.device.compute_mode"
    ),
    Alike(
        "ecc", "ECC mode", SETTING, "`nvidia-smi -i BUS-ID -e 1` and reset the GPU", wish="ecc", told_by="gpu.ecc.mode"
    ),
    Alike(
        "power_limit",
        "power limit",
        SETTING,
        "`nvidia-smi -i BUS-ID -pl WATTS`",
        beside=("power_default",),
        more_is_fine=True,
        told_by="gpu.power.limit",
    ),
    Alike(
        "app_graphics",
        "application clock",
        SETTING,
        _CLOCKS,
        more_is_fine=True,
        told_by="gpu.clocks.applications",
    ),
    Alike("app_memory", "application clock of the memory", SETTING, _CLOCKS, more_is_fine=True),
    # The driver names it only while that is what limits the clocks: equal states are compared.
    Alike(
        "event applications_clocks_setting",
        "clocks held by a setting",
        SETTING,
        _CLOCKS,
        beside=("performance", "event gpu_idle", "event sw_power_cap", "event sync_boost"),
        fault="Active",
    ),
    Alike("max_graphics", "highest clock", SETTING, _BUNDLE, beside=_MAKER, more_is_fine=True),
    Alike("max_memory", "highest clock of the memory", SETTING, _BUNDLE, beside=_MAKER, more_is_fine=True),
    Alike("bar1_total_mib", "BAR1 size in MiB", SETTING, _BIOS, more_is_fine=True),
    Alike(
        "addressing_mode", "addressing mode", SETTING, "compare the driver's options in /etc/modprobe.d; reset the GPU"
    ),
    Alike("driver_model", "driver model", SETTING, "`nvidia-smi -i BUS-ID -dm 1` and reboot"),
    Alike("gsp_firmware", "GSP firmware", FIRMWARE, "reload the driver, or reboot the node"),
    Alike("vbios", "VBIOS", FIRMWARE, _BUNDLE, beside=_MAKER),
    Alike("inforom_image", "infoROM image", FIRMWARE, _BUNDLE, beside=_MAKER, told_by="gpu.device.inforom"),
)
