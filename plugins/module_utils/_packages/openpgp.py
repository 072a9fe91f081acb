# SPDX-License-Identifier: GPL-3.0-or-later
"""Read OpenPGP public keys (RFC 4880 and 9580): armor, packets, fingerprints. No I/O.

A version 4 fingerprint is the SHA-1 of 0x99, the two-byte length, and the key packet's body.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from typing import Iterator

_PUBLIC_KEY = 6
_SECRET = (5, 7)
_ARMOR = re.compile(
    rb"-----BEGIN PGP PUBLIC KEY BLOCK-----[ \t]*\r?\n(.*?)-----END PGP PUBLIC KEY BLOCK-----",
    re.DOTALL,
)
_HEADER = re.compile(rb"[A-Za-z]+: .*")
LIMIT = 1024 * 1024


class KeyFileError(ValueError):
    """This is no file of public keys, for the reason given."""


def binary(data: bytes) -> bytes:
    """The packets of a key file, armored or not; KeyFileError where it is neither."""
    if len(data) > LIMIT:
        raise KeyFileError(f"it is larger than {LIMIT // 1024} KiB")
    if not data.strip():
        raise KeyFileError("it is empty")
    if data[0] & 0x80:
        return data
    blocks = _ARMOR.findall(data)
    if not blocks:
        raise KeyFileError("it begins neither with an OpenPGP packet nor with a public key block")
    return b"".join(_dearmor(block) for block in blocks)


def _dearmor(block: bytes) -> bytes:
    lines = [line.strip() for line in block.splitlines()]
    # Headers end with an empty line; a block without headers may leave it out.
    while lines and (not lines[0] or _HEADER.fullmatch(lines[0])):
        lines.pop(0)
    body = [line for line in lines if line and not line.startswith(b"=")]
    sums = [line[1:] for line in lines if len(line) == 5 and line.startswith(b"=")]
    try:
        data = base64.b64decode(b"".join(body), validate=True)
        said = base64.b64decode(sums[0], validate=True) if sums else b""
    except (binascii.Error, ValueError) as exc:
        raise KeyFileError(f"its armor is damaged: {exc}") from exc
    if not data:
        raise KeyFileError("its armor is empty")
    if said and said != _crc24(data).to_bytes(3, "big"):
        raise KeyFileError("its armor is damaged: the checksum is another")
    return data


def _crc24(data: bytes) -> int:
    crc = 0xB704CE
    for byte in data:
        crc ^= byte << 16
        for _bit in range(8):
            crc <<= 1
            if crc & 0x1000000:
                crc ^= 0x1864CFB
    return crc & 0xFFFFFF


def armored(data: bytes) -> str:
    """Packets as a public key block, which is what rpm imports."""
    text = base64.b64encode(data).decode("ascii")
    lines = [text[at : at + 64] for at in range(0, len(text), 64)]
    check = base64.b64encode(_crc24(data).to_bytes(3, "big")).decode("ascii")
    head, tail = "-----BEGIN PGP PUBLIC KEY BLOCK-----", "-----END PGP PUBLIC KEY BLOCK-----"
    return "\n".join([head, "", *lines, f"={check}", tail, ""])


def _packets(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Tag and body of every packet; KeyFileError where the data ends within one."""
    at = 0
    while at < len(data):
        first = data[at]
        if not first & 0x80:
            raise KeyFileError(f"byte {at} is not the start of an OpenPGP packet")
        tag, at, length = _header(data, at)
        if at + length > len(data):
            raise KeyFileError("it is cut off within a packet")
        yield tag, data[at : at + length]
        at += length


def _header(data: bytes, at: int) -> tuple[int, int, int]:
    first = data[at]
    try:
        if first & 0x40:  # the new format
            tag, length = first & 0x3F, data[at + 1]
            if length < 192:
                return tag, at + 2, length
            if length < 224:
                return tag, at + 3, ((length - 192) << 8) + data[at + 2] + 192
            if length < 255:
                raise KeyFileError("it has a packet of unknown length, which no key has")
            return tag, at + 6, _number(data, at + 2, 4)
        size = (1, 2, 4, 0)[first & 0x03]
        if not size:
            raise KeyFileError("it has a packet of unknown length, which no key has")
        return (first >> 2) & 0x0F, at + 1 + size, _number(data, at + 1, size)
    except IndexError:
        raise KeyFileError("it is cut off within a packet's header") from None


def _number(data: bytes, at: int, size: int) -> int:
    if at + size > len(data):
        raise IndexError
    return int.from_bytes(data[at : at + size], "big")


def fingerprints(data: bytes) -> tuple[str, ...]:
    """The fingerprint of every primary key (40 upper-case hex digits), in the file's order.

    KeyFileError for a file without a public key, with a secret one, or with one of another
    version than 4: what cannot be computed cannot be compared with a pin.
    """
    found = []
    for number, (tag, body) in enumerate(_packets(binary(data))):
        if tag in _SECRET:
            raise KeyFileError("it holds a secret key, which must not lie about")
        if number == 0 and tag != _PUBLIC_KEY:
            raise KeyFileError("it does not begin with a public key")
        if tag != _PUBLIC_KEY:
            continue
        version = body[0] if body else 0
        if version != 4:
            raise KeyFileError(f"it holds a key of version {version}; only version 4 is understood")
        digest = hashlib.sha1(b"\x99" + len(body).to_bytes(2, "big") + body)
        found.append(digest.hexdigest().upper())
    if not found:
        raise KeyFileError("it holds no public key")
    return tuple(found)
