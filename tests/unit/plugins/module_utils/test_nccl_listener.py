# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import ipaddress
import socket
import struct
import sys

import pytest
from hypothesis import given, settings, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._ask.nccl.proof import Listener, listener_in

few = settings(max_examples=100, deadline=None, database=None)
# Of a real library: eth0 had 192.0.2.2.
REAL = bytes.fromhex("9cf671240acda01402008125c0000202") + bytes(112)


def family(number: int) -> bytes:
    return struct.pack("=H", number)


def test_an_ipv4_listener_is_read() -> None:
    assert sys.byteorder == "little"
    assert listener_in(REAL) == Listener("192.0.2.2", 33061)


def test_an_ipv6_listener_is_read_with_its_interface() -> None:
    address = ipaddress.IPv6Address("fe80::1").packed
    raw = bytes(8) + family(socket.AF_INET6) + struct.pack(">HI", 4000, 7) + address
    assert listener_in(raw + struct.pack("=I", 3)) == Listener("fe80::1", 4000, 3)


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"", "too short"),
        (REAL[:9], "too short"),
        (REAL[:12], "too short"),
        (bytes(128), "address family 0"),
        (bytes(8) + family(socket.AF_UNIX) + bytes(100), "address family 1"),
        (bytes(8) + family(socket.AF_INET6) + bytes(20), "too short"),
    ],
)
def test_what_is_no_address_is_refused(raw: bytes, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        listener_in(raw)


@few
@given(address=st.ip_addresses(v=4), port=st.integers(0, 65535), rest=st.binary(max_size=112))
def test_every_ipv4_address_comes_back(address: ipaddress.IPv4Address, port: int, rest: bytes) -> None:
    raw = bytes(8) + family(socket.AF_INET) + struct.pack(">H", port) + address.packed
    assert listener_in(raw + rest) == Listener(str(address), port)


@few
@given(address=st.ip_addresses(v=6), port=st.integers(0, 65535), scope=st.integers(0, 2**32 - 1))
def test_every_ipv6_address_comes_back(address: ipaddress.IPv6Address, port: int, scope: int) -> None:
    raw = bytes(8) + family(socket.AF_INET6) + struct.pack(">HI", port, 0) + address.packed
    assert listener_in(raw + struct.pack("=I", scope) + bytes(92)) == Listener(str(address), port, scope)


@few
@given(raw=st.binary(max_size=140))
def test_any_bytes_are_an_address_or_refused(raw: bytes) -> None:
    try:
        found = listener_in(raw)
    except ValueError:
        return
    assert ipaddress.ip_address(found.address)
    assert 0 <= found.port <= 65535
