# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.machine import observe as machine
from ansible_collections.ibready.cluster.plugins.module_utils._areas.machine.facts import Machine
from ansible_collections.ibready.cluster.plugins.module_utils._areas.nvlink import observe as nvlink
from ansible_collections.ibready.cluster.plugins.module_utils._areas.nvlink.facts import NvlinkFacts
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from tests.gauntlet import render
from tests.gauntlet.tree import Tree

EXCERPT = "    Fabric\n        State                 : In Progress\n        Status                : N/A\n"


def host(board: str = "hgx-h100-8", **more: Any) -> tuple[Tree, Machine]:
    node = render.node(board)
    node.more = more
    tree = render.render(node)
    return tree, machine.observe(tree)


def look(tree: Tree, seen: Machine) -> NvlinkFacts:
    return nvlink.observe(tree, seen)


def test_a_whole_host_is_read() -> None:
    facts = look(*host())
    assert facts.status.value is not None
    assert [len(one.active) for one in facts.status.value.gpus] == 8 * [18]
    assert facts.errors.value is not None
    assert facts.caps.value is not None
    assert facts.topo.value is not None
    assert len(facts.topo.value.gpus) == 8
    assert facts.smi.value is not None
    assert facts.driver.value == facts.package.value == "580.105.08"
    assert facts.manager.value is not None
    assert facts.manager.value.active
    assert facts.log.value is not None
    assert facts.sxids.value == ()
    assert facts.to_dict()["fabric_manager"]["state"] == "active (running)"
    assert facts.to_dict()["links"][3] == {"gpu": 3, "active": 18, "down": []}


@pytest.mark.parametrize(
    "seen",
    [
        pytest.param(Machine(gpus=Reading(())), id="no GPU"),
        pytest.param(Machine(simulated="InfiniBand fabric"), id="a simulated node"),
    ],
)
def test_nothing_is_asked_where_there_is_nothing(seen: Machine) -> None:
    tree, _ = host()
    tree.broken = dict.fromkeys(tree.commands, "must not be asked")
    assert look(tree, seen) == NvlinkFacts()


def test_gpus_without_nvlink_are_not_asked_for_links() -> None:
    tree, seen = host("l40s-8")
    assert not nvlink.may_have_nvlink(seen)
    facts = look(tree, seen)
    assert facts.status == Reading()
    assert facts.smi.known


@pytest.mark.parametrize("source", ["nvlink_status", "nvlink_errors", "nvlink_caps", "topo", "fabricmanager_status"])
@pytest.mark.parametrize("kind", ["absent", "failed", "timeout"])
def test_a_source_that_cannot_be_read_is_unknown_and_says_why(source: str, kind: str) -> None:
    tree, seen = host()
    name = {"fabricmanager_status": "manager"}.get(source, source.replace("nvlink_", ""))
    if kind == "absent":
        del tree.commands[source]
        why = "not installed"
    elif kind == "failed":
        tree.command(source, "", 9, "Failed to initialize NVML: Unknown Error\n")
        why = "status 9"
    else:
        tree.broken[source] = "gave no complete answer within 90 s"
        why = "no complete answer"
    reading = getattr(look(tree, seen), name)
    assert reading.value is None
    assert why in reading.why


@pytest.mark.parametrize("source", ["nvlink_status", "nvlink_errors", "nvlink_caps", "topo"])
def test_what_can_be_read_of_a_text_that_ends_within_a_line_is_kept(source: str) -> None:
    tree, seen = host()
    tree.command(source, tree.commands[source].stdout[:-4])
    told = getattr(look(tree, seen), source.replace("nvlink_", "")).value
    assert len(told.gpus) == 8
    assert "cut: " in told.cut
    assert "ends within" in told.cut


def test_a_status_that_ends_within_a_line_is_unknown() -> None:
    tree, seen = host()
    tree.command("fabricmanager_status", tree.commands["fabricmanager_status"].stdout[:-4])
    manager = look(tree, seen).manager
    assert manager.value is None
    assert "the output is cut" in manager.why


