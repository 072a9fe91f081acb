# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernel settings: what may be set, where it lives below /proc/sys, how the drop-in reads.

Nothing here touches the host: keys and values come in, paths and text go out.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from dataclasses import dataclass

HEADER = "# Written by ibready.cluster.sysctl_dropin. The next run undoes changes made by hand."

_KEY = re.compile(r"[a-z0-9_][A-Za-z0-9_./-]*")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


class SysctlError(ValueError):
    """A setting that cannot be written, with the key and the reason."""


@dataclass(frozen=True)
class Setting:
    """One kernel setting: `value` has single blanks between its fields, `reason` may be empty."""

    key: str
    value: str
    reason: str = ""


def proc_path(key: str) -> str:
    """Turn ``net.ipv4.conf.all.rp_filter`` into the path below /proc/sys.

    As in sysctl.d(5): when the first separator is a dot, dots and slashes change places, so that
    ``net.ipv4.conf.eth0/200.forwarding`` reaches the interface eth0.200; when it is a slash, the
    key is the path already. Raises SysctlError for a key that leaves /proc/sys or is no key.
    """
    if not _KEY.fullmatch(key):
        raise SysctlError(f"{key!r} is not the name of a kernel setting")
    first = min((key.find(sep) for sep in "./" if sep in key), default=-1)
    path = key if first < 0 or key[first] == "/" else key.translate(str.maketrans("./", "/."))
    if any(part in ("", ".", "..") for part in path.split("/")):
        raise SysctlError(f"{key!r} is not the name of a kernel setting: it has an empty part")
    return path


def clean_value(key: str, value: object) -> str:
    """Give back `value` as the text for the kernel; SysctlError when it is not one line of it."""
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise SysctlError(f"{key}: {value!r} is a {type(value).__name__}; write a number or a quoted string")
    text = str(value).strip()
    if not text:
        raise SysctlError(f"{key}: the value is empty")
    if "\n" in text or "\r" in text:
        raise SysctlError(f"{key}: the value has more than one line")
    if _CONTROL.search(text):
        raise SysctlError(f"{key}: the value {text!r} has control characters")
    return " ".join(text.split())


def read_settings(raw: Mapping[str, object], reasons: Mapping[str, object]) -> tuple[Setting, ...]:
    """Check every key and value of `raw`; raises SysctlError for the first that cannot be set.

    The order is kept. A reason without a setting is left out.
    """
    found: list[Setting] = []
    owner: dict[str, str] = {}
    for key, value in raw.items():
        path = proc_path(key)
        if path in owner:
            raise SysctlError(f"{key!r} and {owner[path]!r} are the same kernel setting")
        owner[path] = key
        reason = reasons.get(key)
        text = "" if reason is None else " ".join(_CONTROL.sub(" ", str(reason)).split())
        found.append(Setting(key=key, value=clean_value(key, value), reason=text))
    return tuple(found)


def same_value(text: str, other: str) -> bool:
    """Whether two values are equal for the kernel, which separates fields by tabs."""
    return text.split() == other.split()


def render(settings: tuple[Setting, ...], absent: Container[str]) -> str:
    """Write the drop-in's text.

    Keys in `absent` get the ``-`` of sysctl.d(5): a failure at boot is no error for them.
    """
    blocks = [HEADER]
    for setting in settings:
        lines = [f"# {setting.reason}"] if setting.reason else []
        lines.append(f"{'-' if setting.key in absent else ''}{setting.key} = {setting.value}")
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def is_ours(text: str) -> bool:
    """Whether a file's text was written by `render`."""
    return text.startswith(HEADER)
