# SPDX-License-Identifier: GPL-3.0-or-later
"""Bring the interfaces to what is wished: the service, its files as texts by path, and back where it failed."""

from __future__ import annotations

import contextlib
import glob
import ipaddress
import os
import re
import shutil
import tempfile
import time
import uuid
from typing import Iterable, Mapping, Sequence

from ..._data import ipoib as data
from ..._evidence import ask
from ..._evidence.sources import Evidence
from ..._ground import state, unit as _unit
from ..._ground.command import Output, Unavailable, find_program, run_program
from . import ports
from .desired import IpoibError, Link

_HEADER = "# Written by the role ipoib of ibready. The next run undoes changes of others.\n"
LINKS = f"{data.NETWORKD_FOLDER}/05-ibready-*.link"
_OF_ONE = re.compile(
    r"/(?:60-ibready-([^/]+)\.network|ibready-([^/]+)\.nmconnection|10-netplan-([^/]+)\.network\.d/[^/]+)$"
)
_NETPLAN_NAME = re.compile(r"^ {4}(\S+):$", re.MULTILINE)
_SPACE = uuid.UUID("5f3c1f0e-6a3b-4c53-9f0a-1b2d7a5c9e10")
_LIMIT = 60.0
_PAUSE = 1.0
_VERSION = re.compile(r"systemd (\d+)")


def run(*argv: str, stdin: str = "") -> Output:
    """A program of the host; Unavailable where it is not there or does not end."""
    words = [find_program(argv[0]), *argv[1:]]
    if not stdin:
        return run_program(argv[0], words, _LIMIT)
    with open(stdin, "rb") as stream:
        return run_program(argv[0], words, _LIMIT, stdin=stream)


def _must(*argv: str, stdin: str = "") -> None:
    reported = run(*argv, stdin=stdin)
    if reported.rc != 0:
        raise IpoibError(f"`{' '.join(argv)}` ended with status {reported.rc}: {reported.said}")


def active(unit: str) -> bool:
    """Whether a unit runs; Unavailable where systemd does not say."""
    return _unit.is_up(run("systemctl", "is-active", unit), unit)


def systemd() -> int:
    """systemd's version; 0 where it cannot be told."""
    match = _VERSION.match(run("systemctl", "--version").stdout)
    return int(match.group(1)) if match else 0


def detect(root: str = "/", otherwise: str = "with ipoib_manage: false") -> str:
    """The service that has the host's interfaces; IpoibError where it is none that we know.

    ``otherwise``: how a site leaves them to itself.
    """
    networkd = active("systemd-networkd.service")
    if active("NetworkManager.service") and not networkd:
        return data.MANAGER
    if not networkd:
        raise IpoibError(
            "neither NetworkManager nor systemd-networkd runs on this host. Next: have one of them"
            f" run, or leave its interfaces to the site (ifupdown) {otherwise}"
        )
    with contextlib.suppress(Unavailable):
        find_program("netplan")
        if glob.glob(os.path.join(root, "etc/netplan/*.yaml")):
            return data.NETPLAN
    return data.NETWORKD


def refuse_backend(backend: str, links: Sequence[Link], version: int) -> None:
    """IpoibError where the service has no words for what is wished. ``version``: systemd's."""
    if backend == data.MANAGER:
        return
    if any(link.mode == data.CONNECTED for link in links):
        raise IpoibError(
            "systemd-networkd leaves a port's mode as it is, whatever its files and netplan's say"
            " (seen of systemd 252 and 257). Next: say mode: datagram, or let NetworkManager have"
            " the host's interfaces"
        )
    if version < data.NETWORKD_LEAST and any(link.pkey for link in links):
        raise IpoibError(
            f"systemd {version} knows no partitions of IPoIB, {data.NETWORKD_LEAST} does. Next:"
            " leave out pkeys on this host, or let NetworkManager have its interfaces"
        )


def ours(root: str = "/") -> dict[str, str]:
    """Every file that this role has written, whatever the service."""
    found = {}
    for backend in data.BACKENDS:
        for pattern in file_globs(backend):
            for path in sorted(glob.glob(os.path.join(root, pattern.lstrip("/")))):
                found["/" + os.path.relpath(path, root)] = state.read(path)
    return found


