# SPDX-License-Identifier: GPL-3.0-or-later
"""Every check has a consequence, and the severity that goes with it."""

from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._data.severities import CONSEQUENCES, ROWS
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import SEVERITIES
from ansible_collections.ibready.cluster.plugins.module_utils._verify.catalog import CATALOG
from ansible_collections.ibready.cluster.plugins.module_utils._verify.explain import explain

WHERE = "ROWS of plugins/module_utils/_data/severities.py"


def words(severity: str) -> list[str]:
    return [word for word, (told, _) in CONSEQUENCES.items() if told == severity]


@pytest.mark.parametrize("check_id", CATALOG)
def test_a_check_has_the_severity_of_its_consequence(check_id: str) -> None:
    severity = CATALOG[check_id].severity
    choice = ", ".join(words(severity))
    add = f'    "{check_id}": "{words(severity)[0]}",'
    assert check_id in ROWS, f"{WHERE} lacks this line, with that word or another of {choice}:\n{add}"
    word, colon, reason = ROWS[check_id].partition(": ")
    assert word in words(severity), f"{check_id} is of severity {severity}: its word in {WHERE} is one of {choice}"
    assert bool(colon) == bool(reason.strip())


def test_every_row_is_of_a_check() -> None:
    assert sorted(ROWS.keys() - CATALOG.keys()) == [], f"no such checks: take their lines out of {WHERE}"


def test_every_word_is_used_and_of_a_severity() -> None:
    assert {told for told, _ in CONSEQUENCES.values()} == set(SEVERITIES)
    assert {row.partition(": ")[0] for row in ROWS.values()} == set(CONSEQUENCES)


def test_explain_tells_the_consequence_and_the_reason() -> None:
    assert "\nSeverity: warning (costs). Where it fails, it costs some speed," in explain(CATALOG["host.cpu.governor"])
    limited = explain(CATALOG["host.limit.nofile"])
    assert "\nSeverity: warning (some_jobs). Where it fails, it harms some jobs only" in limited
    assert ". Here: those of very many ranks.\n" in limited
