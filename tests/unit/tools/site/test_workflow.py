# SPDX-License-Identifier: GPL-3.0-or-later
"""The workflow that publishes the site runs known code, and only its last job may write."""

from __future__ import annotations

import re

import yaml

from tests.unit.docs.markdown import ROOT

TEXT = (ROOT / ".github/workflows/site.yml").read_text()
WORKFLOW = yaml.safe_load(TEXT)


def test_each_action_is_pinned_to_a_commit() -> None:
    used = re.findall(r"uses: (\S+)", TEXT)
    assert len(used) == 4
    assert [action for action in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action)] == []


def test_only_the_job_that_publishes_may_write() -> None:
    assert WORKFLOW["permissions"] == {"contents": "read"}
    assert "permissions" not in WORKFLOW["jobs"]["build"]
    publish = WORKFLOW["jobs"]["publish"]
    assert publish["permissions"] == {"pages": "write", "id-token": "write"}
    assert not any("run" in step for step in publish["steps"])


def test_it_is_started_by_the_main_branch_and_by_people() -> None:
    assert WORKFLOW["on"] == {"push": {"branches": ["main"]}, "workflow_dispatch": None}


def test_it_publishes_what_run_builds() -> None:
    steps = WORKFLOW["jobs"]["build"]["steps"]
    assert {"run": "./run site"} in steps
    assert steps[-1]["with"] == {"path": "dist/site"}
