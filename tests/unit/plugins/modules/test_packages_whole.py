# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.modules import packages_whole
from tests.unit.apt_world import CAN_RUN, AptWorld, Deb, DebRepository, Signer

Run = Callable[..., dict[str, Any]]
pytestmark = pytest.mark.skipif(not CAN_RUN or os.geteuid() != 0, reason="needs root, apt, dpkg-deb and gpg")
HALF = "library is not installed to the end"


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AptWorld:
    world = AptWorld(tmp_path)
    monkeypatch.setattr(packages_whole, "Apt", lambda _run: world.manager())
    return world


def unpack(world: AptWorld, folder: Path, one: Deb) -> None:
    """Leave a package as a loss of power does: its files are there, it is not configured."""
    made = DebRepository(folder, Signer(folder.parent, "vendor"))
    made.publish([one])
    (deb,) = folder.glob("*.deb")
    assert world.run(["dpkg", f"--root={world.root}", "--unpack", str(deb)]).rc == 0


def test_whole_packages_are_left_alone(run_module: Run, world: AptWorld) -> None:
    done = run_module(packages_whole.main, host="node7")
    assert (done["changed"], done["damage"], done["ran"]) == (False, [], [])


def test_what_was_begun_is_ended(run_module: Run, world: AptWorld, tmp_path: Path) -> None:
    unpack(world, tmp_path / "repository", Deb("library", "1"))
    seen = run_module(packages_whole.main, check=True, host="node7")
    assert (seen["changed"], seen["damage"], seen["ran"]) == (True, [HALF], [])
    done = run_module(packages_whole.main, host="node7")
    assert (done["changed"], done["damage"]) == (True, [HALF])
    assert done["ran"] == ["dpkg --configure -a"]
    again = run_module(packages_whole.main, host="node7")
    assert (again["changed"], again["damage"]) == (False, [])


def test_what_is_not_there_is_told(run_module: Run, world: AptWorld, tmp_path: Path) -> None:
    unpack(world, tmp_path / "repository", Deb("library", "1"))
    asked = ["nowhere", "library", "library=2"]
    assert run_module(packages_whole.main, packages=asked)["missing"] == ["nowhere", "library=2"]
    assert run_module(packages_whole.main, packages=["library"])["missing"] == []
    assert run_module(packages_whole.main)["missing"] == []


def test_a_mark_of_dpkg_alone_is_damage(run_module: Run, world: AptWorld) -> None:
    world.file("/var/lib/dpkg/updates/0001").write_text("")
    done = run_module(packages_whole.main, host="node7")
    assert done["damage"] == ["dpkg was interrupted in the middle of a change"]
    assert run_module(packages_whole.main, host="node7")["damage"] == []


def test_nothing_is_removed_to_mend_it(run_module: Run, world: AptWorld, tmp_path: Path) -> None:
    # Nobody has what it depends on: apt could only take it away.
    unpack(world, tmp_path / "repository", Deb("library", "1", {"Depends": "nowhere"}))
    done = run_module(packages_whole.main, host="node7")
    assert (done["failed"], done["kind"], done["damage"]) == (True, "broken", [HALF])
    assert done["msg"].startswith("node7: packages are left half installed, or lack others, and to repair them apt")
    assert "would remove library" in done["msg"]
    assert "Next: see with `apt-get --simulate --fix-broken install`" in done["msg"]
    assert "library" in world.packages()


def test_what_another_process_was_in_the_middle_of_is_no_damage(
    run_module: Run, world: AptWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = world.manager()
    found = iter([[HALF], []])
    monkeypatch.setattr(packages, "damage", lambda: next(found))
    monkeypatch.setattr(packages_whole, "Apt", lambda _run: packages)
    done = run_module(packages_whole.main, host="node7")
    assert (done["changed"], done["damage"], done["ran"]) == (False, [], [])
