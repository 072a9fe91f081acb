# SPDX-License-Identifier: GPL-3.0-or-later
"""What soft RoCE a site wishes of a host, and why this host cannot have it."""

from __future__ import annotations

import re
from typing import Any, Mapping, Sequence

from ..._evidence import ask
from ..._evidence.sources import Evidence, Unavailable
from ..._ground.host_program import HostError
from ..._ground.text import ParseError
from ..._parse import modules_dep
from .program import Device, Links

MODULE = "rdma_rxe"
# ARPHRD_ETHER.
_ETHERNET = "1"
_NET = "/sys/class/net"
_KEYS = ("name", "netdev")
# The kernel takes more; these need no escape in a path, a command or a report.
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,31}")
_NETDEV = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,14}")
_ID = re.compile(r"^ID=\"?([a-z0-9._-]+)\"?$", re.MULTILINE)
# What brings the module where the kernel came without it, by os-release's ID.
_PACKAGES = {
    "ubuntu": "linux-modules-extra-{kernel}",
    "debian": "the full kernel (linux-image-amd64 or -arm64, not one named cloud)",
}
_OTHERWISE = "kernel-modules-extra-{kernel}"


def read(given: Sequence[Any]) -> Links:
    """The wish as devices and their interfaces; HostError where it cannot be meant."""
    found: Links = {}
    for number, entry in enumerate(given, 1):
        what = f"rdma_soft_roce, entry {number}"
        if not isinstance(entry, Mapping) or sorted(entry) != sorted(_KEYS):
            raise HostError(f"{what}: {entry!r}. Next: say {{name: rxe0, netdev: eth0}}")
        name, netdev = (str(entry[key]) for key in _KEYS)
        if not _NAME.fullmatch(name):
            raise HostError(f"{what}: {name!r} is no name of a device. Next: say one like rxe0")
        if not _NETDEV.fullmatch(netdev):
            raise HostError(f"{what}: {netdev!r} is no name of a network interface. Next: say one like eth0")
        if name in found:
            raise HostError(f"{what}: {name} is named twice. Next: give each its own name")
        other = next((known for known, on in found.items() if on == netdev), "")
        if other:
            raise HostError(
                f"{what}: {netdev} has {other} already, and the kernel takes one soft RoCE device"
                " an interface. Next: take one of them out"
            )
        found[name] = netdev
    return found


def refuse(evidence: Evidence, wanted: Links, devices: Mapping[str, Device], going: Sequence[str]) -> None:
    """HostError where the host cannot have it. ``going``: devices of ours that are to go."""
    present = ask.names(evidence, _NET).value or []
    for name, netdev in wanted.items():
        if netdev not in present:
            known = ", ".join(entry for entry in present if entry != "lo") or "none"
            raise HostError(
                f"{name}: this host has no interface {netdev}; it has {known}. Next: correct rdma_soft_roce"
            )
        kind = ask.text(evidence, f"{_NET}/{netdev}/type").value
        if kind != _ETHERNET:
            raise HostError(
                f"{name}: {netdev} is no Ethernet interface (type {kind or 'unknown'}), and RoCE"
                " needs one. Next: correct rdma_soft_roce"
            )
        there = devices.get(name)
        if there is not None and name not in going and there.netdev != netdev:
            what = f"soft RoCE on {there.netdev}" if there.netdev else "another RDMA device"
            raise HostError(
                f"{name} is {what} of this host, which ibready did not make. Next: choose another"
                " name in rdma_soft_roce, or delete that device"
            )
        others = [
            device.name
            for device in devices.values()
            if device.netdev == netdev and device.name != name and device.name not in going
        ]
        if others:
            raise HostError(
                f"{name}: {netdev} has the soft RoCE device {others[0]}, which ibready did not"
                f" make. Next: name that one in rdma_soft_roce, or `rdma link delete {others[0]}`"
            )


def refuse_kernel(evidence: Evidence) -> None:
    """HostError where the running kernel has no rdma_rxe."""
    if ask.names(evidence, f"/sys/module/{MODULE}").known:
        return
    kernel = ask.text(evidence, "/proc/sys/kernel/osrelease").value or "unknown"
    home = f"/lib/modules/{kernel}"
    built_in = ask.text(evidence, f"{home}/modules.builtin").value or ""
    try:
        if f"/{MODULE}.ko" in built_in or MODULE in modules_dep.parse(evidence.read(f"{home}/modules.dep")):
            return
    except (Unavailable, ParseError) as exc:
        raise HostError(
            f"soft RoCE: nobody can tell whether kernel {kernel} has {MODULE} ({exc}). Next: boot"
            " a kernel whose modules are installed; in a container, set it up on the host below"
        ) from exc
    system = _ID.search(ask.text(evidence, "/etc/os-release").value or "")
    package = _PACKAGES.get(system.group(1) if system else "", _OTHERWISE).format(kernel=kernel)
    raise HostError(f"soft RoCE: kernel {kernel} has no module {MODULE}. Next: install {package} (rdma_packages_extra)")
