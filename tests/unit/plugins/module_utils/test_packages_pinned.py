# SPDX-License-Identifier: GPL-3.0-or-later
"""A key ring holds what is pinned and nothing else, whatever a mirror puts into the key file."""

from __future__ import annotations

import shutil
import subprocess
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._act.packages import keyring, openpgp
from ansible_collections.ibready.cluster.plugins.module_utils._act.packages.model import PackageError, Repository
from tests.unit.openpgp_keys import Gpg, compressed, gpg, imported, needs_gpg, packets

pytestmark = pytest.mark.thorough

KINDS = {
    "rsa": ("rsa2048", "rsa2048"),
    "ed25519": ("ed25519", "ed25519"),
    "dsa": ("dsa2048", "elg1024"),
}


@dataclass(frozen=True)
class Files:
    """Two vendors' key files of a kind, each of a primary key and a subkey."""

    vendor: bytes
    evil: bytes
    prints: tuple[str, ...]  # the vendor's: primary key, subkey

    @property
    def pin(self) -> str:
        return self.prints[0]

    def fetched(self, data: bytes) -> bytes:
        repository = Repository("vendor", "apt", "http://m/", "http://m/key", (self.pin,))
        return keyring.fetched(repository, lambda _address: data)

    def tried(self, data: bytes) -> bytes | None:
        """The same, None where the file is refused for what is in it."""
        try:
            return self.fetched(data)
        except PackageError as exc:
            if exc.kind != "key":
                raise
            return None


@pytest.fixture(scope="module")
def home() -> Iterator[Gpg]:
    with gpg() as made:
        yield made


@pytest.fixture(scope="module", params=sorted(KINDS))
def files(request: pytest.FixtureRequest, home: Gpg) -> Files:
    return make(home, request.param)


@pytest.fixture(scope="module")
def plain(home: Gpg) -> Files:
    return make(home, "ed25519", "plain")


def make(home: Gpg, kind: str, name: str = "") -> Files:
    primary, second = KINDS[kind]
    found = {}
    for who in ("vendor", "evil"):
        key = home.make(f"{who}-{name or kind}", primary)
        found[who] = key, home.add(key, second, "encr" if kind == "dsa" else "sign")
    vendor, evil = (home.export(found[who][0]) for who in ("vendor", "evil"))
    return Files(vendor, evil, found["vendor"])


def headers(tag: int, body: bytes) -> Iterator[bytes]:
    """The packet in every form that a header has."""
    size = len(body)
    if tag < 16:
        for form, width in ((0, 1), (1, 2), (2, 4)):
            if size < 256**width:
                yield bytes([0x80 | tag << 2 | form]) + size.to_bytes(width, "big") + body
    first = bytes([0xC0 | tag])
    if size < 192:
        yield first + bytes([size]) + body
    elif size < 8384:
        yield first + bytes([192 + ((size - 192) >> 8), (size - 192) & 0xFF]) + body
    yield first + b"\xff" + size.to_bytes(4, "big") + body


def bodies(tag: int, evil: bytes) -> list[bytes]:
    """What somebody would put into a packet of a tag: their own, compressed or as it is."""
    own = [body for have, body in openpgp.packets(evil) if have == tag]
    return [*own, b"\x01" + zlib.compress(evil, 9)[2:-4], evil, b""]


