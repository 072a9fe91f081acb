# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a host stands in the fabric: what a repair must not take away, and what a ticket has to name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .._ground.dicts import as_dict

_NO_GUID = {"", "0x0"}


def of(report: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Host -> ``leaves`` (GUIDs of the leaf switches that it hangs on), ``manager`` (whether the subnet manager that
    answers somebody is on it), ``cables`` (HCA -> the far ends of its cables, in words)."""
    fabrics = [as_dict(entry) for entry in as_dict(report.get("fabric")).get("fabrics") or ()]
    managers = {guid for host in report["hosts"].values() for guid in _managers(host)}
    found = {}
    for name, host in report["hosts"].items():
        found[name] = {
            "leaves": sorted({leaf for fabric in fabrics for leaf in _leaves(fabric, name)}),
            "manager": bool(managers & set(_ports(host))),
            "cables": {hca: ends for fabric in fabrics for hca, ends in _cables(fabric, name).items()},
        }
    return found


def _ib(host: Mapping[str, Any]) -> Mapping[str, Any]:
    return as_dict(as_dict(host.get("facts")).get("ib"))


def _managers(host: Mapping[str, Any]) -> Iterator[str]:
    for answer in as_dict(_ib(host).get("sm")).values():
        guid = str(as_dict(as_dict(answer).get("sm")).get("guid") or "").lower()
        if guid not in _NO_GUID:
            yield guid


def _ports(host: Mapping[str, Any]) -> Iterator[str]:
    for ca in _ib(host).get("cas") or ():
        for port in as_dict(ca).get("ports") or ():
            yield str(as_dict(port).get("port_guid") or "").lower()


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
