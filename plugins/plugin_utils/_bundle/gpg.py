# SPDX-License-Identifier: GPL-3.0-or-later
"""Sign with the operator's own key, and verify with nothing but a pinned one."""

from __future__ import annotations

import subprocess
import tempfile
import time
from pathlib import Path

from ...module_utils._act.packages import keyring, openpgp
from . import layout
from .layout import BundleError

_TIMEOUT_S = 120
# What gpg says of a signature, one word each, and why that is not GOODSIG; with the first two its
# exit status is 0 all the same. Not among them are KEYEXPIRED and KEYREVOKED: gpg tells them of
# subkeys, too, that made no signature.
_JUDGED = {
    "EXPKEYSIG": "the key that made the signature has expired",
    "REVKEYSIG": "the key that made the signature was revoked",
    "EXPSIG": "the signature has expired",
    "BADSIG": "the signature does not fit",
    "ERRSIG": "the signature does not fit",
    "GOODSIG": "",
}


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
    """The armored public half, alone; raises BundleError where the operator has no such key.

    Nor is one given that has expired or was revoked.
    """
    done = _gpg("--armor", "--export", key)
    if done.returncode != 0 or not done.stdout:
        raise BundleError(
            f"gpg of the controller has no key {key} (stack_bundle_key); next: give it to the user "
            f"who runs Ansible (GNUPGHOME) with `gpg --import {layout.KEY}`, a file that is in the "
            "bundle; where the bundle is made, `gpg --list-secret-keys` has to show it"
        )
    try:
        packets = keyring.only(openpgp.binary(done.stdout), [key], time.time())
    except openpgp.KeyFileError as exc:
        raise BundleError(
            f"gpg's key for stack_bundle_key cannot be used: {exc}; next: prolong it (`gpg "
            "--quick-set-expire`) or choose another key, and make the bundle anew"
        ) from None
    return openpgp.armored(packets).encode()


def why_not(public_key: bytes, fingerprint: str, signature: Path, signed: Path | None = None) -> str:
    """Why a signature is not the pinned key's; "" where it is. ``signed`` None: it is inside."""
    try:
        packets = openpgp.binary(public_key)
        strange = [entry for entry in openpgp.fingerprints(packets) if entry != fingerprint]
        if not strange:
            packets = keyring.only(packets, [fingerprint], time.time())
    except openpgp.KeyFileError as exc:
        return f"its key cannot be used: {exc}"
    if strange:
        return f"it is signed by {strange[0]}, and not by {fingerprint} (stack_bundle_key)"
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
    reported = [
        line.split()[1:] for line in done.stdout.decode(errors="replace").splitlines() if line.startswith("[GNUPG:] ")
    ]
    judged = [entry[0] for entry in reported if entry[0] in _JUDGED]
    valid = [entry[-1] for entry in reported if entry[0] == "VALIDSIG"]
    if done.returncode != 0 or judged != ["GOODSIG"] or valid != [fingerprint]:
        why = next(filter(None, (_JUDGED[check] for check in judged)), _JUDGED["BADSIG"])
        return f"{why}: {_said(done)}"
    return ""
