# SPDX-License-Identifier: GPL-3.0-or-later
"""What galaxy-importer complains of, and what it does not look at, is a failure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.unit.tools.test_requirements import CONTROLLER, TESTS, pins
from tools import importer
from tools.importer import ROOT, complaints

SAID = """\
Importing with galaxy-importer 0.4.44
Getting doc strings via ansible-doc
Finding content inside collection
Loading module look
Loading role rdma
Linting collection via ansible-lint 26.10.1...
...ansible-lint run complete
Collection loading complete
Importer processing completed successfully
"""
RESULT = {"contents": [{"content_type": "module", "name": "look"}, {"content_type": "playbook", "name": "site.yml"}]}


@pytest.fixture(autouse=True)
def collection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A collection of a module and a playbook."""
    for name in ("plugins/modules/__init__.py", "plugins/modules/look.py", "playbooks/site.yml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.setattr(importer, "ROOT", tmp_path)


def test_whoever_looked_and_said_nothing_has_no_complaint() -> None:
    assert list(complaints(0, SAID, RESULT)) == []


@pytest.mark.parametrize(
    "line",
    [
        "ERROR: Timeout on call to ansible-lint",
        "WARNING: roles/rdma/tasks/main.yml:3: name[casing]: All names should start with an uppercase letter.",
    ],
)
def test_a_complaint_is_found_among_the_other_lines(line: str) -> None:
    assert list(complaints(0, SAID.replace("...ansible", f"{line}\n...ansible"), RESULT)) == [line]


@pytest.mark.parametrize(
    ("status", "gone", "result", "found"),
    [
        (1, (), RESULT, ["it ended with status 1"]),
        (0, ("Linting",), RESULT, ["it never said: Linting collection via ansible-lint"]),
        (0, (), {}, ["it did not find the module look", "it did not find the playbook site"]),
    ],
    ids=["a status", "no lint", "nothing found"],
)
def test_what_was_not_looked_at_is_a_complaint(
    status: int, gone: Sequence[str], result: Mapping[str, Any], found: Sequence[str]
) -> None:
    said = "\n".join(line for line in SAID.splitlines() if not line.startswith(tuple(gone)))
    assert list(complaints(status, said, result)) == found


def test_its_ansible_and_its_lint_are_the_tests_own() -> None:
    pinned = pins(ROOT / "tools/importer-requirements.txt")
    for file, name in ((CONTROLLER, "ansible-core"), (TESTS, "ansible-lint")):
        assert pinned[name] == pins(file)[name]


def test_galaxy_lints_what_this_checkout_lints() -> None:
    """The archive has the settings of ansible-lint: without them it reads every data file, and takes its time."""
    assert "include .ansible-lint" in yaml.safe_load((ROOT / "galaxy.yml").read_text())["manifest"]["directives"]
