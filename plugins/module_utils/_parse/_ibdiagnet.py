# SPDX-License-Identifier: GPL-3.0-or-later
"""The lines of ibdiagnet, of ibutils2 and of ibutils 1.5, and what they tell.

Sources: ibutils2's ibdiag_fabric_errs.h; the outputs in NVIDIA's ibdiagnet user manuals (2.9 to 2.24); texts that
others posted or took apart; ibutils 1.5.7's ibdebug_if.tcl. Confidence: confirmed where a test has the line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

RULE = re.compile(r"-{5,200}")
TITLE = re.compile(r"[A-Z][\w /().&-]{2,80}")
TAGGED = re.compile(r"-([IWE])- ?(.{0,2000})")
HEAD_2 = re.compile(r"Stage Warnings Errors(?: Comment)?")
HEAD_1 = re.compile(r"STAGE Errors Warnings")
STAGES_1 = re.compile(r"Stages Status Report:|Using port \d{1,3} as the local port")
ROW = re.compile(r"(\D.{0,60}?) (\d{1,9}) (\d{1,9})(?: (.{1,200}))?")
DISCOVERED = re.compile(r"Discovering \.{3} (\d{1,9}) nodes \((\d{1,9}) Switches & (\d{1,9}) CA-s\) discovered\.")
FINISHED = re.compile(r"(.{1,120}?) finished (successfully|with errors|with warnings)")
COMMAND = re.compile(r"Running(?: command)? ?: ?((?:\S{0,80}/)?ibdiagnet\b.{0,600})")
VERSION = re.compile(r"\bIBDIAGNET (\d[\w.]{0,60})")
ABOUT = re.compile(
    r"Running version ?:|Running on host ?:|Timestamp ?:|Load Plugins from:|/\S{1,200}$|\(You can specify more paths"
    r"|Plugin Name Result Comment"
)
PLUGIN = re.compile(r"lib\w{0,60}plugin\S{0,40} (?:Succeeded|Failed) .{1,400}")
COUNT = re.compile(r"((?:Total|IB|Number of|Unique|Links)\b[\w .]{0,60}?) ?: ?(\d{1,9})")
STANDBY = re.compile(r"Standby SM ?:")
OTHER = re.compile(
    r"Standby SM ?:|Master SM ?:|.{1,60} is enabled on \d{1,6} switches|Fabric Summary"
    r"|Please see \S{1,200} for complete"
)
LOADING = ("Loading IBDIAGNET from:", "Loading IBDM from:")
# The stages of ibdiagnet 1 stand in lines with a tag.
TITLES_1 = (
    "Bad Guids/LIDs Info",
    "Links With Logical State = INIT",
    "General Device Info",
    "PM Counters Info",
    "IPoIB Subnets Check",
    "Bad Links Info",
)
BEGUN_1 = ("Links With links ", "Fabric Partitions Report")
# So many lines without a tag belong to the error before them.
MORE_LINES = 4

# Worst first.
DUPLICATED_GUID = "duplicated guid"
MANAGER = "subnet manager"
BAD_LINK = "bad link"
NO_ANSWER = "no answer"
SPEED = "link speed"
WIDTH = "link width"
STATE = "link state"
LINK = "link"
LID = "lid"
BER = "bit errors"
COUNTER = "counter"
HOT = "temperature"
ROUTING = "routing"
FIRMWARE = "firmware"
NAME = "duplicated description"
OTHER_KIND = "other"
KINDS = (
    DUPLICATED_GUID,
    MANAGER,
    BAD_LINK,
    NO_ANSWER,
    SPEED,
    WIDTH,
    STATE,
    LINK,
    LID,
    ROUTING,
    BER,
    COUNTER,
    HOT,
    FIRMWARE,
    NAME,
    OTHER_KIND,
)
# Kinds that list below their line where it is.
LISTED = (DUPLICATED_GUID,)
# Kinds whose lines no other tool prints.
OWN = (DUPLICATED_GUID, SPEED, WIDTH, STATE, LINK, FIRMWARE, COUNTER)

_LINK = re.compile(r"Link: (\S.{0,200}?)<-->(\S.{0,200}?) - (.{1,600})")
_COUNTER = re.compile(
    r'(\S.{0,160}?) - "(\w{2,60})" increased during the run '
    r"\(difference value=(\d{1,20}), ?difference allowed threshold=(\d{1,20})\)"
)
_FIRMWARE = re.compile(
    r"(\S.{0,160}?) - Node with Devid:(\d{1,9})\(0x[0-9a-fA-F]{1,8}\), ?PSID:(\S{1,40}) has FW version (\S{1,40})"
    r" while the latest FW version for the same Devid/PSID on this fabric is (\S{1,40})"
)
_DUPLICATE = re.compile(r"\b(Node|Port) GUID ?= ?(0x[0-9a-fA-F]{1,16}) is duplicated at", re.IGNORECASE)
_MANAGER = re.compile(
    r"(?:(Master|Standby) SM ?: ?)?Port=\d{1,3} LID=(\d{1,6}|0x[0-9a-fA-F]{1,8}) GUID=(0x\w{1,16}) devid=\d{1,8}"
    r" Priority:(\d{1,3})(?: Node_Type=(\S{1,20}))?(?: Node_Description=(.{0,120}))?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Manager:
    """A subnet manager of the fabric's summary. ``state``: master or standby."""

    state: str
    lid: int
    guid: str
    priority: int
    node: str = ""


