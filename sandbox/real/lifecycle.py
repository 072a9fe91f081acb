# SPDX-License-Identifier: GPL-3.0-or-later
"""Bring the host up, take it down."""

from __future__ import annotations

import contextlib
import json
import shutil
import time

from sandbox import keys, lifecycle, podman, purpose
from sandbox.errors import SandboxError
from sandbox.real import image
from sandbox.real.host import DEVICES, NODE, Host, files, hardware
from sandbox.steps import Say, locked, step

# Where the host's sources name no archive, as on Ubuntu.
_DEBIAN = "http://deb.debian.org/debian"
# A first systemd on a busy computer.
_BOOT_SECONDS = 90.0


def up(box: Host, say: Say) -> None:
    """Make a bare host, from nothing."""
    begun = time.monotonic()
    purpose.asked()
    with locked(box):
        with step(say, "image"):
            recipe = image.ensure(say)
        _discard(box)
        try:
            with step(say, "the host runs, ssh answers"):
                _make(box, recipe)
        except BaseException:
            # An operator's Ctrl-C as well: half a host is of no use to anybody.
            with contextlib.suppress(SandboxError):
                _discard(box)
            raise
    say(f"{box.name} is up: {NODE} {box.address()}, for kernel {image.kernel(box.container(NODE))}")
    say(f"{'total':<46} {time.monotonic() - begun:5.1f} s")


def _make(box: Host, recipe: image.Recipe) -> None:
    box.state.mkdir(parents=True, mode=0o700)
    # First: by this file a host is known, however little of it was made.
    box.settings.write_text(json.dumps({"name": box.name, "subnet": box.subnet}) + "\n")
    shown = box.state / "pci"
    hardware().write(shown)
    operator = keys.make(box.private_key, f"ops@{box.name}")
    own = keys.make(box.state / "host", f"root@{NODE}")
    box.known_hosts.write_text(f"{box.address()} {' '.join(own.public.split()[:2])}\n")
    box.repositories.write_text(json.dumps({"distribution": {"base": recipe.source.mirror or _DEBIAN}}) + "\n")
    lifecycle.make_network(box)
    argv = [
        *lifecycle.labels(box),
        f"--name={box.container(NODE)}",
        f"--hostname={NODE}",
        f"--network={box.network}",
        f"--ip={box.address()}",
        *lifecycle.ISOLATION,
        f"--volume={shown}:{DEVICES}:ro",
        recipe.tag,
        "/sbin/init",
    ]
    lifecycle.start(box.container(NODE), argv, files(box, operator.public, own), box.state)
    lifecycle.wait_for_node(box, NODE, _BOOT_SECONDS)


def down(box: Host, say: Say) -> None:
    """Remove the host; its image stays."""
    with locked(box), step(say, f"{box.name} is down"):
        _discard(box)


def _discard(box: Host) -> None:
    podman.remove(box)
    if box.state.exists():
        if not box.settings.exists() and any(box.state.iterdir()):
            raise SandboxError(f"{box.state} is not such a host's state directory: choose another --state")
        shutil.rmtree(box.state)
