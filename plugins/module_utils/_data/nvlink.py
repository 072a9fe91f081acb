# SPDX-License-Identifier: GPL-3.0-or-later
"""NVLink fabrics: what nvidia-smi calls their states, and where their services keep things.

Data only. ``confidence`` as in gpus.yml.
"""

from __future__ import annotations

# What nvidia-smi prints for a link at full rate is one number per generation; less is a slow link.
# source: nvidia-smi nvlink outputs of the field (see gpus.yml); confirmed.
RATE_FLOOR = 0.99

# GPUs that register with the fabric; older ones with NVSwitches show N/A.
# source: nvidia-smi -q of A100, H100, H200, B200, GB200 hosts; confirmed.
FABRIC_ARCHITECTURES = ("Hopper", "Blackwell")
COMPLETED = "completed"
SUCCESS = "success"
UNFINISHED = ("not started", "in progress")
NO_FABRIC = ("", "n/a", "not supported")
NOT_SUPPORTED = "not supported"
HEALTHY = ("healthy", "n/a", "not supported", "")
# The fields of the health section, and what stands in them when all is well.
# source: nvidia-smi -q -x of drivers 570 to 595; NVML's names of the bits; confirmed.
HEALTH_FLAGS: dict[str, tuple[str, ...]] = {
    "bandwidth": ("full", "n/a", "not supported", ""),
    "route_unhealthy": ("false", "n/a", "not supported", ""),
    "incorrect_configuration": ("none", "false", "n/a", "not supported", ""),
}
# True while the fabric mends itself.
RECOVERY_FLAGS = ("route_recovery_in_progress", "access_timeout_recovery")
RECOVERY_WORDS = ("true", "false", "n/a", "not supported")

# What FABRIC_MODE of the fabric manager stands for, where GPUs wait for whoever gives partitions to virtual machines.
# source: NVIDIA's Fabric Manager user guide, FABRIC_MODE; confirmed.
FABRIC_MODES = {"1": "shared NVSwitch mode", "2": "vGPU mode"}
FABRIC_CONFIG = "/usr/share/nvidia/nvswitch/fabricmanager.cfg"

# source: NVIDIA's IMEX guide; confirmed.
IMEX_UNIT = "nvidia-imex.service"
IMEX_CONFIG = "/etc/nvidia-imex/config.cfg"
IMEX_NODES = "/etc/nvidia-imex/nodes_config.cfg"
# By which the former may name another file than the latter.
IMEX_NODES_KEY = "IMEX_NODE_CONFIG_FILE"
IMEX_CHANNELS = "/dev/nvidia-caps-imex-channels"

# Bit 10 of a port's capability mask: no subnet manager may run on it. The NVLink subnet manager
# uses the other ports of the HCA functions that lead to the switches.
# source: InfiniBand specification 14.2.5.6; Bottlerocket's starter of the NVLSM; confirmed.
SM_DISABLED = 1 << 10
NVLSM = "nvlsm"
