# SPDX-License-Identifier: GPL-3.0-or-later
"""Which package brings a kernel's headers, by the system's ID in os-release. Data only.

``source``/``confidence`` as in gpus.py.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Headers:
    """``package``: for one kernel, {0} is its release. ``follows``: the package that brings those
    of every later kernel, too; {0} is the kernel's flavour (generic, amd64), "" for none."""

    systems: tuple[str, ...]
    package: str
    follows: str
    source: str
    confidence: str = "confirmed"


HEADERS = (
    Headers(
        ("ubuntu", "debian"),
        "linux-headers-{0}",
        "linux-headers-{0}",
        "Debian 12 linux-signed-amd64; Ubuntu 24.04 linux and linux-meta source packages",
    ),
    Headers(
        ("rhel", "fedora", "centos"),
        "kernel-devel-{0}",
        "",
        "EL 9, the kernel source package; kernel-devel is of the kernel's own version",
    ),
    Headers(
        ("suse", "sles", "opensuse"),
        "kernel-default-devel",
        "",
        "SLES 15, the kernel-default source package",
        "medium",
    ),
)
# A kernel of EL with 64k pages (5.14.0-427.el9.aarch64+64k) has a package of its own.
# Source: EL 9 kernel source package. Confidence: confirmed.
VARIANTS = {"64k": "kernel-64k-devel-{0}", "rt": "kernel-rt-devel-{0}"}
# The flavour in 6.8.0-48-generic, 6.1.0-40-cloud-amd64, 6.12.48+deb13-amd64.
FLAVOUR = r"[0-9.]+(?:\+deb[0-9]+|-[0-9.]+)-([a-z][a-z0-9-]*)"
