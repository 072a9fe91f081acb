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


def look(root: Path, texts: dict[str, str]) -> Reading[LoginLimit]:
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
    assert look(tmp_path, texts).value == limit


def test_what_cannot_be_read_is_not_known(tmp_path: Path) -> None:
    assert login_limits.observe(Live(tmp_path), 7).value is None
    (tmp_path / "etc/security/limits.conf").mkdir(parents=True)
    reported = look(tmp_path, PAM)
    assert reported.value is None
    assert "limits.conf" in reported.why
