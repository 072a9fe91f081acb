# SPDX-License-Identifier: GPL-3.0-or-later
"""Releases that the matrix lacks: what their neighbours in the series say of them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ....module_utils._parse.version_text import numbers
from ..matrix.model import MEDIUM, Fact, least

# How a release is written, and with it a package; less is the beginning of one.
_THREE = r"\d+\.\d+\.\d+"
_WHOLE = {
    "mlnx_ofed": r"\d+\.\d+-\d+\.\d+\.\d+\.\d+",
    "driver": r"\d{3}\.\d\d+",
    **dict.fromkeys(("doca", "nccl", "container_toolkit", "dcgm", "nvlsm"), _THREE),
}
# What is a release's own.
_OWN = ("nic_driver", "package_version", "prerelease", "sources", "field_confidence", "notes")


def whole(kind: str, text: str) -> bool:
    """Whether this names one release of a part (of an RDMA stack: its flavour)."""
    return re.match(_WHOLE.get(kind, r"\d+\.\d+"), text) is not None


def taken(kind: str, wanted: str, known: Mapping[str, Fact]) -> tuple[Fact | None, str]:
    """What stands in for a release, and whose it is: the nearest below and above it in its series say the same.

    None where the series is not known, or this is no whole release.
    """
    mine = numbers(wanted)
    series = sorted((name for name in known if numbers(name)[:2] == mine[:2]), key=numbers)
    if not series or not whole(kind, wanted):
        return None, ""
    below = [name for name in series if numbers(name) < mine][-1:]
    near = [known[name] for name in below + [name for name in series if numbers(name) > mine][:1]]
    first = near[0]
    fields = {key: value for key, value in first.fields.items() if key not in _OWN}
    if fields.get("builds"):
        fields["builds"] = [build for build in fields["builds"] if all(build in fact.get("builds") for fact in near)]
    names = " and ".join(fact.name for fact in near)
    fields.update(version=wanted, confidence=least(MEDIUM, first.sure()), source=f"{names}, of its series")
    return Fact(first.section, wanted, fields), names
