# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be wrong with a fabric, by name: each makes a plan of a healthy topology."""

from __future__ import annotations

from sandbox.rig.faults import cables, identity, links, managers
from sandbox.rig.plan import Fault

FAULTS: dict[str, Fault] = {
    "cable-pulled": cables.cable_pulled,
    "cables-swapped": cables.cables_swapped,
    "degraded-speed": links.degraded_speed,
    "degraded-width": links.degraded_width,
    "duplicate-guid": identity.duplicate_guid,
    "error-burst": links.error_burst,
    "leaf-dead": cables.leaf_dead,
    "lossy": links.lossy,
    "mixed-generation": links.mixed_generation,
    "no-sm": managers.no_sm,
    "node-missing": cables.node_missing,
    "rails-swapped": cables.rails_swapped,
    "spine-dead": cables.spine_dead,
    "standby-missing": managers.standby_missing,
    "two-masters": managers.two_masters,
    "unknown-node": identity.unknown_node,
    "uplink-misplaced": cables.uplink_misplaced,
    "uplink-pulled": cables.uplink_pulled,
    "wrong-rail": cables.wrong_rail,
}
