# SPDX-License-Identifier: GPL-3.0-or-later
"""The three ways to use it, from the checkout and from an installed collection."""

from __future__ import annotations

import json
import re
import shutil
import tarfile
from pathlib import Path

import pytest

from tests.system.conftest import ROOT, Box, command, run

# What work leaves in a checkout.
LEFT = (".venv/left.py", ".cache/left.yml", ".sandbox/left.yml", "plugins/modules/__pycache__/left.pyc")


@pytest.fixture(scope="session")
def tarball(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The collection as ``ansible-galaxy collection build`` makes it, of a checkout that was worked in.

    A copy, for the other steps of the tests write into the checkout meanwhile.
    """
    folder, copy = tmp_path_factory.mktemp("build"), tmp_path_factory.mktemp("copy") / "main"
    mutable = shutil.ignore_patterns(".?*", "__pycache__", "dist", "reports")
    shutil.copytree(ROOT, copy, symlinks=True, ignore=mutable)
    for name in LEFT:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_text("left\n")
    done = run(command("ansible-galaxy"), "collection", "build", str(copy), "--output-path", str(folder))
    assert done.returncode == 0, done.stdout
    (path,) = folder.glob("ibready-cluster-*.tar.gz")
    return path


@pytest.fixture(scope="session")
def elsewhere(tarball: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working directory that knows nothing of the checkout but the installed collection."""
    folder = tmp_path_factory.mktemp("else where")
    done = run(
        *(command("ansible-galaxy"), "collection", "install", str(tarball)),
        *("-p", str(folder / "collections"), "--offline"),
        cwd=folder,
    )
    assert done.returncode == 0, done.stdout
    settings = "collections_path = ./collections\ninject_facts_as_vars = False\n"
    (folder / "ansible.cfg").write_text(f"[defaults]\n{settings}")
    return folder


def test_the_tarball_ships_no_inventory_no_sandbox_and_no_cache(tarball: Path) -> None:
    with tarfile.open(tarball) as archive:
        names = archive.getnames()
    assert "plugins/modules/ibverify.py" in names
    for part in ("page.html.j2", "sections/pings.html.j2", "css/base.css", "js/main.js"):
        assert f"plugins/plugin_utils/_tell/html/{part}" in names
    assert "roles/rdma/tasks/main.yml" in names
    foreign = ("inventories", "cluster", "sandbox", "tests", "molecule", ".venv", "collections")
    assert [name for name in names if name.split("/")[0] in foreign] == []
    assert [name for name in names if "sandbox" in name or name.endswith(".pyc")] == []


def test_the_installed_collection_s_site_makes_the_hosts_ready(bare: Box, elsewhere: Path) -> None:
    done = bare.playbook("ibready.cluster.site", cwd=elsewhere)
    assert done.returncode == 0, done.stdout
    assert set(bare.verdicts().values()) == {"ready"}


def test_the_documentation_is_found_under_both_names(elsewhere: Path) -> None:
    for argv, cwd in (
        (("-t", "module", "ibverify"), ROOT),
        (("-t", "module", "ibready.cluster.ibverify"), ROOT),
        (("-t", "module", "ibready.cluster.ibverify"), elsewhere),
        (("-t", "role", "ibready.cluster.rdma"), elsewhere),
    ):
        done = run(command("ansible-doc"), *argv, cwd=cwd)
        # ansible-doc exits 0 for a plugin that it does not find: its words count.
        assert "WARNING" not in done.stdout, done.stdout
        assert "IBVERIFY" in done.stdout.upper() or "RDMA" in done.stdout.upper()
        assert "report_only" in done.stdout or "rdma_port_type" in done.stdout


@pytest.mark.parametrize("module", ["ibverify", "ibready.cluster.ibverify"])
def test_ad_hoc_by_short_and_full_name(bare: Box, module: str) -> None:
    done = bare.adhoc("all", "-m", module)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count('"verdict": "ready"') == 3
    # It fits a screen; what each check saw is for those who ask.
    assert len(done.stdout.splitlines()) < 60
    assert '"checks"' not in done.stdout


def test_ad_hoc_folds_equal_hosts_as_the_checkout_has_it(bare: Box) -> None:
    done = run(command("ansible"), *bare.inventories, "all", "-m", "ibverify")
    assert done.returncode == 0, done.stdout
    assert re.search(r"^node\[1-3\] ready \d+ pass", done.stdout, re.MULTILINE)
    assert "3 hosts: 3 ready" in done.stdout
    assert "=>" not in done.stdout


def test_ad_hoc_tells_everything_where_more_is_asked_for(bare: Box) -> None:
    done = bare.adhoc("node1", "-m", "ibverify", "-v")
    assert done.returncode == 0, done.stdout
    assert '"id": "ib.port.state"' in done.stdout
    assert '"facts"' in done.stdout


def test_ad_hoc_fails_where_the_inventory_expects_something_else(bare: Box) -> None:
    less = {"hcas": 2, "rate_gbps": 200}
    done = bare.adhoc("all", "-m", "ibverify", "-e", json.dumps({"ibready_expect": less}))
    assert done.returncode != 0
    assert done.stdout.count('"verdict": "not_ready"') == 3
    assert "expected 200 Gb/s (inventory)" in done.stdout


def test_a_server_ends_by_its_lease_when_nobody_stops_it(bare: Box) -> None:
    serve = '{"state": "serving", "lease": 15, "endpoints": [{"device": "ibsim0"}]}'
    done = bare.adhoc("node1", "-m", "ibping", "-a", serve)
    assert done.returncode == 0, done.stdout
    units = "systemctl list-units --all --plain --no-legend 'ibready-ibping-*'"
    assert "ibready-ibping-ibsim0-1.service" in bare.root("node1", units)
    assert "ibping -S" in bare.root("node1", "pgrep -a ibping")
    assert bare.root("node1", f"sleep 17; {units}") == ""
    # Status 1 is pgrep's word for none; any other would mean that it did not look.
    bare.root("node1", "pgrep -a ibping && exit 9; test $? -eq 1")


def test_limit_judges_the_named_hosts_and_only_those(bare: Box) -> None:
    of_all = bare.report()
    done = bare.playbook("playbooks/verify.yml", "--limit", "node1,node2")
    assert done.returncode == 0, done.stdout
    assert bare.verdicts("ibready-report-limited") == {"node1": "ready", "node2": "ready"}
    assert bare.report() == of_all


def test_a_limit_never_hides_a_fault(bare: Box) -> None:
    bare.sandbox("break", "firmware", "node1")
    try:
        done = bare.playbook("playbooks/verify.yml", "--limit", "node1,node2")
        assert done.returncode != 0
        # Two that differ have no majority.
        assert set(bare.verdicts("ibready-report-limited").values()) == {"unknown"}, done.stdout
    finally:
        bare.sandbox("heal")
