# SPDX-License-Identifier: GPL-3.0-or-later
"""Bring the hosts up, take them down."""

from __future__ import annotations

import contextlib
import json
import shutil
import time

from sandbox import apt, keys, lifecycle, podman, purpose
from sandbox.errors import SandboxError
from sandbox.real import image, machine
from sandbox.real.host import DEVICES, HOSTS, Hosts, files, hardware
from sandbox.steps import Say, locked, step

# A first systemd on a busy computer.
_BOOT_SECONDS = 90.0


def up(box: Hosts, say: Say) -> None:
    """Make bare hosts, from nothing."""
    begun = time.monotonic()
    purpose.asked()
    with locked(box):
        with step(say, "images"):
            recipes = image.ensure(tuple(HOSTS.values()), say)
        _discard(box)
        try:
            with step(say, "the hosts run, ssh answers"):
                _make(box, recipes)
        except BaseException:
            # An operator's Ctrl-C as well: half of it is of no use to anybody.
            with contextlib.suppress(SandboxError):
                _discard(box)
            raise
    for node, system in HOSTS.items():
        say(f"{node} is up: {system}, {box.address(node)}, for kernel {image.kernel(box.container(node))}")
    say(f"{'total':<46} {time.monotonic() - begun:5.1f} s")


def _make(box: Hosts, recipes: dict[str, image.Recipe]) -> None:
    box.state.mkdir(parents=True, mode=0o700)
    # First: by this file they are known, however little of them was made.
    box.settings.write_text(json.dumps({"name": box.name, "subnet": box.subnet}) + "\n")
    hardware().write(box.state / "pci")
    operator = keys.make(box.private_key, f"ops@{box.name}")
    lifecycle.make_network(box)
    known = []
    for node, system in HOSTS.items():
        own = keys.make(box.file(node, "host"), f"root@{node}")
        known.append(f"{box.address(node)} {' '.join(own.public.split()[:2])}\n")
        argv = _argv(box, node, recipes[system].tag)
        lifecycle.start(box.container(node), argv, files(box, operator.public, own), box.state)
    box.known_hosts.write_text("".join(known))
    for node, system in HOSTS.items():
        lifecycle.wait_for_node(box, node, _BOOT_SECONDS)
        if system == "debian":
            # A fresh host has main alone; the other parts are beside it.
            first = apt.parse("list", podman.text(["exec", box.container(node), "cat", "/etc/apt/sources.list"]))[0]
            box.repositories.write_text(json.dumps({"distribution": {"base": first.uri}}) + "\n")


def _argv(box: Hosts, node: str, tag: str) -> list[str]:
    return [
        *lifecycle.labels(box),
        f"--name={box.container(node)}",
        f"--hostname={node}",
        f"--network={box.network}",
        f"--ip={box.address(node)}",
        *lifecycle.ISOLATION,
        f"--volume={box.state / 'pci'}:{DEVICES}:ro",
        tag,
        "/sbin/init",
    ]


def down(box: Hosts, say: Say) -> None:
    """Remove the hosts; their images stay."""
    with locked(box), step(say, f"{box.name} is down"):
        _discard(box)


def _discard(box: Hosts) -> None:
    machine.off(box)
    podman.remove(box)
    if box.state.exists():
        if not box.settings.exists() and any(box.state.iterdir()):
            raise SandboxError(f"{box.state} is not such hosts' state directory: choose another --state")
        shutil.rmtree(box.state)
