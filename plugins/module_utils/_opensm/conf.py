# SPDX-License-Identifier: GPL-3.0-or-later
"""opensm.conf: written, read again, and what a difference between two of them asks for."""

from __future__ import annotations

import re
from typing import Any, Iterable, Mapping

from ansible_collections.ibready.cluster.plugins.module_utils._data import opensm as data
from ansible_collections.ibready.cluster.plugins.module_utils._opensm.fabrics import (
    Fabric,
    OpensmError,
)
from ansible_collections.ibready.cluster.plugins.module_utils._opensm.partitions import HEADER

NOTHING, RELOAD, RESTART = "nothing", "reload", "restart"
_LINE = re.compile(r"([a-z][a-z0-9_]*)[ \t]+(\S.*?)[ \t]*$")


def paths(name: str) -> dict[str, str]:
    """The files of one instance."""
    return {
        "conf": f"{data.FOLDER}/{name}.conf",
        "partitions": f"{data.FOLDER}/{name}.partitions.conf",
        "roots": f"{data.FOLDER}/{name}.roots",
    }


def values(fabric: Fabric, guid: str) -> dict[str, str]:
    """Every key that is written, in order; ``guid``: the port's."""
    own = paths(fabric.name)
    polling = max(1, fabric.takeover_ms // data.POLLS)
    found = {
        "guid": guid,
        "sm_priority": str(fabric.priority),
        "sminfo_polling_timeout": str(polling),
        "polling_retry_number": str(data.POLLS),
        "routing_engine": ",".join(fabric.routing_engine),
        "partition_config_file": own["partitions"],
        "log_file": f"{data.LOGS}/{fabric.name}.log",
        "log_max_size": str(fabric.log_mb),
        "log_prefix": fabric.name,
        # Else the end of a sweep stays in opensm's memory until 4 KiB of log have come together.
        "force_log_flush": "TRUE",
        "dump_files_dir": f"{data.CACHE}/{fabric.name}",
    }
    if fabric.root_guids:
        found["root_guid_file"] = own["roots"]
    return {**found, **{key: _text(key, one) for key, one in sorted(fabric.settings.items())}}


def render(wanted: Mapping[str, str]) -> str:
    """The text of opensm.conf; a key that is not here has opensm's own value."""
    return HEADER + "".join(f"{key} {value}\n" for key, value in wanted.items())


def roots(fabric: Fabric) -> str:
    """The text of the file of root switches, "" for none."""
    return "".join(f"{one}\n" for one in fabric.root_guids)


def read(text: str) -> dict[str, str]:
    """The keys of a text of opensm.conf, as opensm finds them."""
    found = {}
    for line in text.splitlines():
        match = _LINE.match(line.partition("#")[0].strip())
        if match:
            found[match.group(1)] = match.group(2)
    return found


def due(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[str, tuple[str, ...]]:
    """What opensm has to be told, and the keys that it is for.

    ``before`` empty: there was no file, so there is nothing to be told.
    """
    if not before or before == after:
        return NOTHING, ()
    moved = [key for key in sorted({*before, *after}) if before.get(key) != after.get(key)]
    # It keeps the value of a key that has left the file.
    still = tuple(key for key in moved if key not in data.LIVE or key not in after)
    return (RESTART, still) if still else (RELOAD, tuple(moved))


def strange(settings: Mapping[str, Any], known: Iterable[str]) -> None:
    """OpensmError where the installed opensm has no such key: it would skip it with a remark."""
    names = set(known)
    for key in sorted(settings):
        if names and key not in names:
            raise OpensmError(
                f"subnet_manager_settings: this opensm has no {key!r}. Next: see"
                " `opensm --create-config FILE`"
            )


def _text(key: str, value: Any) -> str:
    """A value as opensm writes it itself. Only TRUE is true to it, whatever the case means."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    text = str(value).strip()
    if not text or not text.isprintable() or "#" in text:
        raise OpensmError(
            f"subnet_manager_settings: {key} is {value!r}. Next: give one line without '#'"
        )
    return text.upper() if text.lower() in ("true", "false") else text
