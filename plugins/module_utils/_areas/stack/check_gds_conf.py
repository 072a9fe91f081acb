# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge cuFile's configuration: whether it can be read, and whether its addresses are the host's and have RDMA."""

from __future__ import annotations

import ipaddress

from ..._data import gds
from ..._expect.expectations import CAPABILITY
from ..._ground.check import Check, failed, passed, skipped, unknown
from ..._ground.look import look
from ..._ground.text import few
from ..._parse.cufile_json import CufileAddress, CufileJson
from .gds_facts import Gds, GdsConf

_ID = "stack.gds.conf"
_EXPECTED = "JSON that cuFile takes, with addresses of the host's RDMA interfaces"
_SHOWN = 4


def judge(found: Gds) -> Check:
    """stack.gds.conf"""

    def missing() -> Check:
        return skipped(_ID, gds.CONF, "there is no such file: cuFile's defaults count")

    return look(_ID, gds.CONF, found.conf, lambda conf: _judged(found, conf), missing=missing)


def _judged(found: Gds, conf: GdsConf) -> Check:
    if conf.read is None:
        return failed(_ID, gds.CONF, conf.broken, _EXPECTED, CAPABILITY)
    if conf.read.wrong:
        return failed(_ID, gds.CONF, few(conf.read.wrong, _SHOWN, "; "), _EXPECTED, CAPABILITY)
    if conf.read.addresses:
        for reading in (found.addresses, found.rdma):
            if reading.value is None:
                return unknown(_ID, gds.CONF, reading.why)
    strange = [why for entry in conf.read.addresses if (why := _wrong(found, entry))]
    if strange:
        cause = "the file is another host's, or the host got other addresses"
        return failed(_ID, gds.CONF, few(strange, _SHOWN, "; "), _EXPECTED, CAPABILITY, cause=cause)
    return passed(_ID, gds.CONF, _shown(conf.read), _EXPECTED, CAPABILITY)


def _wrong(found: Gds, entry: CufileAddress) -> str:
    """Why the host cannot use it; "" where it can. A device's or an interface's name will do as well."""
    local, rdma = found.addresses.value or {}, found.rdma.value or ()
    if entry.address in rdma:
        return ""
    try:
        known = str(ipaddress.ip_address(entry.address.partition("%")[0]))
    except ValueError:
        return f"{entry.where} has {entry.address[:40]!r}, no address and no RDMA device of this host"
    if known not in local:
        return f"{entry.where} has {known}, which no interface of this host has"
    return "" if local[known] in rdma else f"{entry.where} has {known} of {local[known]}, which has no RDMA"


def _shown(read: CufileJson) -> str:
    compat = "may copy through host memory" if read.compat else "may not copy through host memory"
    return f"{compat}, {len(read.addresses)} addresses"
