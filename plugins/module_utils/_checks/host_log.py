# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge what the kernel's log says of HCAs, of peer memory and of the kernel itself."""

from __future__ import annotations

from typing import Sequence

from ansible_collections.ibready.cluster.plugins.module_utils._checks import host_scope
from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import (
    Check,
    failed,
    passed,
    unknown,
)
from ansible_collections.ibready.cluster.plugins.module_utils._checks.host_scope import (
    HOST,
    Scope,
)
from ansible_collections.ibready.cluster.plugins.module_utils._data.kernel_log import FAILURE
from ansible_collections.ibready.cluster.plugins.module_utils._expect import (
    CAPABILITY,
    Expectations,
)
from ansible_collections.ibready.cluster.plugins.module_utils._facts.host import HostFacts
from ansible_collections.ibready.cluster.plugins.module_utils._facts.machine import Machine
from ansible_collections.ibready.cluster.plugins.module_utils._parse.dmesg import Dmesg, Message

_NONE = "no such message"


def judge(facts: HostFacts, machine: Machine, expect: Expectations) -> list[Check]:
    """The host.dmesg.* checks. What the log holds was said of this host, whatever else is known
    of it; only its silence means nothing where it is another machine's."""
    log = facts.kernel.log
    real = host_scope.with_kernel(machine)
    hca = real.then(host_scope.with_hca(machine))
    both = hca.then(Scope(host_scope.with_gpu(machine).skip))
    if log.value is None:
        quiet = host_scope.outside_container(machine)
        return [
            *_untold("host.dmesg.mlx5", hca.then(quiet), log.why),
            *_untold("host.dmesg.mlx5_warnings", hca.then(quiet), log.why),
            *_untold("host.dmesg.peermem", both.then(quiet), log.why),
            *_untold("host.dmesg.kernel", real.then(quiet), log.why),
        ]
    found: Dmesg = log.value
    mine = [one for one in found.hca if not expect.ignores(one.device)]
    broken = [one for one in mine if one.kind == FAILURE and not one.recovered]
    signs = [one for one in mine if one not in broken]
    return [
        *hca.judge("host.dmesg.mlx5", lambda: _messages("host.dmesg.mlx5", broken, found)),
        *hca.judge(
            "host.dmesg.mlx5_warnings",
            lambda: _messages("host.dmesg.mlx5_warnings", signs, found),
        ),
        *both.judge("host.dmesg.peermem", lambda: [_peermem(found)]),
        *real.judge(
            "host.dmesg.kernel", lambda: _messages("host.dmesg.kernel", found.kernel, found)
        ),
    ]


def _untold(check: str, scope: Scope, why: str) -> list[Check]:
    return scope.judge(check, lambda: [unknown(check, HOST, why)])


def _messages(check: str, found: Sequence[Message], log: Dmesg) -> list[Check]:
    """One check a device, with all that was said of it."""
    if not found:
        return [_silence(check, log)]
    checks = []
    for device in dict.fromkeys(one.device for one in found):
        mine = [one for one in found if one.device == device]
        observed = "; ".join(one.text for one in mine)
        means = list(dict.fromkeys(one.means for one in mine))
        if all(one.recovered for one in mine):
            means.append("it has recovered since")
        cause = "; ".join(means)
        checks.append(failed(check, device or HOST, observed, _NONE, CAPABILITY, cause=cause))
    return checks


def _peermem(log: Dmesg) -> Check:
    check = "host.dmesg.peermem"
    if not log.peermem:
        return _silence(check, log)
    return failed(check, HOST, log.peermem[-1], _NONE, CAPABILITY)


def _silence(check: str, log: Dmesg) -> Check:
    """A log that ends within a line is not all of it, so it says nothing by silence."""
    if log.cut:
        return unknown(check, HOST, "dmesg: the output ends within a line")
    since = " since the log begins, which is after the boot" if log.beginning_lost else ""
    return passed(check, HOST, f"none{since}", _NONE, CAPABILITY)
