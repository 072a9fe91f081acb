# SPDX-License-Identifier: GPL-3.0-or-later
"""Stacks that somebody shipped together: which fit a host, and whether a stack is one of them."""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.module_utils._parse.version_text import fits
from ansible_collections.ibready.cluster.plugins.plugin_utils._matrix.model import Fact, Matrix
from ansible_collections.ibready.cluster.plugins.plugin_utils._resolve.candidates import Candidate
from ansible_collections.ibready.cluster.plugins.plugin_utils._resolve.platform import Platform
from ansible_collections.ibready.cluster.plugins.plugin_utils._resolve.policy import (
    AUTO,
    NONE,
    Policy,
)

_VERSIONS = ("driver", "cuda", "nccl", "container_toolkit", "dcgm", "gdrcopy")
# Parts that a site asks for by itself: a stack that was shipped with them may be had without.
_ASKED_FOR = ("dcgm", "gdrcopy")


def of_system(host: Platform, matrix: Matrix) -> list[Fact]:
    """The stacks that would make this host's plan known, the youngest first.

    Nobody shipped one for a GPU that nobody knows.
    """
    if host.known_gpus != host.gpus:
        return []
    fitting = [
        fact
        for fact in matrix.all("stacks.stacks").values()
        if fact.get("system") in (None, host.system) and (fact.get("rdma") or not host.hcas)
    ]
    return sorted(fitting, key=lambda fact: str(fact.get("date")), reverse=True)


def wishes(fact: Fact, host: Platform, policy: Policy) -> dict[str, str]:
    """The stack as a policy, for what this host has a use for and the site does not do without."""
    found: dict[str, str] = {}
    rdma = fact.get("rdma")
    if rdma and (host.hcas or host.nvlsm):
        found = {"rdma_flavour": rdma["flavour"], "rdma_version": rdma["version"]}
    if host.gpus:
        unwanted = {NONE} if policy.driver != NONE else {NONE, AUTO}
        named = [
            one
            for one in _VERSIONS
            if one not in _ASKED_FOR and fact.get(one) and getattr(policy, one) not in unwanted
        ]
        found.update({one: fact.get(one) for one in named})
    return found


def shipped_together(chosen: dict[str, Candidate], host: Platform, matrix: Matrix) -> Fact | None:
    """The youngest stack that holds all that this one has and that it names at all."""
    rdma, driver = chosen["rdma"], chosen["driver"]
    if driver.absent:
        # Nothing but an RDMA stack: its vendor names the system.
        named = rdma.fact is not None and host.is_like(rdma.fact.get("tested_systems", []))
        return _by_vendor(rdma) if named else None
    for fact in of_system(host, matrix):
        if _same_rdma(fact, rdma) and all(_same(fact, chosen[one]) for one in _VERSIONS):
            return fact
    return None


def _by_vendor(rdma: Candidate) -> Fact | None:
    if rdma.fact is None or rdma.flavour == "inbox":
        return None
    return Fact(rdma.fact.section, rdma.fact.name, {**rdma.fact.fields, "date": rdma.version})


def _same_rdma(fact: Fact, one: Candidate) -> bool:
    named = fact.get("rdma")
    if one.absent:
        return True
    return bool(named) and (named["flavour"], named["version"]) == (one.flavour, one.version)


def _same(fact: Fact, one: Candidate) -> bool:
    named = fact.get(one.part)
    if one.absent or not named:
        return one.part != "driver" or bool(named)
    return fits(one.version, named)
