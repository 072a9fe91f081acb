# SPDX-License-Identifier: GPL-3.0-or-later
"""opensm.conf: written, read again, and what a difference between two of them asks for.

Beside it: the unit of its instances, and how their logs are rotated.
"""

from __future__ import annotations

import re
from typing import Any, Iterable, Mapping

from ..._data import opensm as data
from ..._ground import keyvalue
from .fabrics import Fabric, OpensmError
from .partitions import HEADER

NOTHING, RELOAD, RESTART = "nothing", "reload", "restart"
_LINE = re.compile(r"(?P<name>[a-z][a-z0-9_]*)[ \t]+(?P<value>\S.*?)")


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
    return {**found, **{key: _text(key, setting) for key, setting in sorted(fabric.settings.items())}}


def render(wanted: Mapping[str, str]) -> str:
    """The text of opensm.conf; a key that is not here has opensm's own value."""
    return HEADER + "".join(f"{key} {value}\n" for key, value in wanted.items())


def roots(fabric: Fabric) -> str:
    """The text of the file of root switches, "" for none."""
    return "".join(f"{root_guid}\n" for root_guid in fabric.root_guids)


def read(text: str) -> dict[str, str]:
    """The keys of a text of opensm.conf, as opensm finds them."""
    return keyvalue.settings((line.partition("#")[0].strip() for line in keyvalue.lines(text)), _LINE)


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
                f"subnet_manager_settings: this opensm has no {key!r}. Next: see `opensm --create-config FILE`"
            )


def _text(key: str, value: Any) -> str:
    """A value as opensm writes it itself. Only TRUE is true to it, whatever the case means."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    text = str(value).strip()
    if not text or not text.isprintable() or "#" in text:
        raise OpensmError(f"subnet_manager_settings: {key} is {value!r}. Next: give one line without '#'")
    return text.upper() if text.lower() in ("true", "false") else text


def unit(program: str) -> str:
    """The unit of which each instance is one; ``program``: opensm's path."""
    return f"""{HEADER}[Unit]
Description=Subnet manager of fabric %i (ibready)
Documentation=man:opensm(8)
After=openibd.service systemd-modules-load.service
# opensm ends where the port is not there yet, and a fabric must not be left without it.
StartLimitIntervalSec=0

[Service]
Type=simple
# LIDs are remembered there; two instances must not share them.
Environment=OSM_CACHE_DIR={data.CACHE}/%i
StateDirectory=ibready-opensm/%i
LogsDirectory=ibready-opensm
ExecStart={program} --config {data.FOLDER}/%i.conf
# A heavy sweep: partitions and most settings are read again.
ExecReload=/bin/kill -HUP $MAINPID
Restart=always
RestartSec=5
# The fabric goes before what else runs here.
OOMScoreAdjust=-900
Nice=-5

[Install]
WantedBy=multi-user.target
"""


def logrotate() -> str:
    """Rotation; opensm itself begins a log anew that has reached its limit.

    At SIGUSR1 it opens its log again. Where none runs, systemctl ends well without a word.
    """
    return f"""{HEADER}{data.LOGS}/*.log {{
    weekly
    rotate 8
    missingok
    notifempty
    compress
    delaycompress
    sharedscripts
    postrotate
        systemctl kill --signal=USR1 'ibready-opensm@*.service'
    endscript
}}
"""
