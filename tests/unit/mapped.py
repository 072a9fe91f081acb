# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts of a run object with what the page maps: ports, NVLinks, counters, versions. Made up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import FAIL, PASS, UNKNOWN, Check
from tests.unit import runs

GPUS, LINKS = 8, 18


def told(value: Any, why: str = "", missing: bool = False) -> dict[str, Any]:
    """A reading as JSON."""
    return {"value": value, "why": why, "missing": missing}


def port(state: str = "Active", rate: float | None = 400.0, guid: str = "0x1") -> dict[str, Any]:
    return {"num": 1, "state": state, "rate": rate, "port_guid": guid, "link_layer": "InfiniBand"}


def same(check_id: str, value: str, result: str = PASS, **bent: Any) -> Check:
    """What the fleet says of one version."""
    usual = {"expected": value, "expected_from": "fleet 3/3"}
    return runs.check(result, check_id, "host", observed=value, **{**usual, **bent})


def host(
    *more: Check,
    ports: Mapping[str, Mapping[str, Any]] | None = None,
    counters: Mapping[str, Any] | None = None,
    driver: str = "580.95.05",
    links: Mapping[int, tuple[int, list[int]]] | None = None,
    product: str = "HGX H100 8-GPU",
    **facts: Any,
) -> dict[str, Any]:
    """A healthy one; ``more`` checks, ``facts`` in place of its own, ``counters`` by port.

    ``ports``: by device, 8 of 400 Gb/s without; ``links``: by GPU, how many are up and which down.
    """
    mine = ports if ports is not None else {f"mlx5_{at}": port() for at in range(8)}
    checks = []
    for name, one in mine.items():
        result = PASS if one["state"] == "Active" else FAIL if one["state"] else UNKNOWN
        checks.append(
            runs.check(result, "ib.port.state", f"{name}/1", observed=one["state"])
            if result != UNKNOWN
            else runs.check(UNKNOWN, "ib.port.state", f"{name}/1", cause="ibstat tells no state")
        )
    zero = {"symbol_error": 0, "link_downed": 0}
    details = {f"{name}/1": {"counters": (counters or {}).get(f"{name}/1", told(zero))} for name in mine}
    nvlinks = {gpu: (LINKS, []) for gpu in range(GPUS)} | dict(links or {})
    names = ("nvidia-fabricmanager-580", "libnccl2", "containerd.io")
    whole = {
        "node": {"kernel": "6.8.0-85", "os": {"id": "ubuntu", "version": "24.04"}},
        "machine": {
            **{"product": product, "arch": "x86_64", "gpus": ["H100 SXM5"] * GPUS},
            "bios": told("1.5"),
        },
        "ib": {
            "cas": [{"name": name, "type": "MT4129", "fw": "28.43.1014", "ports": [one]} for name, one in mine.items()],
            "details": details,
            "sm": {},
        },
        "gpu": {"driver": driver, "gpus": [], "module": {"version": driver, "open": True}},
        "nvlink": {
            "links": [{"gpu": gpu, "active": active, "down": down} for gpu, (active, down) in nvlinks.items()],
            "errors": [],
            "pairs": {f"GPU0-GPU{other}": "NV18" for other in range(1, GPUS)},
            "fabric_manager": {"state": "active (running)", "package": driver, "log_errors": 0},
            "sxids": [],
        },
        "stack": {"packages": told([{"name": name, "version": "1.0"} for name in names])},
    }
    made = runs.judged(*checks, *more)
    return {**made, "facts": {**whole, **facts}}
