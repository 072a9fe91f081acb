# SPDX-License-Identifier: GPL-3.0-or-later
"""The InfiniBand facts of one host, as gathered by _observe/ib and judged by _checks/ib.

They travel from node to controller as JSON, so that the fleet's expectations can be applied to
them there without asking the host again.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._parse.ibstat import Ca, Port
from ansible_collections.ibready.cluster.plugins.module_utils._parse.sminfo import Sminfo

INFINIBAND = "InfiniBand"
# The unicast LID range of the InfiniBand architecture specification, volume 1, section 4.1.3.
LAST_UNICAST_LID = 0xBFFF


@dataclass(frozen=True)
class SmAnswer:
    """What the subnet manager said to one port; ``error`` where nobody answered."""

    sm: Sminfo | None = None
    error: str = ""
    unavailable: str = ""  # why the question could not be put at all


@dataclass(frozen=True)
class IbFacts:
    """``cas`` as ibstat tells them, ``sysfs`` as the kernel does, ``sm`` by "device/port".

    ``ibstat_unknown`` and ``sysfs_unknown`` say why a source could not be used (empty: it could).
    Without CAs, error lines and such a reason, ibstat ended with status 0 and printed nothing.
    """

    cas: tuple[Ca, ...] = ()
    error_lines: tuple[str, ...] = ()
    ibstat_unknown: str = ""
    sysfs: tuple[Ca, ...] = ()
    sysfs_unknown: str = ""
    sm: dict[str, SmAnswer] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def is_infiniband(port: Port) -> bool:
    """Whether the port's link layer is InfiniBand (ibsim's own tools call it ``IB``)."""
    return port.link_layer in (INFINIBAND, "IB")


def layer(port: Port) -> str:
    """The port's link layer under one name; "" where it was not shown."""
    return INFINIBAND if is_infiniband(port) else port.link_layer


def port_name(ca: Ca, port: Port) -> str:
    """``mlx5_3/1``, the subject of every port check."""
    return f"{ca.name}/{port.num}"


def from_dict(raw: dict[str, Any]) -> IbFacts:
    """Rebuild the facts from JSON; raises KeyError or TypeError on what is not ours."""
    return IbFacts(
        cas=tuple(_ca(one) for one in raw["cas"]),
        error_lines=tuple(raw["error_lines"]),
        ibstat_unknown=raw["ibstat_unknown"],
        sysfs=tuple(_ca(one) for one in raw["sysfs"]),
        sysfs_unknown=raw["sysfs_unknown"],
        sm={name: _answer(one) for name, one in raw["sm"].items()},
    )


def _ca(raw: dict[str, Any]) -> Ca:
    return Ca(**{**raw, "ports": tuple(Port(**port) for port in raw["ports"])})


def _answer(raw: dict[str, Any]) -> SmAnswer:
    sm = raw["sm"]
    return SmAnswer(None if sm is None else Sminfo(**sm), raw["error"], raw["unavailable"])
