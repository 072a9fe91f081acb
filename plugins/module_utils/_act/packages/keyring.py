# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys of the plan's repositories: only pinned ones, and what they have signed, are ever told.

What of a key file belongs to pinned keys is left as `gpg --export` gives it after an import,
without asking gpg, which not every host has. And an rpm without the fix of CVE-2021-3521 takes any
subkey that lies there for the key's own.
"""

from __future__ import annotations

import time
from typing import Callable, Dict, Iterable, List, Sequence, Tuple

from . import files, openpgp
from .model import PackageError, Repository
from .openpgp import KeyFileError, Signature

# Kinds of signatures (RFC 9580, 5.2.1).
_CERTIFIES = (0x10, 0x11, 0x12, 0x13)
_BINDS, _SPEAKS_OF_KEY, _REVOKES = 0x18, 0x1F, 0x20
# By what they stand behind: those that are kept, and those of which it has to have one.
_KEPT = {
    openpgp.PUBLIC_KEY: (_SPEAKS_OF_KEY, _REVOKES),
    openpgp.USER_ID: (*_CERTIFIES, 0x30),
    openpgp.PUBLIC_SUBKEY: (_BINDS, 0x28),
}
_NEEDED = {openpgp.USER_ID: _CERTIFIES, openpgp.PUBLIC_SUBKEY: (_BINDS,)}
# Fetches an address; OSError or PackageError where it cannot.
Fetch = Callable[[str], bytes]


class OverError(KeyFileError):
    """No pinned key is good any more: they have expired or were revoked."""


# What stands behind a primary key, itself first: tag and body to the bodies of the signatures that
# stand behind that.
_Pieces = Dict[Tuple[int, bytes], List[bytes]]


def only(packets: bytes, pinned: Sequence[str], now: float) -> bytes:
    """The packets of the pinned keys that are good at a time (seconds since 1970).

    OverError where none of them is good any more, KeyFileError where there is none at all.
    """
    kept, over = [], []
    for name, pieces in _keys(packets).items():
        if name not in pinned:
            continue
        written, why = _written(name, pieces, now)
        if why:
            over.append(f"{name} {why}")
        else:
            kept.append(written)
    if over and not kept:
        raise OverError(f"key {', '.join(over)}")
    if not kept:
        raise KeyFileError("it holds none of the pinned keys")
    return b"".join(kept)


def _keys(packets: bytes) -> dict[str, _Pieces]:
    """By fingerprint; what stands there twice is put together, as gpg does."""
    keys: dict[str, _Pieces] = {}
    pieces: _Pieces = {}
    signatures: list[bytes] = []
    for tag, body in openpgp.packets(packets):
        if tag == openpgp.PUBLIC_KEY:
            pieces = keys.setdefault(openpgp.fingerprint(body), {})
        if tag == openpgp.SIGNATURE:
            signatures.append(body)
        else:
            signatures = pieces.setdefault((tag, body), [])
    return keys


def _written(name: str, pieces: _Pieces, now: float) -> tuple[bytes, str]:
    """A key's own packets, and why they are of no use any more."""
    _tag, key = next(iter(pieces))
    if not openpgp.understood(key):
        raise KeyFileError(
            f"key {name} is of a kind (algorithm {key[5]}) whose signatures cannot be judged here;"
            " RSA, Ed25519 and DSA can"
        )
    found, lasts, named = b"", [], False
    for (tag, body), bodies in pieces.items():
        # Pictures are no use to a package manager.
        if tag not in _KEPT:
            continue
        own = _own(key, tag, body, dict.fromkeys(bodies), now)
        if any(entry.kind == _REVOKES for entry in own):
            return b"", "was revoked"
        if tag in _NEEDED and not any(entry.kind in _NEEDED[tag] for entry in own):
            continue
        found += openpgp.packet(tag, body)
        found += b"".join(openpgp.packet(openpgp.SIGNATURE, entry.body) for entry in own)
        named = named or tag == openpgp.USER_ID
        if tag != openpgp.PUBLIC_SUBKEY:
            newest = sorted((entry for entry in own if entry.kind != 0x30), key=lambda entry: entry.created)
            lasts += [(entry.created, entry.key_lasts) for entry in newest[-1:] if entry.key_lasts]
    if not named:
        raise KeyFileError(f"key {name} has signed no name of its own")
    end = int.from_bytes(key[1:5], "big") + max(lasts)[1] if lasts else now + 1
    days = [time.strftime("%Y-%m-%d", time.gmtime(entry)) for entry in (end, now)]
    return found, f"expired on {days[0]} (this machine's clock says {days[1]})" if end <= now else ""


def _own(key: bytes, tag: int, body: bytes, signatures: Iterable[bytes], now: float) -> list[Signature]:
    """Those signatures that the key made over a piece, and that have not expired."""
    signed = openpgp.hashed(key)
    if tag == openpgp.USER_ID:
        signed += b"\xb4" + len(body).to_bytes(4, "big") + body
    elif tag == openpgp.PUBLIC_SUBKEY:
        signed += openpgp.hashed(body)
    found = []
    for entry in map(openpgp.read, signatures):
        if entry is None or entry.kind not in _KEPT[tag]:
            continue
        over = entry.lasts and entry.created + entry.lasts <= now
        if not over and openpgp.is_of(entry, key, signed):
            found.append(entry)
    return found


def foreign(packets: bytes, fingerprints: Sequence[str]) -> list[str]:
    """The fingerprints of a file's primary keys that are not pinned."""
    return [fingerprint for fingerprint in openpgp.fingerprints(packets) if fingerprint not in fingerprints]


def kept(path: str, repository: Repository) -> bytes | None:
    """What to keep of a keyring that lies there already; None where it has to come anew."""
    data = repository.public_key.encode() or files.read(path)
    try:
        packets = openpgp.binary(data or b"")
        if foreign(packets, repository.fingerprints):
            return None
        return only(packets, repository.fingerprints, time.time())
    except openpgp.KeyFileError:
        return None


def fetched(repository: Repository, fetch: Fetch) -> bytes:
    """The packets of the repository's pinned keys; PackageError where its key file has others."""
    what = f"repository {repository.name}"
    place = "the key that came with its plan" if repository.public_key else repository.key
    try:
        data = repository.public_key.encode() or fetch(repository.key)
    except (OSError, ValueError) as exc:
        raise PackageError(
            "unreachable",
            f"{what}: its key {place} cannot be fetched: {exc}",
            "check the address of the key (stack_repositories), the name server and the proxy",
        ) from exc
    try:
        packets = openpgp.binary(data)
        strange = foreign(packets, repository.fingerprints)
        if not strange:
            return only(packets, repository.fingerprints, time.time())
    except OverError as exc:
        raise PackageError(
            "key",
            f"{what}: {place} is of no use any more: {exc}",
            "get the key that replaces it, or the same one prolonged, to that address, and pin its"
            " fingerprint; or, if the clock is wrong, set it",
        ) from None
    except openpgp.KeyFileError as exc:
        raise PackageError(
            "key",
            f"{what}: {place} is no file of public keys that can be used: {exc}",
            "see what that address sends; a proxy may answer with a page of its own",
        ) from exc
    raise PackageError(
        "key",
        f"{what}: {place} holds the key {strange[0]}, which is not pinned"
        f" (pinned: {', '.join(repository.fingerprints)})",
        "ask the vendor for the key's fingerprint; if it is the new one, pin it in stack_repositories",
    )
