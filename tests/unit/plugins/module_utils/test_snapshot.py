# SPDX-License-Identifier: GPL-3.0-or-later
"""A scratch root with the real apt: brought to one stack, to the next, and back."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._act.packages.model import PackageError
from ansible_collections.ibready.cluster.plugins.module_utils._act.snapshot import restore, store
from ansible_collections.ibready.cluster.plugins.module_utils._act.snapshot.apt import SnapshotApt
from ansible_collections.ibready.cluster.plugins.module_utils._act.snapshot.model import (
    Package,
    Packages,
    Snapshot,
    State,
)
from ansible_collections.ibready.cluster.plugins.module_utils._parse.dkms_status import DkmsModule
from tests.unit.apt_world import CAN_RUN, AptWorld, Deb, DebRepository, Signer, sh
from tests.unit.plugins.module_utils.test_packages_apt import KERNEL, NEW, OLD, bring, driver, part

pytestmark = pytest.mark.thorough

real = pytest.mark.skipif(not CAN_RUN or os.geteuid() != 0, reason="needs root, apt, dpkg-deb and gpg")
A, B = "a" * 64, "b" * 64


class Site:
    """A node, and a repository for each of two releases."""

    def __init__(self, home: Path) -> None:
        self.world = AptWorld(home)
        self.signer = Signer(home, "vendor")
        self.releases = {}
        for name, version in (("old", OLD), ("new", NEW)):
            self.releases[name] = DebRepository(home / name, self.signer)
            more = [Deb("newcomer", "1")] if name == "new" else []
            base = [Deb("htop", "3", {}, {"/etc/htop.conf": "x\n"})]
            self.releases[name].publish([*driver(version), *more, *base])
        self.told: list[str] = []

    @property
    def root(self) -> str:
        return str(self.world.root)

    def pool(self) -> SnapshotApt:
        return SnapshotApt(self.world.run, self.root, self.world.options)

    def converge(self, digest: str, release: str, *, ends: bool = True, keep: int = 5) -> None:
        """As the playbook does."""
        store.take(self.pool(), digest, keep=keep, check=False)
        version = OLD if release == "old" else NEW
        wanted = part(version)
        if release == "new":
            wanted["packages"].append({"name": "newcomer", "version": ""})
        bring(self.world, [self.releases[release].entry()], {"nvidia_driver": wanted})
        for path in ("etc/modules-load.d/ibready-rdma.conf", "etc/sysctl.d/90-ibready.conf"):
            self.write(path, f"# {release}\n")
        if ends:
            store.settle(digest, self.root, check=False)

    def write(self, path: str, text: str, mode: int = 0o644) -> None:
        place = self.world.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        place.chmod(mode)

    def back(self, digest: str, *, check: bool = False, **more: Any) -> restore.Outcome:
        order = restore.Order(digest, **{"min_free_mb": 1, "lock_timeout": 0.2, **more})

        def no_build(module: DkmsModule, kernel: str) -> None:
            raise AssertionError(f"{module} was built for {kernel}")

        def tell(whom: str) -> str:
            self.told.append(whom)
            return whom

        return restore.Restorer(self.pool(), order, no_build, tell, check=check).restore()

    def looks(self) -> dict[str, str]:
        """All that has to come back, by dpkg's and apt's own words and the disk."""
        base = ["-o", f"Dir={self.root}", "-o"]
        base.append(f"Dir::State::status={self.root}/var/lib/dpkg/status")
        found = {
            "auto": sh("apt-mark", *base, "showauto"),
            "hold": sh("apt-mark", *base, "showhold"),
        }
        form = "${binary:Package} ${Version} ${db:Status-Status} ${db:Status-Want}\n"
        found["dpkg"] = sh("dpkg-query", f"--root={self.root}", "--show", f"--showformat={form}")
        for folder in ("etc", "var/lib/ibready"):
            for path in sorted((self.world.root / folder).rglob("*")):
                name = str(path.relative_to(self.world.root))
                if path.is_file() and "snapshots" not in name and not name.endswith("/stack.json"):
                    found[name] = f"{path.stat().st_mode:o} {path.read_bytes()!r}"
        return found


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


@real
def test_there_and_back_is_byte_for_byte_what_it_was(site: Site) -> None:
    bare = site.looks()
    site.converge(A, "old")
    sh("apt-mark", "-o", f"Dir={site.root}", "auto", "nvidia-utils-580")
    site.write("etc/modprobe.d/ibready-nouveau.conf", "blacklist nouveau\n", 0o600)
    # Not of ours, although it begins like it.
    site.write("etc/apt/sources.list.d/ibready-site.sources", "# the operator's\n")
    before = site.looks()
    site.converge(B, "new")
    assert site.looks()["dpkg"] != before["dpkg"]
    site.world.file("/etc/modprobe.d/ibready-nouveau.conf").unlink()
    site.write("etc/udev/rules.d/60-rdma-persistent-naming.rules", "new\n")

    seen = site.looks()
    checked = site.back(A, check=True)
    assert site.looks() == seen
    done = site.back(A)
    assert site.looks() == before
    assert sorted(one.path for one in done.files) == sorted(one.path for one in checked.files)
    assert {one.name for one in done.changes} == {one.name for one in checked.changes}
    assert {one.name: one.act for one in done.changes}["newcomer"] == "removed"
    assert site.told == ["initramfs", "udev"]
    assert os.listdir(site.world.root / "var/tmp") == []
    assert not site.back(A).changed

    # The way back is a move as well, and can be gone the other way.
    site.back(B)
    assert "newcomer 1 installed hold" in site.looks()["dpkg"]
    site.back("bare")
    site.world.file("/etc/apt/sources.list.d/ibready-site.sources").unlink()
    assert site.looks() == bare
    assert not (site.world.root / "etc/udev/rules.d").exists()


@real
def test_a_host_that_is_there_is_left_alone(site: Site) -> None:
    site.converge(A, "old")
    site.write("etc/sysctl.d/90-ibready.conf", "# by hand\n")
    assert not site.back(A).changed
    assert "by hand" in site.world.file("/etc/sysctl.d/90-ibready.conf").read_text()


@real
def test_a_converge_that_failed_keeps_the_snapshot_that_it_set_out_with(site: Site) -> None:
    site.converge(A, "old")
    before = site.looks()
    site.converge(B, "new", ends=False)
    names = store.names(site.root)
    site.converge(B, "new", ends=False)
    assert store.names(site.root) == names == [(1, "bare"), (2, A)]
    site.back(A)
    assert site.looks() == before
    # What was there in between was of no plan, and nobody can want it back.
    assert store.names(site.root) == names
    assert store.kept_state(site.root) == State(A)


@real
def test_a_version_that_is_gone_is_named_and_nothing_changes(site: Site) -> None:
    site.converge(A, "old")
    site.converge(B, "new")
    site.releases["old"].publish([*driver("580.1.1")])
    before = site.looks()
    with pytest.raises(PackageError, match=f"libnvidia-compute-580 {OLD}-1ubuntu1") as caught:
        site.back(A)
    assert caught.value.kind == "version"
    assert "Nothing was changed" in str(caught.value)
    assert site.looks() == before
    shutil.rmtree(site.releases["old"].home)
    with pytest.raises(PackageError, match=r"no repository has|cannot be reached") as caught:
        site.back(A)
    assert "Failed to fetch" in str(caught.value) or "File not found" in str(caught.value)


@real
def test_a_module_that_jobs_use_is_not_unloaded_by_a_rollback(site: Site) -> None:
    site.converge(A, "old")
    site.converge(B, "new")
    storage = DebRepository(site.world.root.parent / "storage", site.signer)
    storage.publish([Deb("nvidia-fs-dkms", "2.26.6-1")])
    (site.world.root / f"lib/modules/{KERNEL}/build").mkdir(parents=True)
    gds = {"gds": {"packages": [{"name": "nvidia-fs-dkms", "version": "2.26.6"}], "pins": []}}
    bring(site.world, [site.releases["new"].entry(), storage.entry("storage")], gds)
    site.write("sys/module/nvidia_fs/refcnt", "1\n")
    before = site.looks()
    with pytest.raises(PackageError, match=r"nvidia-fs-dkms 2\.26\.6-1 is to be brought away") as caught:
        site.back(A)
    assert (caught.value.kind, caught.value.changed) == ("busy", False)
    assert site.looks() == before
    site.write("sys/module/nvidia_fs/refcnt", "0\n")
    site.back(A)
    assert "nvidia-fs-dkms" not in site.world.packages()


@real
def test_what_is_to_be_kept_stays(site: Site) -> None:
    site.converge(A, "old")
    site.converge(B, "new")
    bring(
        site.world,
        [site.releases["new"].entry()],
        {"extras": {"packages": [{"name": "htop", "version": ""}], "pins": []}},
    )
    site.back(A, keep=("htop", "newcomer"))
    assert set(site.world.packages()) >= {"htop", "newcomer"}
    assert site.world.packages()["nvidia-open-580"] == f"{OLD}-1ubuntu1"


@real
def test_a_loss_of_power_at_any_step_is_repaired_by_the_next_run(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.converge(A, "old")
    before = site.looks()
    site.converge(B, "new")
    whole = Path(site.root).parent / "whole"
    shutil.copytree(site.root, whole, symlinks=True)

    class Cut(Exception):
        pass

    for step in range(1, 40, 2):
        shutil.rmtree(site.root)
        shutil.copytree(whole, site.root, symlinks=True)
        left = [step]

        def cut(*args: Any, _left: list[int] = left, **more: Any) -> None:
            _left[0] -= 1
            if _left[0] == 0:
                raise Cut

        with monkeypatch.context() as patch:
            for where, what in (
                (restore.files, "put"),
                (restore.store, "remember"),
                (SnapshotApt, "apply"),
                (SnapshotApt, "purge"),
                (SnapshotApt, "mark"),
                (SnapshotApt, "hold_names"),
            ):
                patch.setattr(where, what, _after(cut, getattr(where, what)))
            with contextlib.suppress(Cut):
                site.back(A)
        ended = left[0] > 0
        site.back(A)
        assert site.looks() == before, step
        if ended:
            break
    assert ended
    assert step > 5


def _after(cut: Any, real_one: Any) -> Any:
    """The step itself, done in full, and then the cut."""

    def step(*args: Any, **more: Any) -> Any:
        found = real_one(*args, **more)
        cut()
        return found

    return step


@real
def test_a_transaction_cut_in_the_middle_is_repaired(site: Site) -> None:
    site.converge(A, "old")
    before = site.looks()
    site.converge(B, "new")
    status = site.world.file("/var/lib/dpkg/status")
    text = status.read_text()
    name = "Package: nvidia-utils-580\nStatus: hold ok "
    assert f"{name}installed" in text
    status.write_text(text.replace(f"{name}installed", f"{name}half-configured"))
    store.take(site.pool(), A, keep=5, check=False)
    done = site.back(A)
    assert any("nvidia-utils-580" in one for one in done.repaired)
    assert site.looks() == before


@real
def test_a_host_that_ibready_never_touched_is_bare(site: Site) -> None:
    assert not site.back("bare").changed
    with pytest.raises(PackageError, match="no snapshot of the plan"):
        site.back(A)


@real
def test_no_snapshot_is_told_with_the_next_step(site: Site) -> None:
    site.converge(A, "old")
    with pytest.raises(PackageError, match=r"no snapshot of the plan bbbbbbbbbbbb; it has 1-bare"):
        site.back(B)
    # Converged before there were snapshots: what lies there is not bare.
    site.world.file("/var/lib/ibready/stack.json").unlink()
    shutil.rmtree(site.world.file("/var/lib/ibready/snapshots"))
    site.converge(B, "new")
    assert store.names(site.root) == [(1, "unknown")]
    with pytest.raises(PackageError, match="before its first converge"):
        site.back("bare")


@real
def test_old_snapshots_go_but_never_that_of_the_bare_host(site: Site) -> None:
    for number in range(4):
        digest = f"{number}" * 64
        store.take(site.pool(), digest, keep=3, check=False)
        store.settle(digest, site.root, check=False)
    assert store.names(site.root) == [(1, "bare"), (3, "1" * 64), (4, "2" * 64)]
    # That which is gone back to stays, however old it is.
    store.take(site.pool(), "1" * 64, keep=1, check=False)
    assert (3, "1" * 64) in store.names(site.root)


def test_two_that_were_taken_at_once_are_kept_under_numbers_of_their_own(tmp_path: Path) -> None:
    """Two controllers look at one node, then both save; of one digest, and of two."""
    (tmp_path / store.HOME.lstrip("/")).mkdir(parents=True)
    before = [Snapshot(store.following(str(tmp_path)), digest, "now", packages("htop=1"), ()) for digest in (A, A, B)]
    assert {one.number for one in before} == {1}
    saved = [store.save(one, 5, str(tmp_path)) for one in before]
    assert [one.name for one in saved] == [f"1-{A}", f"2-{A}", f"3-{B}"]
    assert store.names(str(tmp_path)) == [(1, A), (2, A), (3, B)]
    assert store.newest(B, str(tmp_path)) == saved[2]


@real
def test_a_damaged_snapshot_is_not_believed(site: Site) -> None:
    site.converge(A, "old")
    (number, of) = store.names(site.root)[0]
    path = site.world.file(f"{store.HOME}/{number}-{of}/snapshot.json")
    raw = json.loads(path.read_text())
    raw["snapshot"]["packages"]["installed"] = [["htop", "3"]]
    path.write_text(json.dumps(raw))
    with pytest.raises(PackageError, match="checksum"):
        site.back("bare")


def packages(*names: str, **more: Any) -> Packages:
    pairs = [Package(*one.split("=")) for one in names]
    return Packages("apt", frozenset(pairs), **more)


def plain(package: Package) -> str:
    return package.name.partition(":")[0]


def test_the_way_back() -> None:
    now = packages("a=2", "b=1", "new=1", "kept=2", automatic=frozenset({"b"}), held=frozenset({"a"}))
    then = packages("a=1", "b=1", "c:i386=1", "kept=1", automatic=frozenset({"a"}))
    found = restore.ways_back(now, then, ["kept"], plain)
    assert found.come == (Package("a", "1"), Package("c:i386", "1"))
    assert found.go == (Package("new", "1"),)
    assert (found.automatic, found.manual) == (("a",), ("b",))
    assert (found.hold, found.release) == ((), ("a",))


def test_kernels_beside_each_other_go_one_by_one() -> None:
    now = packages("kernel-core.x86_64=5.14.0-1", "kernel-core.x86_64=5.14.0-2")
    then = packages("kernel-core.x86_64=5.14.0-1")
    found = restore.ways_back(now, then, [], plain)
    assert found.go == (Package("kernel-core.x86_64", "5.14.0-2"),)
    assert not found.come
    with pytest.raises(PackageError, match="runs"):
        restore.see_kernel(found.go, lambda one: "kernel-core", "5.14.0-2.x86_64")
    restore.see_kernel(found.go, lambda one: "kernel-core", "5.14.0-1.x86_64")


def test_the_running_kernels_image_is_not_taken_away() -> None:
    go = [Package("linux-image-6.8.0-31-generic", "6.8.0-31.31")]
    with pytest.raises(PackageError, match="stack_rollback_keep"):
        restore.see_kernel(go, plain, "6.8.0-31-generic")
    restore.see_kernel(go, plain, "6.8.0-30-generic")
