# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep a host's CDI specifications: of RDMA devices by ourselves, of GPUs by NVIDIA's toolkit."""

from __future__ import annotations

import contextlib
import os
import sys
from dataclasses import dataclass, field, replace
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils import _state
from ansible_collections.ibready.cluster.plugins.module_utils._command import (
    Output,
    Unavailable,
    find_program,
    run_program,
)
from ansible_collections.ibready.cluster.plugins.module_utils._container import (
    cdi_nvidia,
    cdi_rdma,
    service,
)
from ansible_collections.ibready.cluster.plugins.module_utils._container.model import EngineError
from ansible_collections.ibready.cluster.plugins.module_utils._data import container_engines as data

SUBJECT = "container_cdi"
PROGRAM = "/usr/local/lib/ibready/cdi-rdma"
UNITS = "/etc/systemd/system"
_NAME = "ibready-cdi-rdma"
_LIMIT_S = 120.0
_SERVICE = """\
# Written by ibready.cluster.container_cdi. The next run undoes changes made by hand.
[Unit]
Description=CDI specification of RDMA devices (ibready)
After=systemd-modules-load.service openibd.service
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
_PATH = """\
# Written by ibready.cluster.container_cdi. The next run undoes changes made by hand.
[Unit]
Description=Look for RDMA devices that come and go (ibready)

[Path]
PathChanged=/dev/infiniband
Unit={name}.service

