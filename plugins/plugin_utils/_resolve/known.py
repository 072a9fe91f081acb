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


def reason(chosen: dict[str, Candidate], host: Platform, matrix: Matrix) -> str:
    """Who put this stack together, in words; "" where nobody is known to have.

    A shipped stack has to hold all parts of this one that it names, and the driver.
    """
    rdma, alone = chosen["rdma"], chosen["driver"].absent
    shipped = "shipped" if alone else "shipped together"
    for fact in of_system(host, matrix):
        if _same_rdma(fact, rdma) and all(_same(fact, chosen[one]) for one in _VERSIONS):
            return f"{shipped}: {fact.source}, {fact.get('date')}"
    tested = rdma.fact.get("tested_systems", []) if rdma.fact else []
    if alone and host.is_like(tested) and rdma.fact is not None:
        return f"its vendor tested {rdma} on {host.system}: {rdma.fact.source}"
    return ""


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
