# SPDX-License-Identifier: GPL-3.0-or-later
"""A bundle is made, signed by the site, and trusted only whole and by that key."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._act.packages import keyring, openpgp, read
from ansible_collections.ibready.cluster.plugins.plugin_utils._bundle import base, check, layout, make, source
from ansible_collections.ibready.cluster.plugins.plugin_utils._bundle.layout import BundleError
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.matrix import load
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.plan import install
from tests.unit.apt_world import Signer

needs_gpg = pytest.mark.skipif(not shutil.which("gpg"), reason="needs gpg")
NAME = "ubuntu24.04-6.8-x86-64_hgx-h100-8_connectx-7"
DIGEST = "d" * 64
NOW, LATER = "2026-01-01T00:00:00+00:00", "2026-02-01T00:00:00+00:00"
DATA = {"gcc_4_14.2-1_all.deb": b"gcc", "nvidia-open_580.1-1_all.deb": b"driver"}


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Signer, Signer]]:
    home = tmp_path_factory.mktemp("keys")
    both = Signer(home, "site"), Signer(home, "stranger")
    yield both
    for one in both:
        subprocess.run(["gpgconf", "--homedir", one.home, "--kill", "all"], check=False)


@pytest.fixture
def site(keys: tuple[Signer, Signer], monkeypatch: pytest.MonkeyPatch) -> Signer:
    monkeypatch.setenv("GNUPGHOME", str(keys[0].home))
    return keys[0]


@pytest.fixture
def home(tmp_path: Path, site: Signer) -> Path:
    place = tmp_path / "bundle"
    (place / NAME).mkdir(parents=True)
    for name, data in DATA.items():
        (place / NAME / name).write_bytes(data)
    finish(place, site.fingerprint)
    return place


def fetched(digest: str = DIGEST) -> make.Fetched:
    packages = {name: (name.partition("_")[0], "1") for name in DATA}
    described = layout.Class("apt", digest, "node1", ("6.8.0",), packages)
    sums = {name: hashlib.sha256(data).hexdigest() for name, data in DATA.items()}
    return make.Fetched(described, tuple(f"Package: {one[0]}" for one in packages.values()), sums)


def finish(place: Path, key: str, now: str = NOW, digest: str = DIGEST) -> list[str]:
    return make.finish(place, key, {NAME: fetched(digest)}, [], now, "ibready test", "")


@needs_gpg
class TestMade:
    def test_it_is_whole_and_the_site_s_own(self, home: Path, site: Signer) -> None:
        manifest = check.check(home, site.fingerprint, {NAME: DIGEST})
        assert set(manifest.classes[NAME].packages) == set(DATA)
        assert (home / NAME / "InRelease").is_file()
        done = subprocess.run(["sha256sum", "--quiet", "--check", layout.SUMS], cwd=home, capture_output=True)
        assert done.returncode == 0, done.stdout

    def test_a_second_time_nothing_is_written(self, home: Path, site: Signer) -> None:
        (home / NAME / "left.deb.part").write_bytes(b"half")
        assert finish(home, site.fingerprint, LATER) == []

    def test_a_damaged_index_is_written_again(self, home: Path, site: Signer) -> None:
        (home / NAME / "InRelease").write_text("torn")
        assert f"{NAME}/InRelease" in finish(home, site.fingerprint, LATER)
        check.check(home, site.fingerprint, {NAME: DIGEST})

    def test_a_file_with_another_sum_than_promised_is_refused(self, home: Path, site: Signer) -> None:
        (home / NAME / next(iter(DATA))).write_bytes(b"other")
        with pytest.raises(BundleError, match="signed index promises"):
            finish(home, site.fingerprint)

    def test_a_key_that_the_operator_does_not_have_is_named(self, home: Path) -> None:
        with pytest.raises(BundleError, match=r"A{40}.*GNUPGHOME"):
            finish(home, "A" * 40)


@needs_gpg
class TestRefused:
    def test_one_changed_byte(self, home: Path, site: Signer) -> None:
        victim = home / NAME / "nvidia-open_580.1-1_all.deb"
        victim.write_bytes(b"drivex")
        with pytest.raises(BundleError, match=f"damaged: {NAME}/nvidia-open_580"):
            check.check(home, site.fingerprint, {NAME: DIGEST})

    def test_a_lost_file(self, home: Path, site: Signer) -> None:
        (home / NAME / "nvidia-open_580.1-1_all.deb").unlink()
        with pytest.raises(BundleError, match="lacks"):
            check.check(home, site.fingerprint, {NAME: DIGEST})

    def test_sums_that_were_mended_by_hand(self, home: Path, site: Signer) -> None:
        text = (home / layout.SUMS).read_text()
        (home / layout.SUMS).write_text(text.replace(text[:8], "00000000", 1))
        with pytest.raises(BundleError, match="does not fit"):
            check.check(home, site.fingerprint, {NAME: DIGEST})

    def test_another_s_signature_and_key(
        self, home: Path, keys: tuple[Signer, Signer], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        site, stranger = keys
        monkeypatch.setenv("GNUPGHOME", str(stranger.home))
        finish(home, stranger.fingerprint)
        with pytest.raises(BundleError, match=f"signed by {stranger.fingerprint}"):
            check.check(home, site.fingerprint, {NAME: DIGEST})

    def test_another_s_signature_under_the_site_s_key(self, home: Path, keys: tuple[Signer, Signer]) -> None:
        site, stranger = keys
        signature = home / layout.SIGNATURE
        signature.unlink()
        stranger.gpg("--armor", "--detach-sign", "--output", signature, home / layout.SUMS)
        with pytest.raises(BundleError, match="does not fit"):
            check.check(home, site.fingerprint, {NAME: DIGEST})

    def test_another_stack_class_or_no_bundle_at_all(self, home: Path, site: Signer, tmp_path: Path) -> None:
        for wanted, said in (({NAME: "e" * 64}, "another stack"), ({"x": DIGEST}, "nothing for x")):
            with pytest.raises(BundleError, match=said):
                check.check(home, site.fingerprint, wanted)
        bundle = source.bundled(str(tmp_path), site.fingerprint)
        with pytest.raises(BundleError, match=r"no bundle.*Nothing was changed"):
            source.see(bundle, {NAME: DIGEST})


@needs_gpg
class TestKey:
    """Whoever serves the bundle, its key comes from the controller."""

    def test_of_a_folder_it_is_the_verified_one(self, home: Path, site: Signer) -> None:
        bundle = source.see(source.bundled(str(home), site.fingerprint), {NAME: DIGEST})
        assert openpgp.fingerprints(bundle.public_key.encode()) == (site.fingerprint,)

    @pytest.mark.parametrize("address", ["http://mirror/bundle", "file:///mnt/bundle"])
    def test_of_an_address_it_is_gpg_s_of_the_controller(self, site: Signer, address: str) -> None:
        bundle = source.see(source.bundled(address, site.fingerprint), {NAME: DIGEST})
        entry = install.bundle_repository(bundle, NAME, "dnf")
        (one,) = read.repositories([entry], "dnf")
        assert (one.key, one.public_key) == ("", bundle.public_key)
        packets = keyring.fetched(one, lambda address: pytest.fail(f"{address!r} was asked"))
        assert openpgp.fingerprints(packets) == (site.fingerprint,)

    def test_a_controller_without_it_or_without_gpg_is_told_the_next_step(
        self, site: Signer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        bundle = source.bundled("http://mirror/bundle", "A" * 40)
        with pytest.raises(BundleError, match=r"A{40}.*gpg --import.*Nothing was changed on any"):
            source.see(bundle, {})
        monkeypatch.setenv("PATH", "/nowhere")
        with pytest.raises(BundleError, match=r"no gpg on the controller.*Nothing was changed"):
            source.see(bundle, {})


def test_a_package_counts_as_there_only_if_all_hosts_had_it_before() -> None:
    here = {"packages": {"libc6": "1", "gcc": "2", "dkms": "3", "x": "1"}, "brought": ["dkms"]}
    other = {"packages": {"libc6": "1", "dkms": "3", "x": "2"}, "brought": []}
    assert base.lacking(here, [here, other]) == ["dkms", "gcc", "x"]
    third = {"packages": dict(here["packages"]), "brought": ["libc6"]}
    assert base.lacking(here, [here, third]) == ["dkms", "libc6"]
    assert base.kernels([{"kernel": "b"}, {"kernel": "a"}, {"kernel": "b"}]) == ["a", "b"]


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a/../b", ".hidden", "a/b/c/d", "", "a b"])
def test_a_path_that_leads_elsewhere_is_none_of_a_bundle(name: str) -> None:
    with pytest.raises(BundleError):
        layout.path(name)
    with pytest.raises(BundleError):
        layout.sums(f"{'0' * 64}  {name}\n")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": "ibready/bundle/1"}', "nonsense"])
def test_what_is_no_manifest_is_said_to_be_none(text: str) -> None:
    with pytest.raises(BundleError, match="no manifest"):
        layout.manifest(text)


def test_with_a_bundle_it_is_the_only_repository_and_no_location_is_missed() -> None:
    matrix = load.own()
    to = install.target("ubuntu24.04", "x86_64", matrix)
    stack = {"rdma": {"flavour": "doca", "version": "3.2.3"}}
    sites = install.Sites({}, source.bundled("/srv/bundle", "A" * 40))
    (one,) = install.install(stack, to, matrix, sites, NAME)["repositories"]
    assert one["url"] == f"file:///var/lib/ibready/bundle/{NAME}/"
    assert (one["alone"], one["fingerprints"]) == (True, ["A" * 40])
    assert install.missing_bases(stack, "ubuntu24.04", matrix, sites) == []
    inbox = install.install({"rdma": {"flavour": "inbox"}}, to, matrix, sites, NAME)
    assert (inbox["parts"], len(inbox["repositories"])) == ({}, 1)


def test_a_bundle_is_a_folder_of_the_controller_or_an_address_of_the_nodes() -> None:
    key = "0123 4567 89AB CDEF 0123  4567 89AB CDEF 0123 4567"
    local = source.bundled("/srv/bundle", key)
    assert (local.directory, local.address) == ("/srv/bundle", "file:///var/lib/ibready/bundle")
    served = source.bundled("http://mirror/bundle/", key)
    assert (served.directory, served.address) == ("", "http://mirror/bundle")
    assert served.fingerprint == key.replace(" ", "")
    with pytest.raises(BundleError, match="stack_bundle_key is None"):
        source.bundled("/srv/bundle", None)


def test_sums_without_a_manifest_are_no_bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "signed_sums", lambda _home, _key: {})
    (tmp_path / layout.MANIFEST).write_text("{}")
    with pytest.raises(layout.BundleError, match=f"has no {layout.MANIFEST}; next: "):
        check.check(tmp_path, "", {})
