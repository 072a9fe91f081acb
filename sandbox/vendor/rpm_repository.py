# SPDX-License-Identifier: GPL-3.0-or-later
"""rpm repositories: signed rpms, createrepo_c's index with module streams, its signature."""

from __future__ import annotations

import shutil
from pathlib import Path

from sandbox.vendor import rpm_modules
from sandbox.vendor.rpm_build import run
from sandbox.vendor.signing import Key, Keyring


def sign(folder: Path, ring: Keyring, key: Key) -> None:
    """Sign every rpm, write the index and sign it."""
    rpms = sorted(map(str, folder.glob("*.rpm")))
    run(
        "rpmsign",
        "--addsign",
        f"--define=_gpg_name {key.fingerprint}",
        f"--define=_gpg_path {ring.home}",
        # Debian's rpm looks for a gpg2, which Debian does not have.
        f"--define=__gpg {shutil.which('gpg')}",
        "--define=_gpg_sign_cmd_extra_args --batch --pinentry-mode loopback --passphrase ''",
        *rpms,
    )
    sign_index(folder, ring, key)


def sign_index(folder: Path, ring: Keyring, key: Key) -> None:
    """Write the index of the rpms as they are now, and sign it."""
    run("createrepo_c", "--quiet", "--general-compress-type=gz", str(folder))
    modules = folder / rpm_modules.FILE
    if modules.exists():
        run("modifyrepo_c", "--mdtype=modules", str(modules), str(folder / "repodata"))
    index = folder / "repodata/repomd.xml"
    (folder / "repodata/repomd.xml.asc").write_bytes(ring.detached(key, index.read_bytes()))
