# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge the limits that services and jobs get, the services of RDMA, and the clock."""

from __future__ import annotations

from typing import Callable

from ..._data import host_limits
from ..._expect.expectations import CAPABILITY, INVENTORY
from ..._ground.check import Check, failed, passed, skipped, unknown
from ..._ground.look import look
from ..._ground.reading import Reading
from ..._parse.proc_limits import UNLIMITED, Limits
from ..machine.facts import Machine
from . import check_scope
from .check_scope import HOST, Scope
from .facts import MANAGER, HostFacts, LoginLimit, ServiceFacts, Unit, UnitLimit
from .unit_limits import ENOUGH

_MACHINES = "simulated node: the machine that runs it gives nobody more than"
_LOGIN, _LOGINS = "host.limit.memlock_login", "logins by ssh"
_SYSTEMD = "systemd's default"
_WELL = "running or not enabled"
_RESTART = "auto-restart"
_NOT_FOUND = "not-found"
_RUNNING = ("active", "reloading")
# As a unit's file says it; with Default before it, as systemd's own does.
_ENOUGH = {"MEMLOCK": "LimitMEMLOCK=infinity", "NOFILE": "LimitNOFILE=1024:1048576"}


def judge(facts: HostFacts, machine: Machine) -> list[Check]:
    """The host.limit.*, host.service.* and host.clock.* checks."""
    services = facts.services
    real = check_scope.real(machine)
    whole = check_scope.with_kernel(machine)
    hca = whole.then(check_scope.with_hca(machine))
    host = real.then(check_scope.outside_container(machine))
    # A sandbox has real limits, even where its HCAs are on no bus.
    pins = Scope()
    # Soft RoCE is on no bus either.
    if not machine.without_hardware and not facts.modules.devices.value:
        pins = check_scope.with_hca(machine)
    systemd = _with_systemd(services, machine)
    return [
        *pins.then(systemd).judge("host.limit.memlock", lambda: _memlock(services, machine)),
        *pins.then(systemd).judge(_LOGIN, lambda: _logins(services, machine)),
        *systemd.judge("host.limit.nofile", lambda: _nofile(services)),
        *hca.then(systemd).judge("host.service.openibd", lambda: [_openibd(services)]),
        *hca.then(systemd).judge("host.service.ibacm", lambda: [_ibacm(services)]),
        *whole.then(systemd).judge("host.service.sharp_am", lambda: [_sharp(services)]),
        *whole.then(systemd).judge("host.service.failed", lambda: _failed_units(services)),
        *host.judge("host.clock.synchronised", lambda: [_clock(services)]),
    ]


def _with_systemd(services: ServiceFacts, machine: Machine) -> Scope:
    """Leaves out containers in which no systemd runs."""
    if machine.container and not services.defaults.known and not services.rdma.known:
        return Scope(f"inside a container without systemd ({machine.container})")
    return Scope()


def _memlock(services: ServiceFacts, machine: Machine) -> list[Check]:
    ceiling = machine.memlock_ceiling

    def capped(name: str, limits: Limits) -> str:
        """Why nobody can raise this limit: what runs in a simulated node has the machine's."""
        if name == _SYSTEMD or ceiling is None:
            return ""
        if not limits.memlock_soft == limits.memlock_hard == ceiling:
            return ""
        return f"{_MACHINES} {_bytes(ceiling)}"

    def wrong(limits: Limits) -> str:
        if limits.memlock_soft >= UNLIMITED and limits.memlock_hard >= UNLIMITED:
            return ""
        return f"{_bytes(limits.memlock_soft)} (hard {_bytes(limits.memlock_hard)})"

    return _limit("host.limit.memlock", "MEMLOCK", services, wrong, "unlimited", capped)


def _logins(services: ServiceFacts, machine: Machine) -> list[Check]:
    """Of everybody, and of each user and group that has less."""
    if services.login.missing:
        return [skipped(_LOGIN, _LOGINS, services.login.why)]
    if services.login.value is None:
        return [unknown(_LOGIN, _LOGINS, services.login.why or "nobody looked")]
    return [_login(limit, machine) for limit in services.login.value]


def _login(limit: LoginLimit, machine: Machine) -> Check:
    whose = f"logins of group {limit.domain[1:]}" if limit.domain.startswith("@") else f"logins of {limit.domain}"
    subject, expected = whose if limit.domain else _LOGINS, "unlimited"
    if limit.memlock >= UNLIMITED:
        return passed(_LOGIN, subject, expected, expected, CAPABILITY)
    ceiling = machine.memlock_ceiling
    if ceiling is not None and limit.memlock == ceiling:
        return skipped(_LOGIN, subject, f"{_MACHINES} {_bytes(ceiling)}")
    cause = f"{limit.path} says `{limit.line}`" if limit.path else ""
    remedy = _rewritten(limit.low)
    return failed(_LOGIN, subject, _bytes(limit.memlock), expected, CAPABILITY, cause=cause, remedy=remedy)


