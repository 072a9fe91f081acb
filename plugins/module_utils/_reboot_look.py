# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather what tells whether a host has to boot: kernels, modules, arguments, hints of packages."""

from __future__ import annotations

from typing import Callable, List

from ansible_collections.ibready.cluster.plugins.module_utils import (
    _blacklist,
    _kernel_args,
    _reboot,
    _state,
)
from ansible_collections.ibready.cluster.plugins.module_utils._command import (
    Missing,
    Output,
    Unavailable,
    find_program,
    run_program,
)
from ansible_collections.ibready.cluster.plugins.module_utils._data.reloads import (
    ITS_RIVAL,
    RIVAL,
    WATCHED,
)
from ansible_collections.ibready.cluster.plugins.module_utils._evidence import Evidence
from ansible_collections.ibready.cluster.plugins.module_utils._facts._reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._observe import (
    _ask,
    boot,
    host_kernel,
    kind,
    machine,
)

Ask = Callable[[List[str]], Output]

RUNNING = "/proc/sys/kernel/osrelease"
ASKED = "/var/run/reboot-required"
_LIMIT_S = 60.0


def ask(argv: list[str]) -> Output:
    """Run a program of the host; Unavailable where it is not there or does not end."""
    return run_program(argv[0], [find_program(argv[0]), *argv[1:]], _LIMIT_S)


def look(evidence: Evidence, root: str = "/", run: Ask = ask) -> _reboot.RebootFacts:
    """Everything; raises StateError where what ibready remembers cannot be read."""
    running = _ask.text(evidence, RUNNING).value or ""
    container = kind.container(evidence)
    listed = _ask.text(evidence, "/proc/modules").value or ""
    in_kernel = [line.split(" ")[0] for line in listed.split("\n")]
    loaded = _loaded(evidence)
    wanted = [one for one in (*loaded, RIVAL) if one != ITS_RIVAL]
    kept_out = _ask.text(evidence, _blacklist.PATH).value or ""
    return _reboot.RebootFacts(
        container=container,
        simulated=machine.simulated(evidence),
        running=running,
        default=Reading() if container else _default(evidence, run),
        own_modules=_own_modules(evidence, running),
        loaded=loaded,
        installed={one: _installed(one, running, run) for one in dict.fromkeys(wanted)},
        late=_late(evidence, root),
        kept_out=tuple(_blacklist.still_loaded(_blacklist.names_in(kept_out), in_kernel)),
        asked=_asked(evidence, run),
    )


def _loaded(evidence: Evidence) -> dict[str, _reboot.ModuleVersion]:
    found = {}
    for name in (*(one.name for one in WATCHED), ITS_RIVAL):
        base = f"/sys/module/{name}"
        # What is built in shows its parameters there, but was not loaded: it has no state.
        if (
            _ask.text(evidence, f"{base}/initstate").known
            or _ask.text(evidence, f"{base}/version").known
        ):
            found[name] = _reboot.ModuleVersion(
                _ask.text(evidence, f"{base}/version").value or "",
                _ask.text(evidence, f"{base}/srcversion").value or "",
            )
    return found


def _installed(name: str, kernel: str, run: Ask) -> Reading[_reboot.ModuleVersion]:
    argv = ["modinfo", *(["-k", kernel] if kernel else []), name]
    try:
        told = run(argv)
    except Unavailable as exc:
        return Reading(None, str(exc), isinstance(exc, Missing))
    if told.rc != 0:
        said = told.stderr.strip().split("\n")[-1] or f"status {told.rc}"
        return Reading(None, said, "not found" in said)
    try:
        return Reading(_reboot.parse_modinfo(told.stdout))
    except ValueError as exc:
        return Reading(None, str(exc))


def _own_modules(evidence: Evidence, running: str) -> Reading[bool]:
    names = _ask.names(evidence, f"{boot.MODULES}/{running}") if running else Reading()
    if names.known:
        return Reading(True)
    return Reading(False) if names.missing else Reading(None, names.why)


def _default(evidence: Evidence, run: Ask) -> Reading[str]:
    """The kernel that boots next: as grubby says; else the newest, unless the operator chose one.

    Missing (and so no reason to boot) where the operator chooses, for that is theirs to say.
    """
    try:
        told = run(["grubby", "--default-kernel"])
    except Unavailable:
        return boot.newest(evidence)
    if told.rc != 0:
        said = (told.stderr or told.stdout).strip()[:80]
        return Reading(None, f"grubby --default-kernel said {said!r}")
    return Reading(told.stdout).map(boot.default_kernel)


def _late(evidence: Evidence, root: str) -> tuple[str, ...]:
    known = _state.load("kernel_args", root)
    wanted, dropped = known.get("wanted", known.get("added", [])), known.get("dropped", [])
    if not (wanted or dropped):
        return ()
    cmdline = _ask.text(evidence, host_kernel.CMDLINE).value or ""
    return tuple(_kernel_args.pending(cmdline, wanted, dropped))


def _asked(evidence: Evidence, run: Ask) -> Reading[tuple[str, ...]]:
    """Debian's note in /run, or EL's needs-restarting; () where nobody asks."""
    packages = _ask.text(evidence, f"{ASKED}.pkgs")
    if packages.value is not None or _ask.text(evidence, ASKED).known:
        names = dict.fromkeys((packages.value or "").split())
        return Reading(tuple(names) or ("packages that do not say their name",))
    try:
        told = run(["needs-restarting", "-r"])
    except Unavailable:
        return Reading(())
    if told.rc not in (0, 1):
        return Reading(None, f"needs-restarting -r ended with status {told.rc}")
    lines = [line.strip() for line in told.stdout.split("\n")]
    named = tuple(line[2:].split(" ")[0] for line in lines if line.startswith("* "))
    return Reading((named or ("packages that do not say their name",)) if told.rc else ())
