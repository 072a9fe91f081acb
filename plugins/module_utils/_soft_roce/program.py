# SPDX-License-Identifier: GPL-3.0-or-later
"""Add the host's soft RoCE devices (rdma_rxe), which every boot forgets.

This file stands alone (Python 3.8, nothing of this collection): the module soft_roce imports it,
and also puts it on the host, where a systemd unit runs it as soon as an interface is there:

    soft-roce add INTERFACE | show

What it did, and why it did not, is in the unit's log.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import Dict

CONFIG = "/etc/ibready/soft-roce.json"
DEVICES = "/sys/class/infiniband"
_MORE_PATH = "/usr/sbin:/sbin:/usr/bin:/bin"
_LIMIT = 30.0

# Device names and the interfaces that they sit on.
Links = Dict[str, str]


class SoftRoceError(Exception):
    """A soft RoCE device that cannot be had, or cannot go, with the reason and the next step."""


@dataclass(frozen=True)
class Device:
    """One RDMA device. ``netdev``: the interface that soft RoCE sits on, "" for any other kind."""

    name: str
    netdev: str


class Host:
    """The host whose / is ``root``: reads sysfs, and has iproute2's ``rdma`` add and delete."""

    def __init__(self, root: str = "/") -> None:
        self._root = root

    def place(self, path: str) -> str:
        return os.path.join(self._root, path.lstrip("/"))

    def devices(self) -> dict[str, Device]:
        """Every RDMA device by name. Of all drivers only rdma_rxe has a file ``parent``."""
        return {
            name: Device(name, self.text(f"{DEVICES}/{name}/parent"))
            for name in self.names(DEVICES)
        }

    def soft(self) -> Links:
        """The soft RoCE devices."""
        return {one.name: one.netdev for one in self.devices().values() if one.netdev}

    def names(self, path: str) -> list[str]:
        """What a directory holds, nothing where it is not there."""
        try:
            return sorted(os.listdir(self.place(path)))
        except (FileNotFoundError, NotADirectoryError):
            return []

    def text(self, path: str) -> str:
        """A file's text without the blanks around it, "" where it cannot be read."""
        try:
            with open(self.place(path), encoding="utf-8", errors="replace") as stream:
                return stream.read().strip()
        except OSError:
            return ""

    def add(self, name: str, netdev: str) -> bool:
        """Have the device there, and tell whether it had to be added."""
        known = self.devices()
        if name in known:
            if known[name].netdev == netdev:
                return False
            kind = f"soft RoCE on {known[name].netdev}" if known[name].netdev else "no soft RoCE"
            raise SoftRoceError(
                f"{name} cannot be added on {netdev}: a device of this name is there, {kind}."
                " Next: choose another name in rdma_soft_roce"
            )
        self.run("rdma", "link", "add", name, "type", "rxe", "netdev", netdev)
        made = self.devices().get(name)
        if made is None or made.netdev != netdev:
            raise SoftRoceError(
                f"`rdma link add {name} type rxe netdev {netdev}` said nothing, and there is no"
                f" such device. Next: look at `rdma link` and `journalctl -k | grep rxe`"
            )
        return True

    def delete(self, name: str) -> None:
        self.run("rdma", "link", "delete", name)
        if name in self.devices():
            raise SoftRoceError(
                f"`rdma link delete {name}` said nothing, and the device is still there. Next: look"
                " at `journalctl -k | grep rxe`"
            )

    def run(self, *argv: str) -> str:
        """What a program prints; SoftRoceError where it is missing, fails or does not end."""
        path = os.environ.get("PATH", os.defpath) + ":" + _MORE_PATH
        shown = " ".join(argv)
        try:
            done = subprocess.run(
                argv,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_LIMIT,
                env=dict(os.environ, PATH=path, LC_ALL="C"),
            )
        except FileNotFoundError:
            raise SoftRoceError(
                f"`{shown}` cannot be run: no program {argv[0]}. Next: install iproute2 (iproute on"
                " EL)"
            ) from None
        except (OSError, subprocess.TimeoutExpired) as exc:
            raise SoftRoceError(f"`{shown}` cannot be run: {exc}. Next: run it by hand") from exc
        if done.returncode:
            said = " ".join((done.stderr.strip() or done.stdout.strip()).split())[-300:]
            raise SoftRoceError(
                f"`{shown}` ended with status {done.returncode}: {said}. Next: look at"
                " `journalctl -k | grep rxe`"
            )
        return done.stdout

    def config(self) -> Links:
        """What this host is to have, {} where nobody says; SoftRoceError where it is no sense."""
        path = self.place(CONFIG)
        try:
            with open(path, encoding="utf-8") as stream:
                known = json.load(stream)
            links = known["links"]
            return {str(name): str(links[name]) for name in sorted(links)}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, TypeError) as exc:
            raise SoftRoceError(
                f"{path} cannot be read ({exc}). Next: remove it and run role rdma again"
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
    told = host.text(f"{DEVICES}/{name}/ports/1/state")
    return f"port 1 is {told.partition(': ')[2] or 'in no known state'}"


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
    except SoftRoceError as exc:
        print(f"soft-roce: {exc}", file=sys.stderr)
        return 1
    print("usage: soft-roce add INTERFACE | show", file=sys.stderr)
    return 64


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
