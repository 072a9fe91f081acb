# SPDX-License-Identifier: GPL-3.0-or-later
"""The driver's daemons on a node: they refuse to start where the real ones do, and then wait.

nvidia-persistenced holds the driver and makes nvidia-smi show persistence mode; the fabric manager
sets the NVSwitches up, so that nvidia-smi shows the fabric as completed. IMEX only runs.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from sandbox.hardware import driver, kmod
from sandbox.hardware.board import NVSWITCH
from sandbox.hardware.kernel import HOLDERS, Kernel
from sandbox.hardware.settings import node_kernel
from sandbox.hardware.tree import below

LOG = "/var/log/fabricmanager.log"
_NOTHING = (
    "request to query NVSwitch device information from NVSwitch driver failed with error:"
    "WARNING Nothing to do [NV_WARN_NOTHING_TO_DO]"
)
_MISMATCH = (
    "fabric manager NVIDIA GPU driver interface version {} don't match with driver version {}. "
    "Please update with matching NVIDIA driver package."
)


class Refused(Exception):
    """Why a daemon does not start, in its own words."""


def main(name: str, version: str, args: Sequence[str], root: Path = Path("/")) -> int:
    """Start the daemon of this name in the background once it can run; 1 where it cannot.

    ``args``: its own; ``--pid-file FILE`` is where its process id goes.
    """
    if "--version" in args or "-v" in args:
        title = "Fabric Manager version is" if name == driver.FABRICMANAGER else name
        print(f"{title} : {version}\nBuild Info - SIMULATED by an ibready sandbox")
        return 0
    starts: dict[str, Callable[[Kernel, str], None]] = {
        driver.PERSISTENCED: _persistenced,
        driver.FABRICMANAGER: _fabricmanager,
        driver.IMEX: _imex,
    }
    if "nvidia" not in _kernel(root).loaded:
        # The real ones call nvidia-modprobe; a refusal shows in what follows.
        kmod.main("modprobe", ["-q", "nvidia"], root)
    try:
        starts[name](_kernel(root), version)
    except Refused as exc:
        print(exc, file=sys.stderr)
        return 1
    if os.fork() == 0:
        _wait(name, root)
    # Until the child has told who it is, systemd must not look for it.
    for _ in range(200):
        if driver.running(root, name):
            break
        time.sleep(0.01)
    if "--pid-file" in args:
        place = Path(args[list(args).index("--pid-file") + 1])
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(below(root, f"{driver.DAEMONS}/{name}").read_text())
    return 0


def _kernel(root: Path) -> Kernel:
    kernel = node_kernel(root)
    kernel.read()
    return kernel


def _wait(name: str, root: Path) -> None:
    """Be the daemon until somebody ends it."""
    os.setsid()
    me = str(os.getpid())
    marks = [below(root, f"{driver.DAEMONS}/{name}")]
    if name != driver.IMEX:
        marks.append(below(root, f"{HOLDERS}/nvidia/{me}"))
    for mark in marks:
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.write_text(me + "\n")
    signal.sigwait({signal.SIGTERM, signal.SIGINT, signal.SIGHUP})
    for mark in marks:
        mark.unlink(missing_ok=True)
    os._exit(0)


def _persistenced(kernel: Kernel, version: str) -> None:
    module = driver.module(kernel)
    if not module or driver.library(kernel.root) != module or not driver.listed(kernel):
        why = f"version {version}, module {module or 'not loaded'}"
        raise Refused(f"nvidia-persistenced failed to initialize ({why}). Check syslog.")


def _imex(kernel: Kernel, version: str) -> None:
    module = driver.module(kernel)
    if module != version:
        raise Refused(f"IMEX {version}: the driver is {module or 'not loaded'}")


def _fabricmanager(kernel: Kernel, version: str) -> None:
    module = driver.module(kernel)
    switches = [entry for entry in kernel.board.of(NVSWITCH) if kernel.bound.get(entry.address)]
    log = [
        f"Fabric Manager version {version} is running with the following configuration options",
        "Logging level = 4",
        f"Logging file name/path = {LOG}",
    ]
    refusal = ""
    if not module or not switches:
        refusal = _NOTHING
    elif module != version:
        refusal = _MISMATCH.format(version, module)
    else:
        log += [f"start NVSwitch 0/{at} routing configuration" for at in range(len(switches))]
        log.append(
            "Successfully configured all the available NVSwitches to route GPU NVLink "
            "traffic. NVLink Peer-to-Peer support will be enabled once the GPUs are "
            "successfully registered with the NVLink fabric."
        )
    _write_log(kernel.root, log, refusal)
    if refusal:
        raise Refused(refusal)


def _write_log(root: Path, lines: list[str], error: str) -> None:
    now = time.localtime()
    stamp = time.strftime("%b %d %Y %H:%M:%S", now)
    place = below(root, LOG)
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.open("a") as file:
        file.write(f"Fabric Manager Log initializing at: {time.strftime('%m/%d/%Y %H:%M:%S', now)}.000\n")
        file.writelines(f"[{stamp}] [INFO] [tid {os.getpid()}] {line}\n" for line in lines)
        if error:
            file.write(f"[{stamp}] [ERROR] [tid {os.getpid()}] {error}\n")
