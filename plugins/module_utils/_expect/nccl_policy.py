# SPDX-License-Identifier: GPL-3.0-or-later
"""What the site says about nccl.conf: additions, overrides, what is forbidden."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Callable, Mapping

from .._data.nccl_values import LEVELS

# The variables of role nccl that are the site's word on the file's lines.
VARIABLES = (
    *("nccl_conf_variables", "nccl_conf_forbid", "nccl_rails", "nccl_storage_hcas"),
    *("nccl_socket_ifname", "nccl_ib_tc", "nccl_ib_sl", "nccl_topo_file", "nccl_gdr_level"),
)
HCA, SOCKET = "NCCL_IB_HCA", "NCCL_SOCKET_IFNAME"
# No GPUDirect beyond the GPU itself, which is none.
OFF = "off"
_NAME = re.compile(r"[A-Z][A-Z0-9_]{0,199}")
_VALUE = re.compile(r"[^\s\"'`\x00-\x1f\x7f]{1,900}")
_ITEM = r"[A-Za-z0-9_.@-]{1,63}"
_HCA_ITEM = rf"{_ITEM}(?::[0-9]{{1,3}}){{0,3}}"
# ^ and = count only at the very beginning, for the whole list.
_LISTS = {
    HCA: re.compile(rf"\^?=?{_HCA_ITEM}(?:,{_HCA_ITEM}){{0,63}}"),
    SOCKET: re.compile(rf"\^?=?{_ITEM}(?:,{_ITEM}){{0,31}}"),
}
_INTERFACE = re.compile(r"[A-Za-z0-9_.@-]{1,15}")
_PORT = re.compile(r"[A-Za-z0-9_.:@/-]{1,80}")
_PATH = re.compile(r"/[A-Za-z0-9_.@%+/-]{1,500}")


class PolicyError(ValueError):
    """The site's word cannot be written into an nccl.conf; the message names the variable."""


@dataclass(frozen=True)
class NcclPolicy:
    """``variables``: added to what is derived, or put in its place. ``forbid``: names that are
    never written. ``rails`` and ``storage``: ports, devices or PCI addresses; () where the site
    names none. ``tc``, ``sl``: None where the site sets none; ``gdr_level``: a word of LEVELS,
    OFF, or ""."""

    variables: dict[str, str] = field(default_factory=dict)
    forbid: tuple[str, ...] = ()
    rails: tuple[str, ...] = ()
    storage: tuple[str, ...] = ()
    socket_ifname: str = ""
    tc: int | None = None
    sl: int | None = None
    topo_file: str = ""
    gdr_level: str = ""


def from_variables(raw: Mapping[str, Any]) -> NcclPolicy:
    """Read VARIABLES; other names are left alone. Raises PolicyError."""
    variables = _variables(raw.get("nccl_conf_variables"))
    forbid = _names(raw, "nccl_conf_forbid", _NAME)
    both = sorted(set(variables) & set(forbid))
    if both:
        raise PolicyError(f"{both[0]} is both in nccl_conf_variables and in nccl_conf_forbid")
    return NcclPolicy(
        variables=variables,
        forbid=forbid,
        rails=_names(raw, "nccl_rails", _PORT),
        storage=_names(raw, "nccl_storage_hcas", _PORT),
        socket_ifname=_text(raw, "nccl_socket_ifname", _INTERFACE, "an interface's name"),
        tc=_number(raw, "nccl_ib_tc", 255),
        sl=_number(raw, "nccl_ib_sl", 15),
        topo_file=_text(raw, "nccl_topo_file", _PATH, "an absolute path without blanks or quotes"),
        gdr_level=_gdr_level(raw.get("nccl_gdr_level")),
    )


def is_item(name: str) -> bool:
    """Whether a list of NCCL's can hold this name of a device or an interface."""
    return re.fullmatch(_ITEM, name) is not None


def why_unsafe(name: str, value: str) -> str:
    """Why NCCL would not read this value as it is meant; "" where it would."""
    if _VALUE.fullmatch(value) is None:
        return "no blanks, quotes or control characters, 1 to 900 characters: NCCL keeps them all"
    if name in _LISTS and _LISTS[name].fullmatch(value) is None:
        return "names, commas between; ^ and = only once, before the first name"
    return ""


def _variables(raw: Any) -> dict[str, str]:
    if raw is None:
        return {}
    if not isinstance(raw, Mapping):
        raise PolicyError(f"nccl_conf_variables must be a dictionary, not {type(raw).__name__}")
    found: dict[str, str] = {}
    for name, value in raw.items():
        if not isinstance(name, str) or _NAME.fullmatch(name) is None:
            raise PolicyError(f"nccl_conf_variables: {name!r} is no name of a variable")
        if isinstance(value, bool):
            value = int(value)  # NCCL takes words like true for 0
        if not isinstance(value, (str, int, float)):
            raise PolicyError(f"nccl_conf_variables: {name} must be a text or a number")
        found[name] = str(value)
        why = why_unsafe(name, found[name])
        if why:
            raise PolicyError(f"nccl_conf_variables: {name}={found[name][:60]!r}: {why}")
    return found


def _names(raw: Mapping[str, Any], key: str, pattern: re.Pattern[str]) -> tuple[str, ...]:
    value = raw.get(key)
    if value is None:
        return ()
    if not isinstance(value, (list, tuple)):
        raise PolicyError(f"{key} must be a list, not {type(value).__name__}")
    for entry in value:
        if not isinstance(entry, str) or pattern.fullmatch(entry) is None:
            raise PolicyError(f"{key}: {entry!r} is no name")
    return tuple(dict.fromkeys(value))


def _text(raw: Mapping[str, Any], key: str, pattern: re.Pattern[str], what: str) -> str:
    value = raw.get(key)
    if value is None or value == "":
        return ""
    if not isinstance(value, str) or pattern.fullmatch(value) is None:
        raise PolicyError(f"{key} must be {what}, not {value!r}")
    return value


def _number(raw: Mapping[str, Any], key: str, most: int) -> int | None:
    value = raw.get(key)
    if value is None or value == "":
        return None
    convert: Callable[[Any], int] = int
    try:
        number = -1 if isinstance(value, (bool, float)) else convert(value)
    except (TypeError, ValueError):
        number = -1
    if not 0 <= number <= most:
        raise PolicyError(f"{key} must be a number from 0 to {most}, not {value!r}")
    return number


def _gdr_level(value: Any) -> str:
    if value is None or value == "":
        return ""
    if value is False or value == OFF:
        return OFF  # YAML 1.1 reads a bare off as false
    if value not in LEVELS:
        words = ", ".join((*LEVELS, OFF))
        raise PolicyError(f"nccl_gdr_level must be one of {words}, not {value!r}")
    return str(value)