@needs_gpg
class TestWhateverIsPutThere:
    @pytest.mark.parametrize("tag", range(64))
    def test_one_packet_of_any_tag_at_any_place(self, plain: Files, tag: int) -> None:
        there = packets(plain.vendor)
        honest = plain.fetched(plain.vendor)
        others: set[bytes] = set()
        for body in bodies(tag, plain.evil):
            for packet in headers(tag, body):
                for at in range(len(there) + 1):
                    data = b"".join([*there[:at], packet, *there[at:]])
                    written = plain.tried(data)
                    assert written is None or tag in (2, 13, 14, 17)
                    others.add(written or honest)
        for written in others - {honest}:
            known = imported(written)
            assert plain.pin in known
            assert set(known) <= set(plain.prints)

    @settings(max_examples=150)
    @given(draw=st.data())
    def test_packets_of_both_in_any_order(self, files: Files, draw: st.DataObject) -> None:
        vendor, evil = packets(files.vendor), packets(files.evil)
        # Another's primary key is refused by name, so that most files would end there.
        pieces = st.sampled_from([*vendor, *evil[1:], *vendor])
        data = b"".join([vendor[0], *draw.draw(st.lists(pieces, max_size=12))])
        written = files.tried(data)
        if written is None:
            return
        honest = {body for tag, body in openpgp.packets(files.vendor) if tag in (2, 6, 13, 14)}
        assert {body for _tag, body in openpgp.packets(written)} <= honest
        # A subkey never without the signature that binds it.
        tags = bytes(tag for tag, _body in openpgp.packets(written))
        assert tags.count(14) == tags.count(b"\x0e\x02")

    def test_a_subkey_that_somebody_else_bound(self, files: Files) -> None:
        vendor, evil = packets(files.vendor), packets(files.evil)
        *_rest, subkey, binding = vendor
        flipped = bytearray(binding)
        flipped[-1] ^= 1
        for put in (
            [evil[-2]],
            evil[-2:],
            [evil[-2], binding],
            [evil[-2], vendor[2]],
            [evil[-2], bytes(flipped)],
        ):
            data = b"".join([*vendor[:-2], *put, subkey, binding])
            assert files.fetched(data) == files.fetched(files.vendor)
        assert set(imported(files.fetched(b"".join([*vendor[:-1], bytes(flipped)])))) == {files.pin}

    def test_a_signature_with_something_behind_it_is_left_out(self, files: Files) -> None:
        *_rest, (_tag, body) = openpgp.packets(files.vendor)
        longer = openpgp.packet(2, body + b"\x00\x08\xff")
        data = b"".join([*packets(files.vendor)[:-1], longer])
        assert set(imported(files.fetched(data))) == {files.pin}

    def test_compressed_keys_are_refused_by_name(self, files: Files) -> None:
        hidden = compressed(files.evil)
        for data in (files.vendor + hidden, hidden + files.vendor, hidden):
            armored = openpgp.armored(data).encode()
            with pytest.raises(PackageError, match=r"tag 8 \(compressed data\).*Nothing was changed"):
                files.fetched(armored)
        # The danger is real: gpg takes another's key and subkey out of it.
        assert len(imported(files.vendor + hidden)) == 4

    def test_a_certificate_of_somebody_else_and_a_picture_are_left_out(self, files: Files) -> None:
        vendor, evil = packets(files.vendor), packets(files.evil)
        picture = b"\xd1\x05photo"
        data = b"".join([*vendor[:3], evil[2], picture, vendor[2], evil[1], evil[2], *vendor[3:]])
        assert files.fetched(data) == files.fetched(files.vendor)


@needs_gpg
class TestAsGpgSeesIt:
    def test_a_key_is_written_as_gpg_exports_it(self, files: Files) -> None:
        assert files.fetched(files.vendor) == files.vendor
        armored = openpgp.armored(files.vendor).encode()
        assert files.fetched(armored) == files.vendor
        assert set(imported(files.vendor)) == set(files.prints)

    KEYRINGS = sorted(Path("/usr/share/keyrings").glob("*.gpg"))

    @pytest.mark.parametrize("path", KEYRINGS, ids=lambda path: path.name)
    def test_keys_of_the_world_are_kept_or_over_as_gpg_says(self, path: Path) -> None:
        data = openpgp.binary(path.read_bytes())
        theirs = imported(data)
        for one in dict.fromkeys(openpgp.fingerprints(data)):
            whole = next(part for part in split(data) if openpgp.fingerprints(part) == (one,))
            try:
                written = keyring.only(data, [one], time.time())
            except keyring.OverError:
                assert theirs[one][1] in ("e", "r")
                continue
            assert theirs[one][1] not in ("e", "r")
            assert imported(written) == imported(whole)

    @pytest.mark.skipif(not shutil.which("rpm"), reason="needs rpm")
    def test_rpm_knows_the_pinned_key_alone(self, files: Files, tmp_path: Path) -> None:
        data = b"".join([files.vendor, *packets(files.evil)[-2:]])
        path = tmp_path / "key.asc"
        path.write_text(openpgp.armored(files.fetched(data)))
        rpm = ["rpm", f"--root={tmp_path}"]
        subprocess.run([*rpm, "--import", str(path)], check=True, capture_output=True)
        said = subprocess.run([*rpm, "-qa", "--queryformat", "%{VERSION}\n"], check=True, capture_output=True)
        assert said.stdout.decode().split() == [files.pin[-8:].lower()]


def split(data: bytes) -> list[bytes]:
    """One file for each primary key."""
    found: list[list[bytes]] = []
    for tag, body in openpgp.packets(data):
        if tag == openpgp.PUBLIC_KEY:
            found.append([])
        header = openpgp.packet(tag, body) if tag < 16 else list(headers(tag, body))[-1]
        found[-1].append(header)
    return [b"".join(one) for one in found]


