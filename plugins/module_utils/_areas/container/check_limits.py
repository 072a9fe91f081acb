# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge what a container may lock, open and share."""

from __future__ import annotations

from typing import Iterator

from ..._data import host_limits
from ..._data.container import IPC_LOCK, SHM_LEAST
from ..._expect.expectations import CAPABILITY
from ..._ground.check import Check, failed, outcome, passed, skipped, unknown
from ..._parse._container_desired import CONTAINERD, DOCKER, PODMAN
from ..._parse._container_facts import Inside
from ..._parse.proc_limits import UNLIMITED
from ..host.check_scope import Scope
from .check_view import CONTAINER, View

_MEMLOCK, _NOFILE, _SHM = (
    "container.limit.memlock",
    "container.limit.nofile",
    "container.shm.size",
)
_MACHINES = "simulated node: the machine that runs it gives nobody more than"
_RAISE = {
    DOCKER: '`"default-ulimits": {{"{0}": {{"Name": "{0}", "Hard": {1}, "Soft": {1}}}}}` in '
    "/etc/docker/daemon.json (role container_runtime), then restart docker",
    PODMAN: '`default_ulimits = ["{0}={1}:{1}"]` in /etc/containers/containers.conf (role container_runtime)',
    CONTAINERD: "{2} in a drop-in of containerd.service (role container_runtime), then restart it",
}
_UNIT = {"memlock": "LimitMEMLOCK=infinity", "nofile": "LimitNOFILE=1048576"}
_SHM_REMEDY = {
    DOCKER: "start it with --ipc=host or --shm-size=16g",
    PODMAN: "start it with --ipc=host or --shm-size=16g",
    CONTAINERD: "give it the host's /dev/shm, in Kubernetes an emptyDir of medium Memory there",
}


def judge(view: View) -> Iterator[Check]:
    """container.limit.* and container.shm.size"""
    yield from view.each(_MEMLOCK, view.rdma, lambda who, inside: _memlock(view, who, inside))
    yield from view.each(_NOFILE, Scope(), lambda who, inside: _nofile(view, who, inside))
    yield from view.scoped(_SHM, Scope(), lambda inside: _shm(view, inside))


def _raise(view: View, limit: str, value: str) -> str:
    return _RAISE.get(view.engine, "").format(limit, value, _UNIT[limit])


def _memlock(view: View, subject: str, inside: Inside) -> Check:
    soft, hard = inside.limits.memlock_soft, inside.limits.memlock_hard
    observed = _bytes(soft) if soft == hard else f"{_bytes(soft)} (hard {_bytes(hard)})"
    has = bool(inside.effective & IPC_LOCK)
    if soft >= UNLIMITED:
        return passed(_MEMLOCK, subject, observed, "unlimited", CAPABILITY)
    ceiling = view.machine.memlock_ceiling
    if ceiling is not None and soft >= ceiling:
        return skipped(_MEMLOCK, subject, f"{_MACHINES} {_bytes(ceiling)}")
    if has and not inside.own_users and ceiling is None:
        observed += ", and CAP_IPC_LOCK counts for this user"
        return passed(_MEMLOCK, subject, observed, "unlimited, or CAP_IPC_LOCK", CAPABILITY)
    cause = "the engine gives containers its own limit"
    if not has and inside.uid:
        cause += "; CAP_IPC_LOCK of the container does nothing for a user who is not root"
    elif has and inside.own_users:
        cause += "; CAP_IPC_LOCK does nothing in a user namespace"
    remedy = _raise(view, "memlock", "-1")
    return failed(_MEMLOCK, subject, observed, "unlimited", CAPABILITY, cause=cause, remedy=remedy)


def _nofile(view: View, subject: str, inside: Inside) -> Check:
    least, hard = host_limits.NOFILE_HARD, inside.limits.nofile_hard
    expected, observed = f"at least {least} (hard)", f"hard limit {_count(hard)}"
    if hard >= least:
        return passed(_NOFILE, subject, observed, expected, CAPABILITY)
    if view.by_ctr:
        why = f"ctr itself sets {hard}; what containerd gives to others is host.limit.nofile's"
        return skipped(_NOFILE, subject, why)
    if view.machine.surely_simulated:
        most = view.facts.limits
        if most.value is None:
            return unknown(_NOFILE, subject, most.why or "nobody looked", observed=observed)
        if hard >= most.value.nofile_hard:
            return skipped(_NOFILE, subject, f"{_MACHINES} {most.value.nofile_hard}")
    cause = "the engine gives containers its own limit"
    remedy = _raise(view, "nofile", "1048576")
    return failed(_NOFILE, subject, observed, expected, CAPABILITY, cause=cause, remedy=remedy)


def _shm(view: View, inside: Inside) -> Check:
    expected = f"at least {_bytes(SHM_LEAST)}"
    remedy = _SHM_REMEDY.get(view.engine, "")
    if not inside.shm_kind:
        cause = "nothing is mounted at /dev/shm"
        return failed(_SHM, CONTAINER, "none", expected, CAPABILITY, cause=cause, remedy=remedy)
    if inside.shm is None:
        return unknown(_SHM, CONTAINER, f"/dev/shm is of kind {inside.shm_kind}, which does not tell its size")
    return outcome(inside.shm >= SHM_LEAST, _SHM, CONTAINER, _bytes(inside.shm), expected, CAPABILITY, remedy=remedy)


def _count(limit: int) -> str:
    return "unlimited" if limit >= UNLIMITED else str(limit)


def _bytes(size: int) -> str:
    if size >= UNLIMITED:
        return "unlimited"
    if size >= 1024**3:
        return f"{size / 1024**3:.0f} GiB"
    return f"{size // 1024**2} MiB" if size >= 1024**2 else f"{size // 1024} KiB"
