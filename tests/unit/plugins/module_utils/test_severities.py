# SPDX-License-Identifier: GPL-3.0-or-later
"""Every check has a consequence, and `ibready explain` tells it."""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.module_utils._ground.catalog import CONSEQUENCES
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import SEVERITIES
from ansible_collections.ibready.cluster.plugins.module_utils._verify.catalog import CATALOG
from ansible_collections.ibready.cluster.plugins.module_utils._verify.explain import explain


def test_every_word_is_used_and_of_a_severity() -> None:
    assert {told for told, _ in CONSEQUENCES.values()} == set(SEVERITIES)
    assert {entry.consequence for entry in CATALOG.values()} == set(CONSEQUENCES)


def test_explain_tells_the_consequence_and_the_reason() -> None:
    assert "\nSeverity: warning (costs). Where it fails, it costs some speed," in explain(CATALOG["host.cpu.governor"])
    limited = explain(CATALOG["host.limit.nofile"])
    assert "\nSeverity: warning (some_jobs). Where it fails, it harms some jobs only" in limited
    assert ". Here: those of very many ranks.\n" in limited
