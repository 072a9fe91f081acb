# SPDX-License-Identifier: GPL-3.0-or-later
"""The interfaces as the host's network service keeps them: texts by path."""

from __future__ import annotations

import ipaddress
import re
import uuid
from typing import Mapping, Sequence

from ansible_collections.ibready.cluster.plugins.module_utils._data import ipoib as data
from ansible_collections.ibready.cluster.plugins.module_utils._ipoib.wish import Link

HEADER = "# Written by the role ipoib of ibready. The next run undoes changes of others.\n"
LINKS = f"{data.NETWORKD_FOLDER}/05-ibready-*.link"
_OF_ONE = re.compile(
    r"/(?:60-ibready-(.+)\.network|ibready-(.+)\.nmconnection|10-netplan-(.+)\.network\.d/[^/]+)$"
)
_NETPLAN_NAME = re.compile(r"^ {4}(\S+):$", re.MULTILINE)
_SPACE = uuid.UUID("5f3c1f0e-6a3b-4c53-9f0a-1b2d7a5c9e10")


def render(backend: str, links: Sequence[Link], parents: Mapping[str, str]) -> dict[str, str]:
    """Texts by path. ``parents``: the interface of each port."""
    if backend == data.MANAGER:
        return {profile_path(one, parents): _profile(one, parents) for one in links}
    if backend == data.NETPLAN:
        own = [one for one in links if not one.pkey]
        texts = {data.NETPLAN_FILE: _netplan(own, parents)}
        for one in own:
            children = _children(one, links, parents)
            if children:
                # What netplan has no word for goes beside the file that it generates.
                name = parents[one.port]
                path = f"{data.NETWORKD_FOLDER}/10-netplan-{name}.network.d/ibready.conf"
                texts[path] = f"{HEADER}[Network]\n" + _named("IPoIB", children)
        return {**texts, **_networkd([one for one in links if one.pkey], links, parents)}
    return _networkd(links, links, parents)


def naming(links: Sequence[Link], places: Mapping[str, str]) -> dict[str, str]:
    """What has udev name the ports' interfaces. ``places``: of each port, its PCI function."""
    texts = {}
    for one in links:
        if one.wanted:
            text = f"{HEADER}[Match]\nPath=pci-{places[one.port]}\nType=infiniband\n"
            # Interfaces of partitions are of the same function. It sorts before netplan's own.
            text += f"OriginalName=!*.*\n\n[Link]\nName={one.wanted}\n"
            texts[f"{data.NETWORKD_FOLDER}/05-ibready-{one.wanted}.link"] = text
    return texts


def globs(backend: str) -> tuple[str, ...]:
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


def interfaces(path: str, text: str) -> list[str]:
    """The interfaces that a file of ours sets up: they lose that where the file goes."""
    if path == data.NETPLAN_FILE:
        return _NETPLAN_NAME.findall(text)
    match = _OF_ONE.search(path)
    return [one for one in match.groups() if one] if match else []


def mode(path: str) -> int:
    """Permissions: netplan and NetworkManager leave aside, or warn of, what others may read."""
    return 0o644 if path.startswith(data.NETWORKD_FOLDER) else 0o600


def _children(one: Link, links: Sequence[Link], parents: Mapping[str, str]) -> list[str]:
    if one.pkey:
        return []
    parent = parents[one.port]
    return [child.name(parent) for child in links if child.port == one.port and child.pkey]


def _named(key: str, values: Sequence[str]) -> str:
    return "".join(f"{key}={one}\n" for one in values)


def _networkd(
    wanted: Sequence[Link], links: Sequence[Link], parents: Mapping[str, str]
) -> dict[str, str]:
    texts = {}
    for one in wanted:
        name = one.name(parents[one.port])
        stem = f"{data.NETWORKD_FOLDER}/60-ibready-{name}"
        text = f"{HEADER}[Match]\nName={name}\n\n[Link]\n"
        text += f"MTUBytes={one.mtu}\n" if one.mtu else ""
        # A host without a cable has to boot all the same.
        text += "RequiredForOnline=no\n\n[Network]\nDHCP=no\nLinkLocalAddressing=ipv6\n"
        text += "IPv6AcceptRA=no\n"
        text += _named("Address", one.addresses) + _named("IPoIB", _children(one, links, parents))
        texts[f"{stem}.network"] = text
        if one.pkey:
            kind = f"[NetDev]\nName={name}\nKind=ipoib\n\n[IPoIB]\nPartitionKey={one.pkey:#06x}\n"
            texts[f"{stem}.netdev"] = f"{HEADER}{kind}Mode={one.mode}\n"
    return texts


def _netplan(own: Sequence[Link], parents: Mapping[str, str]) -> str:
    lines = [f"{HEADER}network:", "  version: 2", "  ethernets:"]
    for one in own:
        lines += [f"    {parents[one.port]}:"]
        lines += [f"      mtu: {one.mtu}"] if one.mtu else []
        lines += ["      optional: true", "      dhcp4: false", "      accept-ra: false"]
        if one.addresses:
            lines += ["      addresses:", *(f'        - "{text}"' for text in one.addresses)]
    return "\n".join(lines) + "\n"


def profile_name(one: Link, parents: Mapping[str, str]) -> str:
    """The connection's name in NetworkManager."""
    return f"ibready-{one.name(parents[one.port])}"


def profile_path(one: Link, parents: Mapping[str, str]) -> str:
    """The connection's file."""
    return f"{data.MANAGER_FOLDER}/{profile_name(one, parents)}.nmconnection"


def _profile(one: Link, parents: Mapping[str, str]) -> str:
    name = profile_name(one, parents)
    text = f"{HEADER}[connection]\nid={name}\nuuid={uuid.uuid5(_SPACE, name)}\ntype=infiniband\n"
    text += f"interface-name={one.name(parents[one.port])}\n\n[infiniband]\n"
    text += f"transport-mode={one.mode}\n" + (f"mtu={one.mtu}\n" if one.mtu else "")
    if one.pkey:
        text += f"p-key={one.pkey}\nparent={parents[one.port]}\n"
    for family, fallback in ((4, "disabled"), (6, "link-local")):
        listed = [text for text in one.addresses if ipaddress.ip_interface(text).version == family]
        text += f"\n[ipv{family}]\nmethod={'manual' if listed else fallback}\nnever-default=true\n"
        text += "".join(f"address{n}={address}\n" for n, address in enumerate(listed, 1))
    return text
