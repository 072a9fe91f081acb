# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge NCCL on one host: facts and expectations in, checks out, no I/O."""

from __future__ import annotations

from typing import Iterator

from ansible_collections.ibready.cluster.plugins.module_utils._checks import (
    nccl_bootstrap,
    nccl_conf,
    nccl_copies,
    nccl_derived,
    nccl_gdr,
    nccl_harm,
    nccl_library,
    nccl_log,
)
from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import Check, skipped
from ansible_collections.ibready.cluster.plugins.module_utils._data.nccl_reading import SYSTEM_FILE
from ansible_collections.ibready.cluster.plugins.module_utils._entries import nccl_host as entries
from ansible_collections.ibready.cluster.plugins.module_utils._expect import Expectations
from ansible_collections.ibready.cluster.plugins.module_utils._facts.machine import Machine
from ansible_collections.ibready.cluster.plugins.module_utils._facts.nccl import (
    HostFacts,
    NcclFacts,
)
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.derive import is_idle

_NOTHING = "no GPU and no libnccl.so.2 on this host"


def judge(facts: NcclFacts, machine: Machine, expect: Expectations) -> list[Check]:
    """Every nccl.* check."""
    here = facts.here
    found = list(nccl_log.judge(facts.log, machine, expect))
    return found if here is None else [*found, *_of_host(here, machine)]


def _of_host(here: HostFacts, machine: Machine) -> Iterator[Check]:
    why = _does_not_apply(here, machine)
    if why:
        for one in entries.ENTRIES:
            yield skipped(one.id, SYSTEM_FILE, why)
        return
    yield nccl_library.version(here)
    yield from nccl_conf.judge(here)
    yield from nccl_derived.judge(here.host, here.wish, here.settings, None)
    yield from nccl_harm.judge(here)
    yield nccl_bootstrap.judge(here)
    yield nccl_gdr.judge(here)
    yield from nccl_copies.judge(here)


def _does_not_apply(here: HostFacts, machine: Machine) -> str:
    if machine.without_hardware:
        return f"simulated node: {machine.without_hardware}"
    return _NOTHING if here.asked.library.missing and is_idle(here.host) else ""
