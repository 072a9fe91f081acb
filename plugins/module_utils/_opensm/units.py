# SPDX-License-Identifier: GPL-3.0-or-later
"""The files beside opensm's own: the unit of its instances, and how their logs are rotated."""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.module_utils._data import opensm as data
from ansible_collections.ibready.cluster.plugins.module_utils._opensm.partitions import HEADER


def template(program: str) -> str:
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
