# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a whole host is held against equal hosts. Data only.

source: the kernel's admin-guide and ABI documents, machine-id(5), timedatectl(1); confidence: confirmed.
What is excused of it is in leaf_excuses.
"""

from __future__ import annotations

# Every file of one line that is read below these.
SETTINGS = (
    "/etc/machine-id",
    "/proc/sys/",
    "/sys/module/",
    "/sys/kernel/mm/",
    "/sys/class/net/",
    "/sys/class/dmi/id/",
    "/sys/devices/system/cpu/",
    "/sys/devices/system/clocksource/",
)
# Read for this alone: no check judges them by themselves.
ASKED = (
    "/etc/machine-id",
    "/proc/driver/nvidia/params",
    "/proc/sys/kernel/randomize_va_space",
    "/proc/sys/kernel/sched_rt_runtime_us",
    "/proc/sys/kernel/yama/ptrace_scope",
    "/proc/sys/net/core/default_qdisc",
    "/proc/sys/net/core/busy_poll",
    "/proc/sys/net/core/busy_read",
    "/proc/sys/net/ipv4/tcp_congestion_control",
    "/proc/sys/net/ipv4/tcp_mtu_probing",
    "/proc/sys/net/ipv4/tcp_timestamps",
    "/proc/sys/vm/swappiness",
    "/sys/devices/system/cpu/intel_pstate/no_turbo",
    "/sys/devices/system/cpu/cpufreq/boost",
    "/sys/devices/system/cpu/cpuidle/current_driver",
    "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq",
    "/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver",
    "/sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq",
    "/sys/kernel/mm/transparent_hugepage/defrag",
    "/sys/kernel/mm/transparent_hugepage/enabled",
    "/sys/module/ib_core/parameters/netns_mode",
    "/sys/module/mlx5_core/parameters/prof_sel",
    "/sys/module/nvme_core/parameters/io_timeout",
)
OF_INTERFACES = ("speed", "duplex", "mtu")
# What these say without a link.
NO_LINK = ("-1", "unknown")
# Longer ones, and what ends a key in them: the first block of each, which is one processor's.
KEYED = {"/proc/cpuinfo": ":", "/proc/driver/nvidia/params": ":", "/etc/os-release": "="}
# And what tools print as ``KEY=value``.
KEYED_TOOLS = ("timedatectl_show",)
