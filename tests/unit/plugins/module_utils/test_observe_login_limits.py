# SPDX-License-Identifier: GPL-3.0-or-later
"""What a login by ssh may lock, by the files of pam_limits."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.host import login_limits
from ansible_collections.ibready.cluster.plugins.module_utils._areas.host.facts import LoginLimit
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import Live
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._parse.proc_limits import UNLIMITED

OWN = "Max open files            1024   1048576  files\nMax locked memory  8388608 8388608 bytes\n"
DROPIN = "etc/security/limits.d/90-ibready.conf"
SSHD = "etc/ssh/sshd_config"
LATER = "etc/security/limits.d/z.conf"
PAM = {"etc/pam.d/sshd": "session    required     pam_limits.so\n"}


def look(root: Path, texts: dict[str, str]) -> Reading[tuple[LoginLimit, ...]]:
    for path, text in {"proc/7/limits": OWN, SSHD: "UsePAM yes\n", **texts}.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return login_limits.observe(Live(root), 7)


@pytest.mark.parametrize(
    ("texts", "limit"),
    [
        ({}, LoginLimit(8388608)),
        (PAM, LoginLimit(8388608)),
        (
            {**PAM, DROPIN: "# ours\n*  soft memlock  unlimited\n* hard memlock unlimited\n"},
            LoginLimit(UNLIMITED, f"/{DROPIN}", "* soft memlock unlimited"),
        ),
        (
            {
                **PAM,
                DROPIN: "* - memlock unlimited\n",
                LATER: "* - memlock 64",
            },
            LoginLimit(65536, f"/{LATER}", "* - memlock 64", ((f"/{LATER}", "* - memlock 64"),)),
        ),
        ({**PAM, DROPIN: "root soft memlock unlimited\n* hard nofile 1\n"}, LoginLimit(8388608)),
        # The hard limit is the lid, by whichever line, and sshd's own where no line says one.
        (
            {**PAM, DROPIN: "* soft memlock unlimited\n* hard memlock 64\n"},
            LoginLimit(65536, f"/{DROPIN}", "* hard memlock 64", ((f"/{DROPIN}", "* hard memlock 64"),)),
        ),
        (
            {**PAM, DROPIN: "* hard memlock 64\n"},
            LoginLimit(65536, f"/{DROPIN}", "* hard memlock 64", ((f"/{DROPIN}", "* hard memlock 64"),)),
        ),
        ({**PAM, DROPIN: "* soft memlock unlimited\n"}, LoginLimit(8388608)),
        ({DROPIN: "* - memlock unlimited\n"}, LoginLimit(8388608)),
        (
            {**PAM, DROPIN: "* - memlock unlimited\n", SSHD: "UsePAM no\n"},
            LoginLimit(8388608),
        ),
        (
            {**PAM, DROPIN: "* - memlock unlimited\n", SSHD: "#UsePAM yes\n"},
            LoginLimit(8388608),
        ),
        (
            {
                **PAM,
                DROPIN: "* - memlock 64\n",
                SSHD: "#UsePAM no\nUsePAM no\n",
                "etc/ssh/sshd_config.d/9.conf": "usepam yes\n",
            },
            LoginLimit(65536, f"/{DROPIN}", "* - memlock 64", ((f"/{DROPIN}", "* - memlock 64"),)),
        ),
        (
            {
                "etc/pam.d/sshd": "session include password-auth\n",
                "etc/pam.d/password-auth": "session required pam_limits.so\n",
                "etc/security/limits.conf": "* - memlock -1\n",
            },
            LoginLimit(UNLIMITED, "/etc/security/limits.conf", "* - memlock -1"),
        ),
    ],
)
def test_what_a_login_gets(tmp_path: Path, texts: dict[str, str], limit: LoginLimit) -> None:
    assert look(tmp_path, texts).value == (limit,)


def test_what_cannot_be_read_is_not_known(tmp_path: Path) -> None:
    assert login_limits.observe(Live(tmp_path), 7).value is None
    (tmp_path / "etc/security/limits.conf").mkdir(parents=True)
    reported = look(tmp_path, PAM)
    assert reported.value is None
    assert "limits.conf" in reported.why


@pytest.mark.parametrize(
    ("lines", "narrower"),
    [
        ("ops hard memlock 64\n", {"ops": 65536}),
        ("ops - memlock 64\nops - memlock unlimited\n", {}),
        ("@ml SOFT MEMLOCK 64 # small\n", {"@ml": 65536}),
        ("@made - memlock 64\n@used - memlock 64\n@users - memlock 64\n", {"@used": 65536, "@users": 65536}),
        ("#ops hard memlock 64\nops hard nproc 64\nops -\n", {}),
    ],
)
def test_who_gets_less_than_others(tmp_path: Path, lines: str, narrower: dict[str, int]) -> None:
    groups = "made:x:990:\nused:x:991:ada\nusers:x:1000:\n"
    early, ours = "etc/security/limits.d/00.conf", {**PAM, DROPIN: "* - memlock unlimited\n", "etc/group": groups}
    found = look(tmp_path, {**ours, early: lines}).value
    assert found is not None
    assert (found[0].memlock, found[0].domain) == (UNLIMITED, "")
    assert {limit.domain: limit.memlock for limit in found[1:]} == narrower
    assert all(limit.low == ((f"/{early}", limit.line),) for limit in found[1:])


def test_pam_limits_with_a_file_of_its_own_reads_no_other(tmp_path: Path) -> None:
    pam = {"etc/pam.d/sshd": "session required pam_limits.so debug conf=/etc/hpc.conf\n"}
    found = look(tmp_path, {**pam, DROPIN: "* - memlock unlimited\n", "etc/hpc.conf": "* - memlock 64\n"}).value
    assert found is not None
    assert [(limit.memlock, limit.path) for limit in found] == [(65536, "/etc/hpc.conf")]
