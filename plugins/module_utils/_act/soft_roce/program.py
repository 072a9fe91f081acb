# SPDX-License-Identifier: GPL-3.0-or-later
"""Add the host's soft RoCE devices (rdma_rxe), which every boot forgets.

The module soft_roce imports this, and also puts it on the host as a program that stands alone
(`host_program`), where a systemd unit runs it as soon as an interface is there:

    soft-roce add INTERFACE | show

What it did, and why it did not, is in the unit's log.
"""

# Of a program, not of a module: it prints and exits.
# pylint: disable=ansible-bad-function

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Dict

from ..._ground.host_program import HostError, Node

CONFIG = "/etc/ibready/soft-roce.json"
DEVICES = "/sys/class/infiniband"

# Device names and the interfaces that they sit on.
Links = Dict[str, str]


@dataclass(frozen=True)
class Device:
    """One RDMA device. ``netdev``: the interface that soft RoCE sits on, "" for any other kind."""

    name: str
    netdev: str


class Host(Node):
    """The host whose / is ``root``: reads sysfs, and has iproute2's ``rdma`` add and delete."""

    missing = "Next: install iproute2 (iproute on EL)"
    failing = "Next: look at `journalctl -k | grep rxe`"

    def devices(self) -> dict[str, Device]:
        """Every RDMA device by name. Of all drivers only rdma_rxe has a file ``parent``."""
        return {name: Device(name, self.text(f"{DEVICES}/{name}/parent")) for name in self.names(DEVICES)}

    def soft(self) -> Links:
        """The soft RoCE devices."""
        return {device.name: device.netdev for device in self.devices().values() if device.netdev}

    def add(self, name: str, netdev: str) -> bool:
        """Have the device there, and tell whether it had to be added."""
        known = self.devices()
        if name in known:
            if known[name].netdev == netdev:
                return False
            kind = f"soft RoCE on {known[name].netdev}" if known[name].netdev else "no soft RoCE"
            raise HostError(
                f"{name} cannot be added on {netdev}: a device of this name is there, {kind}."
                " Next: choose another name in rdma_soft_roce"
            )
        self.run("rdma", "link", "add", name, "type", "rxe", "netdev", netdev)
        made = self.devices().get(name)
        if made is None or made.netdev != netdev:
            raise HostError(
                f"`rdma link add {name} type rxe netdev {netdev}` said nothing, and there is no"
                f" such device. Next: look at `rdma link` and `journalctl -k | grep rxe`"
            )
        return True

    def delete(self, name: str) -> None:
        self.run("rdma", "link", "delete", name)
        if name in self.devices():
            raise HostError(
                f"`rdma link delete {name}` said nothing, and the device is still there. Next: look"
                " at `journalctl -k | grep rxe`"
            )

    def config(self) -> Links:
        """What this host is to have, {} where nobody says; HostError where it is no sense."""
        try:
            links = self.load(CONFIG)["links"]
            return {str(name): str(links[name]) for name in sorted(links)}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, TypeError) as exc:
            raise HostError(
                f"{self.place(CONFIG)} cannot be read ({exc}). Next: remove it and run role rdma again"
            ) from exc


def _add(host: Host, netdev: str) -> int:
    wanted = [name for name, on in host.config().items() if on == netdev]
    if not wanted:
        print(f"no soft RoCE is asked for on {netdev} ({CONFIG})")
    for name in wanted:
        done = "added (rdma_rxe, RDMA in software)" if host.add(name, netdev) else "was there"
        print(f"{name} on {netdev}: {done}, {_state(host, name)}")
    return 0


def _state(host: Host, name: str) -> str:
    reported = host.text(f"{DEVICES}/{name}/ports/1/state")
    return f"port 1 is {reported.partition(': ')[2] or 'in no known state'}"


def _show(host: Host) -> int:
    for name, netdev in host.soft().items():
        print(f"{name} on {netdev}: {_state(host, name)}")
    return 0


def main(argv: list[str], root: str = "/") -> int:
    """The program; exit status 0 done, 1 a device cannot be had, 64 usage."""
    host = Host(root)
    try:
        if len(argv) == 2 and argv[0] == "add":
            return _add(host, argv[1])
        if argv == ["show"]:
            return _show(host)
    except HostError as exc:
        print(f"soft-roce: {exc}", file=sys.stderr)
        return 1
    print("usage: soft-roce add INTERFACE | show", file=sys.stderr)
    return 64


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
