# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge what the kernel's log says of HCAs, of peer memory and of the kernel itself."""

from __future__ import annotations

from typing import Sequence

from ..._data.kernel_drivers import BOOT_S
from ..._data.kernel_faults import PASSING, PASSING_S, STOPPING, STOPPING_S
from ..._data.kernel_log import FAILURE
from ..._expect.expectations import CAPABILITY, Expectations
from ..._ground.check import PASS, Cause, Check, failed, grave, passed, unknown
from ..._ground.text import few, plain
from ..._parse._kernel_drivers import Unexplained
from ..._parse.dmesg import Dmesg, Message
from ..machine.facts import Machine
from . import check_scope
from .check_scope import HOST, Scope
from .facts import HostFacts

_NONE = "no such message"
_SHOWN = 3
_LINE = 160


def judge(facts: HostFacts, machine: Machine, expect: Expectations) -> list[Check]:
    """The host.dmesg.* checks. What the log holds was said of this host, whatever else is known
    of it; only its silence means nothing where it is another machine's."""
    log = facts.kernel.log
    real = check_scope.with_kernel(machine)
    hca = real.then(check_scope.with_hca(machine))
    both = hca.then(Scope(check_scope.with_gpu(machine).skip))
    if log.value is None:
        quiet = check_scope.outside_container(machine)
        return [
            *_untold("host.dmesg.mlx5", hca.then(quiet), log.why),
            *_untold("host.dmesg.mlx5_warnings", hca.then(quiet), log.why),
            *_untold("host.dmesg.peermem", both.then(quiet), log.why),
            *_untold("host.dmesg.kernel", real.then(quiet), log.why),
            *_untold("host.dmesg.kernel_warnings", real.then(quiet), log.why),
            *_untold("host.dmesg.drivers", real.then(quiet), log.why),
            *_untold("host.dmesg.drivers_warnings", real.then(quiet), log.why),
        ]
    found: Dmesg = log.value
    mine = [message for message in found.hca if not expect.ignores(message.device)]
    broken = [message for message in mine if message.kind == FAILURE and not message.recovered]
    signs = [message for message in mine if message not in broken]
    uptime = facts.resources.uptime_s.value
    lasting = [message for message in found.kernel if message.kind == FAILURE]
    past = [message for message in found.kernel if _is_past(message, uptime)]
    early = [message for message in found.kernel if message not in (*lasting, *past)]
    lines = [line for line in found.unexplained if not expect.ignores(line.device)]
    now = [line for line in lines if _is_now(line.seconds, uptime)]
    return [
        *hca.judge("host.dmesg.mlx5", lambda: _messages("host.dmesg.mlx5", broken, found)),
        *hca.judge("host.dmesg.mlx5_warnings", lambda: _messages("host.dmesg.mlx5_warnings", signs, found)),
        *both.judge("host.dmesg.peermem", lambda: [_peermem(found)]),
        *real.judge("host.dmesg.kernel", lambda: _messages("host.dmesg.kernel", lasting, found)),
        *real.judge(
            "host.dmesg.kernel_warnings", lambda: _messages("host.dmesg.kernel_warnings", early, found, past, uptime)
        ),
        *real.judge("host.dmesg.drivers", lambda: _drivers("host.dmesg.drivers", now, found)),
        *real.judge("host.dmesg.drivers_warnings", lambda: _drivers("host.dmesg.drivers_warnings", now, found)),
    ]


def _untold(check: str, scope: Scope, why: str) -> list[Check]:
    return scope.judge(check, lambda: [unknown(check, HOST, why)])


def _is_past(message: Message, uptime_s: float | None) -> bool:
    """What harms only while it happens, and was said last so long ago; where either time is not
    known, it counts as if it were now."""
    return message.kind in (PASSING, STOPPING) and not _is_within(PASSING_S, message.seconds, uptime_s)


def _is_within(limit: float, seconds: float | None, uptime_s: float | None) -> bool:
    return seconds is None or uptime_s is None or uptime_s - seconds <= limit


def _is_now(seconds: float | None, uptime_s: float | None) -> bool:
    """What a driver met as it started lasts; of what came later only the last day counts."""
    return (seconds is not None and seconds <= BOOT_S) or _is_within(PASSING_S, seconds, uptime_s)


def _messages(
    check: str, found: Sequence[Message], log: Dmesg, past: Sequence[Message] = (), uptime_s: float | None = None
) -> list[Check]:
    """One check a device, with all that was said of it; ``past`` is shown and counts no more. What stops jobs now is
    told first and by itself, as an error."""
    if not found:
        silence = _silence(check, log)
        if silence.result != PASS or not past:
            return [silence]
        shown = f"{silence.observed}; more than a day ago: {few([message.text for message in past], _SHOWN)}"
        return [passed(check, HOST, shown, _NONE, CAPABILITY)]
    checks = []
    for device in dict.fromkeys(message.device for message in found):
        mine = [message for message in found if message.device == device]
        now = [message for message in mine if message.kind == STOPPING and _is_stopping(message, uptime_s)]
        checks += [grave(_told(check, device, [message])) for message in now]
        rest = [message for message in mine if message not in now]
        checks += [_told(check, device, rest)] if rest else []
    return checks


def _is_stopping(message: Message, uptime_s: float | None) -> bool:
    return None not in (message.seconds, uptime_s) and _is_within(STOPPING_S, message.seconds, uptime_s)


def _told(check: str, device: str, mine: Sequence[Message]) -> Check:
    observed = "; ".join(message.text for message in mine)
    means = list(dict.fromkeys(message.means for message in mine))
    # With several of them the first that brings a remedy has its own done first.
    mends = next((entry.remedy for entry in means if isinstance(entry, Cause)), "")
    if all(message.recovered for message in mine):
        means.append("it has recovered since")
        mends = ""
    return failed(check, device or HOST, observed, _NONE, CAPABILITY, cause="; ".join(means), remedy=mends)


def _drivers(check: str, lines: Sequence[Unexplained], log: Dmesg) -> list[Check]:
    """One check a driver. A driver of which a line is grave is told with all its lines by the error."""
    grave = {line.driver for line in lines if line.grave}
    wanted = [line for line in lines if (line.driver in grave) == (check == "host.dmesg.drivers")]
    checks = []
    for driver in dict.fromkeys(line.driver for line in wanted):
        texts = [plain(line.text, _LINE) for line in wanted if line.driver == driver]
        observed = texts[0]
        if len(texts) > 1:
            observed = f"{len(texts)} lines, first: {texts[0]}; last: {texts[-1]}"
        checks.append(failed(check, driver, observed, _NONE, CAPABILITY, cause="no row knows more than its own words"))
    return checks or [_silence(check, log)]


def _peermem(log: Dmesg) -> Check:
    check = "host.dmesg.peermem"
    if not log.peermem:
        return _silence(check, log)
    # The catalog's first cause is of one that worked.
    cause = "it was built without the symbols of the RDMA stack" if "symbol" in log.peermem[-1] else ""
    return failed(check, HOST, log.peermem[-1], _NONE, CAPABILITY, cause=cause)


def _silence(check: str, log: Dmesg) -> Check:
    """A log that ends within a line is not all of it, so it says nothing by silence."""
    if log.cut:
        return unknown(check, HOST, "dmesg: the output ends within a line")
    since = " since the log begins, which is after the boot" if log.beginning_lost else ""
    return passed(check, HOST, f"none{since}", _NONE, CAPABILITY)
