# SPDX-License-Identifier: GPL-3.0-or-later
"""Names, addresses and files of one pair of machines."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sandbox.config import Persisted, checked_name, checked_subnet, state_of
from sandbox.errors import SandboxError

DEFAULT_NAME = "ibready-machines"
DEFAULT_SUBNET = "198.18.74"
MACHINES = ("vm1", "vm2")
# The interfaces of a machine: ssh and packages, and what the machines say to each other.
CARDS = ("management", "data")
SSH_PORT = 2222


class Home(Protocol):
    """Where machines are at home: a directory of state, and a door into each of them."""

    @property
    def name(self) -> str: ...
    @property
    def state(self) -> Path: ...
    @property
    def private_key(self) -> Path: ...
    @property
    def known_hosts(self) -> Path: ...

    def door(self, machine: str) -> str:
        """Where this computer reaches the machine's sshd (SSH_PORT): a loopback address of its own."""

    def file(self, machine: str, kind: str) -> Path:
        """A file of the machine in the directory of state."""


def loopback(subnet: str, number: int) -> str:
    """A loopback address that no other sandbox's machine has, by its network."""
    _, second, third = subnet.split(".")
    return f"127.{second}.{third}.{number}"


def known_as(home: Home, machine: str) -> str:
    """The machine's name in known_hosts."""
    return f"[{home.door(machine)}]:{SSH_PORT}"


@dataclass(frozen=True)
class Pair(Persisted):
    """Two machines: name, /24 of their data network (first three octets), directory of state."""

    name: str
    subnet: str
    state: Path

    @property
    def settings(self) -> Path:
        """What was made: name, subnet, base image, accelerator."""
        return self.state / "machines.json"

    def address(self, machine: str) -> str:
        """The address on the data network."""
        return f"{self.subnet}.{11 + MACHINES.index(machine)}"

    def door(self, machine: str) -> str:
        """Where this computer reaches the machine's sshd: a loopback address of the pair's own."""
        return loopback(self.subnet, 11 + MACHINES.index(machine))

    def file(self, machine: str, kind: str) -> Path:
        """A file of one machine: disk, seed, console, log, pid, qmp or data."""
        return self.state / f"{machine}.{kind}"


def pair(name: str, subnet: str, state: str | None = None) -> Pair:
    """Check the operator's choices and fill in the state directory."""
    return Pair(checked_name(name), checked_subnet(subnet), state_of(name, state))


def machine(given: str) -> str:
    """Return the name of a machine, or refuse it."""
    if given not in MACHINES:
        raise SandboxError(f"there is no machine {given!r}: choose {' or '.join(MACHINES)}")
    return given


def cache() -> Path:
    """Where the base images of this user's checkouts are kept."""
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(home) / "ibready" / "machines"
