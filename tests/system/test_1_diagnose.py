# SPDX-License-Identifier: GPL-3.0-or-later
"""Diagnoses of bundles, which need no host, and what is refused before one is touched."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._verify import collect
from tests import cases
from tests.system.conftest import command, run, said
from tests.unit import fleets

# Nobody answers there: a run that contacted it would say so.
HOSTS = """---
all:
  hosts:
    node1: {ansible_host: 127.0.0.1, ansible_port: 9}
    node7: {ansible_host: 127.0.0.1, ansible_port: 9}
"""


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of three nodes; ACS is on in node7."""
    folder = tmp_path_factory.mktemp("bundles")
    for name in (*fleets.EQUALS, fleets.ODD):
        bent = [{"more": {"pci": {"0000:52:04.0": {"acs": 29}}}}] if name == fleets.ODD else []
        _, tree = fleets.bent(fleets.BOARD, int(name[4:]), node=bent)
        collect.collect(tree, str(folder), name, "2026-11-20T10:00:00+00:00")
    return folder


@pytest.mark.parametrize(
    "words",
    cases.daily(
        [
            pytest.param([], id="without an inventory"),
            pytest.param(["-i", "hosts.yml"], id="with one"),
            pytest.param(["-i", "hosts.yml", "--limit", "node1"], id="with a limit"),
            pytest.param(["-i", "hosts.yml", "--check"], id="in check mode"),
        ],
        1,
    ),
)
def test_bundles_are_diagnosed_and_no_host_is_contacted(words: list[str], bundles: Path, tmp_path: Path) -> None:
    (tmp_path / "hosts.yml").write_text(HOSTS)
    done = run(
        command("ansible-playbook"),
        "playbooks/diagnose.yml",
        *[str(tmp_path / word) if word == "hosts.yml" else word for word in words],
        *("-e", f"diagnose_bundles={bundles}", "-e", f"ibready_report_dir={tmp_path}"),
    )
    assert done.returncode == 0, done.stdout
    assert "1. PCIe access control (ACS) is on between GPUs and HCAs" in done.stdout
    assert "--limit node7 --tags host_tuning_boot" in done.stdout
    assert "UNREACHABLE" not in done.stdout
    found = json.loads((tmp_path / "ibready-diagnosis.json").read_text())
    assert [one["id"] for one in found["causes"]] == ["path.acs"]


def test_hosts_of_which_none_answers_are_no_diagnosis(tmp_path: Path) -> None:
    (tmp_path / "hosts.yml").write_text(HOSTS)
    done = run(
        *(command("ansible-playbook"), "playbooks/diagnose.yml", "-i", str(tmp_path / "hosts.yml")),
        *("-e", f"ibready_report_dir={tmp_path}"),
    )
    assert done.returncode != 0
    assert "no host could be checked, so there is no diagnosis" in said(done.stdout)
    found = json.loads((tmp_path / "ibready-diagnosis.json").read_text())
    assert {one["id"] for one in found["causes"]} == {"host.no_answer"}
    assert {name for one in found["causes"] for name in one["hosts"]} == {"node1", "node7"}


@pytest.mark.parametrize(
    ("words", "message"),
    cases.daily(
        [
            pytest.param(["diagnose_bundle=x"], "did you mean diagnose_bundles?", id="misspelt"),
            pytest.param(["diagnose_bundles=/nonexistent"], "is no folder; next: ", id="no folder"),
            pytest.param(["diagnose_most=many"], "diagnose_most", id="no number"),
        ],
        1,
    ),
)
def test_what_cannot_be_meant_is_refused(words: list[str], message: str, tmp_path: Path) -> None:
    (tmp_path / "hosts.yml").write_text(HOSTS)
    given = [word for one in words for word in ("-e", one)]
    done = run(
        *(command("ansible-playbook"), "playbooks/diagnose.yml", "-i", str(tmp_path / "hosts.yml")),
        *given,
    )
    assert done.returncode != 0
    assert message in said(done.stdout)
    assert "UNREACHABLE" not in done.stdout
