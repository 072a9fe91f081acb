# SPDX-License-Identifier: GPL-3.0-or-later
"""The real apt in a scratch root, against small signed repositories."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._act.packages import failures, openpgp, read, refuse
from ansible_collections.ibready.cluster.plugins.module_utils._act.packages.apt import Apt
from ansible_collections.ibready.cluster.plugins.module_utils._act.packages.bring import Bringer
from ansible_collections.ibready.cluster.plugins.module_utils._act.packages.model import Change, Outcome, PackageError
from ansible_collections.ibready.cluster.plugins.module_utils._act.packages.survey import Order
from ansible_collections.ibready.cluster.plugins.module_utils._ground.command import Output
from ansible_collections.ibready.cluster.plugins.module_utils._parse.dkms_status import DkmsModule
from tests.unit.apt_world import CAN_RUN, AptWorld, Deb, DebRepository, Signer
from tests.unit.openpgp_keys import compressed

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(not CAN_RUN or os.geteuid() != 0, reason="needs root, apt, dpkg-deb and gpg"),
]

OLD, NEW = "580.126.20", "580.173.02"
KERNEL = "6.8.0-31-generic"


def driver(version: str) -> list[Deb]:
    """As loose as the vendor's own dependencies."""
    full = f"{version}-1ubuntu1"
    loose = f"nvidia-utils-580 (>= {OLD}), libnvidia-compute-580 (>= {OLD})"
    return [
        Deb("nvidia-open-580", full, {"Depends": loose}),
        Deb("nvidia-utils-580", full, {"Depends": f"libnvidia-compute-580 (>= {OLD})"}),
        Deb("libnvidia-compute-580", full),
        Deb("nvidia-fabricmanager", full),
    ]


def part(version: str = OLD, **more: Any) -> dict[str, Any]:
    return {
        "packages": [
            {"name": "nvidia-open-580", "version": version},
            {"name": "nvidia-fabricmanager", "version": version},
        ],
        "pins": [{"names": ["nvidia-*", "libnvidia-*"], "version": version}],
        **more,
    }


@pytest.fixture(scope="session")
def signer(tmp_path_factory: pytest.TempPathFactory) -> Signer:
    return Signer(tmp_path_factory.mktemp("keys"), "vendor")


@pytest.fixture(scope="session")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Signer:
    return Signer(tmp_path_factory.mktemp("keys"), "stranger")


@pytest.fixture
def world(tmp_path: Path) -> AptWorld:
    return AptWorld(tmp_path)


@pytest.fixture
def repository(tmp_path: Path, signer: Signer) -> DebRepository:
    made = DebRepository(tmp_path / "repository", signer)
    made.publish([*driver(OLD), *driver(NEW)])
    return made


def no_build(module: DkmsModule, kernel: str) -> None:
    raise AssertionError(f"{module} was built for {kernel}")


def bring(
    world: AptWorld,
    repositories: list[dict[str, Any]],
    parts: dict[str, Any],
    *,
    check: bool = False,
    build: Any = no_build,
    **more: Any,
) -> Outcome:
    order = Order(
        read.repositories(repositories, "apt"),
        read.parts(parts),
        **{"kernel": KERNEL, "min_free_mb": 1, "lock_timeout": 0.2, **more},
    )

    def fetch(address: str) -> bytes:
        with urlopen(address) as answer:
            data: bytes = answer.read()
        return data

    return Bringer(world.manager(), order, fetch, build, check=check).bring()


def acts(outcome: Outcome) -> dict[str, tuple[str, str, str]]:
    return {one.name: (one.act, one.before, one.after) for one in outcome.changes}


def everything(world: AptWorld) -> dict[str, bytes]:
    """All files below the root but what may change in a look: nothing."""
    return {
        str(path.relative_to(world.root)): path.read_bytes() for path in sorted(world.root.rglob("*")) if path.is_file()
    }


def test_check_mode_on_a_bare_host_names_all_and_changes_nothing(world: AptWorld, repository: DebRepository) -> None:
    before = everything(world)
    outcome = bring(world, [repository.entry()], {"nvidia_driver": part()}, check=True)
    assert acts(outcome) == {
        name: ("installed", "", f"{OLD}-1ubuntu1")
        for name in (
            "nvidia-open-580",
            "nvidia-utils-580",
            "libnvidia-compute-580",
            "nvidia-fabricmanager",
        )
    }
    assert [one["path"] for one in outcome.files] == [
        "/etc/apt/keyrings/ibready-vendor.gpg",
        "/etc/apt/sources.list.d/ibready-vendor.list",
        "/etc/apt/preferences.d/ibready-nvidia_driver",
    ]
    assert sorted(outcome.held) == sorted(acts(outcome))
    assert everything(world) == before