def validate(backend: str, texts: Mapping[str, str]) -> str:
    """Let the service's own tool read the texts; what it could not tell, "" where it did.

    IpoibError where it refuses one. Nothing of the host is touched.
    """
    with tempfile.TemporaryDirectory() as folder:
        for path, text in texts.items():
            state.write(os.path.join(folder, path.lstrip("/")), text, 0o600)
        if backend == data.NETPLAN:
            for path in glob.glob("/etc/netplan/*.yaml"):
                if path not in texts:
                    shutil.copy(path, os.path.join(folder, "etc/netplan"))
            _must("netplan", "generate", "--root-dir", folder)
        if backend == data.MANAGER:
            for path in (text for text in texts if text.endswith(".nmconnection")):
                place = os.path.join(folder, path.lstrip("/"))
                reported = run("nmcli", "--offline", "connection", "modify", "connection.zone", "", stdin=place)
                if reported.rc != 0 and "offline" in reported.stderr:
                    return "this nmcli cannot judge a profile offline (it needs release 1.40)"
                if reported.rc != 0:
                    raise IpoibError(f"nmcli refuses {path}: {reported.stderr.strip()[-300:]}")
    return "" if backend != data.NETWORKD else "systemd-networkd judges its files when it reads them"


def apply(backend: str, changed: Iterable[str], profiles: Mapping[str, str]) -> None:
    """Have the service read its files. ``changed``: interfaces that are there; ``profiles``: of
    NetworkManager, the file of each connection."""
    if backend == data.MANAGER:
        _must("nmcli", "connection", "reload")
        for name in profiles:
            _must("nmcli", "--wait", "20", "connection", "up", name)
        return
    if backend == data.NETPLAN:
        _must("netplan", "generate")
    _must("networkctl", "reload")
    for name in changed:
        _must("networkctl", "reconfigure", name)


def late(evidence: Evidence, links: Sequence[Link], parents: Mapping[str, str]) -> str:
    """What is not yet as wished, in words; "" where all is."""
    known = ports.addresses(evidence)
    for link in links:
        name = link.name(parents[link.port])
        if name not in known:
            return f"there is no interface {name}"
        file_mode = ask.text(evidence, f"/sys/class/net/{name}/mode").value
        if file_mode != link.mode:
            return f"{name} is in {file_mode or 'no known'} mode, not {link.mode}"
        if link.mtu and known[name].mtu != link.mtu:
            return (
                f"{name} has MTU {known[name].mtu}, not {link.mtu}: its partition's broadcast group"
                " may allow no more (mtu in subnet_manager_partitions)"
            )
        held = {f"{at.local}/{at.prefix}" for at in known[name].addresses}
        missing = [text for text in link.addresses if text not in held]
        if missing:
            return f"{name} has no address {missing[0]}"
    return ""


def settle(evidence: Evidence, links: Sequence[Link], parents: Mapping[str, str], wait: float) -> None:
    """Wait until all is as wished; IpoibError that says what is not."""
    deadline = time.monotonic() + wait
    while True:
        what = late(evidence, links, parents)
        if not what:
            return
        if time.monotonic() >= deadline:
            raise IpoibError(f"{what} after {wait:g} s")
        time.sleep(_PAUSE)


def render(backend: str, links: Sequence[Link], parents: Mapping[str, str]) -> dict[str, str]:
    """Texts by path. ``parents``: the interface of each port."""
    if backend == data.MANAGER:
        return {profile_path(link, parents): _profile(link, parents) for link in links}
    if backend == data.NETPLAN:
        own = [link for link in links if not link.pkey]
        texts = {data.NETPLAN_FILE: _netplan(own, parents)}
        for entry in own:
            children = _children(entry, links, parents)
            if children:
                # What netplan has no word for goes beside the file that it generates.
                name = parents[entry.port]
                path = f"{data.NETWORKD_FOLDER}/10-netplan-{name}.network.d/ibready.conf"
                texts[path] = f"{_HEADER}[Network]\n" + _named("IPoIB", children)
        return {**texts, **_networkd([link for link in links if link.pkey], links, parents)}
    return _networkd(links, links, parents)


def naming(links: Sequence[Link], places: Mapping[str, str]) -> dict[str, str]:
    """What has udev name the ports' interfaces. ``places``: of each port, its PCI function."""
    texts = {}
    for link in links:
        if link.wanted:
            text = f"{_HEADER}[Match]\nPath=pci-{places[link.port]}\nType=infiniband\n"
            # Interfaces of partitions are of the same function. It sorts before netplan's own.
            text += f"OriginalName=!*.*\n\n[Link]\nName={link.wanted}\n"
            texts[f"{data.NETWORKD_FOLDER}/05-ibready-{link.wanted}.link"] = text
    return texts


