# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse an output by its evidence name; what `ibready parse NAME` prints.

Every module of this package that is named here has three things: ``parse(text)`` (facts as a
dataclass, or ParseError), ``facts(parsed)`` (the same as a JSON-ready dictionary, in the field
names of docs/parsers.md) and ``NOTHING``, that dictionary for a text which gave no facts; where the
error tells something all the same, ``nothing(error)``.
"""

from __future__ import annotations

import importlib
from typing import Any

from .._ground.text import ParseError

NAMES = (
    "container_probe",
    "dmesg",
    "fabricmanager_log",
    "fabricmanager_status",
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
    "nvsmi_xml",
    "ofed_info",
    "perfquery",
    "rdma_link",
    "saquery_sm",
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
