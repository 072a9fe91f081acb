# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.gpu import observe as gpu
from ansible_collections.ibready.cluster.plugins.module_utils._areas.gpu.facts import Module
from ansible_collections.ibready.cluster.plugins.module_utils._areas.machine.facts import Machine
from ansible_collections.ibready.cluster.plugins.module_utils._ground.command import Output, Unavailable
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._parse import nvsmi_error
from ansible_collections.ibready.cluster.plugins.module_utils._parse.dmesg import Xid
from tests.gauntlet import render
from tests.gauntlet.tree import Tree

LOG = "[    0.000000] Linux version 6.8.0\n[   12.5] NVRM: Xid (PCI:0000:13:00): 79, pid=1, gone.\n"
TEXT = "Driver Version : 580.1\nAttached GPUs : 1\nGPU 00000000:13:00.0\n    Compute Mode : Default\n"
GPUS = Machine(gpus=Reading((None,)))


def host(**commands: Output) -> Tree:
    """A host with two H100 whose commands are these, and nvidia-smi's XML unless it is one."""
    node = render.node("h100-pcie-2")
    tree = Tree()
    tree.command("nvsmi_xml", render.render(node).run("nvsmi_xml").stdout)
    tree.command("dmesg", LOG)
    tree.file("/proc/driver/nvidia/version", PROC)
    for name, output in commands.items():
        tree.commands[name] = output
    return tree


PROC = (
    "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.105.08  Release Build  "
    "(dvs-builder@U22)\nGCC version:  gcc version 13.3.0\n"
)


def test_a_healthy_host_is_told_by_one_call_of_nvidia_smi() -> None:
    facts = gpu.observe(host(), GPUS)
    assert facts.source == "nvsmi_xml"
    assert facts.smi.value is not None
    assert [one.address for one in facts.smi.value.gpus] == ["0000:13:00.0", "0000:23:00.0"]
    assert facts.module == Reading(Module("580.105.08", open=True))
    assert facts.xids.value == (Xid("0000:13:00", 79, "pid=1, gone."),)
    assert not facts.persistenced.known
    assert facts.to_dict()["gpus"][1]["address"] == "0000:23:00.0"


def test_a_host_without_gpus_is_not_asked() -> None:
    for machine in (
        Machine(pci=Reading(()), gpus=Reading(())),
        Machine(gpus=Reading((None,)), simulated="fabric"),
    ):
        facts = gpu.observe(Tree(), machine)
        assert (facts.smi.why, facts.xids.why) == ("", "")


def test_where_there_is_no_bus_to_look_at_nvidia_smi_is_asked() -> None:
    assert gpu.observe(host(), Machine(gpus=Reading(()))).smi.known


@pytest.mark.parametrize(
    ("commands", "source", "gpus"),
    [
        pytest.param({"nvsmi_xml": Output(14, "", "")}, "", 0, id="nothing of either"),
        pytest.param(
            {"nvsmi_xml": Output(0, "<nvidia_smi_log>", ""), "nvsmi_q": Output(0, TEXT, "")},
            "nvsmi_q",
            1,
            id="the text where the XML is cut",
        ),
        pytest.param(
            {"nvsmi_xml": Output(1, "", "x"), "nvsmi_q_fabric": Output(0, "Fabric\nState: x", "")},
            "nvsmi_q_fabric",
            1,
            id="an excerpt of somebody's",
        ),
    ],
)
def test_the_best_source_that_gives_facts_is_taken(commands: dict[str, Output], source: str, gpus: int) -> None:
    facts = gpu.observe(host(**commands), GPUS)
    assert facts.source == source
    assert len(facts.smi.value.gpus if facts.smi.value else ()) == gpus
    assert facts.smi.known or facts.smi.why


@pytest.mark.parametrize("rc", [14, 15])
def test_some_statuses_leave_the_output_of_use(rc: int) -> None:
    whole = host().run("nvsmi_xml").stdout
    facts = gpu.observe(host(nvsmi_xml=Output(rc, whole, "")), GPUS)
    assert (facts.smi.known, facts.status) == (True, rc)


def test_any_other_status_makes_it_useless() -> None:
    whole = host().run("nvsmi_xml").stdout
    facts = gpu.observe(host(nvsmi_xml=Output(6, whole, "odd")), GPUS)
    assert facts.smi.why == "nvsmi_xml ended with status 6: odd"


