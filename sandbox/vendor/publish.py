# SPDX-License-Identifier: GPL-3.0-or-later
"""Sign the repositories with a sandbox's own keys; say where they are and whose keys they have."""

from __future__ import annotations

from pathlib import Path

import yaml

from sandbox.vendor import apt_repository, catalog, rpm_repository
from sandbox.vendor.catalog import Kind, Repository
from sandbox.vendor.signing import FOREIGN, Key, Keyring, keyring

PORT = 8080
# Where each repository's readers find the public key; what is not here has no other reader.
KEY_FILES: dict[str, tuple[str, ...]] = {
    "doca": ("doca/GPG-KEY-Mellanox.pub",),
    "mlnx_ofed": ("mlnx_ofed/RPM-GPG-KEY-Mellanox-SHA256",),
    "cuda-deb": ("cuda/ubuntu2404/x86_64/3bf863cc.pub",),
    "cuda-rpm": ("cuda/rhel9/x86_64/D42D0685.pub",),
    "container_toolkit": ("container_toolkit/gpgkey",),
    "os": ("os/archive-key.asc",),
    FOREIGN: ("foreign/key.asc",),
}


def base(address: str) -> str:
    """Return the URL of the server's root, with a slash at its end."""
    return f"http://{address}:{PORT}/"


def keys(folder: Path) -> dict[str, Key]:
    """Return a sandbox's keys by name, made when they are not there yet."""
    with keyring(folder, KEY_FILES) as ring:
        return ring.keys()


def publish(kind: Kind, root: Path, keys_folder: Path) -> None:
    """Sign every repository of a kind below `root`, and lay the public keys beside them."""
    with keyring(keys_folder, KEY_FILES) as ring:
        known = ring.keys()
        for repository in catalog.load(kind):
            sign(repository, root, ring, known[repository.signer])
        for name, files in KEY_FILES.items():
            for file in files:
                if name == FOREIGN or (root / file).parent.is_dir():
                    (root / file).parent.mkdir(parents=True, exist_ok=True)
                    (root / file).write_text(known[name].public)


def sign(repository: Repository, root: Path, ring: Keyring, key: Key) -> None:
    """Sign one repository as it lies there now."""
    folder = root / repository.path
    if repository.kind == "deb":
        apt_repository.sign(folder, repository.label, ring, key)
    else:
        rpm_repository.sign(folder, ring, key)


def repositories(address: str, known: dict[str, Key]) -> dict[str, dict[str, object]]:
    """Return what the inventory has to know: each vendor's base URL and fingerprints."""
    signers = {
        "doca": ("doca",),
        "mlnx_ofed": ("mlnx_ofed",),
        "cuda": ("cuda-deb", "cuda-rpm"),
        "container_toolkit": ("container_toolkit",),
    }
    return {
        name: {
            "base": base(address) + name,
            "fingerprints": [known[entry].fingerprint for entry in own],
        }
        for name, own in signers.items()
    }


def write_repositories(file: Path, address: str, known: dict[str, Key]) -> None:
    text = yaml.safe_dump(repositories(address, known), sort_keys=False)
    file.write_text(f"# Written by `python -m sandbox up`: simulated vendor repositories.\n{text}")
