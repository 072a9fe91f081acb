# SPDX-License-Identifier: GPL-3.0-or-later
"""Names, addresses and hardware of the hosts."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from sandbox.config import Sandbox, checked_name, checked_subnet, state_of
from sandbox.hardware.tree import Tree
from sandbox.keys import KeyPair
from sandbox.machines.config import loopback
from sandbox.parcel import pack

DEFAULT_NAME = "ibready-real"
DEFAULT_SUBNET = "198.18.88"
# What each of them is.
HOSTS = {"real1": "debian", "real2": "ubuntu"}
DEVICES = "/sys/bus/pci/devices"
_ADDRESS = "0000:17:00.0"
# An A100 with PCIe: every driver of the last years has it, by the open modules and by the closed.
_GPU = {"class": "0x030200", "vendor": "0x10de", "device": "0x20f1", "numa_node": "0", "enable": "0"}


@dataclass(frozen=True)
class Hosts(Sandbox):
    """A container for each of HOSTS, and no fabric."""

    @property
    def containers(self) -> tuple[str, ...]:
        return tuple(map(self.container, HOSTS))

    @property
    def volumes(self) -> tuple[str, ...]:
        return ()

    @property
    def settings(self) -> Path:
        """What was made: name and subnet."""
        return self.state / "real.json"

    def address(self, node: str) -> str:
        return f"{self.subnet}.{self._number(node)}"

    def door(self, machine: str) -> str:
        """Where this computer reaches the sshd of a host that is a machine."""
        return loopback(self.subnet, self._number(machine))

    def file(self, machine: str, kind: str) -> Path:
        """A file of the machine in the directory of state."""
        return self.state / f"{machine}.{kind}"

    def _number(self, node: str) -> int:
        return 11 + list(HOSTS).index(node)


def hosts(name: str, subnet: str, state: str | None = None) -> Hosts:
    """Check the operator's choices and fill in the state directory."""
    return Hosts(checked_name(name), checked_subnet(subnet), state_of(name, state))


def hardware() -> Tree:
    """What lies below DEVICES: one GPU, by the names of its files."""
    tree = Tree()
    for name, text in _GPU.items():
        tree.file(f"/{_ADDRESS}/{name}", text)
    return tree


def files(box: Hosts, operator: str, own: KeyPair) -> bytes:
    """Return what makes a host of its image, as a tar."""
    mark = {
        "simulated": True,
        "hardware": True,
        "what": "one GPU on the PCI bus and the kernel's name; packages, modules and tools are the real ones",
        "sandbox": box.name,
    }
    return pack(
        {
            "etc/ibready-sandbox.json": (json.dumps(mark) + "\n", 0o644),
            "etc/ld.so.preload": ("/usr/local/lib/ibready-kernel-name.so\n", 0o644),
            "etc/ssh/ssh_host_ed25519_key": (own.private, 0o600),
            "etc/ssh/ssh_host_ed25519_key.pub": (own.public, 0o644),
            "home/ops/.ssh/authorized_keys": (operator, 0o644),
        }
    )
