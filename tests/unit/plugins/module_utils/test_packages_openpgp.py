# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import base64
import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._act.packages import openpgp

BODY = b"\x04" + b"\x00" * 20


def packet(body: bytes, tag: int = 6) -> bytes:
    return bytes([0xC0 | tag, len(body)]) + body


def fingerprint(body: bytes) -> str:
    return hashlib.sha1(b"\x99" + len(body).to_bytes(2, "big") + body).hexdigest().upper()


def test_a_key_is_read_binary_and_armored() -> None:
    data = packet(BODY) + packet(b"name", 13)
    assert openpgp.fingerprints(data) == (fingerprint(BODY),)
    armor = openpgp.armored(data).encode()
    assert openpgp.binary(armor) == data
    assert openpgp.fingerprints(armor) == (fingerprint(BODY),)


@pytest.mark.parametrize(
    "header",
    [
        pytest.param(bytes([0x99]) + len(BODY).to_bytes(2, "big"), id="old, two bytes"),
        pytest.param(bytes([0x98, len(BODY)]), id="old, one byte"),
        pytest.param(bytes([0x9A]) + len(BODY).to_bytes(4, "big"), id="old, four bytes"),
        pytest.param(b"\xc6\xff" + len(BODY).to_bytes(4, "big"), id="new, five bytes"),
    ],
)
def test_every_form_of_a_packets_length(header: bytes) -> None:
    assert openpgp.fingerprints(header + BODY) == (fingerprint(BODY),)


def test_every_primary_key_of_the_file_counts_and_no_subkey() -> None:
    other = b"\x04" + b"\x01" * 200
    new = b"\xc6" + bytes([192 + ((len(other) - 192) >> 8), (len(other) - 192) & 0xFF]) + other
    data = packet(BODY) + packet(b"\x04sub", 14) + new
    assert openpgp.fingerprints(data) == (fingerprint(BODY), fingerprint(other))
    blocks = openpgp.armored(packet(BODY)) + openpgp.armored(new)
    assert len(openpgp.fingerprints(blocks.encode())) == 2


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "empty"),
        (b"<html>not a key</html>", "neither"),
        (packet(BODY)[:-1], "cut off"),
        (packet(b"\x06" + BODY), "version 6"),
        (packet(b"\x03" + BODY), "version 3"),
        (packet(BODY, 5), "secret"),
        (packet(b"x", 13), "does not begin"),
        (b"\xc6\xe0" + BODY, "unknown length"),
        (b"\x9b" + BODY, "unknown length"),
        (b"\xc6", "header"),
        (packet(BODY) + packet(b"", 8), r"tag 8 \(compressed data\)"),
        (packet(BODY) + packet(b"x", 63), "tag 63"),
        (b"\xc6\xff\x00\x01\x00\x00\x04" + bytes(0xFFFF), "more than 64 KiB"),
        (b"\x80" * (openpgp.LIMIT + 1), "larger"),
        (openpgp.armored(packet(BODY)).replace("=", "!", 1).encode(), "damaged"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_no_public_key_file_is_refused(data: bytes, why: str) -> None:
    with pytest.raises(openpgp.KeyFileError, match=why):
        openpgp.fingerprints(data)


def test_an_armor_with_another_checksum_is_refused() -> None:
    armor = openpgp.armored(packet(BODY)).splitlines()
    armor[-2] = "=" + base64.b64encode(b"abc").decode()
    with pytest.raises(openpgp.KeyFileError, match="checksum"):
        openpgp.fingerprints("\n".join(armor).encode())


@given(st.binary(max_size=300))
def test_any_bytes_give_fingerprints_or_a_reason(data: bytes) -> None:
    try:
        found = openpgp.fingerprints(data)
    except openpgp.KeyFileError:
        return
    assert all(len(one) == 40 for one in found)


@given(st.binary(min_size=1, max_size=300))
def test_armor_and_back(data: bytes) -> None:
    assert openpgp.binary(openpgp.armored(b"\xc6" + data).encode()) == b"\xc6" + data


KEYRINGS = sorted(Path("/usr/share/keyrings").glob("*-stable.gpg"))


@pytest.mark.skipif(not KEYRINGS or not shutil.which("gpg"), reason="needs gpg and keyrings")
@pytest.mark.parametrize("path", KEYRINGS[:4], ids=lambda path: path.name)
def test_gpg_computes_the_same(path: Path, tmp_path: Path) -> None:
    argv = ["gpg", "--homedir", str(tmp_path), "--with-colons", "--show-keys", str(path)]
    said = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    expected, previous = [], ""
    for line in said.splitlines():
        fields = line.split(":")
        if fields[0] == "fpr" and previous == "pub":
            expected.append(fields[9])
        previous = fields[0]
    assert openpgp.fingerprints(path.read_bytes()) == tuple(expected)