def test_the_first_run_installs_one_version_and_the_second_asks_nobody(
    world: AptWorld, repository: DebRepository
) -> None:
    parts = {"nvidia_driver": part()}
    outcome = bring(world, [repository.entry()], parts)
    assert set(world.packages().values()) == {f"{OLD}-1ubuntu1"}
    assert outcome.changed
    assert world.manager().held() == set(world.packages())
    assert os.listdir(world.root / "var/tmp") == []
    modes = {oct(world.file(one["path"]).stat().st_mode & 0o777) for one in outcome.files}
    assert modes == {"0o644"}

    # The repository is gone, and so is its key: nobody asks for them.
    repository.home.rename(repository.home.with_name("gone"))
    world.said.clear()
    again = bring(world, [repository.entry()], parts)
    assert not again.changed
    # apt's word on what is installed needs no repository either.
    assert {argv[0] for argv in world.said if argv[-1] != "check"} <= {"dpkg-query", "dpkg"}


def test_an_upgrade_and_the_way_back(world: AptWorld, repository: DebRepository) -> None:
    entry = repository.entry()
    bring(world, [entry], {"nvidia_driver": part(OLD)})
    first = everything(world)
    up = bring(world, [entry], {"nvidia_driver": part(NEW)})
    assert {act for act, _before, _after in acts(up).values()} == {"upgraded"}
    assert set(world.packages().values()) == {f"{NEW}-1ubuntu1"}
    assert world.manager().held() == set(world.packages())
    back = bring(world, [entry], {"nvidia_driver": part(OLD)})
    assert {act for act, _before, _after in acts(back).values()} == {"downgraded"}
    kept = ("etc/", "var/lib/ibready/", "var/lib/dpkg/status")
    same = [name for name in first if name.startswith(kept) and not name.endswith("-old")]
    assert {name: everything(world)[name] for name in same} == {name: first[name] for name in same}


def test_a_package_upgraded_by_hand_is_brought_back(world: AptWorld, repository: DebRepository) -> None:
    entry, parts = repository.entry(), {"nvidia_driver": part()}
    bring(world, [entry], parts)
    deb = repository.home / f"libnvidia-compute-580_{NEW}-1ubuntu1_all.deb"
    world.run(["dpkg", f"--root={world.root}", "--force-hold", "--install", str(deb)])
    assert world.packages()["libnvidia-compute-580"] == f"{NEW}-1ubuntu1"
    outcome = bring(world, [entry], parts)
    assert acts(outcome) == {"libnvidia-compute-580": ("downgraded", f"{NEW}-1ubuntu1", f"{OLD}-1ubuntu1")}


def test_a_plain_upgrade_leaves_held_packages(world: AptWorld, repository: DebRepository) -> None:
    bring(world, [repository.entry()], {"nvidia_driver": part()})
    options = [word for one in world.options for word in ("-o", one)]
    world.run(["apt-get", *options, "update"])
    world.run(["apt-get", *options, "--yes", "dist-upgrade"])
    assert set(world.packages().values()) == {f"{OLD}-1ubuntu1"}


def refused(world: AptWorld, *words: Any, **more: Any) -> PackageError:
    before = everything(world)
    with pytest.raises(PackageError) as caught:
        bring(world, *words, **more)
    after = everything(world)
    # A download is kept, and so is a lock's file; neither changes anything for anyone.
    for name in [*after]:
        if name.startswith(("var/cache/apt/archives/", "var/lib/dpkg/lock")):
            after.pop(name)
            before.pop(name, None)
    assert after == before
    assert not caught.value.changed
    assert "Nothing was changed. Next: " in str(caught.value)
    return caught.value


def test_packages_that_the_disk_has_no_room_for(world: AptWorld, tmp_path: Path, signer: Signer) -> None:
    large = [Deb(entry.name, entry.version, {**entry.fields, "Installed-Size": "9999999999"}) for entry in driver(OLD)]
    made = DebRepository(tmp_path / "large", signer)
    made.publish(large)
    error = refused(world, [made.entry()], {"nvidia_driver": part()})
    assert (error.kind, "no room for the packages" in error.cause) == ("disk", True)


def test_a_key_that_is_not_pinned(world: AptWorld, repository: DebRepository, stranger: Signer) -> None:
    entry = repository.entry(fingerprints=[stranger.fingerprint])
    error = refused(world, [entry], {"nvidia_driver": part()})
    assert error.kind == "key"
    assert stranger.fingerprint in error.cause


def test_a_second_key_in_the_file(world: AptWorld, repository: DebRepository, stranger: Signer, tmp_path: Path) -> None:
    both = tmp_path / "both.pub"
    entry = repository.entry()
    both.write_text(Path(entry["key"].removeprefix("file://")).read_text() + stranger.key.read_text())
    error = refused(world, [{**entry, "key": f"file://{both}"}], {"nvidia_driver": part()})
    assert (error.kind, stranger.fingerprint in error.cause) == ("key", True)


def test_a_key_that_hides_in_compressed_data(world: AptWorld, tmp_path: Path, signer: Signer, stranger: Signer) -> None:
    forged = DebRepository(tmp_path / "forged", stranger)
    forged.publish(driver(OLD))
    key = tmp_path / "hidden.gpg"
    theirs = openpgp.binary(stranger.key.read_bytes())
    key.write_bytes(openpgp.binary(signer.key.read_bytes()) + compressed(theirs))
    entry = forged.entry(key=f"file://{key}", fingerprints=[signer.fingerprint])
    error = refused(world, [entry], {"nvidia_driver": part()})
    assert (error.kind, "compressed data" in error.cause) == ("key", True)


