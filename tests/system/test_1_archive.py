# SPDX-License-Identifier: GPL-3.0-or-later
"""The collection as it is built and installed elsewhere; molecule's default scenario converges nodes by it."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from tests.system.conftest import ROOT, command, run
from tools import collection

# What work leaves in a checkout.
LEFT = (".venv/left.py", ".cache/left.yml", ".sandbox/left.yml", "plugins/modules/__pycache__/left.pyc")


@pytest.fixture(scope="session")
def tarball(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The collection as ``ansible-galaxy collection build`` makes it, of a checkout that was worked in."""
    folder, copy = tmp_path_factory.mktemp("build"), tmp_path_factory.mktemp("copy") / "main"
    collection.copy(ROOT, copy)
    for name in LEFT:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_text("left\n")
    return collection.pack(copy, folder)


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
