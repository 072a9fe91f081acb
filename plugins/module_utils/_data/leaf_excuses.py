# SPDX-License-Identifier: GPL-3.0-or-later
"""Where it says nothing that equal parts differ, by the words of a leaf's path. Data only.

source: nvidia-smi outputs of five hosts with four or eight equal GPUs, and what the manuals of nvidia-smi and
mlxlink say that a value is; confidence: confirmed. tests/unit/plugins/module_utils/test_equals_excuses.py has
for each word two healthy parts that differ in it.

A path is matched as ``source/title/key`` in small letters, with ``_`` for what is no letter and no number.
"""

from __future__ import annotations

# Who it is, and where it sits.
IDENTITY = (
    "uuid",
    "guid",
    "serial",
    "minor_number",
    r"pci/pci_(?:bus|domain|bus_id)$",
    "(?:module|board)_id",
    "part_number",
    "pdi$",
    "rdma/addresses$",
)
# What was measured or counted, or how much of it is in use.
MEASURED = (
    "temp",
    "draw",
    "fan_speed",
    "ecc_errors",
    "(?<![a-z])count",
    "replay",
    "remapped",
    "retire",
    "util",
    "used",
    "free",
    "timestamp",
    "duration",
    "process",
    "mlxlink/physical_counters",
)
# A state of the moment, by what jobs do.
MOMENT = (
    "/clocks/",
    "performance_state",
    "clocks?_(?:event|throttle)_reasons?",
)
# What checks judge that know more of it: modules and cables by their kind, links by the slot.
ELSEWHERE = (
    "mlxlink/module_info",
    "mlxlink/troubleshooting_info",
    "mlxlink/.*cable",
    "^rdma/(?:state|phys_state)$",
    "operational_info/(?:state|physical_state|speed|width)$",
    "^nvidia_smi/fabric/",
    "mig_devices",
    "pci_gpu_link_info",
    "gpu_recovery_action",
)
# Of a whole host: who it is and what its moment is; what the kernel measures at boot; what fleet.* compares.
OF_HOST = (
    "machine_id",
    "(?:host|domain)name",
    "os_release/(?!(?:version_)?id$)",
    "cpuinfo/(?:cpu_mhz|bogomips|processor|(?:initial_)?apicid|core_id|physical_id)",
    "usec$",
    "ntpsynchronized",
    "/carrier|operstate|/dev_port",
    "scaling_(?:cur|setspeed)",
    "/kernel/osrelease",
    "thermal_throttle",
)
# The first that matches: a cable's number is at both of its ends, and is no part's identity.
EXCUSES = {
    "told elsewhere": ELSEWHERE,
    "identity": IDENTITY,
    "measured": MEASURED,
    "moment": MOMENT,
    "of one host": OF_HOST,
}

# More than most have keeps nobody waiting, where both are numbers.
MORE_IS_FINE = ("limit", "max_clocks", "applications_clocks", "/clocks/mem_clock", "memory_usage/total")
# Who is unlike its equals in this is judged by checks of its own; what else differs follows from it.
FIRST = (
    "mig_mode/current_mig",
    "^rdma/(?:state|phys_state)$",
    "operational_info/(?:state|physical_state|speed|width)$",
)
# A state of the moment that is compared, among those that are alike in the leaves of the source that match.
_STATE = "nvidia-smi/(?:performance_state|clocks_(?:event|throttle)_reasons/)"
_HELD = "performance_state$|_reasons/.*_(?:gpu_idle|sw_power_cap|sync_boost)$"
WITHIN = {
    "nvidia-smi/clocks/mem_clock": "nvidia-smi/performance_state",
    "nvidia-smi/clocks/graphics_clock": _STATE,
    # The driver names it only while that is what limits the clocks.
    "nvidia-smi/clocks_event_reasons/clocks_event_reason_applications_clocks_setting": _HELD,
    "nvidia-smi/clocks_throttle_reasons/clocks_throttle_reason_applications_clocks_setting": _HELD,
}
# Not where one of these says that something holds it back, or that there is nothing to do.
UNLESS = {"nvidia-smi/clocks/graphics_clock": "=Active$"}
# Of what holds clocks back, the value that is wrong if it is the odd one.
FAULT = ("_reasons/", "Active")
# By what part a value may differ and be alike: chips of one kind reach clocks of their own.
ROUGH = {"nvidia-smi/clocks/graphics_clock": 0.15}
