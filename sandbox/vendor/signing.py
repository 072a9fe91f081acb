# SPDX-License-Identifier: GPL-3.0-or-later
"""Throw-away keys that sign the simulated repositories, made with gpg when a sandbox is made."""

from __future__ import annotations

import contextlib
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from sandbox.errors import SandboxError

# Nobody's: what it signs must be refused.
FOREIGN = "foreign"


@dataclass(frozen=True)
class Key:
    """One key: whose it plays (``name``), 40 upper-case hex digits, its armored public half."""

    name: str
    fingerprint: str
    public: str


class Keyring:
    """gpg with keys of its own. Use it as ``with keyring(folder) as ring``."""

    def __init__(self, home: Path) -> None:
        self.home = home

    def gpg(self, *args: str, stdin: bytes = b"") -> bytes:
        argv = ["gpg", "--homedir", str(self.home), "--batch", "--quiet", "--yes"]
        argv += ["--pinentry-mode", "loopback", "--passphrase", "", *args]
        try:
            done = subprocess.run(argv, input=stdin, capture_output=True, check=False)
        except FileNotFoundError:
            raise SandboxError("gpg is not installed: apt install gpg gpg-agent") from None
        if done.returncode != 0:
            raise SandboxError(f"gpg: {done.stderr.decode(errors='replace').strip()}")
        return done.stdout

    def make(self, name: str) -> None:
        identity = f"SIMULATED {name} (ibready sandbox) <{name}@sandbox.invalid>"
        self.gpg("--quick-gen-key", identity, "rsa2048", "sign", "never")

    def keys(self) -> dict[str, Key]:
        """Return the keys by name."""
        found: dict[str, Key] = {}
        fingerprint = ""
        for line in self.gpg("--with-colons", "--list-keys").decode().splitlines():
            fields = line.split(":")
            if fields[0] == "fpr":
                fingerprint = fields[9]
            elif fields[0] == "uid":
                name = fields[9].split()[1]
                armored = self.gpg("--armor", "--export", fingerprint).decode()
                found[name] = Key(name, fingerprint, armored)
        return found

    def clearsign(self, key: Key, text: bytes) -> bytes:
        return self.gpg("--local-user", key.fingerprint, "--clearsign", stdin=text)

    def detached(self, key: Key, text: bytes) -> bytes:
        return self.gpg("--local-user", key.fingerprint, "--armor", "--detach-sign", stdin=text)


@contextlib.contextmanager
def keyring(folder: Path, names: Iterable[str] = ()) -> Iterator[Keyring]:
    """Open the keys kept in `folder`, one secret key a file, and make those of `names` it lacks.

    gpg itself works in a short-lived directory: its agent's socket has no room in a long path.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.TemporaryDirectory(prefix="ibready-gpg-") as home:
        ring = Keyring(Path(home))
        try:
            stored = sorted(folder.glob("*.secret"))
            if stored:
                ring.gpg("--import", *map(str, stored))
            for name in sorted(set(names) - {file.stem for file in stored}):
                ring.make(name)
            for key in ring.keys().values():
                file = folder / f"{key.name}.secret"
                if not file.exists():
                    file.touch(mode=0o600)
                    file.write_bytes(ring.gpg("--armor", "--export-secret-keys", key.fingerprint))
            yield ring
        finally:
            subprocess.run(["gpgconf", "--homedir", home, "--kill", "all"], capture_output=True, check=False)
