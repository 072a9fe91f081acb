# SPDX-License-Identifier: GPL-3.0-or-later
"""Bring a pair of machines up, take it down, cut its power, tell how it is."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sandbox import keys
from sandbox.config import REPOSITORY
from sandbox.errors import SandboxError
from sandbox.machines import accel, base, disk, qemu
from sandbox.machines.config import DEFAULT_SUBNET, MACHINES, SSH_PORT, Home, Pair, known_as, pair
from sandbox.machines.seed import seed
from sandbox.steps import Say, locked, step

# Under emulation, with both machines on one core.
_BOOT_SECONDS = 300.0
# A pair that nobody takes down ends by itself.
MINUTES = 60.0
_MOST_MINUTES = 24 * 60.0


def up(box: Pair, say: Say, *, keep: bool, minutes: float) -> None:
    """Make two bare machines, unless `keep` and both answer."""
    begun = time.monotonic()
    if not 1 <= minutes <= _MOST_MINUTES:
        raise SandboxError(f"--minutes {minutes:g} is not between 1 and {_MOST_MINUTES:.0f}")
    with locked(box):
        if keep and all(_answers(box, machine) for machine in MACHINES):
            say(f"{box.name} is up: kept")
            return
        with step(say, "base image"):
            recipe = base.ensure(say)
        with step(say, "accelerator"):
            chosen = accel.choose(recipe.kernel)
        say(chosen.because)
        try:
            _discard(box)
            _make(box, recipe, chosen, minutes)
            with step(say, "both machines run, ssh answers"):
                wait(box)
        except BaseException:
            # An operator's Ctrl-C as well: half a pair is of no use to anybody.
            with contextlib.suppress(SandboxError):
                _discard(box)
            raise
    say(f"{box.name} is up: {', '.join(f'{m} {box.door(m)}:{SSH_PORT}' for m in MACHINES)}")
    say(f"ended by its watchdog in {minutes:.0f} minutes at the latest")
    say(f"{'total':<46} {time.monotonic() - begun:5.1f} s")


def _make(box: Pair, recipe: base.Recipe, chosen: accel.Accelerator, minutes: float) -> None:
    # Nobody else reads a machine's disk: its host key is there.
    box.state.mkdir(parents=True, mode=0o700)
    # First: by this file a pair is known, however little of it was made.
    settings = {
        "name": box.name,
        "subnet": box.subnet,
        "base": str(recipe.disk),
        "accelerator": chosen.options,
        "because": chosen.because,
        "until": time.time() + minutes * 60,
    }
    box.settings.write_text(json.dumps(settings, indent=2) + "\n")
    operator = keys.make(box.private_key, f"ops@{box.name}")
    known = []
    for machine in MACHINES:
        path = box.file(machine, "host")
        host = keys.make(path, f"root@{machine}")
        path.unlink()
        path.with_name(path.name + ".pub").unlink()
        known.append(f"{known_as(box, machine)} {' '.join(host.public.split()[:2])}\n")
        seeded = box.file(machine, "seed")
        seeded.touch(0o600)
        seeded.write_bytes(seed(box, machine, operator.public, host))
    box.known_hosts.write_text("".join(known))
    for machine in MACHINES:
        disk.overlay(recipe.disk, box.file(machine, "disk"))
        qemu.start(box, machine, qemu.argv(box, machine, chosen.options), minutes)


def start(box: Pair, machine: str, *, bare: bool) -> None:
    """Turn a machine on that is off, as it was left or with a fresh disk."""
    with locked(box):
        made = _made(box)
        left = (made["until"] - time.time()) / 60
        if left <= 0:
            raise SandboxError(f"the time of {box.name} is over: `up` makes a new pair")
        if bare:
            qemu.cut(box, machine)
            disk.overlay(Path(made["base"]), box.file(machine, "disk"))
        qemu.start(box, machine, qemu.argv(box, machine, made["accelerator"]), left)


def wait(box: Pair, machines: Iterable[str] = MACHINES, seconds: float = _BOOT_SECONDS) -> None:
    """Return when systemd on each machine says that it has started all."""
    deadline = time.monotonic() + seconds
    for machine in machines:
        state = arrived(box, machine, deadline)
        if state != "running":
            failed = _said(box, machine, ["systemctl", "--failed", "--plain", "--no-legend"], 60)
            raise SandboxError(f"{machine} came up {state or 'and says nothing'}: {failed}")


def arrived(box: Home, machine: str, deadline: float) -> str:
    """Return what systemd says of a machine when it has started all, or tried to."""
    while not _answers(box, machine):
        # qemu itself is not there for a moment while the machine reboots.
        if not qemu.keepers(box, machine):
            raise SandboxError(f"{machine} is off; its console: {_console(box, machine)}")
        if time.monotonic() > deadline:
            raise SandboxError(f"{machine} does not answer in time; its console: {_console(box, machine)}")
        time.sleep(0.5)
    left = max(30.0, deadline - time.monotonic())
    return _said(box, machine, ["systemctl", "is-system-running", "--wait"], left)


def _said(box: Home, machine: str, command: Iterable[str], seconds: float) -> str:
    """Return what a command in the machine wrote."""
    try:
        done = subprocess.run(
            ssh(box, machine, command),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        raise SandboxError(f"{machine} does not answer within {seconds:.0f} s") from None
    return done.stdout.decode(errors="replace").strip()


def ssh(box: Home, machine: str, command: Iterable[str]) -> list[str]:
    """Return the command line that runs a command as the ordinary user."""
    return [
        "ssh",
        *("-i", str(box.private_key), "-p", str(SSH_PORT)),
        *("-o", "IdentitiesOnly=yes", "-o", "BatchMode=yes", "-o", "ConnectTimeout=20"),
        *("-o", f'UserKnownHostsFile="{box.known_hosts}"', "-o", "GlobalKnownHostsFile=/dev/null"),
        *("-o", "StrictHostKeyChecking=yes", "-o", "LogLevel=ERROR"),
        f"ops@{box.door(machine)}",
        *command,
    ]


def down(box: Pair, say: Say) -> None:
    """Remove the pair; the base image stays."""
    with locked(box), step(say, f"{box.name} is down"):
        removed = _discard(box)
    if not removed:
        say("there was nothing to remove")


def made_here() -> list[Pair]:
    """Return the pairs whose state lies in this checkout."""
    found = []
    for file in sorted((REPOSITORY / ".sandbox").glob("*/machines.json")):
        try:
            settings = json.loads(file.read_text())
            found.append(pair(settings["name"], settings["subnet"]))
        except (ValueError, KeyError):
            # What made it was ended while it wrote this.
            found.append(pair(file.parent.name, DEFAULT_SUBNET))
    return found


def status(box: Pair) -> dict[str, Any]:
    """Return which machines run and answer."""
    if not box.settings.exists():
        return {"name": box.name, "healthy": False, "wrong": ["the machines are down"]}
    made = _made(box)
    wrong = []
    for machine in MACHINES:
        if qemu.alive(box, machine) is None:
            wrong.append(f"{machine} is off")
        elif not _answers(box, machine):
            wrong.append(f"{machine}: sshd does not answer")
    return {
        "name": box.name,
        "machines": {m: f"{box.door(m)}:{SSH_PORT}" for m in MACHINES},
        "because": made["because"],
        "minutes_left": round((made["until"] - time.time()) / 60),
        "healthy": not wrong,
        "wrong": wrong,
    }


def execute(box: Home, machine: str, command: list[str]) -> None:
    """Become ssh, with a command of the ordinary user (or a shell). Does not return."""
    argv = ssh(box, machine, command)
    os.execvp(argv[0], argv)


def _made(box: Pair) -> dict[str, Any]:
    try:
        made: dict[str, Any] = json.loads(box.settings.read_text())
    except FileNotFoundError:
        raise SandboxError(f"{box.name} is down: `up` first") from None
    except ValueError:
        raise SandboxError(f"{box.settings} was not written to its end: `up` first") from None
    return made


def _discard(box: Pair) -> bool:
    for machine in MACHINES:
        qemu.cut(box, machine)
    if not box.state.exists():
        return False
    if not box.settings.exists() and any(box.state.iterdir()):
        raise SandboxError(f"{box.state} is not a pair's state directory: choose another --state")
    shutil.rmtree(box.state)
    return True


def _answers(box: Home, machine: str) -> bool:
    """Whether sshd itself says hello: qemu takes the connection as soon as it runs."""
    if qemu.alive(box, machine) is None:
        return False
    try:
        with socket.create_connection((box.door(machine), SSH_PORT), timeout=10) as line:
            return line.recv(4) == b"SSH-"
    except OSError:
        return False


def _console(box: Home, machine: str) -> str:
    try:
        text = box.file(machine, "console").read_text(errors="replace")
    except FileNotFoundError:
        return "nothing"
    return " | ".join(text.split("\n")[-5:]).strip() or "nothing"
