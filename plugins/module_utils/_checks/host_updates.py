# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge whether automatic updates leave drivers and RDMA packages alone."""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.module_utils._checks import host_scope
from ansible_collections.ibready.cluster.plugins.module_utils._checks._look import look
from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import (
    Check,
    failed,
    passed,
    skipped,
    unknown,
)
from ansible_collections.ibready.cluster.plugins.module_utils._checks.host_scope import HOST
from ansible_collections.ibready.cluster.plugins.module_utils._expect import CAPABILITY
from ansible_collections.ibready.cluster.plugins.module_utils._facts.host import (
    HostFacts,
    UpdateFacts,
)
from ansible_collections.ibready.cluster.plugins.module_utils._facts.machine import Machine

_CHECK = "host.updates.held"
_EXPECTED = "no driver or RDMA package changes by itself"
# A pattern that holds one of these words is meant for them.
_OF_GPUS = ("nvidia", "cuda-drivers")
_OF_HCAS = ("mlnx", "ofed", "doca", "rdma", "ibverbs", "infiniband")
_EVERYTHING = ("*", ".*", ".", "")


def judge(facts: HostFacts, machine: Machine) -> list[Check]:
    """The host.updates.* checks."""
    scope = (
        host_scope.real(machine)
        .then(host_scope.outside_container(machine))
        .then(host_scope.with_gpu_or_hca(machine))
    )
    return scope.judge(_CHECK, lambda: [_held(facts.updates, machine)])


def _held(updates: UpdateFacts, machine: Machine) -> Check:
    def judge(who: str) -> Check:
        if not who:
            return passed(_CHECK, HOST, f"off: {updates.why}", _EXPECTED, CAPABILITY)
        left = updates.left_alone
        if left.value is None:
            return unknown(_CHECK, HOST, f"{who} installs updates; {left.why}")
        wanted: dict[str, tuple[str, ...]] = {}
        if machine.has_gpus is not False:
            wanted["the NVIDIA driver"] = _OF_GPUS
        if not host_scope.with_hca(machine).skip:
            wanted["the RDMA stack"] = _OF_HCAS
        free = [name for name, words in wanted.items() if not _covered(words, left.value)]
        if not free:
            return passed(_CHECK, HOST, f"{who} leaves them alone", _EXPECTED, CAPABILITY)
        cause = f"{who} may update {' and '.join(free)} under running jobs"
        return failed(_CHECK, HOST, f"{who} is on", _EXPECTED, CAPABILITY, cause=cause)

    def missing() -> Check:
        return skipped(_CHECK, HOST, "neither apt nor dnf updates this host")

    return look(_CHECK, HOST, updates.who, judge, missing=missing)


def _covered(words: tuple[str, ...], patterns: tuple[str, ...]) -> bool:
    return any(
        one.strip("^$") in _EVERYTHING or any(word in one.lower() for word in words)
        for one in patterns
    )