@needs_gpg
class TestOver:
    def test_an_expired_key_is_refused_by_name_until_it_is_prolonged(self, home: Gpg) -> None:
        key = home.make("old", lasts="30d")
        old = home.export(key)
        repository = Repository("vendor", "apt", "http://m/", "http://m/key", (key,))
        with pytest.raises(PackageError, match=rf"vendor: http://m/key .*{key} expired on 2024-01-31"):
            keyring.fetched(repository, lambda _address: old)
        assert keyring.only(old, [key], 1704067200 + 29 * 86400) == old
        home.run("--quick-set-expire", key, "0")
        new = home.export(key)
        assert set(imported(keyring.fetched(repository, lambda _address: new))) == {key}

    def test_a_revoked_key_is_refused_by_name(self, home: Gpg, plain: Files) -> None:
        key = home.make("gone", "rsa2048")
        good = home.export(key)
        home.revoke(key)
        gone = home.export(key)
        repository = Repository("vendor", "apt", "http://m/", "http://m/key", (key,))
        with pytest.raises(PackageError, match=f"{key} was revoked"):
            keyring.fetched(repository, lambda _address: gone)
        # Nobody else can revoke a key, nor a revocation be another key's.
        revocation = packets(gone)[1]
        there = packets(plain.vendor)
        assert plain.fetched(b"".join([there[0], revocation, *there[1:]])) == plain.vendor
        assert keyring.fetched(repository, lambda _address: good) == good
        # A copy beside it that does not know of that does not help.
        for data in (gone + good, good + gone):
            with pytest.raises(PackageError, match=f"{key} was revoked"):
                keyring.fetched(repository, lambda _address, data=data: data)

    def test_of_two_pinned_keys_the_one_that_is_good_is_kept(self, home: Gpg, plain: Files) -> None:
        old = home.make("rotated", lasts="30d")
        data = home.export(old) + plain.vendor
        repository = Repository("v", "apt", "http://m/", "http://m/key", (old, plain.pin))
        assert keyring.fetched(repository, lambda _address: data) == plain.vendor

    def test_a_key_whose_signatures_cannot_be_judged_is_refused_by_name(self, home: Gpg) -> None:
        key = home.make("curve", "nistp256")
        repository = Repository("vendor", "apt", "http://m/", "http://m/key", (key,))
        with pytest.raises(PackageError, match=rf"{key} is of a kind \(algorithm 19\)"):
            keyring.fetched(repository, lambda _address: home.export(key))

    def test_a_key_without_a_name_of_its_own_is_refused(self, plain: Files) -> None:
        key, name, signature, *rest = packets(plain.vendor)
        other = openpgp.packet(13, b"somebody else")
        for put in ([], [name], [other, signature]):
            with pytest.raises(PackageError, match=f"{plain.pin} has signed no name"):
                plain.fetched(b"".join([key, *put, *rest]))


@needs_gpg
class TestWhatLiesThere:
    def kept(self, path: Path, files: Files, public_key: str = "") -> bytes | None:
        given = Repository("v", "apt", "http://m/", "http://m/key", (files.pin,), public_key=public_key)
        return keyring.kept(str(path), given)

    def test_a_ring_is_kept_without_what_somebody_put_there_before(self, plain: Files, tmp_path: Path) -> None:
        path = tmp_path / "ring.gpg"
        assert self.kept(path, plain) is None
        path.write_bytes(plain.vendor)
        assert self.kept(path, plain) == plain.vendor
        path.write_bytes(b"".join([plain.vendor, *packets(plain.evil)[-2:]]))
        assert self.kept(path, plain) == plain.vendor
        path.write_bytes(plain.vendor + openpgp.packet(8, b"\x00" + plain.evil))
        assert self.kept(path, plain) is None
        path.write_bytes(plain.vendor + plain.evil)
        assert self.kept(path, plain) is None

    def test_a_key_of_the_controller_is_asked_for_nowhere(self, plain: Files, tmp_path: Path) -> None:
        path = tmp_path / "ring.gpg"
        path.write_bytes(plain.evil)
        sent = openpgp.armored(plain.vendor)
        assert self.kept(path, plain, public_key=sent) == plain.vendor
        foreign = openpgp.armored(plain.evil)
        assert self.kept(path, plain, public_key=foreign) is None
        given = Repository("v", "apt", "http://m/", "", (plain.pin,), public_key=foreign)
        with pytest.raises(PackageError, match="that came with its plan holds the key"):
            keyring.fetched(given, lambda address: pytest.fail(f"{address!r} was asked"))
