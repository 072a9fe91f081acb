# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys of the plan's repositories: only pinned ones are ever told to a package manager."""

from __future__ import annotations

from typing import Callable, Sequence

from ansible_collections.ibready.cluster.plugins.module_utils._packages import files, openpgp
from ansible_collections.ibready.cluster.plugins.module_utils._packages.model import (
    PackageError,
    Repository,
)

# Fetches an address; OSError or PackageError where it cannot.
Fetch = Callable[[str], bytes]


def foreign(packets: bytes, pinned: Sequence[str]) -> list[str]:
    """The fingerprints of a file's primary keys that are not pinned."""
    return [one for one in openpgp.fingerprints(packets) if one not in pinned]


def kept(path: str, repository: Repository) -> bytes | None:
    """The packets of a keyring that lies there already, if every key in it is pinned."""
    data = files.read(path)
    if data is None:
        return None
    try:
        packets = openpgp.binary(data)
        return None if foreign(packets, repository.fingerprints) else packets
    except openpgp.KeyFileError:
        return None


def fetched(repository: Repository, fetch: Fetch) -> bytes:
    """The packets of the repository's key file; PackageError unless all its keys are pinned."""
    what = f"repository {repository.name}"
    try:
        data = fetch(repository.key)
    except (OSError, ValueError) as exc:
        raise PackageError(
            "unreachable",
            f"{what}: its key {repository.key} cannot be fetched: {exc}",
            "check the address of the key (stack_repositories), the name server and the proxy",
        ) from exc
    try:
        packets = openpgp.binary(data)
        strange = foreign(packets, repository.fingerprints)
    except openpgp.KeyFileError as exc:
        raise PackageError(
            "key",
            f"{what}: {repository.key} is no file of public keys: {exc}",
            "see what that address sends; a proxy may answer with a page of its own",
        ) from exc
    if strange:
        raise PackageError(
            "key",
            f"{what}: {repository.key} holds the key {strange[0]}, which is not pinned"
            f" (pinned: {', '.join(repository.fingerprints)})",
            "ask the vendor for the key's fingerprint; if it is the new one, pin it in"
            " stack_repositories",
        )
    return packets