@pytest.mark.parametrize(
    ("name", "output", "error"),
    [
        ("nvsmi_xml", Output(18, "Failed to initialize NVML: Driver/library version mismatch", ""),
         nvsmi_error.MISMATCH),
        ("nvsmi_xml", Output(9, "", ""), nvsmi_error.NO_DRIVER),
        ("nvsmi_xml", Output(127, "", "sh: nvidia-smi: not found"), nvsmi_error.NOT_INSTALLED),
        ("nvsmi_error", Output(0, "No devices were found", ""), nvsmi_error.NO_DEVICE),
    ],
)  # fmt: skip
def test_an_error_instead_of_facts_is_kept(name: str, output: Output, error: str) -> None:
    tree = host(**{name: output})
    if name != "nvsmi_xml":
        del tree.commands["nvsmi_xml"]
    facts = gpu.observe(tree, GPUS)
    assert facts.error is not None
    assert facts.error.error == error
    assert not facts.smi.known
    assert facts.smi.why


def test_a_driver_that_hangs_is_asked_once() -> None:
    asked = []

    class Hangs(Tree):
        def run(self, name: str, *args: str) -> Output:
            asked.append(name)
            raise Unavailable(name, "gave no complete answer within 90 s")

    facts = gpu.observe(Hangs(), GPUS)
    assert asked == ["nvsmi_xml", "dmesg"]
    assert "90 s" in facts.smi.why
    assert "90 s" in facts.xids.why


def test_the_persistence_daemon_is_asked_where_a_mode_is_off() -> None:
    off = host().run("nvsmi_xml").stdout.replace(">Enabled</pers", ">Disabled</pers", 1)
    tree = host(nvsmi_xml=Output(0, off, ""))
    assert "not installed" in gpu.observe(tree, GPUS).persistenced.why
    show = "systemctl_show@nvidia-persistenced"
    for said, state in (
        ("LoadState=loaded\nActiveState=active\n", "active"),
        ("LoadState=not-found\nActiveState=inactive\n", "not installed"),
        ("LoadState=masked\nActiveState=inactive\n", "masked"),
    ):
        tree.command(show, said)
        assert gpu.observe(tree, GPUS).persistenced.value == state
    tree.command(show, "Id=x\n")
    assert "ActiveState" in gpu.observe(tree, GPUS).persistenced.why


@pytest.mark.parametrize(
    ("text", "module"),
    [
        (PROC, Module("580.105.08", open=True)),
        (
            "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.06  Wed",
            Module("535.183.06", open=False),
        ),
    ],
)
def test_the_kind_of_the_modules_is_read(text: str, module: Module) -> None:
    tree = host()
    tree.file("/proc/driver/nvidia/version", text)
    assert gpu.observe(tree, GPUS).module.value == module


def test_the_kernel_tells_the_version_where_the_driver_does_not() -> None:
    tree = host()
    tree.remove("/proc/driver/nvidia/version")
    assert gpu.observe(tree, GPUS).module.missing
    tree.file("/sys/module/nvidia/version", "580.105.08")
    assert gpu.observe(tree, GPUS).module.value == Module("580.105.08")
    tree.file("/sys/module/nvidia/version", "new")
    assert not gpu.observe(tree, GPUS).module.missing
    tree.broken["/proc/driver/nvidia/version"] = "permission denied"
    assert "permission denied" in gpu.observe(tree, GPUS).module.why


def test_half_a_log_without_an_xid_tells_nothing() -> None:
    half = gpu.observe(host(dmesg=Output(0, LOG[: LOG.index("Xid")], "")), GPUS)
    assert "within a line" in half.xids.why


def test_a_log_tells_whether_it_is_whole() -> None:
    whole = gpu.observe(host(), GPUS)
    assert (whole.log_cut, whole.log_lost) == (False, False)
    cut = gpu.observe(host(dmesg=Output(0, LOG + "[   13.5] NVRM: Xi", "")), GPUS)
    assert cut.log_cut
    assert len(cut.xids.value or ()) == 1
    lost = gpu.observe(host(dmesg=Output(0, "[90000.000001] NVRM: Xid (PCI:0000:13:00): 79, gone.\n", "")), GPUS)
    assert lost.log_lost