def _rewritten(low: tuple[tuple[str, str], ...]) -> str:
    """Each line as it has to be: whatever other file grants, of pam_limits' lines the last counts."""
    steps = [
        f"write `{' '.join([*line.split()[:3], 'unlimited'])}` in place of `{line}` in {path}" for path, line in low
    ]
    return f"{', '.join(steps)}; then log in anew: `ulimit -l` shows what a login has" if steps else ""


def _nofile(services: ServiceFacts) -> list[Check]:
    least = host_limits.NOFILE_HARD

    def wrong(limits: Limits) -> str:
        return "" if limits.nofile_hard >= least else f"hard limit {limits.nofile_hard}"

    return _limit("host.limit.nofile", "NOFILE", services, wrong, f"at least {least} (hard)")


def _limit(
    check: str,
    key: str,
    services: ServiceFacts,
    wrong: Callable[[Limits], str],
    expected: str,
    capped: Callable[[str, Limits], str] = lambda _name, _limits: "",
) -> list[Check]:
    """What the services that start jobs have; systemd's default where none of them runs.

    ``capped`` says why a limit cannot be judged on this host; "" where it can be.
    """
    if services.jobs.value is None:
        return [unknown(check, HOST, services.jobs.why)]
    asked: dict[str, Reading[Limits]] = dict(services.limits) or {_SYSTEMD: services.defaults}
    full = any(entry.value is not None and capped(name, entry.value) for name, entry in asked.items())
    if services.defaults.value is None or full:
        # It is what the next service gets, and what a restart would change.
        asked[_SYSTEMD] = services.defaults
    checks = []
    for name, reading in asked.items():
        if reading.value is None:
            checks.append(unknown(check, name, reading.why))
        elif capped(name, reading.value):
            checks.append(skipped(check, name, capped(name, reading.value)))
        elif wrong(reading.value):
            cause, remedy = _cause(name, key, services, wrong)
            words = {"cause": cause, "remedy": remedy}
            checks.append(failed(check, name, wrong(reading.value), expected, CAPABILITY, **words))
    return checks or [passed(check, HOST, f"{', '.join(asked)}: {expected}", expected, CAPABILITY)]


def _cause(name: str, key: str, services: ServiceFacts, wrong: Callable[[Limits], str]) -> tuple[str, str]:
    """Who keeps the limit low, and what to do there; "" for what the catalog says."""
    asked = services.asked.get(name, {}).get(key, UnitLimit())
    if asked.line:
        # The kernel shows what the process has; its file says why it will not get more either.
        remedy = (
            f"write {_ENOUGH[key]} in place of {asked.line} in {asked.path}; `systemctl daemon-reload`, then restart"
            f" {name} when no job runs"
        )
        return f"{asked.path} sets {asked.line} for {name}", remedy
    default = services.asked.get(MANAGER, {}).get(key, UnitLimit())
    low = services.defaults.value is None or bool(wrong(services.defaults.value))
    by = f", which {default.path} sets ({default.line})" if low and default.line else ""
    remedy = ""
    if default.line:
        # A file of ours would be read before it, or was.
        again = "" if name == _SYSTEMD else f", then restart {name} when no job runs"
        step = f"write Default{_ENOUGH[key]} in place of {default.line} in {default.path}"
        remedy = f"{step}; `systemctl daemon-reexec`{again}"
    if name == _SYSTEMD:
        return (f"{default.path} sets {default.line}" if default.line else ""), remedy
    if asked.value is not None and asked.value < ENOUGH[key][1] and asked.value != _default(services, key):
        remedy = (
            f"`systemctl cat {name}` shows the file: write {_ENOUGH[key]} in place of its Limit{key}; `systemctl"
            f" daemon-reload`, then restart {name} when no job runs"
        )
        observed = _bytes(asked.value) if key == "MEMLOCK" else str(asked.value)
        return f"the unit of {name} asks for {observed}, in no file that could be read", remedy
    if low:
        return f"{name} has systemd's default{by}, and so has every job that it starts", remedy
    if asked.value is None:
        return f"{name} was started before systemd's default was raised, or its unit lowers it", ""
    return f"{name} was started before its limit was raised: its unit now asks for enough", ""