def manager(line: str, *, standby: bool) -> Manager | None:
    """The manager that a line describes; ``standby``: whether those without a word of theirs are."""
    found = _MANAGER.fullmatch(line)
    if found is None:
        return None
    state = found.group(1) or ("standby" if standby else "master")
    lid = int(found.group(2), 16 if found.group(2)[:2] in ("0x", "0X") else 10)
    return Manager(state.lower(), lid, found.group(3), int(found.group(4)), found.group(6) or "")


def kind_of(text: str) -> str:
    """The class of an error or a warning."""
    if _LINK.fullmatch(text):
        return _kind_of_link(text)
    if _DUPLICATE.search(text):
        return DUPLICATED_GUID
    if _FIRMWARE.fullmatch(text):
        return FIRMWARE
    if _COUNTER.fullmatch(text):
        return COUNTER
    low = text[:600].lower()
    return next((kind for kind, words in _WORDS if any(word in low for word in words)), OTHER_KIND)


_WORDS = (
    (NAME, ("duplicated node desc", "duplicated node-desc")),
    (BAD_LINK, ("bad link",)),
    (NO_ANSWER, ("no response for mad", "is not responding")),
    (MANAGER, ("master sm", "subnet manager", "standby sm")),
    (HOT, ("temperature",)),
    (BER, ("ber value", "ber test", " ber ", "ber exceed")),
    (ROUTING, ("credit loop", "unassigned lft", "mark route", "fail to find a path")),
    (LID, ("duplicated lid", "zero lid", "lid is zero")),
)


def _kind_of_link(text: str) -> str:
    low = text.lower()
    if "link speed" in low:
        return SPEED
    if "link width" in low:
        return WIDTH
    return STATE if "logical state" in low else LINK


def link_of(text: str) -> dict[str, Any] | None:
    """A link with its two ends and what is said of it."""
    found = _LINK.fullmatch(text)
    return None if found is None else {"from": found.group(1), "to": found.group(2), "what": found.group(3)}


def counter_of(text: str) -> dict[str, Any] | None:
    """A counter that rose while the tool ran."""
    found = _COUNTER.fullmatch(text)
    if found is None:
        return None
    port, name, value, threshold = found.groups()
    return {"port": port, "counter": name, "rose_by": int(value), "allowed": int(threshold)}


def firmware_of(text: str) -> dict[str, Any] | None:
    """A node whose firmware is older than that of its like."""
    found = _FIRMWARE.fullmatch(text)
    if found is None:
        return None
    node, device, psid, version, latest = found.groups()
    return {"node": node, "device_id": int(device), "psid": psid, "version": version, "latest": latest}


def duplicate_of(text: str) -> str | None:
    """A GUID that more than one node or port has."""
    found = _DUPLICATE.search(text)
    return None if found is None else f"{found.group(1).lower()} {found.group(2)}"