def test_the_fabric_is_read_from_the_text_where_there_is_no_xml() -> None:
    tree, seen = host()
    del tree.commands["nvsmi_xml"]
    tree.command("nvsmi_q", EXCERPT)
    smi = look(tree, seen).smi.value
    assert smi is not None
    assert smi.gpus[0].fabric is not None
    assert smi.gpus[0].fabric["state"] == "In Progress"


@pytest.mark.parametrize(
    ("gone", "version"),
    [
        pytest.param(("/sys/module/nvidia/version",), "580.105.08", id="from /proc"),
        pytest.param(
            ("/sys/module/nvidia/version", "/proc/driver/nvidia/version"),
            "580.105.08",
            id="from nvidia-smi",
        ),
    ],
)
def test_the_drivers_version_has_three_sources(gone: tuple[str, ...], version: str) -> None:
    tree, seen = host()
    for path in gone:
        tree.remove(path)
    assert look(tree, seen).driver.value == version
    del tree.commands["nvsmi_xml"]
    if len(gone) == 2:
        assert "/sys/module/nvidia/version" in look(tree, seen).driver.why


def test_a_service_that_systemd_does_not_know_is_missing() -> None:
    tree, seen = host("hgx-a100-4")
    manager = look(tree, seen).manager.value
    assert manager is not None
    assert (manager.missing, manager.active) == (True, False)


def test_the_package_is_found_in_either_database_with_or_without_its_branch() -> None:
    tree, seen = host()
    path = "/var/lib/dpkg/status"
    tree.file(path, tree.read(path).replace("nvidia-fabricmanager\n", "nvidia-fabricmanager-580\n"))
    assert look(tree, seen).package.value == "580.105.08"
    tree.file(path, tree.read(path).replace("manager-580\n", "manager-dev\n"))
    assert not look(tree, seen).package.known
    tree.remove(path)
    names = ("bash", "glibc", "nvidia-fabric-manager", "rpm")
    tree.command("rpm_qa", "".join(f"{name} 570.124.06-1 x86_64\n" for name in names))
    tree.command("rpm_names", "".join(f"{name}\n" for name in names))
    assert look(tree, seen).package.value == "570.124.06"


def test_a_log_that_was_turned_over_is_empty_and_one_that_is_not_there_is_missing() -> None:
    tree, seen = host()
    tree.file("/var/log/fabricmanager.log", "")
    log = look(tree, seen).log
    assert log.value is not None
    assert log.value.errors == ()
    tree.remove("/var/log/fabricmanager.log")
    assert look(tree, seen).log.missing


def test_ports_to_the_switches_are_those_of_marked_functions() -> None:
    tree, seen = host("hgx-b200-8")
    ports = look(tree, seen).ports
    assert len(ports) == 4
    address, first = next(iter(ports.items()))
    assert first.value is not None
    assert [(one.device, one.port, one.state.value) for one in first.value] == [("mlx5_8", "1", "4: ACTIVE")]
    mask = f"/sys/bus/pci/devices/{address}/infiniband/mlx5_8/ports/1/cap_mask"
    tree.file(tree._resolve(mask), "0xa751ec48")
    changed = look(tree, seen).ports[address].value
    assert changed is not None
    assert not changed[0].managed


def test_imex_is_asked_for_in_racks_only() -> None:
    facts = look(*host("gb200-nvl72-node"))
    assert facts.imex.service.value is not None
    assert facts.imex.service.value["ActiveState"] == "active"
    assert len(facts.imex.nodes.value or ()) == 18
    assert facts.imex.channels.value == ("channel0",)
    assert not look(*host()).imex.service.known


def test_comments_are_no_nodes() -> None:
    tree, seen = host("gb200-nvl72-node")
    tree.file("/etc/nvidia-imex/nodes_config.cfg", "# the rack\n\n10.0.0.1 # this one\n")
    assert look(tree, seen).imex.nodes.value == ("10.0.0.1",)


def test_a_machine_of_unknown_gpus_is_asked() -> None:
    tree, seen = host()
    unknown = replace(seen, gpus=Reading(None, "permission denied"))
    assert look(tree, unknown).status.known
