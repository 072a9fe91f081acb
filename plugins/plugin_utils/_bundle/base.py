# SPDX-License-Identifier: GPL-3.0-or-later
"""What every host of a class has before ibready comes; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def lacking(here: Mapping[str, Any], hosts: Sequence[Mapping[str, Any]]) -> list[str]:
    """Packages of the asked host that another host of the class may lack, sorted.

    A package counts as there only if every host has it in the same version and ibready brought it
    to none. ``here`` and ``hosts``: what stack_bundle_files told (packages, brought).
    """
    brought = {name for host in (here, *hosts) for name in host["brought"]}
    return sorted(
        name
        for name, version in here["packages"].items()
        if name in brought or any(host["packages"].get(name) != version for host in hosts)
    )


def kernels(hosts: Sequence[Mapping[str, Any]]) -> list[str]:
    """The running kernels of the class, sorted."""
    return sorted({str(host["kernel"]) for host in hosts})
