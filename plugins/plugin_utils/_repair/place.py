# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a host stands in the fabric: what a repair must not take away, and what a ticket has to name."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from ...module_utils._ground.link import INFINIBAND
from .._ground.dicts import as_dict

_NO_GUID = {"", "0x0"}
_INFINIBAND = (INFINIBAND, "IB")
_LINK_UP = "LinkUp"


def of(report: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Host -> ``leaves`` (GUIDs of the leaf switches that it hangs on, none where nobody saw), ``manager`` (whether the
    subnet manager of one of its fabrics is on it, None where that is not known), ``cables`` (HCA -> the far ends of its
    cables, in words). A host whose ports nobody could look at has no place.
    """
    fabrics = [as_dict(entry) for entry in as_dict(report.get("fabric")).get("fabrics") or ()]
    managers = {guid for host in report["hosts"].values() for _port, guid in _answers(host)}
    found = {}
    for name, host in report["hosts"].items():
        if not _ib(host):
            continue
        found[name] = {
            "leaves": sorted({leaf for fabric in fabrics for leaf in _leaves(fabric, name)}),
            "manager": _manages(host, managers),
            "cables": {hca: ends for fabric in fabrics for hca, ends in _cables(fabric, name).items()},
        }
    return found


def _manages(host: Mapping[str, Any], managers: Collection[str]) -> bool | None:
    """None where a port has no answer: the manager may be on it, and one that others know is another fabric's."""
    ports, answers = dict(_ports(host)), dict(_answers(host))
    if not set(ports.values()).isdisjoint(managers):
        return True
    return False if all(answers.get(name) for name in ports) else None


def _ib(host: Mapping[str, Any]) -> Mapping[str, Any]:
    return as_dict(as_dict(host.get("facts")).get("ib"))


def _answers(host: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Port -> GUID of the manager that answered it."""
    for name, answer in as_dict(_ib(host).get("sm")).items():
        guid = str(as_dict(as_dict(answer).get("sm")).get("guid") or "").lower()
        if guid not in _NO_GUID:
            yield name, guid


def _ports(host: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Name -> GUID of the InfiniBand ports that have a link: over no other does a manager reach anybody."""
    for ca in map(as_dict, _ib(host).get("cas") or ()):
        for port in map(as_dict, ca.get("ports") or ()):
            if port.get("link_layer") in _INFINIBAND and port.get("physical_state") == _LINK_UP:
                yield f"{ca.get('name')}/{port.get('num')}", str(port.get("port_guid") or "").lower()


def _nodes(fabric: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [as_dict(node) for node in fabric.get("nodes") or ()]


def _leaves(fabric: Mapping[str, Any], host: str) -> Iterator[str]:
    for node in _nodes(fabric):
        if node.get("host") == host and node.get("leaf"):
            yield str(node["leaf"])


def _cables(fabric: Mapping[str, Any], host: str) -> dict[str, list[str]]:
    names = {str(node.get("guid")): str(node.get("name") or node.get("guid")) for node in _nodes(fabric)}
    mine = {str(node.get("guid")): str(node.get("hca")) for node in _nodes(fabric) if node.get("host") == host}
    found: dict[str, list[str]] = {}
    for link in map(as_dict, fabric.get("links") or ()):
        for near, far in (("a", "b"), ("b", "a")):
            hca = mine.get(str(link.get(near)))
            if hca is not None:
                there = f"{names.get(str(link.get(far)), link.get(far))} port {link.get(f'{far}_port')}"
                found.setdefault(hca, []).append(there)
    return found
