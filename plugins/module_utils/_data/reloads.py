# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernel modules whose running version has to be the installed one. Data only.

``source``/``confidence`` as in gpus.py.
"""

from __future__ import annotations

from dataclasses import dataclass

_RDMA = (
    "restarting the RDMA stack is enough (systemctl restart openibd, or the role rdma with "
    "ibready_fabric_restart_ok), once nothing uses it"
)
_GPU = "loading the NVIDIA modules anew is enough, once nothing uses a GPU"


@dataclass(frozen=True)
class Watched:
    """``reload``: what replaces the loaded module without a reboot."""

    name: str
    reload: str
    source: str
    confidence: str = "confirmed"


WATCHED = (
    Watched("ib_core", _RDMA, "MLNX_OFED and DOCA bring their own"),
    Watched("ib_uverbs", _RDMA, "MLNX_OFED and DOCA bring their own"),
    Watched("mlx5_core", _RDMA, "MLNX_OFED and DOCA bring their own"),
    Watched("mlx5_ib", _RDMA, "MLNX_OFED and DOCA bring their own"),
    Watched("nvidia", _GPU, "NVIDIA driver; library and module must be of one version"),
    Watched("nvidia_uvm", _GPU, "NVIDIA driver; library and module must be of one version"),
    Watched("nvidia_peermem", _GPU, "built against the OFED that was there"),
    Watched("nvidia_fs", _GPU, "built against the driver that was there"),
)
# Holds the GPUs, so that nvidia cannot: unloading it takes the console with it, as a rule.
RIVAL, ITS_RIVAL = "nvidia", "nouveau"
