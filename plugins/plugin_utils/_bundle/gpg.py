# SPDX-License-Identifier: GPL-3.0-or-later
"""Sign with the operator's own key, and verify with nothing but a pinned one."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from ansible_collections.ibready.cluster.plugins.module_utils._packages import openpgp
from ansible_collections.ibready.cluster.plugins.plugin_utils._bundle.layout import BundleError

_TIMEOUT_S = 120


def _gpg(*words: str | Path, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            ["gpg", "--batch", "--no-tty", "--yes", *map(str, words)],
            input=stdin,
            capture_output=True,
            check=False,
            timeout=_TIMEOUT_S,
        )
    except FileNotFoundError:
        raise BundleError("there is no gpg on the controller; next: install gnupg there") from None
    except subprocess.TimeoutExpired:
        raise BundleError(
            f"gpg did not end within {_TIMEOUT_S} s; next: give its agent the key's passphrase "
            "first (sign any file by hand), for nobody can be asked for it here"
        ) from None


def _said(done: subprocess.CompletedProcess[bytes]) -> str:
    return " ".join(done.stderr.decode(errors="replace").split())[:500]


def _sign(key: str, *words: str, text: bytes) -> bytes:
    done = _gpg("--local-user", key, *words, stdin=text)
    if done.returncode != 0:
        raise BundleError(
            f"gpg cannot sign with {key} (stack_bundle_key): {_said(done)}; next: see that `gpg "
            "--list-secret-keys` shows it to the user who runs Ansible (GNUPGHOME), and that its "
            "agent has the passphrase"
        )
    return done.stdout


def clearsign(key: str, text: bytes) -> bytes:
    return _sign(key, "--clearsign", text=text)


def detached(key: str, text: bytes) -> bytes:
    """An armored signature of its own."""
    return _sign(key, "--armor", "--detach-sign", text=text)


def public(key: str) -> bytes:
    """The armored public half; raises BundleError where the operator has no such key."""
    done = _gpg("--armor", "--export", key)
    if done.returncode != 0 or not done.stdout:
        raise BundleError(
            f"gpg has no key {key} (stack_bundle_key); next: see that `gpg --list-secret-keys` "
            "shows it to the user who runs Ansible (GNUPGHOME)"
        )
    return done.stdout


def why_not(public_key: bytes, pinned: str, signature: Path, signed: Path | None = None) -> str:
    """Why a signature is not the pinned key's; "" where it is. ``signed`` None: it is inside."""
    try:
        packets = openpgp.binary(public_key)
        strange = [one for one in openpgp.fingerprints(packets) if one != pinned]
    except openpgp.KeyFileError as exc:
        return f"its key is no public key: {exc}"
    if strange:
        return f"it is signed by {strange[0]}, and not by {pinned} (stack_bundle_key)"
    with tempfile.TemporaryDirectory(prefix="ibready-gpg-") as home:
        ring = Path(home, "ring.gpg")
        ring.write_bytes(packets)
        words = [
            "--homedir",
            home,
            "--no-autostart",
            "--no-default-keyring",
            "--keyring",
            str(ring),
        ]
        words += ["--trust-model", "always", "--status-fd", "1", "--verify", str(signature)]
        done = _gpg(*words, *([signed] if signed else []))
    valid = [
        line.split()[-1]
        for line in done.stdout.decode(errors="replace").splitlines()
        if line.startswith("[GNUPG:] VALIDSIG ")
    ]
    if done.returncode != 0 or valid != [pinned]:
        return f"the signature does not fit: {_said(done)}"
    return ""
