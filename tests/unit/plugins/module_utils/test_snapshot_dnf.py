# SPDX-License-Identifier: GPL-3.0-or-later
"""The same story as test_snapshot, with the real dnf and rpm."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._act.packages.model import PackageError
from ansible_collections.ibready.cluster.plugins.module_utils._act.snapshot import restore, store
from ansible_collections.ibready.cluster.plugins.module_utils._act.snapshot.dnf import SnapshotDnf
from tests.unit.apt_world import Signer, sh
from tests.unit.dnf_world import CAN_RUN, DnfWorld, Rpm, RpmRepository
from tests.unit.plugins.module_utils.test_packages_dnf import NEW, OLD, bring, driver, part

pytestmark = pytest.mark.skipif(
    not CAN_RUN or os.geteuid() != 0, reason="needs root, dnf, rpmbuild, rpmsign, createrepo_c, gpg"
)
A, B = "a" * 64, "b" * 64


class Site:
    def __init__(self, home: Path) -> None:
        self.world = DnfWorld(home)
        signer = Signer(home, "vendor")
        self.releases = {}
        for name, version in (("old", OLD), ("new", NEW)):
            self.releases[name] = RpmRepository(home / name, signer)
            more = [Rpm("newcomer", "1-1")] if name == "new" else []
            self.releases[name].publish([*driver(version), *more])

    def pool(self) -> SnapshotDnf:
        return SnapshotDnf(self.world.run, str(self.world.root), ["--releasever=9"])

    def converge(self, digest: str, release: str) -> None:
        """As the playbook does."""
        store.take(self.pool(), digest, keep=5, check=False)
        wanted = part(OLD if release == "old" else NEW)
        if release == "new":
            wanted["packages"] = [*wanted["packages"], {"name": "newcomer", "version": ""}]
        bring(self.world, [self.releases[release].entry()], {"nvidia_driver": wanted})
        store.settle(digest, str(self.world.root), check=False)

    def back(self, digest: str, *, check: bool = False) -> restore.Outcome:
        order = restore.Order(digest, min_free_mb=1, lock_timeout=0.2)

        def build(*_args: object) -> None:
            raise AssertionError

        def tell(whom: str) -> str:
            return whom

        return restore.Restorer(self.pool(), order, build, tell, check=check).restore()

    def looks(self) -> dict[str, Any]:
        root = self.world.root
        form = "%{NAME} %{EPOCHNUM}:%{VERSION}-%{RELEASE}.%{ARCH}\n"
        found: dict[str, Any] = {
            "rpm": sorted(sh("rpm", f"--root={root}", "-qa", "--qf", form).splitlines()),
            "asked for": sorted(
                self.world.run(["dnf", f"--installroot={root}", "-q", "history", "userinstalled"]).stdout.splitlines()
            ),
        }
        for folder in ("etc", "var/lib/ibready"):
            for path in sorted((root / folder).rglob("*")):
                name = str(path.relative_to(root))
                if path.is_file() and "snapshots" not in name and not name.endswith("/stack.json"):
                    found[name] = f"{path.stat().st_mode:o} {path.read_bytes()!r}"
        return found


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def test_there_and_back_is_byte_for_byte_what_it_was(site: Site) -> None:
    bare = site.looks()
    site.converge(A, "old")
    before = site.looks()
    site.converge(B, "new")
    assert site.looks()["rpm"] != before["rpm"]
    seen = site.looks()
    site.back(A, check=True)
    assert site.looks() == seen
    done = site.back(A)
    acts = {one.name: one.act for one in done.changes}
    assert acts["newcomer"] == "removed"
    assert set(acts.values()) == {"removed", "downgraded"}
    assert site.looks() == before
    assert not site.back(A).changed
    site.back(B)
    assert "newcomer 0:1-1.noarch" in site.looks()["rpm"]
    site.back("bare")
    assert site.looks() == bare
    assert os.listdir(site.world.root / "var/tmp") == []


def test_a_version_that_is_gone_is_named_and_nothing_changes(site: Site) -> None:
    site.converge(A, "old")
    site.converge(B, "new")
    site.releases["old"].publish(driver("580.1.1"))
    before = site.looks()
    with pytest.raises(PackageError, match=f"{OLD}.* any more") as caught:
        site.back(A)
    assert caught.value.kind == "version"
    assert site.looks() == before
    assert store.kept_state(str(site.world.root)).digest == B