def test_a_repository_signed_by_another_key(world: AptWorld, tmp_path: Path, signer: Signer, stranger: Signer) -> None:
    forged = DebRepository(tmp_path / "forged", stranger)
    forged.publish(driver(OLD))
    entry = forged.entry(key=f"file://{signer.key}", fingerprints=[signer.fingerprint])
    error = refused(world, [entry], {"nvidia_driver": part()})
    assert (error.kind, "another key" in error.cause) == ("key", True)
    assert "repository vendor" in error.cause


def test_an_index_that_was_changed(world: AptWorld, repository: DebRepository) -> None:
    for name in ("Packages", "Packages.gz"):
        path = repository.home / name
        path.write_bytes(path.read_bytes() + b"\n")
    error = refused(world, [repository.entry()], {"nvidia_driver": part()})
    assert error.kind == "checksum"


def test_a_package_with_a_wrong_checksum(world: AptWorld, repository: DebRepository) -> None:
    deb = repository.home / f"nvidia-fabricmanager_{OLD}-1ubuntu1_all.deb"
    data = bytearray(deb.read_bytes())
    data[-1] ^= 1
    deb.write_bytes(bytes(data))
    error = refused(world, [repository.entry()], {"nvidia_driver": part()})
    assert error.kind == "checksum"


def test_a_repository_that_cannot_be_reached(world: AptWorld, repository: DebRepository) -> None:
    entry = repository.entry(url="http://127.0.0.1:9/none/")
    error = refused(world, [entry], {"nvidia_driver": part()})
    assert (error.kind, "http://127.0.0.1:9/none/" in error.cause) == ("unreachable", True)


def test_a_repository_of_the_host_that_cannot_be_reached_is_named_as_the_likely_cause(
    world: AptWorld, repository: DebRepository
) -> None:
    """Its packages are what is lacking, and apt only speaks of what cannot be installed."""
    repository.publish([Deb("needy", "1", {"Depends": "from-the-distribution"})])
    other = world.file("/etc/apt/sources.list.d/other.list")
    other.write_text("deb [trusted=yes] http://127.0.0.1:9/distribution ./\n")
    parts = {"nvidia_driver": {"packages": [{"name": "needy", "version": ""}]}}
    error = refused(world, [repository.entry()], parts)
    assert error.kind == "conflict"
    assert "http://127.0.0.1:9/distribution" in error.cause
    assert error.following.startswith("fix that repository first")
    other.unlink()
    assert "repository" not in refused(world, [repository.entry()], parts).cause


def test_a_key_that_cannot_be_fetched(world: AptWorld, repository: DebRepository) -> None:
    entry = repository.entry(key="file:///none.pub")
    assert refused(world, [entry], {"nvidia_driver": part()}).kind == "unreachable"


def test_a_version_that_vanished(world: AptWorld, repository: DebRepository) -> None:
    error = refused(world, [repository.entry()], {"nvidia_driver": part("580.99.01")})
    assert error.kind == "version"
    assert f"they have {NEW}-1ubuntu1, {OLD}-1ubuntu1" in error.cause


def test_another_stack_goes_only_with_consent(world: AptWorld, repository: DebRepository) -> None:
    entry = repository.entry()
    repository.publish([*driver(OLD), Deb("mlnx-ofed-all", "24.10"), Deb("old-tool", "1")])
    other = {"packages": [{"name": "mlnx-ofed-all", "version": ""}]}
    bring(world, [entry], {"rdma": other})
    parts = {"nvidia_driver": part(conflicts=["mlnx-ofed-*"])}
    error = refused(world, [entry], parts)
    assert (error.kind, "mlnx-ofed-all 24.10" in error.cause) == ("conflict", True)
    assert "ibready_replace_stack_ok" in error.following
    outcome = bring(world, [entry], parts, replace_ok=True)
    assert acts(outcome)["mlnx-ofed-all"] == ("removed", "24.10", "")
    assert "mlnx-ofed-all" not in world.packages()


def test_packages_that_the_resolver_would_remove(world: AptWorld, repository: DebRepository) -> None:
    clash = Deb("nvidia-open-580", f"{OLD}-1ubuntu1", {"Conflicts": "site-tool"})
    repository.publish([clash, *driver(OLD)[1:], Deb("site-tool", "1")])
    entry = repository.entry()
    bring(world, [entry], {"site": {"packages": [{"name": "site-tool", "version": ""}]}})
    error = refused(world, [entry], {"nvidia_driver": part()})
    assert (error.kind, "site-tool 1" in error.cause) == ("conflict", True)
    bring(world, [entry], {"nvidia_driver": part()}, replace_ok=True)
    assert "site-tool" not in world.packages()


