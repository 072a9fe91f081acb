# SPDX-License-Identifier: GPL-3.0-or-later
"""Bring a host's subnet managers to what is wished: files, units, and the fabric's own word."""

from __future__ import annotations

import os
import tempfile
import time
from dataclasses import dataclass, field
from typing import Any, Iterable, Mapping

from ..._data import opensm as data
from ..._evidence.sources import Evidence
from ..._ground import state, unit as _unit
from ..._ground.command import Output, Unavailable, decode, find_program, run_by_name, run_program
from . import ask, conf, partitions
from .ask import Seen
from .fabrics import Fabric, OpensmError

STARTED = "started"
STOPPED = "stopped"
# opensm.conf may hold keys (m_key, sm_key); the others are read by more than root.
_MODE, _OWN_MODE = 0o644, 0o600
_PAUSE = 2.0
# What opensm logs where it could not use a file, and goes on with its own defaults.
_COMPLAINTS = ("PARSE ERROR", "Partition configuration in error", "rescan_conf_file failed")
# The end of a heavy sweep, at log_flags of INFO or ERROR.
_SWEPT = ("SUBNET UP", "ERRORS DURING INITIALIZATION")


@dataclass
class Plan:
    """What one instance needs: the act, the keys it is for, and texts by path ("" removes)."""

    name: str
    act: str = conf.NOTHING
    keys: tuple[str, ...] = ()
    before: dict[str, str] = field(default_factory=dict)
    after: dict[str, str] = field(default_factory=dict)

    @property
    def changed(self) -> bool:
        return self.act != conf.NOTHING or self.before != self.after


def known_keys() -> list[str]:
    """The settings that the installed opensm has; [] where none is installed."""
    try:
        program = find_program("opensm")
    except Unavailable:
        return []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "opensm.conf")
        reported = run_program("opensm", [program, "--create-config", path], 20.0)
        names = list(conf.read(state.read(path)))
    if not names:
        raise OpensmError(f"opensm --create-config wrote nothing (status {reported.rc}): {reported.said}")
    return names


def _systemctl(*argv: str) -> Output:
    return run_by_name(["systemctl", *argv], 120.0)


def systemctl(*argv: str) -> tuple[int, str]:
    """Status and words; Unavailable where it does not end."""
    reported = _systemctl(*argv)
    return reported.rc, (reported.stdout.strip() or reported.stderr.strip())


def must(*argv: str) -> None:
    """The same; OpensmError where it did not end well."""
    status, said = systemctl(*argv)
    if status != 0:
        raise OpensmError(f"systemctl {' '.join(argv)} ended with status {status}: {said[-300:]}")


def active(name: str) -> bool:
    """Whether its unit runs; Unavailable where systemd does not say."""
    return _unit.is_up(_systemctl("is-active", data.UNIT.format(name)), data.UNIT.format(name))


def texts(fabric: Fabric, guid: str) -> dict[str, str]:
    """The files of an instance."""
    own = conf.paths(fabric.name)
    return {
        own["conf"]: conf.render(conf.values(fabric, guid)),
        own["partitions"]: partitions.render(fabric.partitions),
        own["roots"]: conf.roots(fabric),
    }


def plan(fabric: Fabric, here: Seen) -> Plan:
    """Compare the files and the unit with what they should be."""
    after = texts(fabric, here.guid)
    before = {path: state.read(path) for path in after}
    own = conf.paths(fabric.name)
    act, keys = conf.due(conf.read(before[own["conf"]]), conf.read(after[own["conf"]]))
    if act == conf.NOTHING and before != after:
        act, keys = conf.RELOAD, ("partitions",)
    if not active(fabric.name):
        act, keys = STARTED, ()
    return Plan(fabric.name, act, keys, before, after)


def stale(names: Iterable[str]) -> list[Plan]:
    """Instances of ours that are no longer wished."""
    found = []
    listed = sorted(os.listdir(data.FOLDER)) if os.path.isdir(data.FOLDER) else []
    for entry in listed:
        name, dot, rest = entry.partition(".")
        if dot and rest == "conf" and name not in names:
            before = {path: state.read(path) for path in conf.paths(name).values()}
            found.append(Plan(name, STOPPED, (), before, dict.fromkeys(before, "")))
    return found


def refuse_stop(evidence: Evidence, plan: Plan, here: Seen, lids: Iterable[int], ok: bool) -> None:
    """OpensmError where the fabric would be left without a subnet manager, and nobody said yes."""
    if ok or plan.act not in (conf.RESTART, STOPPED) or here.physical != ask.LINK_UP:
        return
    if here.own != ask.MASTER and here.master != here.guid and not here.unasked:
        return
    if any(ask.at(evidence, here.port, lid) == ask.STANDBY for lid in lids if lid != here.lid):
        return
    why = f"for {', '.join(plan.keys)}" if plan.keys else "to be taken away"
    which = "its only subnet manager runs here"
    if here.unasked:
        which = f"the subnet manager here may be its only one ({here.unasked}),"
    raise OpensmError(
        f"fabric {plan.name}: {which} and has to be"
        f" {'restarted' if plan.act == conf.RESTART else 'stopped'} {why}. Nothing was changed."
        " Next: bring up a second host of subnet_manager_hosts first, or set"
        " ibready_fabric_restart_ok"
    )


