# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge the NVSwitches: their errors, and what manages the newest ones. pci.* counts them."""

from __future__ import annotations

from typing import Iterator, NamedTuple

from ..._data import nvlink as data
from ..._data.sxids import ALWAYS_FATAL, HARMLESS, SXIDS
from ..._expect.expectations import CAPABILITY
from ..._ground.check import Check, failed, passed, skipped, unknown
from ..._ground.tally import Tally
from ..._parse.fabricmanager_log import FmLog
from ..._parse.fabricmanager_status import RUNNING
from .check_scope import Scope, cannot_tell
from .facts import SwitchPort

FATAL, ERRORS = "nvlink.nvswitch.fatal", "nvlink.nvswitch.errors"
NVLSM, PORTS = "nvlink.nvlsm.running", "nvlink.nvlsm.ports"
REDUNDANCY = "nvlink.nvlsm.redundancy"
_ACTIVE = "ACTIVE"
# 0000:e8:00
_ADDRESS = 10
_NONE = "none since the driver was loaded"
_NO_DRIVER = "no NVSwitch of this host has a driver of its own"
_AT_HOST = "a virtual machine without NVSwitches"
_OTHER_BOARD = "only HGX B200 and B300 boards have an NVLink subnet manager of their own"


class Event(NamedTuple):
    """An error of a switch, from the kernel's log or the fabric manager's.

    ``old``: it was before the fabric manager's last start, and not since.
    """

    switch: str
    sxid: int
    fatal: bool
    text: str
    old: bool = False


def judge_switches(scope: Scope) -> Iterator[Check]:
    yield from _events(scope)
    yield from _subnet_manager(scope)


def _events(scope: Scope) -> list[Check]:
    kernel, log = scope.facts.sxids, scope.facts.log
    # One that does not run logs nothing new.
    runs = scope.facts.manager.value is not None and scope.facts.manager.value.state == RUNNING
    old = _earlier(log.value) if runs else set()
    found = [
        Event(
            xid.switch,
            xid.sxid,
            xid.text.lower().startswith("fatal"),
            xid.text,
            _key(xid.bus_id, str(xid.sxid)) in old,
        )
        for xid in kernel.value or ()
    ]
    found += [
        Event(error.pci or "NVSwitch", int(error.sxid), error.fatal, error.text)
        for error in (log.value.errors if log.value else ())
        if error.sxid and error.fatal
    ]
    fatal: list[Check] = []
    slight: list[Check] = []
    for event in found:
        known = SXIDS.get(event.sxid)
        if event.fatal or (known is not None and known.kind == ALWAYS_FATAL):
            fatal.append(_fault(FATAL, event))
        elif not event.old and (known is None or known.kind != HARMLESS):
            slight.append(_fault(ERRORS, event))
    past = sum(event.old for event in found)
    return [*(fatal or [_no_event(FATAL, scope)]), *(slight or [_no_event(ERRORS, scope, past)])]


def _earlier(log: FmLog | None) -> set[tuple[str, str]]:
    """The switches and numbers of errors that the fabric manager logged before its last start and
    not since. The kernel's log, which goes back to the boot, has them still."""
    if log is None:
        return set()
    old = {_key(error.pci, error.sxid) for error in log.earlier if error.sxid and not error.fatal}
    return old - {_key(error.pci, error.sxid) for error in log.errors}


def _key(address: str, sxid: str) -> tuple[str, str]:
    """The PCI domain is written with four digits or with eight, and a function or none behind it."""
    return address.lower().partition(".")[0][-_ADDRESS:], sxid


def _no_event(check_id: str, scope: Scope, past: int = 0) -> Check:
    why = _driverless(scope)
    if why:
        return skipped(check_id, "host", why)
    if scope.facts.sxids.value is None:
        return unknown(check_id, "host", scope.facts.sxids.why or "nobody looked")
    if scope.board is None and not scope.switches_seen:
        why = f"nobody can tell whether there are NVSwitches: {scope.machine.pci.why}"
        return unknown(check_id, "host", why)
    seen = "none in the kernel's log"
    if past:
        seen += f" but {past} that the fabric manager logged before its last start"
    if scope.facts.log_lost:
        seen += ", which no longer reaches back to the boot"
    return passed(check_id, "host", seen, _NONE, CAPABILITY)


def _driverless(scope: Scope) -> str:
    """Why no switch of this host can have errors in its log."""
    board = scope.board
    if scope.switches_seen:
        return ""
    if board is not None:
        if scope.without_switches:
            return _AT_HOST
        return "" if board.nvswitches else _NO_DRIVER
    if scope.linkless or scope.machine.pci.known:
        return _NO_DRIVER
    return ""


