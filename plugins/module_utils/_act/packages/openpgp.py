# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of OpenPGP public keys (RFC 4880 and 9580), and what such a key signed of itself. No I/O.

Only what a public key is made of is read. Importers unpack what else may stand in such a file (gpg
takes the keys out of compressed data), so that a file with anything else is refused whole.

A key file's mirror may write signatures, and cannot make good ones. What is found good here is
judged again by gpg, gpgv or rpm: this only leaves out, and trusts nothing that they would not.
Ed25519 is RFC 8032's. Nothing secret is computed with, so all numbers need not take the same time.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass
from typing import Iterator, Tuple

from ..._ground.bound import Bound

_P = 2**255 - 19
_ORDER = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, -1, _P) % _P
_ROOT = pow(2, (_P - 1) // 4, _P)

# x, y, z and t of extended coordinates.
_Point = Tuple[int, int, int, int]
# Algorithms; of EdDSA's, with the length and name of the curve.
_RSA, _DSA, _ED25519 = b"\x01", b"\x11", bytes.fromhex("16092b06010401da470f01")
# By their numbers, with what PKCS #1 puts before the digest.
_HASHES = {
    2: ("sha1", "3021300906052b0e03021a05000414"),
    8: ("sha256", "3031300d060960864801650304020105000420"),
    9: ("sha384", "3041300d060960864801650304020205000430"),
    10: ("sha512", "3051300d060960864801650304020305000440"),
    11: ("sha224", "302d300d06096086480165030402040500041c"),
}
_CREATED, _LASTS, _KEY_LASTS = 2, 3, 9
SIGNATURE, PUBLIC_KEY, USER_ID, PUBLIC_SUBKEY, USER_ATTRIBUTE = 2, 6, 13, 14, 17
_TAKEN = (SIGNATURE, PUBLIC_KEY, USER_ID, PUBLIC_SUBKEY, USER_ATTRIBUTE)
_SECRET = (5, 7)
# What others are called that somebody may put there.
_NAMES = {8: "compressed data", 10: "a marker", 11: "literal data", 12: "trust"}
_ARMOR = re.compile(
    rb"-----BEGIN PGP PUBLIC KEY BLOCK-----[ \t]*\r?\n(.*?)-----END PGP PUBLIC KEY BLOCK-----",
    re.DOTALL,
)
_HEADER = re.compile(rb"[A-Za-z]+: .*")
LIMIT: Bound = 1024 * 1024


def _is_signature(key: bytes, message: bytes, signature: bytes) -> bool:
    """``key``: 32 bytes, ``signature``: 64."""
    number = int.from_bytes(signature[32:], "little")
    public, chosen = _point(key), _point(signature[:32])
    if len(key) != 32 or len(signature) != 64 or number >= _ORDER:
        return False
    if public is None or chosen is None:
        return False
    digest = hashlib.sha512(signature[:32] + key + message).digest()
    share = _times(int.from_bytes(digest, "little") % _ORDER, public)
    entry, other = _times(number, _BASE), _add(chosen, share)
    return all((entry[at] * other[2] - other[at] * entry[2]) % _P == 0 for at in (0, 1))


def _point(data: bytes) -> _Point | None:
    number = int.from_bytes(data, "little")
    odd, y = number >> 255, number & (2**255 - 1)
    square = (y * y - 1) * pow(_D * y * y + 1, -1, _P) % _P
    x = pow(square, (_P + 3) // 8, _P)
    if (x * x - square) % _P:
        x = x * _ROOT % _P
    if (x * x - square) % _P or y >= _P:
        return None
    x = x if x & 1 == odd else -x % _P
    return x, y, 1, x * y % _P


def _add(point: _Point, other: _Point) -> _Point:
    a = (point[1] - point[0]) * (other[1] - other[0])
    b = (point[1] + point[0]) * (other[1] + other[0])
    c, d = 2 * point[3] * other[3] * _D, 2 * point[2] * other[2]
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _times(number: int, point: _Point) -> _Point:
    found = (0, 1, 1, 0)
    while number:
        if number & 1:
            found = _add(found, point)
        point = _add(point, point)
        number >>= 1
    return found


_base = _point((4 * pow(5, -1, _P) % _P).to_bytes(32, "little"))
if _base is None:
    raise AssertionError("the base point is on the curve")
_BASE = _base


@dataclass(frozen=True)
class Signature:
    """A packet of version 4, with its ``kind`` (RFC 9580, 5.2.1) and when it was ``created``.

    In seconds since 1970. ``lasts`` counts from there and ``key_lasts`` from the making of the key,
    in seconds; 0: for good.
    """

    body: bytes
    kind: int
    created: int
    lasts: int
    key_lasts: int


def read(body: bytes) -> Signature | None:
    """None for what is damaged or of another version; nobody who signs today makes those."""
    end = 6 + int.from_bytes(body[4:6], "big")
    if len(body) < end + 4 or body[0] != 4:
        return None
    try:
        said = dict(_subpackets(body[6:end]))
    except IndexError:
        return None
    numbers = {kind: int.from_bytes(data, "big") for kind, data in said.items() if len(data) == 4}
    if _CREATED not in numbers:
        return None
    lasts, key_lasts = numbers.get(_LASTS, 0), numbers.get(_KEY_LASTS, 0)
    return Signature(body, body[1], numbers[_CREATED], lasts, key_lasts)


def _subpackets(area: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(area):
        size = area[at]
        at += 1
        if size == 255:
            size, at = int.from_bytes(area[at : at + 4], "big"), at + 4
        elif size >= 192:
            size, at = ((size - 192) << 8) + area[at] + 192, at + 1
        if not size or at + size > len(area):
            raise IndexError
        yield area[at] & 0x7F, area[at + 1 : at + size]
        at += size


def understood(key: bytes) -> bool:
    """Whether signatures of a key (its packet's body) can be told from forged ones here.

    gpg makes RSA and Ed25519 keys, and repositories are signed with such; old ones with DSA.
    """
    return key[5:6] in (_RSA, _DSA) or key[5:16] == _ED25519


def is_of(signature: Signature, key: bytes, signed: bytes) -> bool:
    """Whether a key that is `understood` made the signature over ``signed``."""
    body = signature.body
    head = 6 + int.from_bytes(body[4:6], "big")
    rest = body[head + 2 + int.from_bytes(body[head : head + 2], "big") + 2 :]
    name, prefix = _HASHES.get(body[3], ("", ""))
    if not name or body[2] != key[5]:
        return False
    data = signed + body[:head] + b"\x04\xff" + head.to_bytes(4, "big")
    digest = hashlib.new(name, data).digest()
    try:
        if key[5:6] == _RSA:
            (number,) = _numbers(rest, 1)
            return _is_rsa(_numbers(key[6:], 2), number, bytes.fromhex(prefix) + digest)
        if key[5:6] == _DSA:
            return _is_dsa(_numbers(key[6:], 4), _numbers(rest, 2), digest)
        (point,) = _numbers(key[16:], 1)
        r, s = (number.to_bytes(32, "big") for number in _numbers(rest, 2))
        return _is_signature(point.to_bytes(33, "big")[1:], digest, r + s)
    except (IndexError, OverflowError, ValueError):
        return False


def _numbers(data: bytes, count: int) -> list[int]:
    """That many multiprecision integers, and nothing after them; IndexError."""
    found = []
    for _number in range(count):
        size = (int.from_bytes(data[:2], "big") + 7) // 8
        if len(data) < 2 + size:
            raise IndexError
        found.append(int.from_bytes(data[2 : 2 + size], "big"))
        data = data[2 + size :]
    if data:
        raise IndexError
    return found


def _is_rsa(public: list[int], number: int, digest: bytes) -> bool:
    modulus, exponent = public
    size = (modulus.bit_length() + 7) // 8
    # All of it is compared, so that no rest can be chosen freely.
    padded = b"\x00\x01" + b"\xff" * max(8, size - len(digest) - 3) + b"\x00" + digest
    return number < modulus and pow(number, exponent, modulus) == int.from_bytes(padded, "big")


def _is_dsa(public: list[int], both: list[int], digest: bytes) -> bool:
    (p, q, g, y), (r, s) = public, both
    if not (0 < r < q and 0 < s < q):
        return False
    wanted = int.from_bytes(digest, "big") >> max(0, 8 * len(digest) - q.bit_length())
    inverse = pow(s, -1, q)
    return pow(g, wanted * inverse % q, p) * pow(y, r * inverse % q, p) % p % q == r


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


def packets(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Tag and body of every packet; KeyFileError for one that no public key is made of.

    Data that ends within a packet is refused, too.
    """
    at = 0
    while at < len(data):
        first = data[at]
        if not first & 0x80:
            raise KeyFileError(f"byte {at} is not the start of an OpenPGP packet")
        tag, at, length = _header(data, at)
        if tag in _SECRET:
            raise KeyFileError("it holds a secret key, which must not lie about")
        if tag not in _TAKEN:
            name = f" ({_NAMES[tag]})" if tag in _NAMES else ""
            raise KeyFileError(f"it holds a packet of tag {tag}{name}, which no public key has")
        if at + length > len(data):
            raise KeyFileError("it is cut off within a packet")
        yield tag, data[at : at + length]
        at += length


def packet(tag: int, body: bytes) -> bytes:
    """One packet, with a header as gpg writes it; ``tag`` below 16."""
    kind, size = next((k, n) for k, n in ((0, 1), (1, 2), (2, 4)) if len(body) < 256**n)
    return bytes([0x80 | tag << 2 | kind]) + len(body).to_bytes(size, "big") + body


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


def hashed(key: bytes) -> bytes:
    """A key packet's body as fingerprints and signatures hash it; KeyFileError if it is none."""
    version = key[0] if len(key) > 5 else 0
    if version != 4:
        raise KeyFileError(f"it holds a key of version {version}; only version 4 is understood")
    if len(key) > 0xFFFF:
        raise KeyFileError("it holds a key of more than 64 KiB")
    return b"\x99" + len(key).to_bytes(2, "big") + key


def fingerprint(key: bytes) -> str:
    """A primary key's fingerprint (40 upper-case hex digits), from its packet's body."""
    return hashlib.sha1(hashed(key)).hexdigest().upper()


def fingerprints(data: bytes) -> tuple[str, ...]:
    """The fingerprint of every primary key, in the file's order.

    KeyFileError for a file that holds no public key or anything but public keys, or one of another
    version than 4: what cannot be computed cannot be compared with a pin.
    """
    found = []
    for number, (tag, body) in enumerate(packets(binary(data))):
        if number == 0 and tag != PUBLIC_KEY:
            raise KeyFileError("it does not begin with a public key")
        if tag == PUBLIC_KEY:
            found.append(fingerprint(body))
    if not found:
        raise KeyFileError("it holds no public key")
    return tuple(found)
