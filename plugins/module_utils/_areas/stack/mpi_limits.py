# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether settings of UCX and Open MPI leave RDMA out; no I/O."""

from __future__ import annotations

import re
from typing import Sequence

# Names and short names of UCX's transports through RDMA devices; and those that stand for all.
# Source: UCX documentation (FAQ, UCX_TLS), ucp_context.c of 1.18. Confidence: confirmed.
_RDMA = re.compile(r"(?:ib|rc|ud|dc|srd|gga)(?:_[a-z0-9]+)?")
_ALL = ("all", "")
_DEFAULTS = ("ib", "rc", "ud")
_WITH_PORT = re.compile(r".+:[0-9]+")


def tls_without_rdma(value: str) -> bool:
    """Whether UCX_TLS leaves out every transport through an RDMA device."""
    excluded = value.startswith("^")
    names = [word.strip().lstrip("\\").partition(":")[0] for word in value.lstrip("^").split(",")]
    if excluded:
        kinds = {name.partition("_")[0] for name in names}
        return "ib" in kinds or {"rc", "ud"} <= {name for name in names if name in _DEFAULTS}
    return not any(name in _ALL or _RDMA.fullmatch(name) for name in names)


def devices_without_rdma(value: str, devices: Sequence[str]) -> bool:
    """Whether UCX_NET_DEVICES leaves out every RDMA device. ``devices``: those of the host; ()
    where they are not known, and then what has a port (mlx5_0:1) counts as one."""
    excluded = value.startswith("^")
    names = [word.strip() for word in value.lstrip("^").split(",")]
    if not excluded and any(name in _ALL for name in names):
        return False
    named = [name for name in names if _WITH_PORT.fullmatch(name)]
    if excluded:
        return bool(devices) and set(devices) <= {entry.partition(":")[0] for entry in named}
    return not any(not devices or entry.partition(":")[0] in devices for entry in named)


def leaves_out(value: str, component: str) -> bool:
    """Whether a parameter of Open MPI (``ob1``, ``^ucx``, "" for all) leaves a component out."""
    names = [word.strip() for word in value.lstrip("^").split(",") if word.strip()]
    if not names:
        return False
    return (component in names) == value.startswith("^")
