# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether ssh finds out that a host is gone: with ServerAliveInterval it asks, without it waits for ever."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterable, Mapping
from typing import Any

from ...module_utils._ground.text import few
from .contact import SSH, connection_of, ssh_option

# What the inventory may say of a host's connection; hosts that say the same are asked for once, and so many at most.
_SAID = (
    *("ansible_connection", "ansible_ssh_executable"),
    *("ansible_ssh_args", "ansible_ssh_common_args", "ansible_ssh_extra_args"),
)
_MOST = 8
_SHOWN = 4
_LIMIT_S = 10


def lacking(hostvars: Mapping[str, Any], hosts: Iterable[str]) -> str:
    """What to warn of; "" where every host is asked."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for host in hosts:
        seen = hostvars[host]
        alike.setdefault(tuple(str(seen.get(name, "")) for name in _SAID), []).append(host)
    kinds = list(alike.values())
    silent = [name for names in kinds[:_MOST] if _waits(names[0], hostvars[names[0]]) for name in names]
    left = sum(map(len, kinds[_MOST:]))
    unasked = f"; {left} more hosts were not asked about, whose settings of ssh differ" if len(kinds) > _MOST else ""
    if not silent:
        return unasked and f"whether ssh asks if a host is still there is known of {_MOST} kinds of hosts{unasked}"
    return (
        f"{few(silent, _SHOWN)}: ssh does not ask whether the host is still there, so that one that is gone holds a "
        "task until its bound (ibready_visit_timeout). Next: add -o ServerAliveInterval=15 -o ServerAliveCountMax=4 to "
        "ssh_args below [ssh_connection] in ansible.cfg, or ServerAliveInterval 15 to your ~/.ssh/config"
        f"{unasked}"
    )


def _waits(host: str, seen: Mapping[str, Any]) -> bool:
    """Whether ssh itself says that it would not ask; of other connections, and without its word, nobody knows."""
    if connection_of(seen) not in SSH:
        return False
    seen = {"inventory_hostname": host, **{name: seen[name] for name in (*_SAID, "ansible_host") if name in seen}}
    given = [ssh_option(name, seen) for name in ("ssh_args", "ssh_common_args", "ssh_extra_args")]
    try:
        words = [
            ssh_option("ssh_executable", seen) or "ssh",
            "-G",
            *(word for text in given for word in shlex.split(text)),
        ]
        words += ["--", ssh_option("host", seen) or host]
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_LIMIT_S,
            check=False,
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return False
    return re.search(r"^serveraliveinterval 0$", done.stdout, re.MULTILINE) is not None
