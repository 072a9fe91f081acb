# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse an output by its evidence name; what `ibready parse NAME` prints.

Every module of this package that is named here has three things: ``parse(text)`` (facts as a
dataclass, or ParseError), ``facts(parsed)`` (the same as a JSON-ready dictionary, in the field
names of docs/parsers.md) and ``NOTHING``, that dictionary for a text which gave no facts; where the
error tells something all the same, ``nothing(error)``.
"""

from __future__ import annotations

import importlib
import re
from typing import Any

from .._ground.text import ParseError
from . import prefix

_MANY = 5
_ENOUGH = 1024 * 1024
_WHOLE, _EXCERPT = "nvsmi_q", "nvsmi_q_fabric"

NAMES = (
    "container_probe",
    "dmesg",
    "fabricmanager_log",
    "fabricmanager_status",
    "ibdev2netdev",
    "ibhosts",
    "iblinkinfo",
    "ibnetdiscover",
    "ibping",
    "ibqueryerrors",
    "ibstat",
    "ibstatus",
    "ibv_devinfo",
    "lsmod",
    "mst_status",
    "nccl_log",
    "nvlink_caps",
    "nvlink_errors",
    "nvlink_status",
    "nvsmi_error",
    "nvsmi_q",
    "nvsmi_q_fabric",
    "nvsmi_table",
    "nvsmi_xml",
    "ofed_info",
    "perfquery",
    "rdma_link",
    "saquery_sm",
    "show_gids",
    "sminfo",
    "topo",
)


def facts(name: str, text: str) -> tuple[dict[str, Any], ParseError | None]:
    """What the parser of this name makes of a text, and its error where it gave no facts.

    Raises KeyError for a name that is not in NAMES.
    """
    if name not in NAMES:
        raise KeyError(name)
    module = importlib.import_module(f"{__package__}.{name}")
    try:
        found: dict[str, Any] = module.facts(module.parse(text))
        return found, None
    except ParseError as exc:
        reported = module.nothing(exc) if hasattr(module, "nothing") else module.NOTHING
        nothing: dict[str, Any] = dict(reported)
        if not text.strip():
            nothing["empty_output"] = True
        if exc.error_lines:
            nothing["error_lines"] = list(exc.error_lines)
        return nothing, exc


def guess(text: str) -> tuple[str, ...]:
    """The tools whose text this may be, the one first of whose facts the most are in it.

    A message that there is no device is the same from many. Of a long text the beginning is read,
    and all of it where that says nothing.
    """
    if len(text) > _ENOUGH:
        begun = guess(text[: text.rfind("\n", 0, _ENOUGH) + 1])
        if begun:
            return begun
    counts: dict[str, int] = {}
    for name in NAMES:
        told, error = facts(name, prefix.parts(name, text)[0].text)
        if error is None and _count(told):
            counts[name] = _count(told)
    names = sorted(counts, key=lambda name: -counts[name])
    if len(names) > _MANY:
        # Only a complaint, which many tools make alike: whoever is named made it.
        names.sort(key=lambda name: re.search(rf"\b{name}\b", text) is None)
    if _WHOLE in names and _EXCERPT in names and any(gpu.get("name") for gpu in facts(_WHOLE, text)[0]["gpus"]):
        # The whole output shows what the excerpt does, and its parser tells it more briefly.
        names.remove(_WHOLE)
        names.insert(names.index(_EXCERPT), _WHOLE)
    return tuple(names)


def _count(told: Any) -> int:
    """How many values are told."""
    if isinstance(told, dict):
        return sum(_count(value) for value in told.values())
    if isinstance(told, (list, tuple)):
        return sum(map(_count, told))
    return 0 if told in (None, "", False) else 1
