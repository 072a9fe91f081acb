# SPDX-License-Identifier: GPL-3.0-or-later
"""Names and addresses of one sandbox."""

from __future__ import annotations

import hashlib
import ipaddress
import json
import re
from dataclasses import dataclass
from pathlib import Path

from sandbox.errors import SandboxError

REPOSITORY = Path(__file__).resolve().parent.parent
DEFAULT_NAME = "ibready-demo"
DEFAULT_SUBNET = "198.18.77"

NODES = ("node1", "node2", "node3")
RAILS = ("ibsim0", "ibsim1")
# ibsim's own id of the host that the subnet manager runs on.
SM_HOST = "H-sm1"
# Which distribution the nodes play.
SYSTEMS = ("ubuntu", "el")

_NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")


class Persisted:
    """What has a directory of state: the files there that every kind of sandbox has."""

    state: Path

    @property
    def lock(self) -> Path:
        return self.state.with_name(self.state.name + ".lock")

    @property
    def private_key(self) -> Path:
        return self.state / "id_ed25519"

    @property
    def known_hosts(self) -> Path:
        return self.state / "known_hosts"


@dataclass(frozen=True)
class Sandbox(Persisted):
    """One sandbox: name, /24 (first three octets), directory of its state, what its nodes play."""

    name: str
    subnet: str
    state: Path
    system: str = "ubuntu"

    @property
    def owner(self) -> str:
        """What tells this checkout's sandbox from another's of the same name."""
        return str(self.state)

    @property
    def label(self) -> str:
        return f"ibready.sandbox={self.owner}"

    @property
    def network(self) -> str:
        return self.name

    @property
    def fabric(self) -> str:
        """The name of the fabric container."""
        return f"{self.name}-fabric"

    @property
    def fabric_address(self) -> str:
        return f"{self.subnet}.2"

    @property
    def vendor(self) -> Path:
        """The simulated vendor repositories, as the fabric container serves them."""
        return self.state / "vendor"

    @property
    def vendor_keys(self) -> Path:
        """The secret keys that sign them."""
        return self.state / "vendor-keys"

    @property
    def repositories(self) -> Path:
        """What the inventory reads of them: base URLs and fingerprints."""
        return self.state / "repositories.yml"

    def container(self, node: str) -> str:
        return f"{self.name}-{node}"

    def volume(self, node: str) -> str:
        """The volume with the simulated /sys/class/infiniband of a node."""
        return f"{self.name}-{node}-sysfs"

    def address(self, node: str) -> str:
        return f"{self.subnet}.{11 + NODES.index(node)}"

    def engines(self, node: str) -> str:
        """The volume of a node's container engines, whose overlayfs needs a real disk."""
        return f"{self.name}-{node}-engines"

    @property
    def saved(self) -> Path:
        """The files of the state as they were when the nodes were saved."""
        return self.state / "saved"

    def saved_image(self, node: str) -> str:
        # Another checkout may have a sandbox of this name, too.
        whose = hashlib.sha256(self.owner.encode()).hexdigest()[:12]
        return f"localhost/ibready-saved:{self.container(node)}-{whose}"

    @property
    def saved_images(self) -> tuple[str, ...]:
        return tuple(self.saved_image(node) for node in NODES)

    @property
    def containers(self) -> tuple[str, ...]:
        return (self.fabric, *(self.container(node) for node in NODES))

    @property
    def volumes(self) -> tuple[str, ...]:
        return tuple(name for node in NODES for name in (self.volume(node), self.engines(node)))


def sandbox(name: str, subnet: str, state: str | None = None, system: str | None = None) -> Sandbox:
    """Check the operator's choices and fill in the state directory."""
    home = state_of(checked_name(name), state)
    subnet = checked_subnet(subnet)
    return Sandbox(name=name, subnet=subnet, state=home, system=system or _recorded(home))


def checked_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise SandboxError(
            f"--name {name!r} cannot be a container name: use lower-case letters, digits and dashes, at most 40"
        )
    return name


def checked_subnet(subnet: str) -> str:
    try:
        ipaddress.IPv4Network(f"{subnet}.0/24")
    except ValueError:
        raise SandboxError(
            f"--subnet {subnet!r} is not the first three octets of a network: write it like {DEFAULT_SUBNET}"
        ) from None
    return subnet


def state_of(name: str, state: str | None) -> Path:
    """Return the state directory: the given one, or that of the name in this checkout."""
    return Path(state).absolute() if state else REPOSITORY / ".sandbox" / name


def _recorded(home: Path) -> str:
    """Return what the nodes of a sandbox that is there play."""
    try:
        made = json.loads((home / "sandbox.json").read_text())
    except (OSError, ValueError):
        return SYSTEMS[0]
    return str(made.get("system", SYSTEMS[0]))


def sim_host(node: str, rail: int) -> str:
    """Return ibsim's id of one HCA, for example ``H-node1-0``."""
    return f"H-{node}-{rail}"


def node_guid(node: str, rail: int) -> int:
    """Return the node GUID of one HCA: locally administered, so it is nobody's real one."""
    return 0x0200_0000_0000_0000 | (NODES.index(node) + 1) << 16 | rail << 4