def _fault(check_id: str, event: Event) -> Check:
    known = SXIDS.get(event.sxid)
    means = known.means if known else "not in the table of SXids"
    return failed(
        check_id,
        event.switch,
        f"SXid {event.sxid}: {event.text[:120]}",
        _NONE,
        CAPABILITY,
        cause=f"SXid {event.sxid}: {means}",
    )


def _subnet_manager(scope: Scope) -> Iterator[Check]:
    board = scope.board
    if board is None and scope.machine.gpus.value is None and not scope.models:
        why = scope.machine.gpus.why or "nobody looked for GPUs"
        yield from cannot_tell((NVLSM, PORTS, REDUNDANCY), why)
        return
    if board is None or not board.nvlsm or scope.without_switches:
        why = _OTHER_BOARD if board is None or not board.nvlsm else _AT_HOST
        yield skipped(NVLSM, "host", why)
        yield skipped(PORTS, "host", why)
        yield skipped(REDUNDANCY, "host", why)
        return
    yield _nvlsm(scope)
    yield from _ports(scope)
    yield _redundancy(scope, board.nvlsm_ports)


def _nvlsm(scope: Scope) -> Check:
    reported = scope.facts.manager
    if reported.value is None:
        return unknown(NVLSM, "host", reported.why or "nobody looked")
    mine = [process for process in reported.value.processes if _is_nvlsm(process)]
    if mine:
        return passed(NVLSM, "host", mine[0].split(" ")[0], "a process nvlsm", scope.source)
    if reported.value.active and not reported.value.processes:
        return unknown(NVLSM, "host", "systemctl status shows no process of the service")
    cause = "" if reported.value.active else "the service that starts it, nvidia-fabricmanager, is down"
    return failed(NVLSM, "host", "no process nvlsm", "a process nvlsm", scope.source, cause=cause)


def _is_nvlsm(command: str) -> bool:
    return command.split(" ")[0].rpartition("/")[2] == data.NVLSM


def _ports(scope: Scope) -> list[Check]:
    managers = scope.machine.switch_managers
    if managers.value is None:
        return cannot_tell((PORTS,), managers.why or "nobody looked")
    tally = Tally(PORTS, "ports to NVLink switches Active")
    if not managers.value:
        cause = "no HCA function on the bus carries the mark SW_MNG in its product data"
        tally.fail("host", "none", "at least 1", scope.source, cause=cause)
    for address in managers.value:
        ports = scope.facts.ports.get(address)
        if ports is None or ports.value is None:
            tally.unsure(address, ports.why if ports else "nobody looked")
            continue
        if not ports.value:
            cause = "no RDMA driver (mlx5_ib) is bound to this function"
            tally.fail(address, "no RDMA device", "Active", scope.source, cause=cause)
        for port in ports.value:
            subject = f"{port.device}/{port.port}"
            if not port.managed:
                tally.left_out(subject, "no subnet manager may run on this port")
            elif port.state.value is None:
                tally.unsure(subject, port.state.why)
            elif _is_active(port):
                tally.good(subject)
            else:
                tally.fail(subject, port.state.value, "4: ACTIVE", scope.source)
    return tally.checks("ACTIVE", scope.source, nothing="no port to an NVLink switch")


def _redundancy(scope: Scope, wanted: int) -> Check:
    """Whether as many ports lead to the switches as the board has; PORTS judges those there are."""
    managers = scope.machine.switch_managers
    if managers.value is None:
        return unknown(REDUNDANCY, "host", managers.why or "nobody looked")
    up, down = 0, False
    for address in managers.value:
        ports = scope.facts.ports.get(address)
        if ports is None or ports.value is None:
            return unknown(REDUNDANCY, address, (ports.why if ports else "") or "nobody looked")
        for port in ports.value:
            if port.managed and port.state.value is None:
                return unknown(REDUNDANCY, f"{port.device}/{port.port}", port.state.why)
            down = down or (port.managed and not _is_active(port))
            up += 1
        down = down or not ports.value
    if down or not up:
        return skipped(REDUNDANCY, "host", f"fix {PORTS} first")
    if up >= wanted:
        return passed(REDUNDANCY, "host", up, wanted, scope.source)
    return failed(REDUNDANCY, "host", f"{up} ports", f"{wanted} ports", scope.source)


def _is_active(port: SwitchPort) -> bool:
    return (port.state.value or "").rpartition(":")[2].strip() == _ACTIVE
