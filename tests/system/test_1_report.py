# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of a host that does not answer: on which verdict a run fails, and rendered again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests import cases
from tests.system.conftest import command, run

HOSTS = """---
all:
  hosts:
    n1:
      ansible_host: 127.0.0.1
      ansible_port: 9
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The reports of two runs, of which the last was to fail for no verdict."""
    made = tmp_path_factory.mktemp("report")
    (made / "hosts.yml").write_text(HOSTS)
    for fail_on, status in (("degraded", 2), ("never", 0)):
        done = run(
            command("ansible-playbook"),
            *("playbooks/verify.yml", "-i", str(made / "hosts.yml")),
            *("-e", f"ibready_report_dir={made}", "-e", f"report_fail_on={fail_on}"),
        )
        assert done.returncode == status, done.stdout
    return made


def test_the_run_object_says_who_made_it(folder: Path) -> None:
    found = json.loads((folder / "ibready-report.json").read_text())
    assert found["run"]["playbooks"] == ["playbooks/verify.yml"]
    assert found["run"]["fail_on"] == "never"
    assert found["run"]["started"] is not None
    assert found["since"]["hosts"] == {}
    assert len(list((folder / "history").iterdir())) == 2


@pytest.mark.parametrize(
    ("more", "status", "says"),
    cases.daily(
        [
            ([], 0, "Rendered from"),
            (["-e", "since=1"], 0, "nothing got better or worse"),
            (["-e", "since=1", "--limit", "n1"], 0, "nothing got better or worse"),
            (["-e", "report_fail_on=not_ready"], 2, "n1 is unknown"),
            (["-e", "since=5"], 2, "1 older run is kept"),
            (["-e", "report_from=/nowhere/run.json"], 2, "/nowhere/run.json is not there; next:"),
        ],
        1,
    ),
)
def test_it_is_rendered_again_without_touching_the_host(folder: Path, more: list[str], status: int, says: str) -> None:
    page = folder / "ibready-report.html"
    page.unlink(missing_ok=True)
    inventory = ["-i", str(folder / "hosts.yml"), "-e", f"ibready_report_dir={folder}"]
    done = run(command("ansible-playbook"), "playbooks/report.yml", *inventory, *more)
    assert done.returncode == status, done.stdout
    assert says in " ".join(done.stdout.split())
    assert "UNREACHABLE" not in done.stdout
    assert page.exists() == ("/nowhere/run.json" not in says and "older" not in says)


def test_no_inventory_is_needed_and_a_damaged_run_is_refused(folder: Path) -> None:
    path = folder / "cut.json"
    path.write_text((folder / "ibready-report.json").read_text()[:-30])
    done = run(command("ansible-playbook"), "playbooks/report.yml", "-e", f"report_from={path}")
    assert done.returncode != 0
    assert f"{path} was cut short" in " ".join(done.stdout.split())
    assert not (folder / "cut.html").exists()
