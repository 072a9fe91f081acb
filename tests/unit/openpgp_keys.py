# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys that gpg makes at any time, and what gpg makes of a file of keys."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._act.packages import openpgp

needs_gpg = pytest.mark.skipif(not shutil.which("gpg"), reason="needs gpg")


class Gpg:
    """gpg with a home of its own."""

    def __init__(self, home: Path) -> None:
        self.home = home

    def run(self, *words: str | Path, stdin: bytes = b"", at: str = "") -> bytes:
        """``at``: what the clock says, as 20250131T000000."""
        argv = ["gpg", "--homedir", self.home, "--batch", "--quiet", "--yes", "--no-tty"]
        argv += ["--pinentry-mode", "loopback", "--passphrase", ""]
        argv += ["--faked-system-time", f"{at}!"] if at else []
        done = subprocess.run([str(one) for one in (*argv, *words)], input=stdin, capture_output=True, check=False)
        assert done.returncode == 0, f"{words}: {done.stderr.decode(errors='replace')}"
        return done.stdout

    def make(self, name: str, kind: str = "ed25519", *, lasts: str = "never", at: str = "20240101T000000") -> str:
        """A key that signs; its fingerprint."""
        self.run("--quick-gen-key", f"{name} <{name}@example.com>", kind, "sign", lasts, at=at)
        return self.fingerprints(f"{name}@example.com")[0]

    def add(self, key: str, kind: str, use: str, lasts: str = "never") -> str:
        """A subkey; its fingerprint."""
        self.run("--quick-add-key", key, kind, use, lasts, at="20240102T000000")
        return self.fingerprints(key)[-1]

    def fingerprints(self, *names: str) -> list[str]:
        """Those of keys and subkeys, each key's own before its subkeys'."""
        listed = self.run("--with-colons", "--list-keys", *names).decode().splitlines()
        return [line.split(":")[9] for line in listed if line.startswith("fpr:")]

    def export(self, *keys: str) -> bytes:
        return self.run("--export", *keys)

    def revoke(self, key: str) -> None:
        """By the certificate that gpg made with the key; a colon keeps people from doing that."""
        text = (self.home / f"openpgp-revocs.d/{key}.rev").read_text()
        self.run("--import", stdin=text.replace(":-----BEGIN", "-----BEGIN").encode())


@contextlib.contextmanager
def gpg() -> Iterator[Gpg]:
    # An agent's socket has no room in a long path.
    with tempfile.TemporaryDirectory(prefix="ibready-keys-") as home:
        try:
            yield Gpg(Path(home))
        finally:
            end = ["gpgconf", "--homedir", home, "--kill", "all"]
            subprocess.run(end, capture_output=True, check=False)


def imported(data: bytes) -> dict[str, tuple[str, str]]:
    """By fingerprint what gpg knows after it has imported a file: pub or sub, and its validity."""
    found: dict[str, tuple[str, str]] = {}
    with tempfile.TemporaryDirectory(prefix="ibready-keys-") as home:
        argv = ["gpg", "--homedir", home, "--batch", "--quiet", "--no-autostart"]
        subprocess.run([*argv, "--import"], input=data, capture_output=True, check=False)
        listed = subprocess.run([*argv, "--with-colons", "--list-keys"], capture_output=True, text=True, check=True)
    kind = ("", "")
    for line in listed.stdout.splitlines():
        fields = line.split(":")
        if fields[0] in ("pub", "sub"):
            kind = (fields[0], fields[1])
        elif fields[0] == "fpr":
            found[fields[9]] = kind
    return found


def packets(data: bytes) -> list[bytes]:
    """A file of keys cut into its packets."""
    found = [openpgp.packet(tag, body) for tag, body in openpgp.packets(data)]
    assert b"".join(found) == data
    return found


def compressed(data: bytes) -> bytes:
    """A packet of compressed data, which gpg unpacks when it imports."""
    squeezed = zlib.compressobj(wbits=-15)
    return openpgp.packet(8, b"\x01" + squeezed.compress(data) + squeezed.flush())