def file_globs(backend: str) -> tuple[str, ...]:
    """Where files of ours may lie that are no longer wished."""
    networkd = (
        f"{data.NETWORKD_FOLDER}/60-ibready-*.network",
        f"{data.NETWORKD_FOLDER}/60-ibready-*.netdev",
        LINKS,
    )
    return {
        data.MANAGER: (f"{data.MANAGER_FOLDER}/ibready-*.nmconnection", LINKS),
        data.NETPLAN: (
            data.NETPLAN_FILE,
            f"{data.NETWORKD_FOLDER}/10-netplan-*.network.d/ibready.conf",
            *networkd,
        ),
        data.NETWORKD: networkd,
    }[backend]


def interfaces_in(path: str, text: str) -> list[str]:
    """The interfaces that a file of ours sets up: they lose that where the file goes."""
    if path == data.NETPLAN_FILE:
        return _NETPLAN_NAME.findall(text)
    match = _OF_ONE.search(path)
    return [group for group in match.groups() if group] if match else []


def file_mode(path: str) -> int:
    """Permissions: netplan and NetworkManager leave aside, or warn of, what others may read."""
    return 0o644 if path.startswith(data.NETWORKD_FOLDER) else 0o600


def _children(link: Link, links: Sequence[Link], parents: Mapping[str, str]) -> list[str]:
    if link.pkey:
        return []
    parent = parents[link.port]
    return [child.name(parent) for child in links if child.port == link.port and child.pkey]


def _named(key: str, values: Sequence[str]) -> str:
    return "".join(f"{key}={value}\n" for value in values)


def _networkd(wanted: Sequence[Link], links: Sequence[Link], parents: Mapping[str, str]) -> dict[str, str]:
    texts = {}
    for link in wanted:
        name = link.name(parents[link.port])
        stem = f"{data.NETWORKD_FOLDER}/60-ibready-{name}"
        text = f"{_HEADER}[Match]\nName={name}\n\n[Link]\n"
        text += f"MTUBytes={link.mtu}\n" if link.mtu else ""
        # A host without a cable has to boot all the same.
        text += "RequiredForOnline=no\n\n[Network]\nDHCP=no\nLinkLocalAddressing=ipv6\n"
        text += "IPv6AcceptRA=no\n"
        text += _named("Address", link.addresses) + _named("IPoIB", _children(link, links, parents))
        texts[f"{stem}.network"] = text
        if link.pkey:
            kind = f"[NetDev]\nName={name}\nKind=ipoib\n\n[IPoIB]\nPartitionKey={link.pkey:#06x}\n"
            texts[f"{stem}.netdev"] = f"{_HEADER}{kind}Mode={link.mode}\n"
    return texts


def _netplan(own: Sequence[Link], parents: Mapping[str, str]) -> str:
    lines = [f"{_HEADER}network:", "  version: 2", "  ethernets:"]
    for link in own:
        lines += [f"    {parents[link.port]}:"]
        lines += [f"      mtu: {link.mtu}"] if link.mtu else []
        lines += ["      optional: true", "      dhcp4: false", "      accept-ra: false"]
        if link.addresses:
            lines += ["      addresses:", *(f'        - "{text}"' for text in link.addresses)]
    return "\n".join(lines) + "\n"


def profile_name(link: Link, parents: Mapping[str, str]) -> str:
    """The connection's name in NetworkManager."""
    return f"ibready-{link.name(parents[link.port])}"


def profile_path(link: Link, parents: Mapping[str, str]) -> str:
    """The connection's file."""
    return f"{data.MANAGER_FOLDER}/{profile_name(link, parents)}.nmconnection"


def _profile(link: Link, parents: Mapping[str, str]) -> str:
    name = profile_name(link, parents)
    text = f"{_HEADER}[connection]\nid={name}\nuuid={uuid.uuid5(_SPACE, name)}\ntype=infiniband\n"
    text += f"interface-name={link.name(parents[link.port])}\n\n[infiniband]\n"
    text += f"transport-mode={link.mode}\n" + (f"mtu={link.mtu}\n" if link.mtu else "")
    if link.pkey:
        text += f"p-key={link.pkey}\nparent={parents[link.port]}\n"
    for family, fallback in ((4, "disabled"), (6, "link-local")):
        listed = [text for text in link.addresses if ipaddress.ip_interface(text).version == family]
        text += f"\n[ipv{family}]\nmethod={'manual' if listed else fallback}\nnever-default=true\n"
        text += "".join(f"address{n}={address}\n" for n, address in enumerate(listed, 1))
    return text