def test_an_operators_hold(world: AptWorld, repository: DebRepository) -> None:
    entry = repository.entry()
    bring(world, [entry], {"nvidia_driver": part()})
    # As if the operator had held it, and not ibready.
    book = world.file("/var/lib/ibready/packages/nvidia_driver.json")
    kept = json.loads(book.read_text())
    kept["holds"].remove("libnvidia-compute-580")
    book.write_text(json.dumps(kept))
    error = refused(world, [entry], {"nvidia_driver": part(NEW)})
    assert (error.kind, "libnvidia-compute-580" in error.cause) == ("held", True)


def test_too_little_room(world: AptWorld, repository: DebRepository) -> None:
    error = refused(world, [repository.entry()], {"nvidia_driver": part()}, min_free_mb=10**9)
    assert (error.kind, "MiB free" in error.cause) == ("disk", True)


def test_a_lock_that_is_held(world: AptWorld, repository: DebRepository) -> None:
    lock = world.file("/var/lib/dpkg/lock-frontend")
    lock.touch()
    program = f"import fcntl,sys,time; f=open({str(lock)!r},'w'); fcntl.lockf(f,fcntl.LOCK_EX);"
    program += "print(1,flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        try:
            error = refused(world, [repository.entry()], {"nvidia_driver": part()})
        finally:
            holder.kill()
    assert error.kind == "lock"
    assert f"(process {holder.pid})" in error.cause


def test_power_lost_in_the_middle_is_repaired(world: AptWorld, repository: DebRepository) -> None:
    entry, parts = repository.entry(), {"nvidia_driver": part()}
    bring(world, [entry], parts)
    deb = repository.home / f"nvidia-utils-580_{NEW}-1ubuntu1_all.deb"
    world.run(["dpkg", f"--root={world.root}", "--force-hold", "--unpack", str(deb)])
    seen = bring(world, [entry], parts, check=True)
    assert seen.repaired == ["to be repaired: nvidia-utils-580 is not installed to the end"]
    outcome = bring(world, [entry], parts)
    assert outcome.repaired[0] == "nvidia-utils-580 is not installed to the end"
    assert outcome.repaired[1] == "ran dpkg --configure -a"
    assert set(world.packages().values()) == {f"{OLD}-1ubuntu1"}
    assert not bring(world, [entry], parts).changed


BUILD = "Error! Bad return status for module build on kernel: 6.12.117+deb13-amd64 (x86_64)"


def unpacked(world: AptWorld, repository: DebRepository, name: str) -> None:
    """A package that is there and not configured, as one is whose module was not built."""
    deb = repository.home / f"{name}_{NEW}-1ubuntu1_all.deb"
    world.run(["dpkg", f"--root={world.root}", "--force-hold", "--force-depends", "--unpack", str(deb)])


def unbuilt(monkeypatch: pytest.MonkeyPatch) -> None:
    def repair(self: Apt, ours: Any) -> list[str]:
        raise failures.explain(BUILD, doing="repairing the package database", changed=True)

    monkeypatch.setattr(Apt, "repair", repair)


