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
    Entry(
        "fleet.driver.version",
        "warning",
        "The host runs the fleet's NVIDIA driver",
        "Judged by playbooks/diagnose.yml. Hosts with two drivers run the same job with two sets "
        "of kernels and defaults; whatever differs then is hard to tell from a fault.",
        ("an update or a reboot was missed on this host",),
        "bring the host to the planned driver (site.yml) and reboot it in a maintenance window",
    ),
    Entry(
        "fleet.rdma.version",
        "warning",
        "The host has the fleet's RDMA stack",
        "Judged by playbooks/diagnose.yml. Another release brings other modules, other defaults "
        "and another way of peer memory.",
        ("an update was missed on this host, or a distribution upgrade replaced the vendor's",),
        "bring the host to the planned stack (site.yml)",
    ),
    Entry(
        "fleet.nccl.version",
        "warning",
        "The host has the fleet's NCCL",
        "Judged by playbooks/diagnose.yml. Releases of NCCL do not speak with each other. Jobs "
        "that bring their own library do not use the host's.",
        ("an update was missed on this host, or an unattended one was not",),
        "bring the host to the planned NCCL (site.yml)",
    ),
    Entry(
        "fleet.gpu.model",
        "warning",
        "The host has the fleet's GPUs",
        "Judged by playbooks/diagnose.yml. A collective runs at the pace of its slowest GPU.",
        ("a GPU was replaced or is gone, or the inventory group mixes platforms",),
        "put hosts of another platform into a group of their own, or mend the GPU",
    ),
    Entry(
        "fleet.pci.link",
        "warning",
        "The host's PCIe links are those of its equals",
        "Judged by playbooks/diagnose.yml. Hosts of one product and board have the same links at "
        "the same addresses; of what may rest, lanes alone are compared.",
        ("a card is in another slot, or the firmware sets this slot otherwise",),
        "compare `lspci -vv -s ADDRESS` (LnkCap, LnkSta) with an equal host; reseat the card, or "
        "set the BIOS as on the others",
    ),
    Entry(
        "fleet.ping.rtt",
        "warning",
        "The host answers as fast as the others",
        "Judged by playbooks/diagnose.yml, from the round trips of the pings between all hosts. "
        "What stands out is the way to this host, or a host that is busy or whose CPUs sleep.",
        (
            "datagrams are lost and sent again on this link",
            "the host is busy, or its CPUs save power",
        ),
        "read the port's counters, look at `host.cpu.governor` and at what runs there, then repeat",
    ),
)
