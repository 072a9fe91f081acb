# SPDX-License-Identifier: GPL-3.0-or-later
"""Which signatures count, by real gpg: those of the pinned key, while it is good, and no others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._act.packages import openpgp
from ansible_collections.ibready.cluster.plugins.plugin_utils._bundle import gpg as judge
from ansible_collections.ibready.cluster.plugins.plugin_utils._bundle.layout import BundleError
from tests.unit.openpgp_keys import Gpg, gpg, needs_gpg

pytestmark = needs_gpg
WAS = "20240110T000000"  # When the keys below, made on the first of that month, were all good.


@pytest.fixture(scope="module")
def home() -> Iterator[Gpg]:
    with gpg() as made:
        yield made


@dataclass(frozen=True)
class Signed:
    """A file, and the signature that a key made."""

    home: Gpg
    text: Path
    signature: Path

    def by(self, key: str, *words: str, at: str = "") -> None:
        given = ["--local-user", key, *words, "--output", self.signature, "--detach-sign"]
        self.home.run("--armor", *given, self.text, at=at)

    def why_not(self, key: str, pinned: str = "") -> str:
        return judge.why_not(self.home.export(key), pinned or key, self.signature, self.text)


@pytest.fixture
def signed(home: Gpg, tmp_path: Path) -> Signed:
    (tmp_path / "text").write_text("sums\n")
    return Signed(home, tmp_path / "text", tmp_path / "text.asc")


def test_a_good_key_and_one_with_an_old_subkey_that_has_expired(home: Gpg, signed: Signed) -> None:
    key = home.make("fresh")
    signed.by(key)
    assert signed.why_not(key) == ""
    # gpg says KEYEXPIRED then, and means the subkey.
    home.add(key, "ed25519", "sign", "1d")
    signed.by(f"{key}!")
    assert signed.why_not(key) == ""


@pytest.mark.parametrize("kind", ["rsa2048", "ed25519"])
def test_a_good_subkey_signs_for_its_key(home: Gpg, signed: Signed, kind: str) -> None:
    key = home.make(f"whole-{kind}", kind)
    signed.by(f"{home.add(key, kind, 'sign')}!")
    assert signed.why_not(key) == ""


@pytest.mark.parametrize("unread", [False, True], ids=["by us", "by gpg alone"])
class TestNoMore:
    @pytest.fixture(autouse=True)
    def leave_it_to_gpg(self, unread: bool, monkeypatch: pytest.MonkeyPatch) -> None:
        if unread:
            monkeypatch.setattr(judge.keyring, "only", lambda packets, *_: packets)

    def test_an_expired_key(self, home: Gpg, signed: Signed, unread: bool) -> None:
        key = home.make(f"expired-{unread}", lasts="30d")
        signed.by(key, at=WAS)
        assert "expired" in signed.why_not(key)

    def test_a_revoked_key(self, home: Gpg, signed: Signed, unread: bool) -> None:
        key = home.make(f"revoked-{unread}")
        signed.by(key)
        assert signed.why_not(key) == ""
        home.revoke(key)
        assert "was revoked" in signed.why_not(key)

    def test_an_expired_subkey(self, home: Gpg, signed: Signed, unread: bool) -> None:
        key = home.make(f"subkey-{unread}")
        subkey = home.add(key, "ed25519", "sign", "30d")
        signed.by(f"{subkey}!", at=WAS)
        assert "the key that made the signature has expired" in signed.why_not(key)

    def test_an_expired_signature(self, home: Gpg, signed: Signed, unread: bool) -> None:
        key = home.make(f"signature-{unread}")
        signed.by(key, "--default-sig-expire", "1d", at=WAS)
        assert "the signature has expired" in signed.why_not(key)

    def test_another_key(self, home: Gpg, signed: Signed, unread: bool) -> None:
        key, other = home.make(f"pinned-{unread}"), home.make(f"other-{unread}")
        signed.by(other)
        assert "does not fit" in signed.why_not(key)
        assert f"signed by {other}" in signed.why_not(other, key)
        # Of two signatures the second does not make the first good, nor the first the second.
        theirs = signed.signature.read_bytes()
        signed.by(key)
        ours = signed.signature.read_bytes()
        for both in (theirs + ours, ours + theirs):
            signed.signature.write_bytes(both)
            assert signed.why_not(key) != ""


def test_another_text_does_not_fit(home: Gpg, signed: Signed) -> None:
    key = home.make("text")
    signed.by(key)
    signed.text.write_text("other sums\n")
    assert "does not fit" in signed.why_not(key)


class TestPublic:
    @pytest.fixture(autouse=True)
    def mine(self, home: Gpg, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GNUPGHOME", str(home.home))

    def test_it_is_the_one_key_of_that_fingerprint(self, home: Gpg) -> None:
        key = home.make("public")
        home.make("beside")
        assert openpgp.fingerprints(judge.public(key)) == (key,)

    def test_one_that_has_expired_is_refused(self, home: Gpg) -> None:
        key = home.make("over", lasts="1d")
        with pytest.raises(BundleError, match=f"{key} expired on 2024-01-02.*next: "):
            judge.public(key)

    def test_one_that_is_not_there_says_how_it_comes(self) -> None:
        with pytest.raises(BundleError, match=r"no key A{40}.*`gpg --import ibready-bundle.asc`"):
            judge.public("A" * 40)

    def test_no_gpg_at_all(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", "/nowhere")
        with pytest.raises(BundleError, match="no gpg on the controller; next: install gnupg"):
            judge.public("A" * 40)
