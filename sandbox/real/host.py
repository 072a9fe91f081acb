# SPDX-License-Identifier: GPL-3.0-or-later
"""Name, address and hardware of the host."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from sandbox.config import Sandbox, checked_name, checked_subnet, state_of
from sandbox.hardware.tree import Tree
from sandbox.keys import KeyPair
from sandbox.parcel import pack

DEFAULT_NAME = "ibready-real"
DEFAULT_SUBNET = "198.18.88"
NODE = "real1"
DEVICES = "/sys/bus/pci/devices"
_ADDRESS = "0000:17:00.0"
# An A100 with PCIe: every driver of the last years has it, by the open modules and by the closed.
_GPU = {"class": "0x030200", "vendor": "0x10de", "device": "0x20f1", "numa_node": "0", "enable": "0"}


@dataclass(frozen=True)
class Host(Sandbox):
    """One container, and no fabric."""

    @property
    def containers(self) -> tuple[str, ...]:
        return (self.container(NODE),)

    @property
    def volumes(self) -> tuple[str, ...]:
        return ()

    @property
    def settings(self) -> Path:
        """What was made: name and subnet."""
        return self.state / "real.json"

    def address(self, node: str = NODE) -> str:
        return f"{self.subnet}.11"


def host(name: str, subnet: str, state: str | None = None) -> Host:
    """Check the operator's choices and fill in the state directory."""
    return Host(checked_name(name), checked_subnet(subnet), state_of(name, state))


def hardware() -> Tree:
    """What lies below DEVICES: one GPU, by the names of its files."""
    tree = Tree()
    for name, text in _GPU.items():
        tree.file(f"/{_ADDRESS}/{name}", text)
    return tree


def files(box: Host, operator: str, own: KeyPair) -> bytes:
    """Return what makes a host of the image, as a tar."""
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
