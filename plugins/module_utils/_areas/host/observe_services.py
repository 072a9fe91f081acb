# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather what systemd runs, the limits it gives, and whether the clock is synchronised."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Sequence

from ..._data import host_units
from ..._evidence import ask
from ..._evidence.sources import Evidence
from ..._ground.reading import Reading
from ..._ground.text import is_whole
from ..._parse import proc_limits, systemctl_show
from ..._parse.proc_limits import UNLIMITED, Limits
from ..._parse.systemctl_show import Block, Show
from . import login_limits, unit_limits
from .facts import LoginLimit, ServiceFacts, Unit

DOCKER = "/etc/docker/daemon.json"
_DOCKER, _CONTAINERD, _KUBELET = "docker.service", "containerd.service", "kubelet.service"
# Where systemd keeps the processes of a service.
_SLICE = "/sys/fs/cgroup/system.slice"
_RUNNING = ("active", "reloading")
_NO_SHARP = "this host is not to run SHARP's aggregation manager (expect.sharp_manager)"
_OTHERS = (_KUBELET, "k3s.service", "k3s-agent.service")


def show(text: str) -> Show:
    """Read KEY=VALUE lines to the last; ValueError where the text ends within one."""
    if text.strip() and not is_whole(text):
        raise ValueError("systemctl_show: the output ends within a line")
    return systemctl_show.parse(text)


def observe(evidence: Evidence, sharp_manager: bool = False) -> ServiceFacts:
    """Units by subject; the limits of those that run and start jobs, from /proc."""
    shown = blocks(evidence, host_units.JOBS)
    jobs = shown.map(_units)
    default, limits = defaults(evidence), _limits(evidence, jobs.value or ())
    return ServiceFacts(
        rdma=units(evidence, host_units.RDMA),
        jobs=jobs,
        time=units(evidence, host_units.TIME),
        sharp=units(evidence, host_units.SHARP) if sharp_manager else Reading(None, _NO_SHARP, missing=True),
        defaults=default,
        limits=limits,
        asked=unit_limits.asked(evidence, shown.value or (), limits, default.value),
        login=_login(evidence),
        synchronised=ask.command(evidence, "timedatectl_show", show).map(_clock),
    )


def _login(evidence: Evidence) -> Reading[tuple[LoginLimit, ...]]:
    reported = units(evidence, host_units.SSH)
    if reported.value is None:
        return Reading(None, reported.why)
    pids = [unit.pid for unit in reported.value if unit.active in _RUNNING and unit.pid]
    if not pids:
        return Reading(None, "no sshd runs", missing=True)
    return login_limits.observe(evidence, pids[0])


def defaults(evidence: Evidence) -> Reading[Limits]:
    """What systemd gives to what it starts."""
    return ask.command(evidence, "systemctl_show", show).map(_defaults)


def _limits(evidence: Evidence, jobs: tuple[Unit, ...]) -> dict[str, Reading[Limits]]:
    """The limits of what starts jobs; docker gives its containers those of its own file."""
    running = {job.name: job.pid for job in jobs if job.active in _RUNNING}
    if not set(running).isdisjoint(host_units.RUNTIMES):
        running.pop(_KUBELET, None)
    found = {
        name: _limits_of(evidence, Reading(pid) if pid else _any_process(evidence, name))
        for name, pid in running.items()
    }
    if _DOCKER in found and ask.file(evidence, DOCKER, _grants_memlock).value:
        found[_DOCKER] = found[_DOCKER].map(
            lambda limits: replace(limits, memlock_soft=UNLIMITED, memlock_hard=UNLIMITED)
        )
        if not any(job.name in _OTHERS and job.active == "active" for job in jobs):
            # Whatever containerd has, it starts containers for docker only.
            found.pop(_CONTAINERD, None)
    return found


def _limits_of(evidence: Evidence, pid: Reading[int]) -> Reading[Limits]:
    if pid.value is None:
        return Reading(None, pid.why)
    return ask.file(evidence, f"/proc/{pid.value}/limits", proc_limits.parse)


def _any_process(evidence: Evidence, name: str) -> Reading[int]:
    """The first process of a service that runs and of which systemd knows no main one."""

    def first(text: str) -> int:
        pids = [int(word) for word in text.split() if word.isdecimal() and len(word) < 10]
        if not pids:
            raise ValueError(f"{name} is active, and no process of it is to be seen")
        return min(pids)

    found = ask.file(evidence, f"{_SLICE}/{name}/cgroup.procs", first)
    return found if found.known else Reading(None, f"{name} has no main process; {found.why}")