def test_a_build_that_fails_keeps_no_release_away_that_builds(
    world: AptWorld, repository: DebRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = repository.entry()
    bring(world, [entry], {"nvidia_driver": part()})
    unpacked(world, repository, "nvidia-utils-580")
    unbuilt(monkeypatch)
    bring(world, [entry], {"nvidia_driver": part(NEW)})
    assert set(world.packages().values()) == {f"{NEW}-1ubuntu1"}
    assert world.manager().damage() == []


def test_the_way_back_from_a_stack_that_was_not_brought_to_its_end(world: AptWorld, repository: DebRepository) -> None:
    entry = repository.entry()
    # A build that fails leaves its package not configured, and dpkg tries it again at every chance.
    fails = {"postinst": f"#!/bin/sh\necho '{BUILD}' >&2\nexit 10\n"}
    series = Deb("b-modules", "1", {"Depends": "b-helper"}, scripts=fails)
    repository.publish([Deb("a-driver", "1"), series, Deb("b-helper", "1")])
    first = {"packages": [{"name": "a-driver", "version": ""}], "conflicts": ["b-*"]}
    second = {"packages": [{"name": series.name, "version": ""}], "conflicts": ["a-*"]}
    bring(world, [entry], {"nvidia_driver": first})
    with pytest.raises(PackageError) as caught:
        bring(world, [entry], {"nvidia_driver": second}, replace_ok=True)
    assert caught.value.kind == "dkms"
    assert set(world.packages()) == {series.name, "b-helper"}
    with pytest.raises(PackageError) as caught:
        bring(world, [entry], {"nvidia_driver": first})
    assert (caught.value.kind, series.name in caught.value.cause) == ("conflict", True)
    bring(world, [entry], {"nvidia_driver": first}, replace_ok=True)
    assert set(world.packages()) == {"a-driver"}
    assert world.manager().damage() == []
    assert not bring(world, [entry], {"nvidia_driver": first}).changed


def test_what_was_begun_makes_nothing_of_the_old_stack_another_s(
    world: AptWorld, repository: DebRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = repository.entry()
    repository.publish([Deb("a-driver", "1", {"Depends": "a-kernel"}), Deb("a-kernel", "1"), Deb("b-driver", "1")])
    # What it needs has a name like the other's, as with DOCA and MLNX_OFED.
    first = {"packages": [{"name": "a-driver", "version": ""}], "conflicts": ["a-k*", "b-*"]}
    second = {"packages": [{"name": "b-driver", "version": ""}], "conflicts": ["a-*"]}
    bring(world, [entry], {"rdma": first})
    with monkeypatch.context() as power:

        def lost(*_: Any) -> None:
            raise PackageError("broken", "the power was lost", "run this again", changed=True)

        power.setattr(Apt, "apply", lost)
        with pytest.raises(PackageError, match="the power was lost"):
            bring(world, [entry], {"rdma": second}, replace_ok=True)
    bring(world, [entry], {"rdma": first})
    assert set(world.packages()) == {"a-driver", "a-kernel"}
    assert not bring(world, [entry], {"rdma": first}).changed


def test_a_first_stack_that_was_not_brought_to_its_end_goes_for_another(
    world: AptWorld, repository: DebRepository
) -> None:
    entry = repository.entry()
    fails = {"postinst": f"#!/bin/sh\necho '{BUILD}' >&2\nexit 10\n"}
    series = Deb("b-modules", "1", {"Depends": "b-helper"}, scripts=fails)
    repository.publish([Deb("a-driver", "1"), series, Deb("b-helper", "1")])
    second = {"packages": [{"name": "b-modules", "version": ""}], "conflicts": ["a-*"]}
    with pytest.raises(PackageError):
        bring(world, [entry], {"nvidia_driver": second})
    first = {"packages": [{"name": "a-driver", "version": ""}], "conflicts": ["b-*"]}
    bring(world, [entry], {"nvidia_driver": first}, replace_ok=True)
    assert set(world.packages()) == {"a-driver"}
    assert not bring(world, [entry], {"nvidia_driver": first}).changed


def test_a_build_that_fails_and_is_not_of_the_plan_is_told_at_the_end(
    world: AptWorld, repository: DebRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = repository.entry()
    bring(world, [entry], {"nvidia_driver": part()})
    repository.publish([*driver(OLD), *driver(NEW), Deb("other-dkms", f"{NEW}-1ubuntu1")])
    unpacked(world, repository, "other-dkms")
    unbuilt(monkeypatch)
    with pytest.raises(PackageError, match="DKMS could not build") as caught:
        bring(world, [entry], {"nvidia_driver": part()})
    assert caught.value.kind == "dkms"


def test_power_lost_before_dependencies_came(world: AptWorld, repository: DebRepository) -> None:
    entry, parts = repository.entry(), {"nvidia_driver": part()}
    # The files and the lists were written, and one package was unpacked.
    bring(world, [entry], {"nvidia_driver": {**part(), "packages": []}})
    options = [word for one in world.options for word in ("-o", one)]
    world.run(["apt-get", *options, "update"])
    deb = repository.home / f"nvidia-open-580_{OLD}-1ubuntu1_all.deb"
    world.run(["dpkg", f"--root={world.root}", "--unpack", str(deb)])
    outcome = bring(world, [entry], parts)
    assert "ran apt-get --fix-broken install" in outcome.repaired
    assert set(world.packages().values()) == {f"{OLD}-1ubuntu1"}


def test_power_lost_among_the_files_is_repaired(world: AptWorld, repository: DebRepository) -> None:
    entry, parts = repository.entry(), {"nvidia_driver": part()}
    bring(world, [entry], parts)
    status = world.file("/var/lib/dpkg/status")
    before, mine, after = status.read_text().partition("Package: nvidia-utils-580\n")
    torn = after.replace(" ok installed", " reinstreq half-installed", 1)
    status.write_text(f"{before}{mine}{torn}")
    outcome = bring(world, [entry], parts)
    assert outcome.repaired == [
        "nvidia-utils-580 is not installed to the end",
        "ran dpkg --configure -a",
        "ran apt-get --fix-broken --reinstall install nvidia-utils-580",
    ]
    assert set(world.packages().values()) == {f"{OLD}-1ubuntu1"}
    assert not bring(world, [entry], parts).changed


def test_a_part_that_is_no_longer_planned_goes_with_what_it_brought(world: AptWorld, repository: DebRepository) -> None:
    repository.publish(
        [
            *driver(OLD),
            Deb("tool", "1", {"Depends": "tool-library"}),
            Deb("tool-library", "1"),
        ]
    )
    entry = repository.entry()
    extras = {
        "packages": [{"name": "tool", "version": "1"}],
        "pins": [{"names": ["tool"], "version": "1"}],
    }
    parts = {"nvidia_driver": part()}
    bring(world, [entry], parts)
    before = world.packages()
    bring(world, [entry], {**parts, "extras": extras})
    assert "tool-library" in world.packages()
    outcome = bring(world, [entry], parts, absent=("extras",))
    assert world.packages() == before
    assert acts(outcome) == {"tool": ("removed", "1", ""), "tool-library": ("removed", "1", "")}
    assert not world.file("/etc/apt/preferences.d/ibready-extras").exists()
    assert not world.file("/var/lib/ibready/packages/extras.json").exists()
    assert not bring(world, [entry], parts, absent=("extras",)).changed


def test_a_repository_that_is_no_longer_planned(world: AptWorld, repository: DebRepository) -> None:
    bring(world, [repository.entry("old")], {"nvidia_driver": part()})
    outcome = bring(world, [repository.entry("new")], {"nvidia_driver": part()})
    assert not outcome.changes
    assert not world.file("/etc/apt/sources.list.d/ibready-old.list").exists()
    assert not world.file("/etc/apt/keyrings/ibready-old.gpg").exists()


# Kernel modules

DKMS_CONF = 'PACKAGE_NAME="nvidia"\nPACKAGE_VERSION="{}"\n'


def dkms_deb(version: str, postinst: str) -> Deb:
    source = f"/usr/src/nvidia-{version}/dkms.conf"
    return Deb(
        "nvidia-dkms-580-open",
        f"{version}-1ubuntu1",
        files={source: DKMS_CONF.format(version)},
        scripts={"postinst": f"#!/bin/sh\nset -e\n{postinst}\n"},
    )


def built(root: Path, version: str) -> Path:
    return root / f"var/lib/dkms/nvidia/{version}/{KERNEL}/x86_64/module/nvidia.ko"


DRIVER = {
    "packages": [{"name": "nvidia-dkms-580-open", "version": OLD}],
    "pins": [{"names": ["nvidia-*"], "version": OLD}],
}


@pytest.fixture
def kernel(world: AptWorld) -> Path:
    home = world.root / f"lib/modules/{KERNEL}"
    home.mkdir()
    (home / "build").mkdir()
    return home


def test_headers_that_no_repository_has(world: AptWorld, repository: DebRepository) -> None:
    repository.publish([dkms_deb(OLD, "")])
    error = refused(world, [repository.entry()], {"nvidia_driver": DRIVER})
    assert error.kind == "headers"
    assert f"linux-headers-{KERNEL}" in error.cause
    assert "nvidia-dkms-580-open" in error.cause


def test_headers_come_with_the_packages(world: AptWorld, repository: DebRepository) -> None:
    made = built(world.root, OLD)
    build = f"mkdir -p {made.parent} && touch {made}"
    headers = Deb(f"linux-headers-{KERNEL}", "6.8.0-31.31")
    repository.publish([dkms_deb(OLD, build), headers])
    outcome = bring(world, [repository.entry()], {"nvidia_driver": DRIVER})
    assert headers.name in acts(outcome)
    assert headers.name not in outcome.held


IMAGE, GENERIC, LIBC = f"linux-image-{KERNEL}", "linux-image-generic", "linux-libc-dev"


@pytest.fixture
def running(world: AptWorld, repository: DebRepository) -> dict[str, Any]:
    """A host with a kernel of the distribution's; the repository of its driver."""
    made = built(world.root, OLD)
    build = f"mkdir -p {made.parent} && touch {made}"
    packages = [Deb(name, "6.8.0.31") for name in (IMAGE, GENERIC, LIBC)]
    repository.publish([dkms_deb(OLD, build), Deb(f"linux-headers-{KERNEL}", "6.8.0-31.31"), *packages])
    theirs = {"packages": [IMAGE, GENERIC, LIBC], "hold": False}
    bring(world, [repository.entry()], {"theirs": theirs}, hold_kernel=True)
    return repository.entry()


def test_the_kernel_stays_while_modules_are_built_for_it(world: AptWorld, running: dict[str, Any]) -> None:
    assert not world.file("/var/lib/ibready/packages/kernel.json").exists()
    driver = {"nvidia_driver": DRIVER}
    would = bring(world, [running], driver, hold_kernel=True, check=True)
    assert GENERIC in would.held

    assert bring(world, [running], driver, hold_kernel=True).held == ["nvidia-dkms-580-open", GENERIC]

    assert not bring(world, [running], driver, hold_kernel=True).changed
    # Who does not say leaves it, and with the last modules it is free: never removed.
    assert not bring(world, [running], driver).changed
    gone = bring(world, [running], {}, absent=("nvidia_driver",), hold_kernel=True)
    assert gone.released == [GENERIC]
    assert "nvidia-dkms-580-open" not in world.packages()
    assert {IMAGE, GENERIC, LIBC} <= set(world.packages())
    assert not world.file("/var/lib/ibready/packages/kernel.json").exists()


def test_a_site_that_moves_its_kernel_by_itself(world: AptWorld, running: dict[str, Any]) -> None:
    driver = {"nvidia_driver": DRIVER}
    assert GENERIC not in bring(world, [running], driver, hold_kernel=False).held
    assert bring(world, [running], driver, hold_kernel=True).held == [GENERIC]
    assert bring(world, [running], driver, hold_kernel=False).released == [GENERIC]
    assert not bring(world, [running], driver, hold_kernel=False).changed


def test_an_operator_s_hold_of_the_kernel_stays(world: AptWorld, running: dict[str, Any]) -> None:
    driver = {"nvidia_driver": DRIVER}
    world.manager().hold([], [GENERIC], [])
    assert GENERIC not in bring(world, [running], driver, hold_kernel=True).held
    assert bring(world, [running], driver, hold_kernel=False).released == []


def test_a_failed_build_fails_although_apt_ended_well(world: AptWorld, repository: DebRepository, kernel: Path) -> None:
    log = world.root / f"var/lib/dkms/nvidia/{OLD}/build/make.log"
    script = f"mkdir -p {log.parent} && echo 'nv.c:1: error: no such field' > {log}"
    repository.publish([dkms_deb(OLD, script)])
    with pytest.raises(PackageError) as caught:
        bring(world, [repository.entry()], {"nvidia_driver": DRIVER})
    assert (caught.value.kind, caught.value.changed) == ("dkms", True)
    assert f"/var/lib/dkms/nvidia/{OLD}/build/make.log" in caught.value.cause
    assert "no such field" in caught.value.cause

    # Once the cause is gone, the next run builds it.
    def build(module: DkmsModule, kernel: str) -> None:
        assert (str(module), kernel) == (f"nvidia/{OLD}", KERNEL)
        made = built(world.root, OLD)
        made.parent.mkdir(parents=True)
        made.touch()

    outcome = bring(world, [repository.entry()], {"nvidia_driver": DRIVER}, build=build)
    assert outcome.repaired == [f"built nvidia/{OLD} for {KERNEL}"]
    assert not bring(world, [repository.entry()], {"nvidia_driver": DRIVER}).changed


def test_a_build_that_breaks_the_package_is_told_as_such(
    world: AptWorld, repository: DebRepository, kernel: Path
) -> None:
    log = world.root / f"var/lib/dkms/nvidia/{OLD}/build/make.log"
    script = f"mkdir -p {log.parent}; echo 'gcc: not found' > {log}; exit 10"
    repository.publish([dkms_deb(OLD, script)])
    with pytest.raises(PackageError) as caught:
        bring(world, [repository.entry()], {"nvidia_driver": DRIVER})
    assert (caught.value.kind, "gcc: not found" in caught.value.cause) == ("dkms", True)


# GPUDirect Storage: the real package's scripts unload the module, and fail where it is in use.
STORAGE = {"packages": [{"name": "nvidia-fs-dkms", "version": "2.26.6"}]}
NEWER_STORAGE = {"packages": [{"name": "nvidia-fs-dkms", "version": "2.27.3"}]}


@pytest.fixture
def storage(world: AptWorld, repository: DebRepository, kernel: Path) -> DebRepository:
    repository.publish([Deb("nvidia-fs-dkms", "2.26.6-1")])
    bring(world, [repository.entry()], {"gds": STORAGE})
    repository.publish([Deb("nvidia-fs-dkms", "2.26.6-1"), Deb("nvidia-fs-dkms", "2.27.3-1")])
    return repository


def used(world: AptWorld, users: str) -> None:
    home = world.root / "sys/module/nvidia_fs"
    home.mkdir(parents=True)
    (home / "refcnt").write_text(f"{users}\n")


@pytest.mark.parametrize("check", [False, True])
def test_a_module_that_is_in_use_keeps_its_package(world: AptWorld, storage: DebRepository, check: bool) -> None:
    used(world, "3")
    before = everything(world)
    newer = {"gds": NEWER_STORAGE}
    for parts, absent, way in ((newer, (), "to 2.27.3-1"), ({}, ("gds",), "away")):
        with pytest.raises(PackageError) as caught:
            bring(world, [storage.entry()], parts, absent=absent, check=check)
        assert (caught.value.kind, caught.value.changed) == ("busy", False)
        assert f"nvidia-fs-dkms 2.26.6-1 is to be brought {way}" in caught.value.cause
        assert "in use (3 users)" in caught.value.cause
        assert "drain the host" in str(caught.value)
    assert everything(world) == before
    # What stays as it is may be in use.
    assert not bring(world, [storage.entry()], {"gds": STORAGE}).changed


@pytest.mark.parametrize("said", ["", "many", None], ids=["empty", "no number", "no file"])
def test_a_module_of_which_nobody_tells_whether_it_is_used_keeps_its_package(tmp_path: Path, said: str | None) -> None:
    """A kernel that unloads no modules has no refcnt of them."""
    home = tmp_path / "sys/module/nvidia_fs"
    home.mkdir(parents=True)
    if said is not None:
        (home / "refcnt").write_text(said)
    with pytest.raises(PackageError) as caught:
        refuse.busy([Change("nvidia-fs-dkms", "2.26.6-1", "")], str(tmp_path))
    assert caught.value.kind == "busy"
    assert "it is loaded, and nobody can tell how many use it" in caught.value.cause


@pytest.mark.parametrize("users", ["0", None])
def test_a_module_that_nobody_uses_may_go(world: AptWorld, storage: DebRepository, users: str | None) -> None:
    if users is not None:
        used(world, users)
    newer = {"gds": NEWER_STORAGE}
    assert acts(bring(world, [storage.entry()], newer)) == {"nvidia-fs-dkms": ("upgraded", "2.26.6-1", "2.27.3-1")}
    bring(world, [storage.entry()], {}, absent=("gds",))
    assert "nvidia-fs-dkms" not in world.packages()


def test_sources_that_apt_cannot_read_are_no_empty_offer(world: AptWorld, repository: DebRepository) -> None:
    key = world.file("/etc/apt/trusted.gpg.d/other.gpg")
    world.file("/etc/apt/sources.list.d/theirs.list").write_text(
        f"deb [signed-by={key}] file://{repository.home}/ ./\n"
    )
    error = refused(world, [repository.entry()], {"nvidia_driver": part()})
    assert error.kind == "sources"
    assert "Conflicting values set for option Signed-By" in error.said
    assert "signed-by" in error.following


def lacking(world: AptWorld, repository: DebRepository) -> PackageError:
    """The error of a host on which a package was taken from below ours, which are held."""
    bring(world, [repository.entry()], {"nvidia_driver": part()})
    world.run(["dpkg", f"--root={world.root}", "--force-hold", "--force-depends", "-r", "nvidia-utils-580"])
    return failures.explain(*apt(world, "apt-get", "--yes", "install", "nvidia-fabricmanager"), doing="installing")


def apt(world: AptWorld, program: str, *words: str) -> tuple[str, str]:
    options = [word for one in world.options for word in ("-o", one)]
    done = world.run([program, *options, *words])
    return done.stdout, done.stderr


def test_what_is_told_for_unmet_dependencies_below_our_holds_mends_them(
    world: AptWorld, repository: DebRepository
) -> None:
    error = lacking(world, repository)
    assert error.kind == "unmet"
    # What was told before, and plain --fix-broken, do not.
    world.run(["dpkg", f"--root={world.root}", "--configure", "-a"])
    apt(world, "apt-get", "--yes", "--fix-broken", "install")
    assert "nvidia-utils-580" not in world.packages()
    held = world.manager().held()
    steps = re.findall(r"`([^`]+)`", error.following)
    assert [step.split()[0] for step in steps] == ["apt-mark", "apt-get", "apt-mark"]
    for step in steps:
        program, *words = step.split()
        apt(world, program, *(["--yes"] if program == "apt-get" else []), *words)
    assert set(world.packages()) == {one.name for one in driver(OLD)}
    assert world.manager().held() >= held


def test_what_somebody_took_away_by_force_is_seen_and_brought_back(world: AptWorld, repository: DebRepository) -> None:
    entry, parts = repository.entry(), {"nvidia_driver": part()}
    bring(world, [entry], parts)
    # No name of the plan: what a named one needs, and what nothing needs.
    for name in ("libnvidia-compute-580", "nvidia-utils-580"):
        world.run(["dpkg", f"--root={world.root}", "--force-hold", "--force-depends", "--remove", name])
    seen = bring(world, [entry], parts, check=True)
    assert any("nvidia-open-580 : Depends: nvidia-utils-580" in entry for entry in seen.repaired)
    assert {"libnvidia-compute-580", "nvidia-utils-580"} <= set(acts(seen))
    bring(world, [entry], parts)
    assert world.packages()["libnvidia-compute-580"] == f"{OLD}-1ubuntu1"
    assert {"libnvidia-compute-580", "nvidia-utils-580"} <= world.manager().held()
    assert not bring(world, [entry], parts).changed


def test_what_nothing_needs_comes_back_as_well(world: AptWorld, repository: DebRepository) -> None:
    entry, parts = repository.entry(), {"nvidia_driver": part()}
    bring(world, [entry], parts)
    place = world.file("/var/lib/ibready/packages/nvidia_driver.json")
    noted = json.loads(place.read_text())
    place.write_text(json.dumps({**noted, "packages": [*noted["packages"], "gone-for-good"]}))
    seen = bring(world, [entry], parts, check=True)
    assert "gone-for-good, which part nvidia_driver brought, is gone, and no repository has it" in seen.warnings
    bring(world, [entry], parts)
    assert "gone-for-good" not in json.loads(place.read_text())["packages"]
    assert not bring(world, [entry], parts).changed


@pytest.mark.parametrize("wanted", [{"nvidia-open-580"}, set()])
def test_what_another_plan_brought_is_not_missed(world: AptWorld, repository: DebRepository, wanted: set[str]) -> None:
    entry, parts = repository.entry(), {"nvidia_driver": part()}
    bring(world, [entry], parts)
    place = world.file("/var/lib/ibready/packages/nvidia_driver.json")
    noted = json.loads(place.read_text())
    place.write_text(json.dumps({**noted, "packages": [*noted["packages"], "another"], "wanted": sorted(wanted)}))
    assert not bring(world, [entry], parts, check=True).changes


def test_an_apt_that_cannot_look_is_no_whole_one(world: AptWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    manager = world.manager()
    assert manager.damage() == []
    monkeypatch.setattr(manager, "_asked", lambda: Output(100, "", "E: The status file could not be parsed"))
    assert manager.damage() == ["apt-get check: The status file could not be parsed"]
