# SPDX-License-Identifier: GPL-3.0-or-later
"""No secret stays in, however it is written; texts are made of parts (tests/unit/secret_shapes)."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._evidence.redact import MASK, masked, masked_bytes
from tests import cases
from tests.unit import secret_shapes

pytestmark = pytest.mark.thorough

LONG = (2048 if cases.ALL else 512) * 1024


@pytest.mark.parametrize("kind", secret_shapes.SHAPES)
@settings(deadline=None, max_examples=100)
@given(data=st.data())
def test_no_part_of_a_secret_stays(kind: str, data: st.DataObject) -> None:
    reported = data.draw(secret_shapes.told(kind))
    shown = masked(reported.text)
    assert MASK in shown
    left = [part for part in reported.parts if part in shown]
    assert not left, shown
    assert masked(shown) == shown


# What heads and values are made of.
BITS = [
    *("password", "token", "secret ", "pass", "--", "-", "=", ": ", ":", " = ", '"', "'", "\\"),
    *('\\"', "\n", "\r\n", "\n  ", "{", "}", "[", "]", ",", ", ", " ", "x", "a b", "@", "/", MASK),
    *("\0", "|", "value", "name", "m_key ", "0x12", "Bearer ", "- ", "null", "12", "&", "login "),
    *("AKIA", "0123456789ABCDEF", "sshpass ", " -p", "curl ", " -u ", "eyJ", ".", "$6$", "://", ";"),
    *("<", ">", "</", "<![CDATA[", "-----BEGIN PRIVATE KEY-----", "---", "-----END", "hf_", "@h", "iscsi:"),
]


@settings(deadline=None, max_examples=400)
@given(st.lists(st.sampled_from(BITS), max_size=12).map("".join))
def test_what_is_masked_is_the_same_when_it_is_masked_again(text: str) -> None:
    assert masked(masked(text)) == masked(text)


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "utf-8-sig"])
@settings(deadline=None, max_examples=50)
@given(data=st.data())
def test_nor_in_a_file_of_any_encoding(encoding: str, data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(sorted(secret_shapes.SHAPES)))
    reported = data.draw(secret_shapes.told(kind))
    if "\0" in reported.text:
        return
    shown = masked_bytes(f"# größe\n{reported.text}".encode(encoding, "replace"))
    parts = [part.encode(encoding, "replace") for part in reported.parts]
    assert not [part for part in parts if part in shown]
    assert shown.startswith("# größe\n".encode(encoding))


@given(st.binary(max_size=200))
def test_what_is_no_text_stays_as_it_is(data: bytes) -> None:
    assert masked_bytes(data + b"\0password=x") == data + b"\0password=x"


@settings(deadline=None, max_examples=100)
@given(data=st.data())
def test_what_is_json_stays_json_and_loses_nothing_else(data: st.DataObject) -> None:
    value = data.draw(secret_shapes.values(secret_shapes.ODD + "\"'\\<>{}[], ", blanks=True))
    other = data.draw(st.text(secret_shapes.PLAIN + " ,:{}[]'\"\\/", max_size=20))
    name = data.draw(secret_shapes.names(spaced=True))
    given = {"mtu": 2044, "a": other, name: value, "b": [1, {"c": other}]}
    text = json.dumps(given, separators=data.draw(st.sampled_from([None, (",", ":")])))
    assert json.loads(masked(text)) == {**given, name: MASK}


@settings(deadline=None, max_examples=100)
@given(data=st.data())
def test_a_command_line_keeps_its_other_words(data: st.DataObject) -> None:
    value = data.draw(secret_shapes.values(secret_shapes.PLAIN + "!$%,;:/@=-_."))
    name = data.draw(secret_shapes.names())
    words = ["BOOT_IMAGE=/vmlinuz", "iommu=pt", "pci=noacs", "hugepages=64"]
    at = data.draw(st.integers(0, len(words)))
    said = [*words[:at], f"{name}={value}", *words[at:]]
    assert masked(" ".join(said)) == " ".join([*words[:at], f"{name}={MASK}", *words[at:]])
    # Given without a value, it takes none from the next.
    assert masked(" ".join([f"{name}=", *words])) == " ".join([f"{name}=", *words])


# What a person has to read, and checks have to judge.
READABLE = [
    "pass through",
    "899 passed, 1 failed, 2 passes",
    "bypass=on BYPASS: 1 compass=n",
    "iommu=pt iommu.passthrough=1 pcie_acs_override=downstream",
    "VFIO pass-through: enabled",
    "PKey: 0xffff P_Key 0x8001 pkey=0xffff Q_Key: 0x80010000",
    "key 0xffff, lkey 0x1234 rkey: 0x99",
    "\t\tNode GUID: 0xa088c20300e3142a",
    "system image guid: 0xa088c20300e3142a",
    "tokens per second: 512.3",
    "max_tokens=4096 token_count: 12",
    "tokenizer: gpt2",
    "the file is authentic; author: somebody",
    "the token has expired, ask for another",
    "Password authentication is disabled",
    "PasswordAuthentication no",
    "PermitEmptyPasswords no",
    "auth     required   pam_unix.so try_first_pass nullok",
    "password requisite pam_pwquality.so use_authtok",
    "@include common-password",
    "AuthType=auth/munge",
    "Forward Password Requests to Wall Directory Watch.",
    "nvidia/550.54.15, 6.8.0-88-generic, x86_64: installed",
    "Sign command: /usr/lib/linux-kbuild-6.1/scripts/sign-file",
    "Signing key: /var/lib/dkms/mok.key",
    "Public certificate (MOK): /var/lib/dkms/mok.pub",
    "Loaded X.509 cert 'Build time autogenerated kernel key: 3f2a'",
    "Key type asymmetric registered, key=value pairs",
    "SM_Key................0x0000000000000000",
    "m_key 0x0000000000000000",
    "net.ipv4.tcp_syncookies = 1",
    "NCCL_IB_HCA=mlx5_0,mlx5_1 NCCL_DEBUG=INFO",
    "status installed passwd:amd64 1:4.13",
    "libsecret-1-0 0.20.5 x86_64",
    "\tlibsecret-1.so.0 (libc6,x86-64) => /lib/x86_64-linux-gnu/libsecret-1.so.0",
    "https://example.org/a/b?c=d and https://example.org/team/image@v1",
    "docker://example.org/image@sha256:0011aabb",
    "mailto:me@example.org, ssh me@example.org",
    "netroot=iscsi:192.0.2.1::3260::iqn.2009-06.org:x",
    '{"token": null, "secret": false, "credentials": {"a": 1}}',
    "mlx5_core 0000:17:00.0: firmware version: 28.47.1026",
    "x86/PAT: Configuration [0-7]: WB  WC  UC- UC  WB  WP  UC- WT",
    "microcode: sig=0x50657, pf=0x80, revision=0x5003604",
    "auth [success=1 new_authtok_reqd=ok default=ignore] pam_unix.so nullok",
    "password [success=1 default=ignore] pam_unix.so obscure use_authtok try_first_pass",
    "docker run -p 8080:80 nginx",
    "mysql -P 3306 -h db, mysql -p, mysqld_safe --port=3306",
    'mok_signing_key="/var/lib/dkms/mok.key"',
    "sig_key:        5A:3F:00:11:22, signer: DKMS module signing key, sig_hashalgo: sha512",
    "options are --user, --token, and --password, see the manual",
    "echo 1 | sudo tee /proc/sys/vm/drop_caches",
    "https://github.com/o/r/hooks and https://host/services/a, snmpd -c /etc/snmp/snmpd.conf",
    "{SHA} and {CRYPT} and $apr1$",
]


@pytest.mark.parametrize("text", READABLE)
def test_what_is_no_secret_stays_readable(text: str) -> None:
    assert masked(text) == text


UNITS = [
    *(
        "password",
        "password=x ",
        '"password":"',
        '"secret x=',
        "secret ",
        "--password ",
        "token, ' ",
        "curl -u ",
        "curl -u 'x",
    ),
    *("password=[", "[--token, ", "password%3D", "mysql -p", "docker login ", "echo ", "echo a | ", "https://hooks.a/"),
    *("https://a/a/a/a/", "{SSHA}", "?sig=", "docker docker ", "signing_key", "pat=", "curl ", "redis-cli -a "),
    *(
        "<password>",
        '{"token": [',
        "-----BEGIN PRIVATE KEY-----",
        "eyJ",
        "password:\n ",
        "://a:",
        "\\",
    ),
]


@pytest.mark.parametrize("unit", UNITS)
def test_a_long_hostile_line_comes_back(unit: str) -> None:
    # An expression that looks at a text again and again would not come back within the test run.
    text = unit * (LONG // len(unit))
    assert len(masked(text)) <= 4 * len(text)


def test_a_backslash_may_stand_before_the_quote_that_ends_a_word_of_a_shell() -> None:
    shown = masked("password='Zq7\\'\"'\"'Zq7 Zq7'\"'\"'Zq7 Zq7Zq7'\nx")
    assert "Zq7" not in shown
    assert shown.endswith("\nx")


def test_an_address_ends_before_a_zero_byte() -> None:
    assert masked(masked("://password://<\0@")) == masked("://password://<\0@")
