# SPDX-License-Identifier: GPL-3.0-or-later
"""The catalog's entries for what must agree across hosts (fleet.*)."""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.module_utils._entries._entry import Entry

ENTRIES = (
    Entry(
        "fleet.host.kernel",
        "warning",
        "The host runs the fleet's kernel",
        "Another kernel means other RDMA modules and other behaviour on one host of many.",
        ("an update or a reboot was missed",),
        "bring the host to the fleet's kernel and reboot it in a maintenance window",
    ),
    Entry(
        "fleet.hca.model",
        "error",
        "The host has the fleet's HCA models",
        "A rail of another generation runs at another rate and with other features.",
        ("another HCA was fitted, or the inventory group mixes platforms",),
        "put hosts of another platform into a group of their own, or exchange the HCA",
    ),
    Entry(
        "fleet.hca.firmware",
        "error",
        "The HCA runs the fleet's firmware",
        "One HCA with another firmware is a classic reason for one slow or failing host.",
        ("the HCA was replaced, or an update was skipped on this host",),
        "update this HCA's firmware to the fleet's version in a maintenance window",
    ),
    Entry(
        "fleet.hca.guid_unique",
        "error",
        "No other HCA has the same GUID",
        "Two HCAs with one GUID knock each other off the fabric.",
        ("a firmware image with GUIDs was copied from another HCA",),
        "give the HCA its own GUIDs with mstflint (they are on its label)",
    ),
    Entry(
        "fleet.port.lid_unique",
        "error",
        "No other port of the subnet has the same LID",
        "Traffic for a LID that two ports claim reaches one of them.",
        ("two subnet managers on one fabric, or a stale LID after a merge of fabrics",),
        "leave one master subnet manager and let it sweep with LID reassignment",
    ),
    Entry(
        "fleet.sm.single",
        "error",
        "One master subnet manager serves each rail",
        "Hosts that see different masters are on different, or split, fabrics.",
        ("the fabric is split, or two subnet managers both believe to be master",),
        "compare `sminfo` on the named hosts; stop the wrong master or mend the split",
    ),
)
