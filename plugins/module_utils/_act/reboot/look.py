# SPDX-License-Identifier: GPL-3.0-or-later
"""What tells whether a host has to boot, and what a boot must not take away, before and after it."""

from __future__ import annotations

from typing import Any, Callable, List, Mapping

from ..._areas.host import boot, observe_kernel, observe_services, reboot
from ..._areas.machine import kind, observe as machine
from ..._data.rdma_modules import CORE, DRIVERS, USERLAND
from ..._data.reloads import ITS_RIVAL, RIVAL, WATCHED
from ..._evidence import ask as _ask
from ..._evidence.sources import Evidence
from ..._ground import state
from ..._ground.command import Missing, Output, Unavailable, run_by_name
from ..._ground.reading import Reading
from ..._parse.proc_limits import UNLIMITED
from ..rdma import flint
from ..rdma.firmware import FirmwareError
from ..rdma.port_type import devices
from ..tuning import blacklist, kernel_args

INFINIBAND = "/sys/class/infiniband"
# Nobody misses these without a device of theirs: they stay loaded when the last one is taken away.
_SOFTWARE = ("rdma_rxe", "siw")
# Nor these without any: whoever opens /dev/infiniband/rdma_cm has the kernel load them.
_ON_DEMAND = (*(entry.name for entry in (*CORE, *USERLAND)), "rdma_ucm")
# What every boot has to load by itself. Others come when somebody asks for them, or belong to one
# release of a stack.
_MODULES = (*_ON_DEMAND, *_SOFTWARE, "nvidia", *DRIVERS, *DRIVERS.values())
_LIMITS = {"memlock": "DefaultLimitMEMLOCK", "nofile": "DefaultLimitNOFILE"}
Ask = Callable[[List[str]], Output]

RUNNING = "/proc/sys/kernel/osrelease"
ASKED = "/var/run/reboot-required"
_LIMIT_S = 60.0


def ask(argv: list[str]) -> Output:
    """Run a program of the host; Unavailable where it is not there or does not end."""
    return run_by_name(argv, _LIMIT_S)


def look(evidence: Evidence, root: str = "/", run: Ask = ask) -> reboot.RebootFacts:
    """Everything; raises StateError where what ibready remembers cannot be read."""
    running = _ask.text(evidence, RUNNING).value or ""
    container = kind.container(evidence)
    listed = _ask.text(evidence, "/proc/modules").value or ""
    in_kernel = [line.split(" ")[0] for line in listed.split("\n")]
    loaded = _loaded(evidence)
    wanted = [entry for entry in (*loaded, RIVAL) if entry != ITS_RIVAL]
    kept_out = _ask.text(evidence, blacklist.PATH).value or ""
    return reboot.RebootFacts(
        container=container,
        simulated=machine.simulated(evidence),
        running=running,
        default=Reading() if container else _default(evidence, run),
        own_modules=_own_modules(evidence, running),
        loaded=loaded,
        installed={item: _installed(item, running, run) for item in dict.fromkeys(wanted)},
        late=_late(evidence, root),
        kept_out=tuple(blacklist.still_loaded(blacklist.names_in(kept_out), in_kernel)),
        firmware=_firmware(root),
        asked=_asked(evidence, run),
    )


def _firmware(root: str) -> dict[str, Reading[str]]:
    """In words what waits for a boot on the cards that ibready wrote; one that was taken out waits for none."""
    written = state.load(flint.STATE, root)
    return {device: _waits(device) for device in devices(root) if device in written}


def _waits(device: str) -> Reading[str]:
    try:
        return Reading(flint.card(device).pending)
    except (Unavailable, FirmwareError) as exc:
        return Reading(None, str(exc))


def _loaded(evidence: Evidence) -> dict[str, reboot.ModuleVersion]:
    found = {}
    for name in (*(watched.name for watched in WATCHED), ITS_RIVAL):
        base = f"/sys/module/{name}"
        # What is built in shows its parameters there, but was not loaded: it has no state.
        if _ask.text(evidence, f"{base}/initstate").known or _ask.text(evidence, f"{base}/version").known:
            found[name] = reboot.ModuleVersion(
                _ask.text(evidence, f"{base}/version").value or "",
                _ask.text(evidence, f"{base}/srcversion").value or "",
            )
    return found


