# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether what was brought to a host takes effect, by the checks that judge it in a verify.

A file of ours may be whole, and a later one of somebody else's undo it: a comparison and a converge ask here, so that
they never disagree with a verify.
"""

from __future__ import annotations

import datetime
from typing import Any, Mapping

from .._areas.area import Area
from .._areas.host import check_boot, check_services, observe_boot, observe_modules, observe_services
from .._areas.host.facts import HostFacts
from .._areas.machine.facts import Machine
from .._areas.nccl.area import AREA as nccl
from .._areas.stack.area import AREA as stack
from .._evidence.sources import Cached, Evidence, Live
from .._expect import waivers
from .._expect.expectations import Expectations, from_inventory
from .._ground.check import FAIL, UNKNOWN, Check
from .look import meet

# The checks of what all files of a kind come to together: those of systemd, sysctl, modprobe, pam_limits, the linker
# and NCCL, and whether a file of ours is one at all.
IDS = (
    *("host.limit.memlock", "host.limit.memlock_login", "host.limit.nofile"),
    *("host.boot.sysctl", "host.boot.modules", "host.boot.services"),
    *("stack.linker.driver", "stack.linker.preload", "stack.files.ours"),
    *("nccl.copies.library", "nccl.copies.conf", "nccl.copies.environment"),
)


def _observe(evidence: Evidence, machine: Machine, _expect: Expectations) -> HostFacts:
    """The rooms that these checks go by: the kernel's log and the BMC take seconds, and tell nothing of it."""
    return HostFacts(
        modules=observe_modules.observe(evidence),
        services=observe_services.observe(evidence),
        boot=observe_boot.observe(evidence, machine),
    )


def _judge(facts: HostFacts, machine: Machine, expect: Expectations) -> list[Check]:
    return [*check_services.judge(facts, machine), *check_boot.judge(facts, machine, expect)]


_AREAS = (Area("host", _observe, _judge), stack, nccl)


def checks(evidence: Evidence, expect: Expectations) -> list[Check]:
    """These checks alone, as a verify of the host has them."""
    known = Cached(evidence)
    machine, wanted = meet(known, expect)
    found = [area.judge(area.observe(known, machine, wanted), machine, wanted) for area in _AREAS]
    return [check for area in found for check in area if check.id in IDS]


def undone(want: Mapping[str, Any]) -> list[Check]:
    """What takes no effect on this host, or of which nobody can tell whether it does; without what is waived.

    ``want``: ``expect``, ``waivers`` and ``host`` as a verify module is given them.
    """
    live = Live(questions={name: ask for area in _AREAS for name, ask in area.questions.items()})
    accepted = waivers.parse(want.get("waivers") or [])
    found = checks(live, from_inventory(want.get("expect") or {}))
    judged = waivers.apply(found, accepted, str(want.get("host")), datetime.date.today())
    return [check for check in judged if check.result in (FAIL, UNKNOWN) and not check.waived]
