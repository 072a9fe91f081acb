# SPDX-License-Identifier: GPL-3.0-or-later
"""What a reboot must not take away: modules, RDMA devices, limits; before and after it."""

from __future__ import annotations

from typing import Any, Mapping

from ansible_collections.ibready.cluster.plugins.module_utils import _blacklist
from ansible_collections.ibready.cluster.plugins.module_utils._data.rdma_modules import (
    CORE,
    DRIVERS,
    USERLAND,
)
from ansible_collections.ibready.cluster.plugins.module_utils._evidence import Evidence
from ansible_collections.ibready.cluster.plugins.module_utils._observe import (
    _ask,
    host_services,
    kind,
)
from ansible_collections.ibready.cluster.plugins.module_utils._parse.proc_limits import UNLIMITED

INFINIBAND = "/sys/class/infiniband"
# Nobody misses these without a device of theirs: they stay loaded when the last one is taken away.
_SOFTWARE = ("rdma_rxe", "siw")
# Nor these without any: whoever opens /dev/infiniband/rdma_cm has the kernel load them.
_ON_DEMAND = (*(one.name for one in (*CORE, *USERLAND)), "rdma_ucm")
# What every boot has to load by itself. Others come when somebody asks for them, or belong to one
# release of a stack.
MODULES = (*_ON_DEMAND, *_SOFTWARE, "nvidia", *DRIVERS, *DRIVERS.values())
_LIMITS = {"memlock": "DefaultLimitMEMLOCK", "nofile": "DefaultLimitNOFILE"}


def look(evidence: Evidence, before: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """``modules`` and ``devices`` by name, the devices' node GUIDs (``guids``), and ``limits`` that
    systemd gives to what it starts.

    A module that was kept ``before`` is told wherever it is loaded, also where its device has gone.
    What cannot be told is left out, and so lost where it could be told before. In a container the
    modules are the machine's.
    """
    kept_out = _ask.text(evidence, _blacklist.PATH).value or ""
    unwanted = set(_blacklist.names_in(kept_out))
    loaded = () if kind.container(evidence) else _ask.names(evidence, "/sys/module").value or ()
    defaults = host_services.defaults(evidence).value
    found = _ask.names(evidence, INFINIBAND)
    devices = found.value or ()
    if found.known and not devices:
        unwanted.update(_ON_DEMAND)
    if all(_ask.names(evidence, f"{INFINIBAND}/{one}/device").known for one in devices):
        unwanted.update(_SOFTWARE)
    unwanted.difference_update((before or {}).get("modules", ()))
    limits = {}
    if defaults is not None:
        limits = {"memlock": defaults.memlock_soft, "nofile": defaults.nofile_soft}
    return {
        "modules": [one for one in MODULES if one in loaded and one not in unwanted],
        "devices": list(devices),
        "guids": {
            one: _ask.text(evidence, f"{INFINIBAND}/{one}/node_guid").value or "" for one in devices
        },
        "limits": limits,
    }


def lost(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """What was there and is not, a sentence each."""
    told = [
        f"module {one} was loaded before, and is not"
        for one in before.get("modules", ())
        if one not in now["modules"]
    ]
    # A boot may name a device anew: by rdma_device_names, or with another stack.
    guids = before.get("guids", {})
    present = {one for one in now.get("guids", {}).values() if one}
    told += [
        f"RDMA device {one} was there before, and is not"
        for one in before.get("devices", ())
        if one not in now["devices"] and guids.get(one) not in present
    ]
    for name, was in before.get("limits", {}).items():
        here = now["limits"].get(name)
        if here is None:
            told.append(f"systemd no longer tells its {_LIMITS.get(name, name)}")
        elif here < was:
            shown = f"{_shown(here)} instead of {_shown(was)}"
            told.append(f"{_LIMITS.get(name, name)} is {shown}")
    return told


def _shown(limit: int) -> str:
    return "infinity" if limit >= UNLIMITED else str(limit)
