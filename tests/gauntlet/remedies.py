# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a remedy is of its cause: nobody takes a part in hand for what is no part's fault, and a cause does not say
itself what is to be done beside a remedy that says something else."""

from __future__ import annotations

import re

from ansible_collections.ibready.cluster.plugins.module_utils._ground.catalog import Entry

# What a remedy has somebody do to hardware at once; what comes after `if` or `where` is looked at first.
_HANDS = re.compile(r"\b(?:reseat|swap|replace (?!`)|exchange|clean\b|RMA\b|move the (?:HCA|card|cable))")
_FIRST_SEE = re.compile(r"(?i)^\s*(?:(?:and|or|but|then) )?(?:if|where|only|else|once|unless|until)\b")
# What a cause says of a part: its name, or how it fails.
_A_PART = re.compile(
    r"(?i)cable|transceiver|laser|light|fibre|dirt|\blanes?\b|signal|\btrain|slot|riser|board|seat|fell off|fallen"
    r"|power|disk (?:fail|does not|has sectors)|the disk|memory|\brows?\b|SRAM|DRAM|\bfan|\bhot\b|worn|broke|damage"
    r"|hardware|fault of this part|(?:fatal|uncorrectable) error|link\w*.{0,40} down|sent again|not answer"
    r"|stopped answering|gave up on this HCA|only \d+ HCAs are on the PCI bus|GPUs are on node|generation \d"
    r"|the part that the finding names|was replaced|was fitted|unplugged|begins to fail"
)
# A cause that tells what to do.
_ORDERS = re.compile(r"[;:,] (?:correct|load it|name (?:it|them)|see|set|fix|install|look at)\b")


def hands(remedy: str) -> bool:
    """Whether it sends somebody to a part without looking first."""
    return any(_HANDS.search(step) and not _FIRST_SEE.search(step) for step in remedy.split(";"))


def misfit(known: Entry, cause: str, remedy: str) -> str:
    """Why this remedy of a check is none of this cause; "" where nothing speaks against it."""
    if hands(remedy) and not _A_PART.search(cause):
        return f"has a part reseated or replaced for what is no part's fault: {cause} | {remedy}"
    if remedy == known.remedy and cause not in known.causes and _ORDERS.search(cause):
        return f"its cause says what to do, and its remedy something else: {cause} | {remedy}"
    return ""
