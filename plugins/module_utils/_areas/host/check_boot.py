# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge what the next boot will undo: kernel settings, loaded modules, running services."""

from __future__ import annotations

from ..._data import boot_sources
from ..._expect.expectations import CAPABILITY, Expectations
from ..._ground.check import Check, failed, passed, skipped, unknown
from ..._ground.reading import Reading
from ..machine.facts import Machine
from . import check_scope
from .check_scope import HOST
from .facts import BootFacts, HostFacts, SysctlLine, Unit

_SYSCTL, _MODULES, _SERVICES = "host.boot.sysctl", "host.boot.modules", "host.boot.services"
_KEPT = "as it runs now"
# A package's own file: the next upgrade writes it anew.
_PACKAGED = ("/usr/lib/", "/lib/")
_LAST = "/etc/sysctl.d/zz-site.conf"
# What systemd calls a unit that nothing starts at boot.
_NOT_AT_BOOT = ("disabled", "masked", "masked-runtime", "enabled-runtime")


def judge(facts: HostFacts, machine: Machine, expect: Expectations) -> list[Check]:
    """The host.boot.* checks of settings, modules and services."""
    boot = facts.boot
    outside = check_scope.outside_container(machine)
    whole = check_scope.with_kernel(machine).then(outside)
    return [
        *outside.judge(_SYSCTL, lambda: _sysctl(boot)),
        *whole.then(check_scope.with_gpu_or_hca(machine)).judge(_MODULES, lambda: _modules(boot)),
        *whole.judge(_SERVICES, lambda: _services(boot, expect)),
    ]


def _sysctl(boot: BootFacts) -> list[Check]:
    if boot.sysctls.value is None:
        return [unknown(_SYSCTL, HOST, boot.sysctls.why or "nobody looked")]
    if not boot.sysctls.value:
        return [skipped(_SYSCTL, HOST, "no file sets what is judged")]
    wanted: dict[str, str] = {}
    for key, right in boot_sources.SYSCTLS.items():
        # Where it is wrong now, a check of its own says so.
        if boot.running.get(key, Reading()).value == right:
            wanted[key] = right
    wanted.update({line.key: line.value for line in boot.sysctls.value if line.path == boot_sources.OURS})
    last = {line.key: line for line in boot.sysctls.value}
    undone = [(last[key], value) for key, value in wanted.items() if key in last and not _good(last[key], value)]
    checks = [_undone(line, value) for line, value in undone]
    return checks or [passed(_SYSCTL, HOST, f"{len(wanted)} settings stay", _KEPT, CAPABILITY)]


def _good(line: SysctlLine, wanted: str) -> bool:
    if line.value == wanted or line.value in boot_sources.LOOSE.get(line.key, ()):
        return True
    if line.key in boot_sources.AT_LEAST and line.value.isdecimal() and wanted.isdecimal():
        return int(line.value) >= int(wanted)
    return False


def _undone(line: SysctlLine, wanted: str) -> Check:
    name = line.key.replace("/", ".")
    step = f"write `{name} = {wanted}` in place of `{line.line}` in {line.path}"
    if line.path.startswith(_PACKAGED) and line.path.rpartition("/")[2] < _LAST.rpartition("/")[2]:
        step = f"add the line `{name} = {wanted}` to {_LAST}"
    cause = f"{line.path} says `{line.line}`, and is read after every other file that sets it"
    return failed(
        *(_SYSCTL, name, f"{line.value} from the next boot on", wanted, CAPABILITY),
        cause=cause,
        remedy=f"{step}; then `sysctl --system`",
    )


def _modules(boot: BootFacts) -> list[Check]:
    for reading in (boot.modules, boot.users):
        if reading.value is None:
            return [unknown(_MODULES, HOST, reading.why or "nobody looked")]
    named, users = boot.modules.value or {}, boot.users.value or {}
    cut = [name for name in boot_sources.BY_NAME if boot.live.get(name) and name not in users]
    if cut:
        return [unknown(_MODULES, HOST, f"lsmod does not list {cut[0]}, which was loaded: its list is not whole")]
    # What is not in the list of loaded modules is built in, or not there.
    loaded = [name for name in boot_sources.BY_NAME if name in users]
    checks = []
    for name in loaded:
        if name in named or any(user in named or user not in boot_sources.BY_NAME for user in users[name]):
            continue
        if boot.kubelet.value is not False:
            # Operators' containers load modules, at each boot.
            why = f"{name} may be loaded by a container of this Kubernetes node"
            told = skipped(_MODULES, name, why) if boot.kubelet.value else unknown(_MODULES, name, boot.kubelet.why)
            checks.append(told)
            continue
        cause = (
            "no file of modules-load.d, /etc/rdma/modules or openib.conf names it, so it was mostly loaded by hand, for"
            f" {boot_sources.BY_NAME[name]}"
        )
        remedy = f"add the line `{name}` to /etc/modules-load.d/{name}.conf"
        checks.append(
            failed(_MODULES, name, "loaded now, and by nothing at boot", _KEPT, CAPABILITY, cause=cause, remedy=remedy)
        )
    return checks or [passed(_MODULES, HOST, ", ".join(loaded) or "none of them is loaded", _KEPT, CAPABILITY)]


def _services(boot: BootFacts, expect: Expectations) -> list[Check]:
    if boot.services.value is None:
        return [unknown(_SERVICES, HOST, boot.services.why or "nobody looked")]
    who = expect.get("imex")
    # A scheduler starts it with each job, and not at boot.
    by_job = (f"{boot_sources.IMEX}.service",) if who is not None and who.value == "job" else ()
    running = [unit for unit in boot.services.value if unit.active == "active" and unit.name not in by_job]
    checks = [_not_started(unit) for unit in running if unit.enabled in _NOT_AT_BOOT]
    untold = [unit.name for unit in running if not unit.enabled]
    if untold and not checks:
        return [unknown(_SERVICES, HOST, f"systemd did not say what starts {', '.join(untold)} at boot")]
    names = ", ".join(unit.name for unit in running) or "none of them runs"
    return checks or [passed(_SERVICES, HOST, names, "enabled", CAPABILITY)]


def _not_started(unit: Unit) -> Check:
    enable = f"`systemctl enable {unit.name}`"
    masked = unit.enabled.startswith("masked")
    remedy = f"`systemctl unmask {unit.name}`, then {enable}" if masked else enable
    cause = "somebody masked it while it ran" if masked else "it was started by hand, and is enabled nowhere"
    return failed(
        _SERVICES, unit.name, f"runs, and is {unit.enabled}", "enabled", CAPABILITY, cause=cause, remedy=remedy
    )
