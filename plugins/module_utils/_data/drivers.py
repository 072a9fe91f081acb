# SPDX-License-Identifier: GPL-3.0-or-later
"""What nvidia-smi's exit statuses and odd values mean. Data only.

source of the statuses: nvidia-smi(1), "Return value"; confirmed. source of the values: outputs of
drivers 418 to 610; confirmed.
"""

from __future__ import annotations

# Exit statuses with which the output is whole all the same.
INFOROM_CORRUPTED = 14
FALLEN_OFF = 15
USABLE = (0, INFOROM_CORRUPTED, FALLEN_OFF)
# Values, in lower case, of a property that the driver no longer shows, or the GPU does not have.
DEPRECATED = "requested functionality has been deprecated"
NONE_SUCH = ("n/a", "[n/a]", "not supported", "[not supported]", DEPRECATED)
# What holds the clocks back through no wish of anybody, and how a report calls it.
SLOWED_BY = {
    "hw_thermal_slowdown": "too hot (hardware thermal slowdown)",
    "hw_power_brake_slowdown": "the power supply asks for less (power brake)",
    "sw_thermal_slowdown": "too hot (software thermal slowdown)",
    "hw_slowdown": "hardware slowdown",
}
# Models whose ECC is off as they come, so that it says nothing; recalled.
ECC_OFF_AS_SOLD = ("RTX A6000 / A5000",)
# Models of the table whose memory has none that nvidia-smi shows; recalled.
WITHOUT_ECC = ("GB10",)
# What nvidia-smi calls a slice of a GPU in a virtual machine; nvidia-smi(1), confirmed.
VGPU = "vgpu"
# How a repair that waits for a reset may be worded instead of "Yes".
PENDING = "pending"
# Retired pages from which NVIDIA replaces a GPU without row remapping; its page retirement guide,
# recalled.
RETIRED_PAGES_MOST = 60
# Equal GPUs differ by less in their memory (firmware keeps a little for itself); inferred.
MEMORY_ALIKE = 0.99
# What holds the clocks of a GPU back on which nothing runs.
IDLE, ACTIVE = "gpu_idle", "Active"
# What the driver itself keeps of a GPU's memory at most, where no program runs; inferred from drivers
# of 470 to 610, which show 0 to 2 %; and a desktop on a small card.
MEMORY_OWN = 0.05
MEMORY_OWN_MIB = 4096
# Of the window through which HCAs and CPUs reach a GPU's memory (BAR1) this share may be taken; a GPU that is so busy
# (per cent) has work. Source: inferred; the first: nvidia-smi's manual, "BAR1 Memory Usage".
BAR1_FULL = 0.97
BUSY = 90
# Beside those of each GPU. Source: the driver's README, "device nodes"; confirmed: 0666 unless NVreg_DeviceFileMode.
DEVICE_FILES = ("/dev/nvidiactl", "/dev/nvidia-uvm")
ALL_MAY = 0o006
GROUP_MAY = 0o060
# Where the memory of a GPU is a NUMA node of the host (Grace): nvidia-smi's "Addressing Mode";
# NVIDIA's Grace Hopper tuning guide, confirmed.
SHARED_WITH_KERNEL = ("ATS", "NUMA")
PERSISTENCE_UNIT = "nvidia-persistenced"
