# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep a host's CDI specifications: of RDMA devices by ourselves, of GPUs by NVIDIA's toolkit."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from dataclasses import dataclass, field, replace
from typing import Any

from ..._areas.stack.observe import NVIDIA, driver_version
from ..._ask.container import devices
from ..._data import container_engines as data
from ..._ground import fileset, host_program, source, state, whole
from ..._ground.command import Unavailable, find_program, run_program
from . import cdi_rdma, service
from .model import EngineError

_TOOL = "nvidia-ctk"
WRITTEN = "/etc/cdi/nvidia.yaml"
_REFRESHED = "/var/run/cdi/nvidia.yaml"
REFRESH_UNITS = ("nvidia-cdi-refresh.path", "nvidia-cdi-refresh.service")
_UNIT_FOLDERS = ("/etc/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system")
# Libraries carry the driver's version, whatever else the toolkit's releases write.
_LIBRARY = re.compile(r"\.so\.([0-9]{3,4}\.[0-9]{1,3}(?:\.[0-9]{1,3})?)\b")
SUBJECT = "container_cdi"
PROGRAM = f"{fileset.PROGRAMS}/cdi-rdma"
UNITS = fileset.UNITS
_NAME = "ibready-cdi-rdma"
_KINDS = ("service", "path")
_LIMIT_S = 120.0
_SERVICE = """\
# Written by ibready.cluster.container_cdi. The next run undoes changes made by hand.
[Unit]
Description=CDI specification of RDMA devices (ibready)
After=systemd-modules-load.service openibd.service {name}-again.service
Before=containerd.service docker.service
# Devices come one by one, and each may be a reason to look again.
StartLimitIntervalSec=0

[Service]
Type=oneshot
ExecStartPre=/bin/sleep 1
ExecStart={python} {program}

[Install]
WantedBy=multi-user.target
"""
# A path unit hears nothing while what it started runs. This one ends at once, and before the other looks: what comes
# later starts that one anew.
_AGAIN = """\
# Written by ibready.cluster.container_cdi. The next run undoes changes made by hand.
[Unit]
Description=Look again for RDMA devices (ibready)
StartLimitIntervalSec=0

[Service]
Type=oneshot
ExecStart=/bin/systemctl --no-block restart {name}.service
"""
_PATH = """\
# Written by ibready.cluster.container_cdi. The next run undoes changes made by hand.
[Unit]
Description=Look for RDMA devices that come and go (ibready)

[Path]
PathChanged=/dev/infiniband
Unit={name}-again.service

[Install]
WantedBy=multi-user.target
"""


@dataclass(frozen=True)
class Gpus:
    """``driver``: the loaded one's version, "" where none is, or none can be told (``unread``).
    ``described``: the versions in the specification at ``path``, None where there is no file."""

    driver: str
    unread: str
    units: bool
    path: str
    described: tuple[str, ...] | None

    @property
    def stale(self) -> bool:
        """Whether the specification has to be written: it is missing, or of another driver."""
        return bool(self.driver) and self.driver not in (self.described or ())


def _look(root: str = "/") -> Gpus:
    """The host as it is."""
    units = any(os.path.exists(state.below(root, f"{folder}/{REFRESH_UNITS[0]}")) for folder in _UNIT_FOLDERS)
    path = _REFRESHED if units else WRITTEN
    place = state.below(root, path)
    text = state.read(place) if os.path.exists(place) else None
    return Gpus(*_driver(root), units, path, None if text is None else _versions(text))


def _files(root: str = "/") -> dict[str, tuple[str, ...]]:
    """All that describe GPUs, whoever wrote them, with the driver versions that each names."""
    return {
        path: _versions(text) for path, text in devices.files(root).items() if devices.GPU in devices.kinds_in(text)
    }


def _versions(spec: str) -> tuple[str, ...]:
    """The driver versions that a specification names, each once."""
    return tuple(dict.fromkeys(_LIBRARY.findall(spec)))


def _driver(root: str) -> tuple[str, str]:
    try:
        text = state.read(state.below(root, NVIDIA))
        return (driver_version(text).version if text else ""), ""
    except (OSError, ValueError) as exc:
        return "", f"{NVIDIA} tells no version: {exc}"