def _default(services: ServiceFacts, key: str) -> int | None:
    known = services.defaults.value
    return None if known is None else known.memlock_soft if key == "MEMLOCK" else known.nofile_hard


def _bytes(limit: int) -> str:
    if limit >= UNLIMITED:
        return "unlimited"
    return f"{limit // 1024} KiB"


def _openibd(services: ServiceFacts) -> Check:
    check = "host.service.openibd"

    def judge(units: tuple[Unit, ...]) -> Check:
        entry = _unit(units, "openibd.service")
        if entry is None:
            return skipped(check, HOST, "no openibd: the distribution's own RDMA stack")
        if entry.active == "failed":
            return failed(check, HOST, "failed", "active", CAPABILITY)
        if entry.active == "active":
            return passed(check, HOST, "active", "active", CAPABILITY)
        if entry.enabled == "enabled":
            cause = "it is enabled, and did not run or was stopped since the boot"
            return failed(check, HOST, entry.active, "active", CAPABILITY, cause=cause)
        return skipped(check, HOST, f"openibd is {entry.enabled or entry.load} on this host")

    return look(check, HOST, services.rdma, judge)


def _ibacm(services: ServiceFacts) -> Check:
    check = "host.service.ibacm"

    def judge(units: tuple[Unit, ...]) -> Check:
        entry = _unit(units, "ibacm.service")
        if entry is not None and entry.active == "active":
            return failed(check, HOST, "active", "not running", CAPABILITY)
        return passed(check, HOST, "not running", "not running", CAPABILITY)

    return look(check, HOST, services.rdma, judge)


def _sharp(services: ServiceFacts) -> Check:
    """Where it is to run it runs, and has a process; after a fault nothing starts it again."""
    check = "host.service.sharp_am"

    def judge(units: tuple[Unit, ...]) -> Check:
        entry = _unit(units, "sharp_am.service")
        if entry is None:
            cause = "its unit is not installed: HPC-X and DOCA-Host bring it, and do not install it by themselves"
            remedy = "`sharp_daemons_setup.sh -s -d sharp_am` in sbin of HPC-X's sharp or of /opt/mellanox/sharp"
            return failed(check, HOST, "not installed", "active", INVENTORY, cause=cause, remedy=remedy)
        if entry.active in _RUNNING and entry.pid:
            return passed(check, HOST, f"{entry.active}, process {entry.pid}", "active", INVENTORY)
        waits = _unit(units, "sharp_am.socket")
        if waits is not None and waits.active == "active" and entry.active != "failed":
            return passed(check, HOST, "started by its socket at the first question", "active", INVENTORY)
        seen = f"{entry.active} without a process" if entry.active in _RUNNING else entry.active
        return failed(check, HOST, seen, "active", INVENTORY)

    return look(check, HOST, services.sharp, judge, missing=lambda: skipped(check, HOST, services.sharp.why))


def _failed_units(services: ServiceFacts) -> list[Check]:
    """openibd has a check of its own."""
    check = "host.service.failed"
    found: list[Unit] = []
    for reading in (services.rdma, services.jobs, services.time):
        if reading.value is None:
            return [unknown(check, HOST, reading.why)]
        found += reading.value
    checks = []
    for unit in found:
        if unit.name == "openibd.service":
            continue
        if unit.active == "failed":
            checks.append(failed(check, unit.name, "failed", _WELL, CAPABILITY))
        elif unit.active == "activating" and unit.sub.startswith(_RESTART):
            cause = "it ends soon after its start, and systemd starts it over and over"
            checks.append(failed(check, unit.name, unit.sub, _WELL, CAPABILITY, cause=cause))
        elif unit.active == "activating":
            checks.append(unknown(check, unit.name, "it is being started: look again when it is up"))
    return checks or [passed(check, HOST, "none failed", "none failed", CAPABILITY)]


def _clock(services: ServiceFacts) -> Check:
    check = "host.clock.synchronised"

    def judge(synchronised: bool) -> Check:
        if synchronised:
            return passed(check, HOST, "synchronised", "synchronised", CAPABILITY)
        running = [unit.name for unit in services.time.value or () if unit.active == "active"]
        cause = ""
        if running:
            cause = f"{', '.join(running)} runs and has reached no time server yet"
        elif services.time.value is not None:
            cause = "no time service runs (chronyd, systemd-timesyncd, ntpd)"
        return failed(check, HOST, "not synchronised", "synchronised", CAPABILITY, cause=cause)

    return look(check, HOST, services.synchronised, judge)


def _unit(units: tuple[Unit, ...], name: str) -> Unit | None:
    return next((unit for unit in units if unit.name == name and unit.load != _NOT_FOUND), None)