def _grants_memlock(text: str) -> bool:
    """Whether docker's configuration lets every container lock all memory; -1 stands for that."""
    try:
        raw = json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    given = raw.get("default-ulimits") if isinstance(raw, dict) else None
    memlock = given.get("memlock") if isinstance(given, dict) else None
    return isinstance(memlock, dict) and memlock.get("Soft") == memlock.get("Hard") == -1


def units(evidence: Evidence, names: Sequence[str]) -> Reading[tuple[Unit, ...]]:
    """These units as systemd sees them; one that it does not know has ``load`` not-found."""
    return blocks(evidence, names).map(_units)


def blocks(evidence: Evidence, names: Sequence[str]) -> Reading[tuple[Block, ...]]:
    """What systemd shows of each, in the order of the names."""
    if not set(names) <= set(host_units.ALWAYS):
        return _blocks(evidence, names, names)
    # Each question starts a program, and has systemd look for all files of a unit.
    found = _blocks(evidence, host_units.ALWAYS, names)
    if found.value is None and evidence.recorded:
        # Earlier releases asked for each group by itself.
        earlier = _blocks(evidence, names, names)
        return earlier if earlier.value is not None else found
    return found


def _blocks(evidence: Evidence, asked: Sequence[str], names: Sequence[str]) -> Reading[tuple[Block, ...]]:
    def chosen(found: Show) -> tuple[Block, ...]:
        # One block for each name, also for a unit that does not exist.
        if len(found.blocks) != len(asked):
            raise ValueError(f"systemctl_show: {len(found.blocks)} units in it, {len(asked)} were asked for")
        # Of services it tells the same properties, also of those that it does not know.
        services = [block for block in found.blocks if block.get("Id", "").endswith(".service")]
        odd = next((block for block in services if block.keys() != services[0].keys()), None)
        if odd is not None:
            lost = ", ".join(sorted(odd.keys() ^ services[0].keys()))
            two = f"{services[0]['Id']} and {odd['Id']}"
            raise ValueError(f"systemctl_show: its lines are not whole: of {two} only one has {lost}")
        shown = dict(zip(asked, found.blocks))
        return tuple(shown[name] for name in names)

    return ask.command(evidence, "systemctl_show", show, f"--property={host_units.PROPERTIES}", *asked).map(chosen)


def _units(found: tuple[Block, ...]) -> tuple[Unit, ...]:
    for block in found:
        lost = [key for key in ("Id", "LoadState", "ActiveState") if not block.get(key)]
        if lost:
            name = block.get("Id", "a unit")
            raise ValueError(f"systemctl_show: {name} without {' and '.join(lost)}")
    # Two names of one unit (chrony, chronyd) give it twice.
    return tuple(
        Unit(
            name,
            block["LoadState"],
            block["ActiveState"],
            block.get("UnitFileState", ""),
            int(pid) if (pid := block.get("MainPID", "")).isdecimal() and len(pid) < 10 else 0,
            block.get("SubState", ""),
        )
        for name, block in {block["Id"]: block for block in found}.items()
    )


def _defaults(found: Show) -> Limits:
    """The manager's DefaultLimit...; systemd before 232 or so tells no soft limits of their own."""
    said = found.all
    soft, ending = {}, ""
    try:
        hard = {key: proc_limits.number(said[f"DefaultLimit{key}"]) for key in _KEYS}
        for key in _KEYS:
            # Behind a soft limit the next one is told as well, but where the text ends early.
            ending = "Soft" if f"DefaultLimit{key}Soft" in said else ending
            soft[key] = proc_limits.number(said[f"DefaultLimit{key}{ending}"])
    except KeyError as exc:
        raise ValueError(f"systemctl_show: {exc.args[0]} is not in it") from exc
    return Limits(soft["MEMLOCK"], hard["MEMLOCK"], soft["NOFILE"], hard["NOFILE"])


# In systemd's order.
_KEYS = ("NOFILE", "MEMLOCK")


def _clock(found: Show) -> bool:
    said = found.all.get("NTPSynchronized", "")
    if said not in ("yes", "no"):
        raise ValueError("timedatectl_show: NTPSynchronized is not in it")
    return said == "yes"
