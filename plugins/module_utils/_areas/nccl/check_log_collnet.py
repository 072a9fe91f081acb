# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge whether a job that is meant to use SHARP did, and name the line that says why not."""

from __future__ import annotations

from ..._data import nccl_log as data
from ..._evidence.redact import masked
from ..._expect.expectations import CAPABILITY, Expectations
from ..._ground.check import Check, failed, passed, skipped, unknown
from ..._nccl.problem import short
from ..._parse import strtoll
from ..._parse._nccl_facts import NcclLog
from .check_log_ranks import count, on_one_host

COLLNET = "nccl.log.collnet"
ENABLE = "NCCL_COLLNET_ENABLE"
LOG = "nccl_log"
_REFUSED = "collnet_unavailable"
_IN_USE = "CollNet, by SHARP"


def judge(log: NcclLog, expect: Expectations) -> Check:
    """Of a job that asked for CollNet, or whose site says that its jobs use SHARP."""
    wanted = expect.get("sharp")
    value = dict(log.said.settings).get(ENABLE)
    asked = value is not None and strtoll.number(value).value not in (None, 0)
    source = wanted.source if wanted is not None and wanted.value else CAPABILITY
    if not asked and not (wanted is not None and wanted.value):
        if log.cut and value is None:
            return unknown(COLLNET, LOG, f"the log ends within a line: {ENABLE} may follow")
        return skipped(COLLNET, LOG, f"no line says that the job asked for CollNet ({ENABLE}), nor does the site")
    if on_one_host(log):
        return skipped(COLLNET, LOG, "all ranks are on one host: nothing crosses a switch")
    refused = [entry for entry in log.failures if entry.code == _REFUSED and entry.kind == data.REFUSED]
    if refused:
        # The plugin's own words tell more than NCCL's, whichever stands first.
        first = next((entry for entry in refused if "Cannot initialize" not in entry.text), refused[0])
        where = f" in {first.rank}" if first.rank else ""
        cause = f"`{masked(first.text)}`{where}: {first.cause}"
        return failed(COLLNET, LOG, "CollNet is off", _IN_USE, source, cause=cause, remedy=first.remedy)
    off = log.said.collnet_off
    if off is not None and off[0] == (log.said.nodes or off[0]):
        cause = f"the job has {off[0]} nodes, and NCCL_COLLNET_NODE_THRESHOLD is {off[1]}"
        remedy = "nothing where such small jobs are to go without; else lower NCCL_COLLNET_NODE_THRESHOLD"
        return failed(COLLNET, LOG, "CollNet is off", _IN_USE, source, cause=cause, remedy=remedy)
    if log.said.collnet is not None:
        return passed(COLLNET, LOG, f"CollNet by {log.said.collnet or 'a plugin'}: {count(log)}", _IN_USE, source)
    cause = _why_not(log, value, asked)
    if cause:
        return failed(COLLNET, LOG, "CollNet is off", _IN_USE, source, cause=cause)
    return unknown(COLLNET, LOG, "no line says that CollNet came up, and none that it failed")


def _why_not(log: NcclLog, value: str | None, asked: bool) -> str:
    """What the log says against it; "" where it says nothing."""
    if value is not None and not asked:
        return f"the job was started with {ENABLE}={short(value)}"
    if log.said.collnet_plugin == "":
        return f"the plugin that NCCL loaded ({log.said.plugin or 'of no name'}) has no CollNet: it is not HPC-X's"
    if log.said.plugin == "" and log.said.collnet_plugin is None:
        return "NCCL found no network plugin (libnccl-net.so), and has no CollNet of its own"
    if value is None and log.said.settings:
        return f"the job did not ask for it: of its settings none is {ENABLE}"
    return ""
