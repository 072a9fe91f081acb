# SPDX-License-Identifier: GPL-3.0-or-later
"""The area nccl as a whole: its checks in reading order. Facts and expectations in, checks out, no I/O."""

from __future__ import annotations

from typing import Iterator

from ..._ask.nccl import copies, query
from ..._data.nccl_reading import SYSTEM_FILE
from ..._expect.expectations import Expectations
from ..._ground.check import Check, skipped
from ..._nccl.derive import is_idle
from ..area import Area
from ..machine.facts import Machine
from . import (
    HOST,
    check_bootstrap,
    check_conf,
    check_copies,
    check_derived,
    check_gdr,
    check_harm,
    check_library,
    check_log,
    check_sharp,
    check_spectrum_x,
    observe,
)
from .facts import HostFacts, NcclFacts

_NOTHING = "no GPU and no libnccl.so.2 on this host"


def judge(facts: NcclFacts, machine: Machine, expect: Expectations) -> list[Check]:
    """Every nccl.* check."""
    here = facts.here
    found = list(check_log.judge(facts.log, machine, expect, facts.rdma))
    return found if here is None else [*found, *_of_host(here, machine, expect)]


def _of_host(here: HostFacts, machine: Machine, expect: Expectations) -> Iterator[Check]:
    why = _does_not_apply(here, machine)
    if why:
        for entry in HOST:
            yield skipped(entry.id, SYSTEM_FILE, why)
        return
    yield check_library.version(here, machine.architectures)
    yield from check_conf.judge(here)
    yield from check_derived.judge(here.host, here.wish, here.settings, None)
    yield from check_harm.judge(here)
    yield check_bootstrap.judge(here)
    yield check_gdr.judge(here)
    yield from check_copies.judge(here)
    yield from check_sharp.judge(here, expect)
    yield from check_spectrum_x.judge(here, expect)


def _does_not_apply(here: HostFacts, machine: Machine) -> str:
    if machine.without_hardware:
        return f"simulated node: {machine.without_hardware}"
    return _NOTHING if here.asked.library.missing and is_idle(here.host) else ""


AREA = Area("nccl", observe.observe, judge, {"nccl_copies": copies.search, "nccl_proof": query.ask})
