# SPDX-License-Identifier: GPL-3.0-or-later
"""What roles ask of Ansible's facts, from a host's first word: no visit is made for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Ansible's names for the ID of os-release; the first word of each row is its family.
_FAMILIES = {
    "Debian": {"debian": "Debian", "ubuntu": "Ubuntu"},
    "RedHat": {
        "rhel": "RedHat",
        "rocky": "Rocky",
        "almalinux": "AlmaLinux",
        "centos": "CentOS",
        "ol": "OracleLinux",
        "fedora": "Fedora",
    },
}
_MANAGERS = {"Debian": "apt", "RedHat": "dnf"}


def of(node: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of a host of which node_facts told this; none of a system that is not known."""
    system = node.get("os")
    if not isinstance(system, Mapping):
        return {}
    ids = str(system.get("id"))
    for family, names in _FAMILIES.items():
        if ids in names:
            version = str(system.get("version", ""))
            return {
                "os_family": family,
                "distribution": names[ids],
                "distribution_version": version,
                "distribution_major_version": version.partition(".")[0],
                "pkg_mgr": _MANAGERS[family],
                "kernel": str(node.get("kernel", "")),
                # The document asks the host whether that is so.
                "service_mgr": "systemd",
            }
    return {}