def _installed(name: str, kernel: str, run: Ask) -> Reading[reboot.ModuleVersion]:
    argv = ["modinfo", *(["-k", kernel] if kernel else []), name]
    try:
        reported = run(argv)
    except Unavailable as exc:
        return Reading(None, str(exc), isinstance(exc, Missing))
    if reported.rc != 0:
        said = reported.stderr.strip().split("\n")[-1] or f"status {reported.rc}"
        return Reading(None, said, "not found" in said)
    try:
        return Reading(reboot.parse_modinfo(reported.stdout))
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
        reported = run(["grubby", "--default-kernel"])
    except Unavailable:
        return boot.newest(evidence)
    if reported.rc != 0:
        said = (reported.stderr or reported.stdout).strip()[:80]
        return Reading(None, f"grubby --default-kernel said {said!r}")
    return Reading(reported.stdout).map(boot.default_kernel)


def _late(evidence: Evidence, root: str) -> tuple[str, ...]:
    known = state.load("kernel_args", root)
    wanted, dropped = known.get("wanted", known.get("added", [])), known.get("dropped", [])
    if not (wanted or dropped):
        return ()
    cmdline = _ask.text(evidence, observe_kernel.CMDLINE).value or ""
    return tuple(kernel_args.pending(cmdline, wanted, dropped))


def _asked(evidence: Evidence, run: Ask) -> Reading[tuple[str, ...]]:
    """Debian's note in /run, or EL's needs-restarting; () where nobody asks."""
    packages = _ask.text(evidence, f"{ASKED}.pkgs")
    if packages.value is not None or _ask.text(evidence, ASKED).known:
        names = dict.fromkeys((packages.value or "").split())
        return Reading(tuple(names) or ("packages that do not say their name",))
    try:
        reported = run(["needs-restarting", "-r"])
    except Unavailable:
        return Reading(())
    if reported.rc not in (0, 1):
        return Reading(None, f"needs-restarting -r ended with status {reported.rc}")
    lines = [line.strip() for line in reported.stdout.split("\n")]
    named = tuple(line[2:].split(" ")[0] for line in lines if line.startswith("* "))
    return Reading((named or ("packages that do not say their name",)) if reported.rc else ())


def look_at_kept(evidence: Evidence, before: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """``modules`` and ``devices`` by name, the devices' node GUIDs (``guids``), and ``limits`` that
    systemd gives to what it starts.

    A module that was kept ``before`` is told wherever it is loaded, also where its device has gone.
    What cannot be told is left out, and so lost where it could be told before. In a container the
    modules are the machine's.
    """
    kept_out = _ask.text(evidence, blacklist.PATH).value or ""
    unwanted = set(blacklist.names_in(kept_out))
    loaded = () if kind.container(evidence) else _ask.names(evidence, "/sys/module").value or ()
    defaults = observe_services.defaults(evidence).value
    found = _ask.names(evidence, INFINIBAND)
    devices = found.value or ()
    if found.known and not devices:
        unwanted.update(_ON_DEMAND)
    if all(_ask.names(evidence, f"{INFINIBAND}/{device}/device").known for device in devices):
        unwanted.update(_SOFTWARE)
    unwanted.difference_update((before or {}).get("modules", ()))
    limits = {}
    if defaults is not None:
        limits = {"memlock": defaults.memlock_soft, "nofile": defaults.nofile_soft}
    return {
        "modules": [module for module in _MODULES if module in loaded and module not in unwanted],
        "devices": list(devices),
        "guids": {device: _ask.text(evidence, f"{INFINIBAND}/{device}/node_guid").value or "" for device in devices},
        "limits": limits,
    }


def lost(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """What was there and is not, a sentence each."""
    reported = [
        f"module {module} was loaded before, and is not"
        for module in before.get("modules", ())
        if module not in now["modules"]
    ]
    # A boot may name a device anew: by rdma_device_names, or with another stack.
    guids = before.get("guids", {})
    present = {guid for guid in now.get("guids", {}).values() if guid}
    reported += [
        f"RDMA device {device} was there before, and is not"
        for device in before.get("devices", ())
        if device not in now["devices"] and guids.get(device) not in present
    ]
    for name, was in before.get("limits", {}).items():
        here = now["limits"].get(name)
        if here is None:
            reported.append(f"systemd no longer tells its {_LIMITS.get(name, name)}")
        elif here < was:
            shown = f"{_shown(here)} instead of {_shown(was)}"
            reported.append(f"{_LIMITS.get(name, name)} is {shown}")
    return reported


def _shown(limit: int) -> str:
    return "infinity" if limit >= UNLIMITED else str(limit)
