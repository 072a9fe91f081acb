# SPDX-License-Identifier: GPL-3.0-or-later
"""The catalog's entries for what one node hears of its whole fabric (fabricverify)."""

from __future__ import annotations

from ..._ground.catalog import declare, error, warning

_ALL = ("ibnetdiscover", "iblinkinfo")

ENTRIES = declare(
    error(
        "fabric.hca.present",
        "Every InfiniBand rail of the inventory is on the fabric",
        "By the GUIDs that the hosts tell of their HCAs and that the fabric shows.",
        (
            "no cable, or the other end is off",
            "the host is off, or its leaf switch is dead",
            "another device has its GUID, so the fabric shows one of both",
        ),
        "look at the host's port (`ibstat`) and at the LEDs of both ends; where both are on, reseat the cable",
        _ALL,
    ),
    error(
        "fabric.leaf.present",
        "No group of HCAs that one leaf carries is missing",
        "HCAs that are missing together have one cause: where the leaves carry rails, those of one "
        "rail of several hosts; else several hosts at once.",
        ("a leaf switch is dead, or cut off from the rest",),
        "look at the leaf's power and uplinks; the named hosts are on it",
        _ALL,
    ),
    warning(
        "fabric.hca.known",
        "Every adapter on the fabric is known",
        "In the inventory, running a subnet manager, or named in ibready_fabric_known.",
        (
            "a host that is in no inventory is plugged in",
            "an HCA was swapped and the inventory has not been asked since",
        ),
        "unplug it, add its host to the inventory, or name its GUID in ibready_fabric_known",
        ("ibnetdiscover",),
    ),
    error(
        "fabric.guid.unique",
        "Every device of the fabric has a GUID of its own",
        "Two devices with one GUID take turns at getting a LID; routes to both break.",
        (
            "two HCAs were flashed with the same GUIDs",
            "a virtual machine or a spare was configured with a copied GUID",
        ),
        "read the GUIDs of both with `mlxfwmanager --query` and give one of them its own again",
        ("ibnetdiscover",),
    ),
    error(
        "fabric.cable.width",
        "Every cable has all its lanes",
        "Against what both ends can do, and what most cables between the same levels have.",
        ("lanes of the cable are dead: cable, dirt or transceiver",),
        "reseat or clean the cable, then swap it; reset the port with `ibportstate LID PORT reset`",
        _ALL,
    ),
    error(
        "fabric.cable.speed",
        "Every cable is as fast as both its ends",
        "iblinkinfo points out what a link could be.",
        ("the link trained lower: a cable for a lower speed, dirt, or a speed set by hand",),
        "compare the cable's part number with the speed; `ibportstate LID PORT` shows what is set",
        ("iblinkinfo",),
    ),
    warning(
        "fabric.cable.generation",
        "No cable is of an older generation than its kind",
        "Both ends do what they can, and it is less than most cables between the same levels do: "
        "all that runs over it waits for it.",
        ("a switch, HCA or cable of an older generation is among newer ones",),
        "replace it, or keep jobs off the hosts behind it",
        _ALL,
    ),
    warning(
        "fabric.cable.errors",
        "No error counter of any port rises",
        "Two looks with ibqueryerrors, some seconds apart; what counts is the rate.",
        ("a dirty, bent or failing cable or transceiver",),
        "reseat, clean or swap the cable of the named port; look again with `ibqueryerrors`",
        ("ibqueryerrors",),
    ),
    warning(
        "fabric.sm.standby",
        "Enough subnet managers are on standby",
        "ibready_fabric_standbys says how many. Without a standby, nothing takes over from a dead master.",
        ("a standby's opensm has stopped, or its host is cut off",),
        "start opensm on the hosts that should have it (role subnet_manager)",
        ("saquery",),
    ),
    warning(
        "fabric.sm.priority",
        "No two subnet managers have the same priority",
        "With equal priorities the GUID decides who is master, which is arbitrary.",
        ("opensm runs with its default priority on more than one host",),
        "give each its own `sm_priority` in opensm.conf, the wanted master the highest",
        ("saquery",),
    ),
    error(
        "fabric.sharp.nodes",
        "Every switch offers SHARP whose equals do",
        "A switch that reduces puts an aggregation node on the fabric, which ibnetdiscover lists as an adapter. "
        "Judged where ibready_fabric_sharp is true; levels of the tree are compared by themselves.",
        (
            "SHARP is off on the switch: sharp_enabled of opensm, or its device_configuration_file",
            "the switch's firmware is older, or the engine in it is dead",
        ),
        "`ibnetdiscover | grep 'Aggregation Node'`; look at sharp_enabled where the subnet manager runs, compare the "
        "switch's firmware with that of its equals, then restart sharp_am when no job uses SHARP",
        ("ibnetdiscover",),
    ),
    error(
        "fabric.rail.leaf",
        "HCA i of every host is on a leaf of rail i",
        "What a leaf is for is read from most of its HCAs. NCCL keeps traffic within a rail: an "
        "HCA on another leaf sends all of it over the spines.",
        ("the cable was plugged into the leaf of another rail",),
        "move the cable to the named leaf",
        _ALL,
    ),
    error(
        "fabric.leaf.uplinks",
        "Every leaf has as many uplinks as the others, and as the design says",
        "And every spine below core switches. A leaf with fewer is slow. ibready_fabric_design says how many.",
        ("an uplink is unplugged, dead, or was never there",),
        "reseat or swap the named cables; compare with a plan (ibready_fabric_plan)",
        _ALL,
    ),
    error(
        "fabric.leaf.spread",
        "Every leaf has as many links to each of its spines as its equals",
        "And every spine to each of its core switches. Routing parts traffic evenly: two links in the place of one "
        "idle while the one is full.",
        ("an uplink was plugged into another spine than planned",),
        "move the named cable to the switch that has too few",
        ("ibnetdiscover",),
    ),
    error(
        "fabric.design.switches",
        "The fabric has the leaves, spines and core switches of its design",
        "ibready_fabric_design says how many.",
        (
            "a switch is off, dead, cut off or not built yet",
            "a switch was added, or the design is not the one that was built",
        ),
        "compare names with the design's list of switches; look at the power of those that are missing",
        ("ibnetdiscover",),
    ),
    warning(
        "fabric.leaf.subscription",
        "No leaf is oversubscribed by more than the site wants",
        "Bandwidth of the HCAs on a leaf to that of its uplinks; ibready_fabric_oversubscription says how much may be.",
        ("uplinks are missing or slow, or more HCAs were plugged in than planned",),
        "add uplinks, or move HCAs to another leaf",
        ("ibnetdiscover",),
    ),
    warning(
        "fabric.path.speed",
        "No HCA is faster than every uplink of its leaf",
        "One connection takes one uplink, so it gets no more than that.",
        ("the spines are of an older generation than the leaves and HCAs",),
        "keep the traffic of such hosts within their leaf, or renew the spines",
        ("ibnetdiscover",),
    ),
    error(
        "fabric.spine.present",
        "No spine has gone from all leaves",
        "A switch that is dead leaves no trace but the ports that were up once: counted where all "
        "leaves have equally many. A plan (ibready_fabric_plan) tells more surely.",
        ("a spine is dead, or was taken away without clearing the counters",),
        "look at the spines' power; after a change on purpose, `ibqueryerrors --clear-errors`",
        ("iblinkinfo", "ibqueryerrors"),
    ),
    error(
        "fabric.switch.present",
        "Every device of the plan is on the fabric",
        "All of its planned cables are missing together, and nothing of it is to be seen.",
        ("a switch or host is off, dead, or cut off",),
        "look at its power and management address, then at its cables",
        ("ibnetdiscover",),
    ),
    error(
        "fabric.cabling.missing",
        "No cable of the plan is missing",
        "ibready_fabric_plan names the plan.",
        ("the cable is unplugged or dead, or one of its ends is off",),
        "look at both named ends; reseat or swap the cable",
        ("ibnetdiscover",),
    ),
    error(
        "fabric.cabling.place",
        "Every cable leads where the plan says",
        "ibready_fabric_plan names the plan.",
        ("a cable is plugged into another port than planned",),
        "move the named end, or correct the plan",
        ("ibnetdiscover",),
    ),
    error(
        "fabric.cabling.swapped",
        "No two cables have changed places",
        "ibready_fabric_plan names the plan.",
        ("two cables were swapped when they were plugged in",),
        "swap the two cables at one of their ends, or correct the plan",
        ("ibnetdiscover",),
    ),
    warning(
        "fabric.cabling.extra",
        "No cable is there that the plan does not have",
        "ibready_fabric_plan names the plan.",
        ("a cable was added, or the plan is older than the fabric",),
        "unplug the cable, or add it to the plan",
        ("ibnetdiscover",),
    ),
    error(
        "fabric.topology.nodes",
        "Every host of the fabric has a place in Slurm's topology",
        "ibready_topology_file names the site's topology.conf or topology.yaml. Slurm gives no job a node that is "
        "below no switch together with one that is.",
        ("hosts were added and the file was not written anew", "Slurm calls the host by another name"),
        "put the named hosts below their leaf: `ansible-playbook playbooks/topology.yml` writes such a file; "
        "where Slurm has another name for a host, set ibready_slurm_node",
        ("ibnetdiscover",),
    ),
    warning(
        "fabric.topology.leaf",
        "Slurm has every host below the leaf that its cables lead to",
        "Hosts below one switch of the file are on the same leaves. Slurm places jobs by that: a host that is "
        "elsewhere has its neighbours' traffic over the spines.",
        ("hosts were moved or cabled anew since the file was written", "the file was written by hand"),
        "move the named hosts in the file: `ansible-playbook playbooks/topology.yml` writes such a file",
        ("ibnetdiscover",),
    ),
    warning(
        "fabric.topology.switches",
        "Slurm's switches join the hosts that the fabric's switches join",
        "Compared by the hosts below, for names of switches mean nothing to Slurm. A switch that has no host below "
        "it has to be one of the fabric by its name.",
        ("switches were added, replaced or joined otherwise since the file was written",),
        "write the file anew: `ansible-playbook playbooks/topology.yml`",
        ("ibnetdiscover",),
    ),
    warning(
        "fabric.topology.blocks",
        "Slurm's blocks are the NVLink domains of the hosts",
        "By the cluster and clique that the GPUs tell. A block that is of two domains promises jobs an NVLink that "
        "is not there; a block below BlockSizes ends slurmctld.",
        ("trays were moved, or the partition of a rack changed, since the file was written",),
        "write the file anew: `ansible-playbook playbooks/topology.yml`",
        ("nvidia-smi",),
    ),
)
