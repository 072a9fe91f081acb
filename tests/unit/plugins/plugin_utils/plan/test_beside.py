# SPDX-License-Identifier: GPL-3.0-or-later
"""What the plan says of lines and services of others that meet what ibready brings."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.matrix import load
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.plan import beside, table
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.plan.make import Host, make
from tests.unit.plugins.plugin_utils.plan.nodes import NOW, SITES, host


def sysctl(where: str, what: str = "net/core/rmem_max", said: str = "268435456") -> dict[str, str]:
    return {"kind": "sysctl", "what": what, "said": said, "where": where}


def limit(where: str, what: str = "* hard memlock", said: str = "64") -> dict[str, str]:
    return {"kind": "limit", "what": what, "said": said, "where": where}


def said(entry: dict[str, str], **variables: Any) -> str:
    return "; ".join(beside.said([entry], variables))


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        (
            sysctl("/etc/sysctl.d/99-site.conf"),
            "/etc/sysctl.d/99-site.conf says `net.core.rmem_max = 268435456` and counts before 90-ibready.conf, "
            "which says 16777216",
        ),
        (
            sysctl("/etc/sysctl.d/50-site.conf"),
            "/etc/sysctl.d/50-site.conf says `net.core.rmem_max = 268435456`, and 90-ibready.conf counts before it "
            "and says 16777216",
        ),
        (sysctl("/etc/sysctl.conf"), "/etc/sysctl.conf says `net.core.rmem_max = 268435456` and counts before"),
        (
            limit("/etc/security/limits.d/99-hpc.conf"),
            "/etc/security/limits.d/99-hpc.conf says `* hard memlock 64` and counts before 90-ibready.conf, which says "
            "unlimited",
        ),
        (limit("/etc/security/limits.d/50-hpc.conf"), "and 90-ibready.conf counts before it and says unlimited"),
        (limit("/etc/security/limits.conf"), "and 90-ibready.conf counts before it and says unlimited"),
        # Of one user before what goes for everybody, whichever file it is in.
        (limit("/etc/security/limits.conf", "ops hard memlock"), "and counts before 90-ibready.conf"),
        (
            {"kind": "manager", "what": "opensm.service", "said": "active and enabled", "where": ""},
            "opensm.service is active and enabled: this subnet manager stays; next: `systemctl disable --now opensm",
        ),
        (
            {"kind": "container", "what": "memlock", "said": "65536", "where": "/etc/docker/daemon.json"},
            "/etc/docker/daemon.json gives containers memlock 65536: it stays without ibready_replace_settings_ok, "
            "which makes it unlimited",
        ),
        ({"kind": "more", "what": "440", "said": "", "where": ""}, "440 more lines of others were not looked at"),
        (
            {"kind": "conffile", "what": "/etc/containerd/config.toml", "said": "edited", "where": "x"},
            "/etc/containerd/config.toml was edited since its package brought it",
        ),
    ],
)
def test_what_meets_ours_is_told_with_what_becomes_of_it(entry: dict[str, str], told: str) -> None:
    assert told in said(entry)


@pytest.mark.parametrize(
    ("entry", "variables"),
    [
        (sysctl("/etc/sysctl.d/99-site.conf", said="16777216"), {}),
        (sysctl("/etc/sysctl.d/99-site.conf", "vm/swappiness", "1"), {}),
        (sysctl("/etc/sysctl.d/99-site.conf"), {"host_tuning_sysctls_extra": {"net.core.rmem_max": 268435456}}),
        (sysctl("/etc/sysctl.d/99-site.conf"), {"host_tuning_sysctls_extra": {"net.core.rmem_max": None}}),
        (limit("/etc/security/limits.d/99-hpc.conf", said="infinity"), {}),
        (limit("/etc/security/limits.d/99-hpc.conf"), {"host_tuning_memlock": "64"}),
        # What cannot be had before facts are there.
        (sysctl("/etc/sysctl.d/99-site.conf"), {"host_tuning_sysctls_extra": None}),
        (limit("/etc/security/limits.d/99-hpc.conf"), {"host_tuning_memlock": None}),
        ({"kind": "container", "what": "memlock", "said": "65536", "where": "x"}, {"container_runtime_memlock": None}),
        ({"kind": "container", "what": "memlock", "said": "65536", "where": "x"}, {beside.CONSENT: None}),
        ({"kind": "container", "what": "memlock", "said": "65536", "where": "x"}, {beside.CONSENT: "yes"}),
        ({"kind": "container", "what": "memlock", "said": "-1", "where": "x"}, {}),
        # What a host tells is for no shell.
        ({"kind": "manager", "what": "x.service; reboot #.service", "said": "active", "where": ""}, {}),
        ({"kind": "container", "what": "memlock", "said": "65536", "where": "x"}, {"container_runtime_memlock": "64"}),
        ({"kind": "container", "what": "memlock", "said": "65536", "where": "x"}, {beside.CONSENT: True}),
    ],
)
def test_what_says_the_same_or_is_nobodys_is_not_told(entry: dict[str, str], variables: dict[str, Any]) -> None:
    assert said(entry, **variables) == ""


def test_what_a_host_tells_stays_a_line() -> None:
    told = said(sysctl("/etc/sysctl.d/99-\n\x1b[2J.conf", said="1" * 5000))
    assert told.isprintable()
    assert len(told) < 600


def test_the_plan_tells_it_with_the_hosts() -> None:
    entry = sysctl("/etc/sysctl.d/99-site.conf")
    hosts: list[Host] = [host("b", beside=[entry]), host("a", beside=[entry]), host("c")]
    made = make(hosts, load.own(), None, relock=False, sites=SITES, now=NOW)
    shown = table.render(made.rows, made.changes, made.facts, "")
    assert "  beside:  a, b: /etc/sysctl.d/99-site.conf says `net.core.rmem_max = 268435456` and counts" in shown
    # It is no part of the lock.
    assert "99-site" not in str(made.lock)
    many = [sysctl(f"/etc/sysctl.d/99-{number}.conf") for number in range(15)]
    made = make([host("a", beside=many)], load.own(), None, relock=False, sites=SITES, now=NOW)
    assert "  beside:  and 3 more" in table.render(made.rows, made.changes, made.facts, "")
