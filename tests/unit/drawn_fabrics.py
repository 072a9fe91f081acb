# SPDX-License-Identifier: GPL-3.0-or-later
"""Judged fabrics as report["fabric"]["fabrics"] has them. Made up, nothing was recorded."""

from __future__ import annotations

from typing import Any


def guid(kind: int, number: int) -> str:
    return f"0x{kind:04x}{number:012x}"


def switch(kind: int, number: int, level: str) -> dict[str, Any]:
    names = {1: "leaf", 2: "spine", 3: "core"}
    return {
        "guid": guid(kind, number),
        "name": f"{names[kind]}{number:03}",
        "type": "switch",
        "host": "",
        "hca": "",
        "rail": None,
        "level": level,
        "leaf": "",
    }


def link(a: str, a_port: int, b: str, b_port: int, state: str = "ok", why: str = "") -> Any:
    return {
        **{"a": a, "a_port": a_port, "b": b, "b_port": b_port},
        **{"width": "4x", "speed": "NDR", "gbps": 400.0, "state": state, "why": why},
    }


def fat_tree(hosts: int, rails: int = 2, per_leaf: int = 16, spines: int = 2, cables: int = 1) -> dict[str, Any]:
    """A rail-optimised fat tree: HCA i of every host on a leaf of rail i."""
    nodes = [switch(2, number, "spine") for number in range(1, spines + 1)]
    links = []
    leaves = 0
    for rail in range(1, rails + 1):
        for start in range(0, hosts, per_leaf):
            leaves += 1
            leaf = switch(1, leaves, "leaf")
            nodes.append(leaf)
            for at, host in enumerate(range(start, min(start + per_leaf, hosts)), 1):
                own = guid(0x10 + rail, host)
                nodes.append(
                    {
                        "guid": own,
                        "name": f"node{host + 1} mlx5_{rail - 1}",
                        "type": "ca",
                        "host": f"node{host + 1}",
                        "hca": f"mlx5_{rail - 1}/1",
                        "rail": rail,
                        "level": "",
                        "leaf": leaf["guid"],
                    }
                )
                links.append(link(own, 1, leaf["guid"], at))
            for spine in range(1, spines + 1):
                for cable in range(cables):
                    port = per_leaf + (spine - 1) * cables + cable + 1
                    far = (leaves - 1) * cables + cable + 1
                    # Ports are bytes; a made-up spine may need more than there are.
                    links.append(link(leaf["guid"], port, guid(2, spine), min(far, 255)))
    return {
        "name": "fabric",
        "asked": "node1 mlx5_0/1",
        "verdict": "ready",
        "checks": [],
        "nodes": nodes,
        "links": links,
    }


def bent(fabric: dict[str, Any], *states: str) -> dict[str, Any]:
    """The fabric with every third link in one of these states."""
    for number, state in enumerate(states):
        fabric["links"][3 * number].update(state=state, why=f"because of <{state}>")
    return fabric


def matrix(side: int, by: str = "host", size: int = 1, rail: str = "mlx5_0/1") -> dict[str, Any]:
    """A square of one rail in which all pairs were tested and answered."""

    def table(value: Any) -> list[list[Any]]:
        return [
            [None if row == column and size == 1 else value(row, column) for column in range(side)]
            for row in range(side)
        ]

    def tested(row: int, column: int) -> int:
        return size * size - (size if row == column else 0)

    return {
        "rail": rail,
        "by": by,
        "rows": [f"node{at + 1}" for at in range(side)],
        "size": [size] * side,
        "tested": [[tested(row, column) for column in range(side)] for row in range(side)],
        "bad": [[0] * side for _ in range(side)],
        "loss": table(lambda row, column: 0.0),
        "rtt_ms": table(lambda row, column: 0.01 + 0.001 * ((7 * row + column) % 9)),
    }


def lost(square: dict[str, Any], row: int, column: int, percent: float) -> None:
    """A cell in which one pair lost pings."""
    square["bad"][row][column] = 1
    square["loss"][row][column] = percent


def untested(square: dict[str, Any], row: int, column: int) -> None:
    """A cell of which no pair was tested."""
    square["tested"][row][column] = 0
    square["loss"][row][column] = square["rtt_ms"][row][column] = None
