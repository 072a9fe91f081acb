# SPDX-License-Identifier: GPL-3.0-or-later
"""A solved stack in the form that the lock holds (docs/architecture.md)."""

from __future__ import annotations

from typing import Any

from ansible_collections.ibready.cluster.plugins.plugin_utils._resolve.candidates import Candidate


def as_stack(chosen: dict[str, Candidate]) -> dict[str, Any]:
    """Parts that are absent are left out; versions are texts."""
    found: dict[str, Any] = {}
    for part, one in chosen.items():
        if part == "peer_memory":
            if not chosen["driver"].absent and not chosen["rdma"].absent:
                found[part] = {"method": one.method or "none"}
        elif one.absent:
            continue
        elif part == "rdma":
            found[part] = _rdma(one)
        elif part == "driver":
            found[part] = {"branch": one.branch, "version": one.version, "modules": one.modules}
        elif part == "nccl":
            found[part] = {"version": one.version, "cuda": one.cuda}
        else:
            found[part] = {"version": one.version}
    return found


def _rdma(one: Candidate) -> dict[str, str]:
    said = {"flavour": one.flavour, "version": one.version}
    driver = one.fact.get("nic_driver") if one.fact else ""
    if driver:
        said["nic_driver"] = driver
    return {key: value for key, value in said.items() if value}