def write(changed: Mapping[str, str]) -> None:
    for path, text in changed.items():
        state.write(path, text, _OWN_MODE if path.startswith(f"{data.FOLDER}/") else _MODE)


def shared_files() -> dict[str, str]:
    """The unit and the rotation of logs; the unit names the opensm that is installed."""
    program = find_program("opensm")
    return {
        data.UNIT_FILE: conf.unit(program),
        data.LOGROTATE: conf.logrotate(),
    }


def put(plan: Plan) -> None:
    """Write the files of an instance that is wished."""
    write({path: text for path, text in plan.after.items() if plan.before.get(path) != text})


def act(plan: Plan) -> None:
    """Do it, so that it holds at the next boot, too. Raises OpensmError and OSError."""
    unit = data.UNIT.format(plan.name)
    if plan.act == STOPPED:
        must("disable", "--now", unit)
        write(plan.after)
    elif plan.act in (STARTED, conf.RESTART):
        must("enable", unit)
        must("restart", unit)
    elif plan.act == conf.RELOAD:
        must("reload", unit)


def log_end(name: str) -> int:
    path = f"{data.LOGS}/{name}.log"
    return os.path.getsize(path) if os.path.exists(path) else 0


def complaint(name: str, begin: int) -> str:
    """What opensm has logged of its files since then, "" for nothing."""
    lines = _since(name, begin).splitlines()
    bad = [line.partition("-> ")[2] or line for line in lines if any(c in line for c in _COMPLAINTS)]
    return bad[0] if bad else ""


def _since(name: str, begin: int) -> str:
    """What the log has got since it had ``begin`` bytes; all of one that was begun anew."""
    try:
        with open(f"{data.LOGS}/{name}.log", "rb") as stream:
            stream.seek(begin if os.fstat(stream.fileno()).st_size >= begin else 0)
            return decode(stream.read())
    except FileNotFoundError:
        return ""


def swept(name: str, begin: int, wait: float) -> None:
    """Wait until the master has swept with its files; OpensmError where it did not.

    ``begin``: the log's bytes when they were written, before SIGHUP.
    """
    _wait_for_sweep(name, begin, wait)
    # That one may have read the files before they changed; one that follows it has not.
    begin = log_end(name)
    must("reload", data.UNIT.format(name))
    _wait_for_sweep(name, begin, wait)


def _wait_for_sweep(name: str, begin: int, wait: float) -> None:
    deadline = time.monotonic() + wait
    while not any(word in _since(name, begin) for word in _SWEPT):
        if time.monotonic() >= deadline:
            raise OpensmError(
                f"fabric {name}: {wait:g} s after SIGHUP, {data.LOGS}/{name}.log shows no sweep."
                " What changed is not in use"
            )
        time.sleep(_PAUSE / 4)


def settle(evidence: Evidence, fabric: Fabric, here: Seen, ours: Iterable[str], beside: bool, wait: float) -> Seen:
    """Wait until the instance is master or standby, under a master of ours; OpensmError else."""
    known = {*ours, here.guid}
    deadline = time.monotonic() + wait
    while True:
        now = ask.look(evidence, {fabric.name: here.port})[fabric.name]
        late = _late(now, known, beside)
        if not late:
            return now
        if time.monotonic() >= deadline:
            raise OpensmError(
                f"fabric {fabric.name}: {wait:g} s after opensm was told, {late}. Next: see"
                f" {data.LOGS}/{fabric.name}.log and `journalctl -u"
                f" {data.UNIT.format(fabric.name)}`"
            )
        time.sleep(_PAUSE)


def _late(now: Seen, known: Iterable[str], beside: bool) -> str:
    if now.unasked:
        return f"it cannot be told who manages it ({now.unasked})"
    if not now.master:
        return f"no master answers on {now.port}"
    if now.own not in (ask.MASTER, ask.STANDBY):
        return f"the one on {now.port} is neither master nor standby ({now.own or 'no answer'})"
    if now.master not in known and not beside:
        return f"{now.master} is the master, which is none of ours"
    return ""


def put_back(plan: Plan, *, was_active: bool) -> str:
    """The files as they were, and the instance with them; what became of it."""
    unit = data.UNIT.format(plan.name)
    if was_active:
        write(plan.before)
        # What took no restart needs none to go back.
        status, said = systemctl("reload" if plan.act == conf.RELOAD else "restart", unit)
    else:
        status, said = systemctl("disable", "--now", unit)
        write(plan.before)
    return "The files are as before" + (f", but systemctl said: {said[-200:]}" if status else "")


def result(plans: Iterable[Plan]) -> dict[str, Any]:
    """What a module returns of them."""
    listed = list(plans)
    return {
        "changed": any(entry.changed for entry in listed),
        "acts": {entry.name: entry.act for entry in listed if entry.act != conf.NOTHING},
        "diff": [
            state.diff(path, entry.before[path], text)
            for entry in listed
            for path, text in entry.after.items()
            if entry.before[path] != text
        ],
    }
