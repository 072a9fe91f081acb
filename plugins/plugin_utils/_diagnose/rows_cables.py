# SPDX-License-Identifier: GPL-3.0-or-later
"""Causes in cables and switches, as one look at the whole fabric shows them. Data only."""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.effects import (
    RAIL_LOST,
    RAIL_SLOW,
    RESENDS,
    RISK,
    UNSTEADY,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.fixes import look
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.row import LIKELY, Row

_PINGS = ("fabric.ping.*", "fleet.ping.rtt")

ROWS = (
    Row(
        "fabric.switch_dead",
        "a switch is dead, or cut off from the rest",
        RAIL_LOST,
        ("fabric.leaf.present", "fabric.switch.present", "fabric.spine.present"),
        look("ibnetdiscover", "-l", hands="look at the switch's power, then at its uplinks"),
        far=("fabric.hca.present", *_PINGS, "fabric.cabling.missing", "fabric.leaf.uplinks"),
        fleet=True,
        confidence=LIKELY,
    ),
    Row(
        "fabric.same_guid",
        "two devices have the same GUID",
        UNSTEADY,
        ("fabric.guid.unique",),
        look("ibstat", hands="read the GUIDs of both HCAs, and give one of them its own again"),
        far=("fabric.hca.present", *_PINGS, "fleet.hca.guid_unique"),
        fleet=True,
    ),
    Row(
        "fabric.wrong_rail",
        "an HCA is on a leaf of another rail",
        RAIL_SLOW,
        ("fabric.rail.leaf", "fabric.cabling.swapped", "fabric.cabling.place"),
        look("ibnetdiscover", "-p", hands="move the cable to the leaf that the check names"),
        same=("fleet.ping.rtt",),
    ),
    Row(
        "fabric.absent",
        "an HCA of the inventory is not on the fabric",
        RAIL_LOST,
        ("fabric.hca.present", "fabric.cabling.missing"),
        look("ibstat", hands="reseat the cable at both ends; see whether the other end has power"),
        rail=_PINGS,
        confidence=LIKELY,
    ),
    Row(
        "fabric.slow_cable",
        "a cable of the fabric is slower than it could be",
        RAIL_SLOW,
        ("fabric.cable.width", "fabric.cable.speed", "fabric.cable.generation"),
        look("iblinkinfo", hands="clean, reseat or swap the named cable, then its transceivers"),
        far=("fabric.path.speed",),
        fleet=True,
        confidence=LIKELY,
    ),
    Row(
        "fabric.bad_cable",
        "errors rise on a cable of the fabric",
        RESENDS,
        ("fabric.cable.errors",),
        look("ibqueryerrors", hands="clean, reseat or swap the cable of the named port"),
        far=("fabric.ping.loss", "fabric.ping.retried"),
        fleet=True,
        confidence=LIKELY,
    ),
    Row(
        "fabric.few_uplinks",
        "a leaf can send less up than its equals, or than its HCAs give it",
        RAIL_SLOW,
        ("fabric.leaf.uplinks", "fabric.leaf.subscription", "fabric.path.speed"),
        look("iblinkinfo", hands="reseat or add the uplinks that the check names"),
        fleet=True,
        confidence=LIKELY,
    ),
    Row(
        "sm.reserve",
        "no subnet manager would follow the master as the site wants",
        RISK,
        ("fabric.sm.standby", "fabric.sm.priority"),
        look("sminfo", hands="start the standbys, each with a priority of its own"),
        fleet=True,
    ),
    Row(
        "fabric.strangers",
        "something is plugged in that nobody expects",
        RISK,
        ("fabric.hca.known", "fabric.cabling.extra"),
        look("ibnetdiscover", "-l", hands="unplug it, or name it in inventory or plan"),
        fleet=True,
    ),
)
