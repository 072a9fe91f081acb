# SPDX-License-Identifier: GPL-3.0-or-later
"""Releases that the matrix lacks: what their neighbours in the series say of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

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
    """What stands in for a release, and whose it is: the nearest below and above it in its series.

    Of their lists it has what both have; where they differ otherwise, the older one says it. None where the series
    is not known, or this is no whole release.
    """
    mine = numbers(wanted)
    series = sorted((name for name in known if numbers(name)[:2] == mine[:2]), key=numbers)
    if not series or not whole(kind, wanted):
        return None, ""
    below = [name for name in series if numbers(name) < mine][-1:]
    near = [known[name] for name in below + [name for name in series if numbers(name) > mine][:1]]
    fields = {key: _said_by_all(key, near) for key in near[0].fields if key not in _OWN}
    names = " and ".join(fact.name for fact in near)
    fields.update(version=wanted, confidence=least(MEDIUM, near[0].sure()), source=f"{names}, of its series")
    return Fact(near[0].section, wanted, fields), names


def _said_by_all(key: str, near: Sequence[Fact]) -> Any:
    value = near[0].fields[key]
    return [each for each in value if all(each in fact.get(key, ()) for fact in near)] if _many(value) else value


def _many(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)
