# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts to plan for, as node_facts tells of them."""

from __future__ import annotations

from typing import Any

from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.plan.install import Sites
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.plan.make import Host

NOW = "2026-11-20T12:00:00+00:00"
LATER = "2026-11-21T12:00:00+00:00"
PRINT = "A" * 40
SITES = Sites(
    {
        name: {"base": f"http://mirror.example.com/{name}/", "fingerprints": [PRINT]}
        for name in ("doca", "mlnx_ofed", "cuda", "container_toolkit")
    }
)


def node(gpu: str = "2330", os: tuple[str, str] = ("ubuntu", "24.04"), **other: Any) -> dict[str, Any]:
    """Facts of an HGX H100, or of a host with another GPU ("" for none)."""
    return {
        "os": {"id": os[0], "version": os[1]},
        "kernel": "6.8.0-88-generic",
        "machine": "x86_64",
        "gpus": [{"vendor": "10de", "device": gpu}] * 8 if gpu else [],
        "nvswitches": ["22a3"] * 4 if gpu == "2330" else [],
        "hcas": [{"vendor": "15b3", "device": "1021"}] * 8,
        "installed": {"rdma": "inbox 50.0", "driver": ""},
        "engines": {},
        **other,
    }


def host(name: str = "node1", /, *, wish: dict[str, Any] | None = None, **other: Any) -> Host:
    return Host(name, node(**other), wish or {})
