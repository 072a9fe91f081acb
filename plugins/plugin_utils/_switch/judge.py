# SPDX-License-Identifier: GPL-3.0-or-later
"""Hold every RoCE rail against the switch port that it hangs on; no I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from ...module_utils._data import roce
from ...module_utils._expect.expectations import CAPABILITY
from ...module_utils._fleet.checks import SWITCH
from ...module_utils._ground.check import Check, failed, outcome, skipped, unknown
from ...module_utils._ground.reading import Reading
from .._hosts import hosts as _hosts
from . import alike
from .hop import NEIGHBOUR, Hop, neighbour, of_host
from .port import DSCP, PCP, Told, shown
from .texts import TEXTS, Switches

_PFC, _TRUST, _DSCP, _ECN = "roce.switch.pfc", "roce.switch.trust", "roce.switch.dscp", "roce.switch.ecn"
_MTU, _CNP, _WATCHDOG = "roce.switch.mtu", "roce.switch.cnp", "roce.switch.watchdog"
_NOBODY = f"no texts of switches are handed in ({TEXTS})"
_UNTRUSTED = f"the switch does not look at the DSCP: see {_TRUST}"
_UNTOLD = "its texts do not tell"
T = TypeVar("T")


def judge(hosts: Sequence[_hosts.Host], handed: Switches | None) -> dict[str, list[Check]]:
    """The checks of every host with RoCE rails."""
    checks: dict[str, list[Check]] = {}
    hops: list[Hop] = []
    for host in hosts:
        mine = list(of_host(host))
        if not mine:
            continue
        if handed is None:
            checks[host.name] = [skipped(NEIGHBOUR, "host", _NOBODY)]
            continue
        checks[host.name] = []
        for rail, mark in mine:
            check, found = neighbour(host.name, rail, handed)
            checks[host.name].append(check)
            if found is None:
                some = SWITCH[1:]
                checks[host.name] += [skipped(entry.id, rail.name, f"see {NEIGHBOUR}") for entry in some]
            else:
                hops.append(Hop(host.name, rail, host.expect, mark, *found))
    for hop, check in zip(hops, alike.judge(hops), strict=True):
        checks[hop.host] += [*_judged(hop), check]
    return checks


def _judged(hop: Hop) -> Iterator[Check]:
    yield _both(_PFC, hop, hop.port.pfc, hop.rail.qos.pfc, _pfc)
    yield _both(_TRUST, hop, hop.port.trust, hop.rail.qos.trust, _trust)
    yield _dscp(hop)
    yield _ecn(hop)
    yield _both(_MTU, hop, hop.port.mtu, hop.rail.mtu, _mtu)
    yield _cnp(hop)
    yield _watchdog(hop)


def _both(
    check_id: str, hop: Hop, there: Told[T], here: Reading[T] | Reading[str], judged: Callable[[Hop], Check]
) -> Check:
    """The judgement where both ends tell; unknown where either does not."""
    if there.value is None:
        return unknown(check_id, hop.rail.name, f"{hop.there}: {there.why or _UNTOLD}")
    if here.value is None:
        return unknown(check_id, hop.rail.name, f"{hop.here}: {here.why or 'nobody looked'}")
    return judged(hop)


def _seen(hop: Hop, said: str, line: str) -> str:
    return f"{hop.there}: {said} ({line})"


def _pfc(hop: Hop) -> Check:
    there, here = hop.port.pfc.value or (), hop.rail.qos.pfc.value or ()
    wanted = hop.expect.get("roce_pfc")
    observed = _seen(hop, f"priorities {shown(there)}", hop.port.pfc.line)
    expected = f"priorities {shown(here)}, as {hop.here}"
    cause = ""
    if set(there) != set(here) and wanted is not None:
        wrong = [name for name, found in ((hop.there, there), (hop.here, here)) if set(found) != set(wanted.value)]
        cause = f"the inventory has priorities {shown(wanted.value)} (roce_pfc): {' and '.join(wrong)} differs"
    return outcome(set(there) == set(here), _PFC, hop.rail.name, observed, expected, CAPABILITY, cause=cause)


def _trust(hop: Hop) -> Check:
    there, here = hop.port.trust.value or frozenset(), hop.rail.qos.trust.value or ""
    needed = DSCP if here == DSCP else PCP
    observed = _seen(hop, f"trusts {shown(there)}", hop.port.trust.line)
    return outcome(needed in there, _TRUST, hop.rail.name, observed, f"{needed}, as {hop.here}", CAPABILITY)


def _unfollowed(check_id: str, hop: Hop) -> Check | None:
    """The check where nobody follows a DSCP through this port, or nobody can tell whether; None where somebody does."""
    trust = hop.rail.qos.trust
    lost = next((told for told in (hop.mark, trust) if told.value is None), None)
    if lost is not None:
        return unknown(check_id, hop.rail.name, f"{hop.here}: {lost.why or 'nobody looked'}")
    if not hop.mark.value:
        return skipped(check_id, hop.rail.name, "nothing marks RoCE traffic, and nobody expects a mark (roce_tos)")
    if trust.value != DSCP:
        return skipped(check_id, hop.rail.name, "priorities are not taken from the DSCP here")
    if hop.port.trust.value is None:
        return unknown(check_id, hop.rail.name, f"{hop.there}: {hop.port.trust.why or _UNTOLD}")
    return None if DSCP in hop.port.trust.value else skipped(check_id, hop.rail.name, _UNTRUSTED)


def _dscp(hop: Hop) -> Check:
    unfollowed = _unfollowed(_DSCP, hop)
    if unfollowed is not None:
        return unfollowed
    right = dict(hop.rail.qos.priority.value or ()).get(hop.dscp)
    if hop.port.classes.value is None:
        return unknown(_DSCP, hop.rail.name, f"{hop.there}: {hop.port.classes.why or _UNTOLD}")
    if right is None:
        lost = hop.rail.qos.priority.why or f"it has no priority for DSCP {hop.dscp}"
        return unknown(_DSCP, hop.rail.name, f"{hop.here}: {lost}")
    expected = f"DSCP {hop.dscp} in priority {right}, as {hop.here}"
    found = hop.roce_class()
    if found is None:
        observed = f"{hop.there}: its map has no DSCP {hop.dscp}"
        return failed(_DSCP, hop.rail.name, observed, expected, CAPABILITY)
    leads = "none" if found.priority is None else found.priority
    observed = _seen(hop, f"DSCP {hop.dscp} in priority {leads}", found.line)
    return outcome(found.priority == right, _DSCP, hop.rail.name, observed, expected, CAPABILITY)


def _queue(hop: Hop) -> tuple[int | None, str]:
    """The queue that carries RoCE, or why that is not known."""
    found = hop.roce_class()
    if found is None or found.queue is None:
        return None, f"{hop.there}: {hop.port.classes.why or f'its maps lead DSCP {hop.dscp} into no queue'}"
    return found.queue, ""


def _ecn(hop: Hop) -> Check:
    unfollowed = _unfollowed(_ECN, hop)
    if unfollowed is not None:
        return unfollowed
    if not (hop.mark.value or 0) & roce.ECN_BITS:
        return skipped(_ECN, hop.rail.name, "RoCE traffic does not say that it understands ECN (roce_tos)")
    queue, lost = _queue(hop)
    if queue is None or hop.port.ecn.value is None:
        return unknown(_ECN, hop.rail.name, lost or f"{hop.there}: {hop.port.ecn.why or _UNTOLD}")
    observed = _seen(hop, f"ECN in queues {shown(hop.port.ecn.value)}", hop.port.ecn.line)
    expected = f"ECN in queue {queue}, that of DSCP {hop.dscp}, as {hop.here} marks RoCE"
    return outcome(queue in hop.port.ecn.value, _ECN, hop.rail.name, observed, expected, CAPABILITY)


def _mtu(hop: Hop) -> Check:
    there, here = hop.port.mtu.value or 0, hop.rail.mtu.value or 0
    observed = _seen(hop, f"MTU {there}", hop.port.mtu.line)
    expected = f"at least {here}, as {hop.host} {hop.rail.netdev.value or hop.rail.name}"
    return outcome(there >= here, _MTU, hop.rail.name, observed, expected, CAPABILITY)


def _cnp(hop: Hop) -> Check:
    unfollowed, mark = _unfollowed(_CNP, hop), hop.rail.qos.cnp_dscp
    if unfollowed is not None:
        return unfollowed
    if mark.missing:
        return skipped(_CNP, hop.rail.name, "the driver does not show how CNPs are marked")
    queue, lost = _queue(hop)
    if mark.value is None or queue is None:
        return unknown(_CNP, hop.rail.name, lost or f"{hop.here}: {mark.why}")
    if hop.port.pfc.value is None:
        return unknown(_CNP, hop.rail.name, f"{hop.there}: {hop.port.pfc.why or _UNTOLD}")
    expected = f"a queue of its own for DSCP {mark.value}, by which {hop.here} marks CNPs; RoCE is in queue {queue}"
    found = (hop.port.classes.value or {}).get(mark.value)
    if found is None:
        observed = f"{hop.there}: its map has no DSCP {mark.value}"
        return failed(_CNP, hop.rail.name, observed, expected, CAPABILITY)
    if found.queue is None:
        return unknown(_CNP, hop.rail.name, f"{hop.there}: its maps lead DSCP {mark.value} into no queue")
    paused = found.priority in hop.port.pfc.value
    observed = _seen(
        hop, f"DSCP {mark.value} in queue {found.queue}{', which is paused' if paused else ''}", found.line
    )
    return outcome(found.queue != queue and not paused, _CNP, hop.rail.name, observed, expected, CAPABILITY)


def _watchdog(hop: Hop) -> Check:
    told = hop.port.watchdog
    if told.value is None:
        return skipped(_WATCHDOG, hop.rail.name, told.why or "its texts do not tell, and nobody expects it")
    if not hop.port.pfc.value:
        return skipped(_WATCHDOG, hop.rail.name, "the switch port has no flow control")
    expected = f"on for priorities {shown(hop.port.pfc.value)}"
    observed = _seen(hop, "on" if told.value else "off", told.line)
    return outcome(told.value, _WATCHDOG, hop.rail.name, observed, expected, CAPABILITY)
