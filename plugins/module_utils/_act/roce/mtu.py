# SPDX-License-Identifier: GPL-3.0-or-later
"""The MTU of RoCE interfaces: now by ``ip``, after a boot by the service that has them."""

from __future__ import annotations

import glob
import os
import re
from dataclasses import dataclass
from typing import Mapping

from ..._data import ipoib as services, roce_files as data
from ..._ground import state
from ..._ground.host_program import HostError
from ..._ground.text import ParseError
from ..._parse import ip_link
from ..ipoib import persist

_HEADER = "# Written by ibready.cluster.roce_settings. The next run undoes changes made by hand.\n"
_FILE = re.compile(r"^\s*Network File: (/\S+)$", re.MULTILINE)
_OTHERWISE = "without roce_mtu"
_AUTO = ("", "auto", "0", "--")


@dataclass(frozen=True)
class Change:
    """One interface whose MTU is not as it should be."""

    netdev: str
    before: int
    after: int


def look(wanted: Mapping[str, int]) -> list[Change]:
    """What is not right; HostError where an interface cannot have it, or cannot be looked at."""
    found = []
    for netdev, mtu in wanted.items():
        reported = persist.run("ip", "-j", "-d", "link", "show", "dev", netdev)
        try:
            (link,) = ip_link.parse(reported.stdout)
        except (ParseError, ValueError) as exc:
            raise HostError(
                f"{netdev}: its MTU cannot be told: {exc}. Next: look at `ip -d link show dev {netdev}`"
            ) from exc
        if link.most and mtu > link.most:
            raise HostError(f"{netdev} takes an MTU of {link.most} at most, not {mtu}. Next: correct roce_mtu")
        if link.mtu != mtu:
            found.append(Change(netdev, link.mtu, mtu))
    return found


def set_now(change: Change) -> None:
    """Set it at once; HostError where the kernel does not take it."""
    reported = persist.run("ip", "link", "set", "dev", change.netdev, "mtu", str(change.after))
    if reported.rc != 0:
        raise HostError(
            f"{change.netdev} does not take MTU {change.after}: {reported.said}. Next: correct roce_mtu, or"
            " give what lies below it (a bond, a VLAN's parent) that MTU first"
        )
    if look({change.netdev: change.after}):
        raise HostError(
            f"{change.netdev} was given MTU {change.after}, and it shows another. Next: look at"
            f" `ip -d link show dev {change.netdev}`"
        )


def files(wanted: Mapping[str, int], root: str = "/") -> dict[str, str]:
    """Texts by path, which keep the MTUs after a boot; HostError where no service has them."""
    if not wanted:
        return {}
    if persist.detect(root, _OTHERWISE) == services.MANAGER:
        for netdev, mtu in wanted.items():
            _refuse_profile(netdev, mtu)
        return {data.MANAGER_FILE: _HEADER + "".join(_section(*item) for item in wanted.items())}
    texts: dict[str, str] = {}
    by_file = {netdev: _network(netdev) for netdev in sorted(wanted)}
    _refuse_shared(by_file, root)
    for netdev, mtu in sorted(wanted.items()):
        path = f"{data.NETWORKD_FOLDER}/{by_file[netdev]}.d/{data.NETWORKD_DROPIN}"
        text = f"{_HEADER}[Link]\nMTUBytes={mtu}\n"
        texts[path] = text
    return texts


def ours(root: str = "/") -> dict[str, str]:
    """Every such file that is there."""
    patterns = (f"{data.NETWORKD_FOLDER}/*.network.d/{data.NETWORKD_DROPIN}", data.MANAGER_FILE)
    paths = [path for pattern in patterns for path in glob.glob(state.below(root, pattern))]
    return {"/" + os.path.relpath(path, root): state.read(path) for path in sorted(paths)}


def tell(changed: Mapping[str, str]) -> None:
    """Have the services read their files anew; one that does not run reads them when it starts."""
    ways = (
        (True, "NetworkManager.service", ["nmcli", "general", "reload", "conf"]),
        (False, "systemd-networkd.service", ["networkctl", "reload"]),
    )
    for manager, service, argv in ways:
        mine = any((path == data.MANAGER_FILE) is manager for path in changed)
        if not mine or not persist.active(service):
            continue
        reported = persist.run(*argv)
        if reported.rc != 0:
            raise HostError(
                f"`{' '.join(argv)}` ended with status {reported.rc}: {reported.said}. Next: look at"
                f" `journalctl -u {service}`"
            )


def _network(netdev: str) -> str:
    """The name of the file by which networkd sets the interface up, netplan's included."""
    name = _file_of(netdev)
    if not name:
        raise HostError(
            f"systemd-networkd has no file for {netdev}, so that its MTU would not outlast a boot."
            f" Next: have networkd or netplan set {netdev} up, or leave its MTU to the site"
            f" {_OTHERWISE}"
        )
    return name


def _file_of(netdev: str) -> str:
    reported = persist.run("networkctl", "--no-pager", "status", netdev)
    match = _FILE.search(reported.stdout)
    return os.path.basename(match.group(1)) if reported.rc == 0 and match is not None else ""


def _refuse_shared(by_file: Mapping[str, str], root: str) -> None:
    """HostError where a file is another interface's as well, which would get the MTU with it."""
    home = state.below(root, "/sys/class/net")
    for other in sorted(os.listdir(home)):
        if other in by_file or other == "lo" or not os.path.isdir(os.path.join(home, other)):
            continue
        name = _file_of(other)
        mine = [netdev for netdev, file in by_file.items() if file == name]
        if mine:
            raise HostError(
                f"{mine[0]} and {other} are set up by one file of networkd, {name}, so that {other}"
                f" would get roce_mtu as well. Next: give {mine[0]} a file of its own, or leave its"
                f" MTU to the site {_OTHERWISE}"
            )


def _section(netdev: str, mtu: int) -> str:
    """The MTU of whatever profile the interface has, unless that says one itself."""
    return f"[connection-ibready-roce-{netdev}]\nmatch-device=interface-name:{netdev}\nethernet.mtu={mtu}\n"


def _refuse_profile(netdev: str, mtu: int) -> None:
    name = persist.run("nmcli", "-g", "GENERAL.CONNECTION", "device", "show", netdev).stdout.strip()
    if not name:
        raise HostError(
            f"NetworkManager has no profile for {netdev}, so that its MTU would not outlast a boot."
            f" Next: give it one, or leave its MTU to the site {_OTHERWISE}"
        )
    own = persist.run("nmcli", "-g", "802-3-ethernet.mtu", "connection", "show", name).stdout.strip()
    if own not in (*_AUTO, str(mtu)):
        raise HostError(
            f"{netdev}: NetworkManager's profile {name!r} says MTU {own}, which goes before a"
            f" default. Next: `nmcli connection modify {name!r} 802-3-ethernet.mtu {mtu}`"
        )