[Install]
WantedBy=multi-user.target
"""


@dataclass
class Specs:
    """What was written or started, or would be; ``left``: what is not, and why.

    ``several``: what engines make of more than one description of the GPUs.
    """

    files: dict[str, tuple[str, str]] = field(default_factory=dict)
    links: dict[str, tuple[str, str]] = field(default_factory=dict)
    devices: list[str] = field(default_factory=list)
    units: list[str] = field(default_factory=list)
    left: dict[str, str] = field(default_factory=dict)
    several: str = ""

    @property
    def changed(self) -> bool:
        return bool(self.files or self.links or self.units)


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
        specs, found = self._specs, cdi_rdma.devices(self._root) if wanted else {}
        specs.devices = [f"{cdi_rdma.KIND}={name}" for name in found]
        if wanted and not found:
            specs.left["rdma"] = "there is no /dev/infiniband/uverbs* on this host"
        # From the directory here in tests, from the zip that Ansible packs on a node.
        loader: Any = cdi_rdma.__spec__ and cdi_rdma.__spec__.loader
        texts = {
            cdi_rdma.SPEC: cdi_rdma.render(found),
            PROGRAM: loader.get_source(cdi_rdma.__name__),
            f"{UNITS}/{_NAME}.service": _SERVICE.format(python=sys.executable, program=PROGRAM),
            f"{UNITS}/{_NAME}.path": _PATH.format(name=_NAME),
        }
        for path, text in texts.items():
            before, after = self._read(path), text if wanted else ""
            if before != after:
                specs.files[path] = (before, after)
        for kind in ("service", "path"):
            link, aim = f"{UNITS}/multi-user.target.wants/{_NAME}.{kind}", f"../{_NAME}.{kind}"
            place = _state.below(self._root, link)
            now = os.readlink(place) if os.path.islink(place) else ""
            if now != (aim if wanted else ""):
                specs.links[link] = (now, aim if wanted else "")
        running = service.runs(self._root)
        fresh = bool(specs.links or {*specs.files} - {cdi_rdma.SPEC})
        if wanted and running and not fresh and not service.active(f"{_NAME}.path"):
            # An earlier run could not start it, or it gave up.
            specs.units.append(f"{_NAME}.path (started)")
            fresh = True
        if not self._check:
            self._put_rdma(wanted, running, fresh)

    def _put_rdma(self, wanted: bool, running: bool, fresh: bool) -> None:
        specs = self._specs
        if not wanted and running and specs.links:
            service.systemctl("stop", f"{_NAME}.path")
        try:
            for path, (_before, after) in specs.files.items():
                mode = 0o755 if path == PROGRAM else 0o644
                _state.write(_state.below(self._root, path), after, mode)
            for path, (before, after) in specs.links.items():
                place = _state.below(self._root, path)
                if before:
                    os.unlink(place)
                if after:
                    _state.make_folder(os.path.dirname(place))
                    os.symlink(after, place)
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
        specs, found = self._specs, cdi_nvidia.look(self._root)
        try:
            tool = find_program(cdi_nvidia.TOOL)
        except Unavailable as exc:
            specs.left["gpus"] = str(exc)
            return
        if not found.driver:
            specs.left["gpus"] = found.unread or "NVIDIA's driver is not loaded"
        if found.units and service.runs(self._root):
            self._refreshing(found)
        elif found.stale:
            folder = os.path.dirname(found.path)
            beside = [
                path
                for path in cdi_nvidia.files(self._root)
                if path != found.path and os.path.dirname(path) == folder
            ]
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
            for path, of in cdi_nvidia.files(self._root).items()
            if path not in going
        ]
        if len(named) > 1:
            # Source: container-device-interface, pkg/cdi/cache.go. Confidence: confirmed.
            self._specs.several = (
                f"the GPUs are described by {' and '.join(named)}. Of a device that two files of "
                "one folder name, engines take neither, else that of /var/run/cdi. Next: remove "
                "what nobody keeps up to date"
            )

    def _refreshing(self, found: cdi_nvidia.Gpus) -> None:
        """Have the toolkit's own units do it."""
        for unit in cdi_nvidia.UNITS:
            if service.systemctl("is-enabled", unit).stdout.strip() == "disabled":
                self._specs.units.append(unit)
                if not self._check:
                    self._must("enable", "--now", unit)
        known = _state.load(SUBJECT, self._root)
        if known.get("wrote") == cdi_nvidia.WRITTEN and self._read(cdi_nvidia.WRITTEN):
            # Ours of an earlier toolkit, which nobody would refresh any more.
            self._write(cdi_nvidia.WRITTEN, "", {})
        if not found.stale:
            return
        if known.get("tried") == found.driver:
            self._specs.left["gpus"] = _not_of(cdi_nvidia.UNITS[1], found)
            return
        self._specs.units.append(f"{cdi_nvidia.UNITS[1]} (started)")
        if self._check:
            return
        self._must("restart", cdi_nvidia.UNITS[1])
        after = cdi_nvidia.look(self._root)
        if after.stale:
            # Once is enough: nothing but another driver or toolkit would help.
            _state.save(SUBJECT, {"tried": found.driver}, self._root)
            self._specs.left["gpus"] = _not_of(cdi_nvidia.UNITS[1], after)

    def _must(self, *words: str) -> None:
        done = service.systemctl(*words)
        if done.rc != 0:
            raise EngineError(
                f"`systemctl {' '.join(words)}` failed: {_said(done)}",
                f"see `journalctl -u {words[-1]}`",
                changed=True,
            )

    def _generate(self, tool: str, found: cdi_nvidia.Gpus) -> None:
        try:
            done = run_program(cdi_nvidia.TOOL, [tool, "cdi", "generate"], _LIMIT_S)
        except Unavailable as exc:
            raise EngineError(str(exc), "run `nvidia-ctk cdi generate` by hand") from exc
        if done.rc != 0 or not done.stdout.strip():
            raise EngineError(
                f"`nvidia-ctk cdi generate` ended with status {done.rc}: {_said(done)}",
                "see that nvidia-smi works on the host",
            )
        made = replace(found, described=cdi_nvidia.versions(done.stdout))
        if made.stale:
            self._specs.left["gpus"] = _not_of("`nvidia-ctk cdi generate`", made)
        if done.stdout != self._read(found.path):
            self._write(found.path, done.stdout, {"wrote": found.path})

    def _write(self, path: str, text: str, known: dict[str, Any]) -> None:
        self._specs.files[path] = (self._read(path), text)
        if self._check:
            return
        try:
            _state.write(_state.below(self._root, path), text, 0o644)
        except OSError as exc:
            raise EngineError(
                f"{path} cannot be written: {exc.strerror}", "see that /etc/cdi can be written"
            ) from exc
        _state.save(SUBJECT, known, self._root)

    def _read(self, path: str) -> str:
        try:
            return _state.read(_state.below(self._root, path))
        except OSError as exc:
            raise EngineError(f"{path} cannot be read: {exc.strerror}", "look at it") from exc


def _read_by_any() -> bool:
    """Whether an engine is on the host that reads specifications."""
    for program in data.CDI_READERS:
        with contextlib.suppress(Unavailable):
            return bool(find_program(program))
    return False


def _not_of(by: str, found: cdi_nvidia.Gpus) -> str:
    return (
        f"{by} ran, and {found.path} is not of driver {found.driver} "
        f"({', '.join(found.described or ()) or 'no version in it'})"
    )


def _said(done: Output) -> str:
    return " ".join((done.stderr or done.stdout).split())[-400:] or "no word"
