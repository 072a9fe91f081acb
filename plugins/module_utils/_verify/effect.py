# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether what was brought to a host takes effect, by the checks that judge it in a verify.

A file of ours may be whole, and a later one of somebody else's undo it: a comparison and a converge ask here, so that
they never disagree with a verify.
"""

from __future__ import annotations

import datetime
from typing import Any, Iterator, Mapping

from .._areas.host import check_boot, check_services, observe_boot, observe_modules, observe_services
from .._areas.host.facts import HostFacts
from .._areas.machine.facts import Machine
from .._areas.nccl import check_copies, observe as nccl
from .._areas.nccl.facts import HostFacts as NcclFacts
from .._areas.stack import check_held, check_linker, observe as stack, observe_files, observe_linker
from .._areas.stack.facts import StackFacts
from .._ask.nccl import copies, query
from .._evidence import ask
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


# Each sees no more than these checks go by: a whole look takes seconds of a host that a verify looks at anyway.
def _host(evidence: Evidence, machine: Machine, expect: Expectations) -> Iterator[Check]:
    facts = HostFacts(
        modules=observe_modules.observe(evidence),
        services=observe_services.observe(evidence),
        boot=observe_boot.observe(evidence, machine),
    )
    yield from check_services.judge(facts, machine)
    yield from check_boot.judge(facts, machine, expect)


def _stack(evidence: Evidence, machine: Machine, _expect: Expectations) -> Iterator[Check]:
    driver = ask.file(evidence, stack.NVIDIA, stack.driver_version)
    yield from check_linker.judge(observe_linker.observe(evidence), driver, machine)
    yield from check_held.judge(StackFacts(files_of_ours=observe_files.observe(evidence)))


def _nccl(evidence: Evidence, machine: Machine, _expect: Expectations) -> Iterator[Check]:
    here = NcclFacts(asked=nccl.asked(evidence), copies=copies.observe(evidence))
    idle = here.asked.library.missing and machine.has_gpus is False
    if not (idle or machine.without_hardware):
        yield from check_copies.judge(here)


def checks(evidence: Evidence, expect: Expectations) -> list[Check]:
    """These checks alone, as a verify of the host has them."""
    known = Cached(evidence)
    machine, wanted = meet(known, expect)
    found = (check for judge in (_host, _stack, _nccl) for check in judge(known, machine, wanted))
    return [check for check in found if check.id in IDS]


def undone(want: Mapping[str, Any]) -> list[Check]:
    """What takes no effect on this host, or of which nobody can tell whether it does; without what is waived.

    ``want``: ``expect``, ``waivers`` and ``host`` as a verify module is given them.
    """
    live = Live(questions={"nccl_copies": copies.search, "nccl_proof": query.ask})
    accepted = waivers.parse(want.get("waivers") or [])
    found = checks(live, from_inventory(want.get("expect") or {}))
    judged = waivers.apply(found, accepted, str(want.get("host")), datetime.date.today())
    return [check for check in judged if check.result in (FAIL, UNKNOWN) and not check.waived]
