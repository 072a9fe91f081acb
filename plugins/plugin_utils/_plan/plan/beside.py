# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines and services of others that meet what ibready brings (node_facts, ``beside``), in words; pure."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ansible.module_utils.parsing.convert_bool import boolean

from ....module_utils._act.tuning.sysctl import SysctlError, proc_path
from ....module_utils._data import boot_sources
from ....module_utils._ground.text import printable
from ..._ground import yaml as _yaml

CONSENT = "ibready_replace_settings_ok"
# The site's variables that say what ibready would set.
VARIABLES = (
    *("host_tuning_sysctls", "host_tuning_sysctls_extra", "host_tuning_memlock", "host_tuning_nofile"),
    *("container_runtime_memlock", "container_runtime_nofile", CONSENT),
)
_ROLES = Path(__file__).resolve().parents[4] / "roles"
_SYSCTL, _LIMITS = boot_sources.OURS.rpartition("/")[2], "90-ibready.conf"
# Read after every drop-in, by the link 99-sysctl.conf.
_LAST = {boot_sources.SYSCTL_CONF: "99-sysctl.conf"}
# pam_limits reads it before every drop-in.
_FIRST = {"/etc/security/limits.conf": ""}
# What is pasted into a shell is no stranger's.
_UNIT = re.compile(r"[A-Za-z0-9@._-]{1,80}\.service")
_WIDEST = 200
_NO_LIMIT = ("unlimited", "infinity", "-1")


def said(entries: Any, variables: Mapping[str, Any]) -> Iterator[str]:
    """A sentence for each entry that is another than what ibready sets.

    ``variables``: the site's; one that is None is not known yet, and nothing is said of what it sets.
    """
    wanted = {CONSENT: False, **_defaults("host_tuning"), **_defaults("container_runtime"), **variables}
    settings = _settings(wanted)
    for entry in entries or ():
        kind, what, value, where = (printable(str(entry[key]), _WIDEST) for key in ("kind", "what", "said", "where"))
        if kind == "more":
            yield f"{what} more lines of others were not looked at"
        elif kind == "manager" and _UNIT.fullmatch(what):
            yield (
                f"{what} is {value}: this subnet manager stays; next: `systemctl disable --now {what}` where another "
                "one manages the fabric"
            )
        elif kind == "conffile":
            yield f"{what} was edited since its package brought it; what ibready sets goes into it, with a copy kept"
        elif kind == "sysctl" and settings.get(what, value).split() != value.split():
            yield _order(where, f"{what.replace('/', '.')} = {value}", settings[what], _SYSCTL, _LAST, "")
        elif kind == "limit":
            yield from _limit(what, value, where, wanted)
        elif kind == "container":
            ours = _shown(what, wanted[f"container_runtime_{what}"])
            replaced = wanted[CONSENT] is None or boolean(wanted[CONSENT], strict=False)  # type: ignore[no-untyped-call]
            if ours not in ("", _shown(what, value, 1)) and not replaced:
                yield f"{where} gives containers {what} {value}: it stays without {CONSENT}, which makes it {ours}"


def _limit(what: str, value: str, where: str, wanted: Mapping[str, Any]) -> Iterator[str]:
    domain, _kind, name = what.rsplit(" ", 2)
    ours = _shown(name, wanted[f"host_tuning_{name}"])
    if ours not in ("", _shown(name, value)):
        yield _order(where, f"{what} {value}", ours, _LIMITS, _FIRST, domain if domain != "*" else "")


def _order(where: str, line: str, ours: str, file: str, places: Mapping[str, str], whom: str) -> str:
    """Which of two files counts: by the order of their names, and of one user before everybody."""
    name = places.get(where, where.rpartition("/")[2])
    if whom or name > file:
        return f"{where} says `{line}` and counts before {file}, which says {ours}"
    return f"{where} says `{line}`, and {file} counts before it and says {ours}"


def _settings(wanted: Mapping[str, Any]) -> dict[str, str]:
    """Kernel settings as role host_tuning makes them, below /proc/sys."""
    found: dict[str, str] = {}
    both = [wanted.get(name, {}) for name in ("host_tuning_sysctls", "host_tuning_sysctls_extra")]
    for given in both if None not in both else ():
        for key, value in given.items() if isinstance(given, Mapping) else ():
            try:
                found[proc_path(str(key))] = "" if value is None else str(value)
            except SysctlError:
                continue  # The role says what is wrong with it.
    return {key: value for key, value in found.items() if value}


def _shown(name: str, said: object, unit: int = 1024) -> str:
    """A limit as pam_limits has it (memory in KiB), "" where none is known; docker counts in bytes."""
    value = "" if said is None else str(said)
    if value in _NO_LIMIT:
        return "unlimited"
    return str(int(value) * unit // 1024) if name == "memlock" and value.isdecimal() else value


@functools.cache
def _defaults(role: str) -> dict[str, Any]:
    found: dict[str, Any] = _yaml.load((_ROLES / role / "defaults/main.yml").read_text(encoding="utf-8"))
    return found