@dataclass
class Specs:
    """What was written or started, or would be; ``left``: what is not, and why.

    ``several``: what engines make of more than one description of the GPUs.
    """

    files: fileset.Files = field(default_factory=dict)
    devices: list[str] = field(default_factory=list)
    units: list[str] = field(default_factory=list)
    left: dict[str, str] = field(default_factory=dict)
    several: str = ""

    @property
    def changed(self) -> bool:
        return bool(self.files or self.units)


class Cdi:
    """The host whose / is `root`. Every failure is an EngineError or a StateError."""

    def __init__(self, root: str = "/", *, check: bool = False) -> None:
        self._root = root
        self._check = check
        self._specs = Specs()

    def keep(self, *, rdma: bool, gpus: bool) -> Specs:
        if not (rdma or gpus) or not _read_by_any():
            self._rdma(False)
            return self._specs
        self._rdma(rdma)
        if not gpus:
            return self._specs
        try:
            self._gpus()
        except EngineError as exc:
            exc.changed = exc.changed or (self._specs.changed and not self._check)
            raise
        self._see_several()
        return self._specs

    # RDMA devices

    def _rdma(self, wanted: bool) -> None:
        specs = self._specs
        try:
            found = cdi_rdma.devices(self._root) if wanted else {}
        except OSError as exc:
            raise EngineError(f"{exc.filename} cannot be read: {exc.strerror}", "look at it") from exc
        specs.devices = [f"{cdi_rdma.KIND}={name}" for name in found]
        if wanted and not found:
            specs.left["rdma"] = "there is no /dev/infiniband/uverbs* on this host"
        units = f"{UNITS}/{_NAME}"
        links = {f"{UNITS}/multi-user.target.wants/{_NAME}.{kind}": f"../{_NAME}.{kind}" for kind in _KINDS}
        texts = {
            cdi_rdma.SPEC: cdi_rdma.render(found),
            PROGRAM: source.joined(whole, host_program, cdi_rdma),
            f"{units}.service": _SERVICE.format(name=_NAME, python=sys.executable, program=PROGRAM),
            f"{units}-again.service": _AGAIN.format(name=_NAME),
            f"{units}.path": _PATH.format(name=_NAME),
            **links,
        }
        try:
            specs.files = fileset.look(texts if wanted else dict.fromkeys(texts, ""), self._root)
        except OSError as exc:
            raise EngineError(f"{exc.filename} cannot be read: {exc.strerror}", "look at it") from exc
        running = service.runs(self._root)
        fresh = bool({*specs.files} - {cdi_rdma.SPEC})
        if wanted and running and not fresh and not service.active(f"{_NAME}.path"):
            # An earlier run could not start it, or it gave up.
            specs.units.append(f"{_NAME}.path (started)")
            fresh = True
        if not self._check:
            self._put_rdma(wanted, running, fresh)

    def _put_rdma(self, wanted: bool, running: bool, fresh: bool) -> None:
        specs = self._specs
        if not wanted and running and fresh:
            service.systemctl("stop", f"{_NAME}.path")
        try:
            fileset.write(specs.files, self._root)
        except OSError as exc:
            raise EngineError(
                f"{exc.filename} cannot be written: {exc.strerror}",
                "see that its folder can be written and has space",
                changed=True,
            ) from exc
        if running and fresh:
            service.read_units()
            if wanted:
                self._must("restart", f"{_NAME}.path")

    # GPUs

    def _gpus(self) -> None:
        specs, found = self._specs, _look(self._root)
        try:
            tool = find_program(_TOOL)
        except Unavailable as exc:
            specs.left["gpus"] = str(exc)
            return
        if not found.driver:
            specs.left["gpus"] = found.unread or "NVIDIA's driver is not loaded"
        if found.units and service.runs(self._root):
            self._refreshing(found)
        elif found.stale:
            folder = os.path.dirname(found.path)
            beside = [path for path in _files(self._root) if path != found.path and os.path.dirname(path) == folder]
            if beside:
                specs.left["gpus"] = (
                    f"{found.path} is not written beside {', '.join(beside)}: of a device that two "
                    "files of one folder name, engines take neither"
                )
                return
            self._generate(tool, found)

    def _see_several(self) -> None:
        """Whoever wrote them: to choose is the site's."""
        going = {path for path, (_before, after) in self._specs.files.items() if not after}
        named = [
            f"{path} (driver {', '.join(of) or 'unknown'})"
            for path, of in _files(self._root).items()
            if path not in going
        ]
        if len(named) > 1:
            # Source: container-device-interface, pkg/cdi/cache.go. Confidence: confirmed.
            self._specs.several = (
                f"the GPUs are described by {' and '.join(named)}. Of a device that two files of "
                "one folder name, engines take neither, else that of /var/run/cdi. Next: remove "
                "what nobody keeps up to date"
            )

    def _refreshing(self, found: Gpus) -> None:
        """Have the toolkit's own units do it."""
        for unit in REFRESH_UNITS:
            if service.disabled(unit):
                self._specs.units.append(unit)
                if not self._check:
                    self._must("enable", "--now", unit)
        known = state.load(SUBJECT, self._root)
        if known.get("wrote") == WRITTEN and self._read(WRITTEN):
            # Ours of an earlier toolkit, which nobody would refresh any more.
            self._write(WRITTEN, "", {})
        if not found.stale:
            return
        if known.get("tried") == found.driver:
            self._specs.left["gpus"] = _not_of(REFRESH_UNITS[1], found)
            return
        self._specs.units.append(f"{REFRESH_UNITS[1]} (started)")
        if self._check:
            return
        self._must("restart", REFRESH_UNITS[1])
        after = _look(self._root)
        if after.stale:
            # Once is enough: nothing but another driver or toolkit would help.
            state.save(SUBJECT, {"tried": found.driver}, self._root)
            self._specs.left["gpus"] = _not_of(REFRESH_UNITS[1], after)

    def _must(self, *words: str) -> None:
        done = service.systemctl(*words)
        if done.rc != 0:
            raise EngineError(
                f"`systemctl {' '.join(words)}` failed: {done.said}",
                f"see `journalctl -u {words[-1]}`",
                changed=True,
            )

    def _generate(self, tool: str, found: Gpus) -> None:
        try:
            done = run_program(_TOOL, [tool, "cdi", "generate"], _LIMIT_S)
        except Unavailable as exc:
            raise EngineError(str(exc), "run `nvidia-ctk cdi generate` by hand") from exc
        if done.rc != 0 or not done.stdout.strip():
            raise EngineError(
                f"`nvidia-ctk cdi generate` ended with status {done.rc}: {done.said}",
                "see that nvidia-smi works on the host",
            )
        made = replace(found, described=_versions(done.stdout))
        if made.stale:
            self._specs.left["gpus"] = _not_of("`nvidia-ctk cdi generate`", made)
        if done.stdout != self._read(found.path):
            self._write(found.path, done.stdout, {"wrote": found.path})

    def _write(self, path: str, text: str, known: dict[str, Any]) -> None:
        self._specs.files[path] = (self._read(path), text)
        if self._check:
            return
        try:
            state.write(state.below(self._root, path), text, 0o644)
        except OSError as exc:
            raise EngineError(f"{path} cannot be written: {exc.strerror}", "see that /etc/cdi can be written") from exc
        state.save(SUBJECT, known, self._root)

    def _read(self, path: str) -> str:
        try:
            return state.read(state.below(self._root, path))
        except OSError as exc:
            raise EngineError(f"{path} cannot be read: {exc.strerror}", "look at it") from exc


def _read_by_any() -> bool:
    """Whether an engine is on the host that reads specifications."""
    for program in data.CDI_READERS:
        with contextlib.suppress(Unavailable):
            return bool(find_program(program))
    return False


def _not_of(by: str, found: Gpus) -> str:
    return (
        f"{by} ran, and {found.path} is not of driver {found.driver} "
        f"({', '.join(found.described or ()) or 'no version in it'})"
    )
