# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge what the next boot will undo: kernel settings, loaded modules, running services."""

from __future__ import annotations

import math
from typing import Collection, Iterator

from ..._data import boot_sources, rdma_modules
from ..._expect.expectations import CAPABILITY, Expectations
from ..._ground.check import PASS, Check, failed, passed, skipped, unknown
from ..._ground.reading import Reading
from ..machine.facts import Machine
from . import check_scope, dropins
from .check_scope import HOST
from .facts import BootFacts, HostFacts, ModuleFacts, SysctlLine, Unit, UnitFiles

_SYSCTL, _MODULES, _SERVICES = "host.boot.sysctl", "host.boot.modules", "host.boot.services"
_KEPT = "as it runs now"
# Loaded for a device, or by systemd from modules-load.d: both go by a blacklist.
_BY_DEVICE = {*rdma_modules.DRIVERS, *rdma_modules.DRIVERS.values(), *boot_sources.BY_NAME}
_LAST = "/etc/sysctl.d/zz-site.conf"
# What more of harms nobody, whoever gives it.
_ANYBODYS = "LimitMEMLOCK"
# What systemd calls a unit that nothing starts at boot.
_NOT_AT_BOOT = ("disabled", "masked", "masked-runtime", "enabled-runtime")


def judge(facts: HostFacts, machine: Machine, expect: Expectations) -> list[Check]:
    """The host.boot.* checks of settings, modules and services."""
    boot = facts.boot
    outside = check_scope.outside_container(machine)
    whole = check_scope.with_kernel(machine).then(outside)
    return [
        *outside.judge(_SYSCTL, lambda: _sysctl(boot)),
        *whole.then(check_scope.with_gpu_or_hca(machine)).judge(_MODULES, lambda: _modules(facts, machine)),
        *whole.judge(_SERVICES, lambda: _services(facts, expect)),
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
    if line.path.startswith(dropins.PACKAGED) and line.path.rpartition("/")[2] < _LAST.rpartition("/")[2]:
        step = f"add the line `{name} = {wanted}` to {_LAST}"
    cause = f"{line.path} says `{line.line}`, and is read after every other file that sets it"
    return failed(
        *(_SYSCTL, name, f"{line.value} from the next boot on", wanted, CAPABILITY),
        cause=cause,
        remedy=f"{step}; then `sysctl --system`",
    )


def _modules(facts: HostFacts, machine: Machine) -> list[Check]:
    found = [*_kept_out(facts), *(_unless_kept_out(facts.modules) if machine.has_gpus else ())]
    by_files = _named(facts.boot)
    return [*found, *(check for check in by_files if not found or check.result != PASS)]


def _kept_out(facts: HostFacts) -> Iterator[Check]:
    """Modules that run now, and that modprobe will not load again."""
    modules, named = facts.modules, facts.boot.modules.value or {}
    if modules.kept_out.value is None:
        yield unknown(_MODULES, HOST, modules.kept_out.why or "nobody looked")
        return
    by_name = {name for name, path in named.items() if path == boot_sources.OPENIB}
    for name in (*rdma_modules.RELEVANT, *rdma_modules.OF_DRIVER):
        out = modules.kept_out.value.get(name)
        # What a service asks for by its name comes in spite of a blacklist; what a device or systemd loads does not.
        bites = out is not None and (out.never or (name in _BY_DEVICE and name not in by_name))
        # What the command line keeps out is told by host.kernel.arguments.
        if out is None or not bites or out.path == dropins.CMDLINE or name not in (modules.listed.value or ()):
            continue
        cause = f"{out.path} says `{out.line}`, and modprobe goes by it at the next boot"
        remedy = f"take `{out.line}` out of {out.path}, and build the initramfs anew"
        observed = "loaded now, and kept out from the next boot on"
        yield failed(_MODULES, name, observed, _KEPT, CAPABILITY, cause=cause, remedy=remedy)


def _unless_kept_out(modules: ModuleFacts) -> Iterator[Check]:
    """Rivals of the driver that the next boot may load instead of it."""
    if modules.kept_out.value is None:
        return
    rivals = rdma_modules.RIVALS if modules.rivals.value is None else modules.rivals.value
    left = [name for name in rivals if name not in modules.kept_out.value]
    if left and modules.rivals.value is None:
        if not modules.rivals.missing:
            yield unknown(_MODULES, HOST, modules.rivals.why or "nobody looked")
        return
    for name in left:
        cause = f"nothing in modprobe.d or on the kernel's command line keeps {name} out, and the kernel has it"
        remedy = (
            f"add the line `blacklist {name}` to /etc/modprobe.d/no-{name}.conf (host_tuning does), and build the"
            " initramfs anew"
        )
        observed = "may take the GPUs at the next boot"
        yield failed(_MODULES, name, observed, "kept out", CAPABILITY, cause=cause, remedy=remedy)


def _named(boot: BootFacts) -> list[Check]:
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


def _services(facts: HostFacts, expect: Expectations) -> list[Check]:
    boot = facts.boot
    if boot.services.value is None:
        return [unknown(_SERVICES, HOST, boot.services.why or "nobody looked")]
    who = expect.get("imex")
    # A scheduler starts it with each job, and not at boot.
    by_job = (f"{boot_sources.IMEX}.service",) if who is not None and who.value == "job" else ()
    running = [unit for unit in boot.services.value if unit.active == "active" and unit.name not in by_job]
    checks = [_not_started(unit) for unit in running if unit.enabled in _NOT_AT_BOOT]
    for files in boot.units.value or ():
        low = {key for key, limit in facts.services.asked.get(files.name, {}).items() if limit.line}
        checks += [*_another_program(files), *_lowered(files, low)]
    if checks:
        return checks
    untold = [unit.name for unit in running if not unit.enabled]
    if untold:
        return [unknown(_SERVICES, HOST, f"systemd did not say what starts {', '.join(untold)} at boot")]
    if boot.units.value is None:
        return [unknown(_SERVICES, HOST, boot.units.why or "nobody looked")]
    names = ", ".join(unit.name for unit in running) or "none of them runs"
    return [passed(_SERVICES, HOST, names, "enabled", CAPABILITY)]


def _another_program(files: UnitFiles) -> Iterator[Check]:
    """A drop-in, or a file in the place of the package's, that starts something else: of lines the ones after an
    empty one count, and a wrapper names the program."""
    starts: list[SysctlLine] = []
    for line in files.lines:
        if line.key == "ExecStart":
            starts = [*starts, line] if line.value else []
    if files.program and not any(files.program in line.value for line in starts):
        said = f"{starts[-1].path} says `{starts[-1].line}`" if starts else "its files take ExecStart back"
        cause = f"{said}: the next start is of that, and not of {files.program}"
        remedy = f"`systemctl cat {files.name}`; take that line out, then `systemctl daemon-reload`"
        observed = starts[-1].value if starts else "nothing to start"
        yield failed(_SERVICES, files.name, observed, files.program, CAPABILITY, cause=cause, remedy=remedy)


def _lowered(files: UnitFiles, told: Collection[str]) -> Iterator[Check]:
    """Limits that a later file takes back from one of ours, or locked memory from the package's; those that a process
    has already are ``told`` elsewhere."""
    anybodys = [line for line in files.lines if line.key.endswith(_ANYBODYS)]
    given = {line.key: line for line in anybodys if line.path.startswith(dropins.PACKAGED)}
    given.update({line.key: line for line in files.lines if "ibready" in line.path and "Limit" in line.key})
    last = {line.key: line for line in files.lines}
    for key, line in given.items():
        now = last[key]
        lower = any(mine < wanted for mine, wanted in zip(_amounts(now.value), _amounts(line.value)))
        if not lower or key.partition("Limit")[2] in told:
            continue
        cause = f"{now.path} says `{now.line}`, and is read after {line.path}"
        remedy = f"take `{now.line}` out of {now.path}, then `systemctl daemon-reload`"
        observed = f"{key} {now.value or 'taken back'} from its next start on"
        yield failed(_SERVICES, files.name, observed, line.value, CAPABILITY, cause=cause, remedy=remedy)


def _amounts(text: str) -> tuple[float, float]:
    """The soft and the hard limit in systemd's words; 0 for an empty one, which takes the line back."""
    soft, _colon, hard = text.partition(":")
    return _amount(soft.strip()), _amount((hard or soft).strip())


def _amount(word: str) -> float:
    if word == "infinity":
        return math.inf
    number, unit = word.rstrip("KMGTPE"), word[-1:]
    scale = 1024 ** (" KMGTPE".find(unit) if unit.isalpha() else 0)
    return int(number) * scale if number.isdecimal() else 0


def _not_started(unit: Unit) -> Check:
    enable = f"`systemctl enable {unit.name}`"
    masked = unit.enabled.startswith("masked")
    remedy = f"`systemctl unmask {unit.name}`, then {enable}" if masked else enable
    cause = "somebody masked it while it ran" if masked else "it was started by hand, and is enabled nowhere"
    return failed(
        _SERVICES, unit.name, f"runs, and is {unit.enabled}", "enabled", CAPABILITY, cause=cause, remedy=remedy
    )
