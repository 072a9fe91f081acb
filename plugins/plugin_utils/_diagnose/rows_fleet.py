# SPDX-License-Identifier: GPL-3.0-or-later
"""Causes that show only beside equal hosts, and how causes above show there. Data only."""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.effects import (
    LOSSY,
    RISK,
    SKEW,
    SMALL,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.fixes import look, site
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.row import (
    LIKELY,
    POSSIBLE,
    Row,
)

# A setting that is wrong on one host differs from its equals', too: the row with such a sign (how
# it begins) explains these.
_SHOWS_AS = (
    ("nccl.conf.", "fleet.nccl.settings"),
    ("nccl.gdr.", "fleet.nccl.settings"),
    ("nccl.copies.", "fleet.nccl.settings"),
    ("nccl.library.", "fleet.nccl.settings"),
    ("host.limit.", "fleet.host.limits"),
    ("host.kernel.", "fleet.host.args"),
    ("host.memory.", "fleet.host.sysctl"),
    ("host.clock.", "fleet.time.skew"),
    ("ib.port.mtu", "fleet.port.mtu"),
    ("roce.netdev.mtu", "fleet.port.mtu"),
    ("roce.gid.", "fleet.roce.gid"),
    ("roce.qos.", "fleet.roce.qos"),
    ("roce.netdev.", "fleet.roce.gid"),
    ("stack.lock.", "fleet.fabric_manager.version"),
    ("fleet.driver.", "fleet.fabric_manager.version"),
    ("nvlink.fabric_manager.", "fleet.fabric_manager.version"),
    ("stack.lock.", "fleet.container.engine"),
    ("container.engine.", "fleet.container.engine"),
    ("gpu.device.", "fleet.gpu.vbios"),
    ("fleet.gpu.model", "fleet.gpu.vbios"),
)


def with_differences(row: Row) -> Row:
    """The row, which explains as well how it shows beside equal hosts."""
    found = (check for sign in row.signs for begins, check in _SHOWS_AS if sign.startswith(begins))
    more = [one for one in dict.fromkeys(found) if one not in row.signs]
    return replace(row, here=(*row.here, *more)) if more else row


ROWS = (
    Row(
        "fleet.qos",
        "a rail treats priorities in another way than those of its equals",
        LOSSY,
        ("fleet.roce.qos",),
        look(
            "ip",
            "-brief",
            "link",
            hands="compare `mlnx_qos -i` with an equal host's; set it at every boot",
        ),
        loss=0.2,
        confidence=LIKELY,
    ),
    Row(
        "fleet.gid",
        "RoCE v2 finds its address elsewhere than on equal hosts",
        SKEW,
        ("fleet.roce.gid",),
        look("ip", "-brief", "address", hands="give the interface the addresses of its equals'"),
        far=("nccl.log.errors~modify_qp",),
        confidence=LIKELY,
    ),
    Row(
        "fleet.mtu",
        "a rail has another MTU than those of its equals",
        SMALL,
        ("fleet.port.mtu",),
        look("ip", "-brief", "link", hands="set the MTU as on the others, at every boot"),
        confidence=LIKELY,
    ),
    Row(
        "fleet.nccl_settings",
        "jobs find other settings of NCCL than on equal hosts",
        SKEW,
        ("fleet.nccl.settings",),
        site("nccl_conf"),
        far=("nccl.log.mixed",),
        fleet=True,
        confidence=LIKELY,
    ),
    Row(
        "fleet.manager",
        "a host has another fabric manager than its equals",
        SKEW,
        ("fleet.fabric_manager.version",),
        site("nvidia_driver_packages", "nvidia_driver_services"),
        fleet=True,
        loss=0.05,
        confidence=LIKELY,
    ),
    Row(
        "fleet.boot",
        "a kernel was booted with other arguments than its equals'",
        SKEW,
        ("fleet.host.args",),
        look("cat", "/proc/cmdline", hands="set them with host_tuning_kernel_args, then reboot"),
        fleet=True,
        loss=0.05,
        confidence=POSSIBLE,
    ),
    Row(
        "fleet.sysctl",
        "a kernel has other settings than its equals'",
        SKEW,
        ("fleet.host.sysctl",),
        site("host_tuning_sysctl"),
        fleet=True,
        loss=0.05,
        confidence=POSSIBLE,
    ),
    Row(
        "fleet.limits",
        "jobs get other limits than on equal hosts",
        SKEW,
        ("fleet.host.limits",),
        site("host_tuning_limits", "host_tuning_systemd"),
        fleet=True,
        loss=0.05,
        confidence=POSSIBLE,
    ),
    Row(
        "fleet.bios",
        "a machine has another BIOS than its equals",
        SKEW,
        ("fleet.host.bios",),
        look("dmidecode", "-t", "0", hands="update it in a maintenance window, settings too"),
        fleet=True,
        loss=0.04,
        confidence=POSSIBLE,
    ),
    Row(
        "fleet.vbios",
        "GPUs have another VBIOS than those of equal hosts",
        SKEW,
        ("fleet.gpu.vbios",),
        look("nvidia-smi", "-q", hands="update the baseboard with the machine maker's bundle"),
        fleet=True,
        loss=0.04,
        confidence=POSSIBLE,
    ),
    Row(
        "fleet.engine",
        "a host has other container engines than its equals",
        RISK,
        ("fleet.container.engine",),
        site("container_runtime_packages"),
        fleet=True,
        confidence=POSSIBLE,
    ),
    Row(
        "fleet.clock",
        "a host's clock shows another time than the others'",
        RISK,
        ("fleet.time.skew",),
        look("timedatectl", hands="see which source it follows; then chronyc makestep"),
        fleet=True,
        confidence=LIKELY,
    ),
)
