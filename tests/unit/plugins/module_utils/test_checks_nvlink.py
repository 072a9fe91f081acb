# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge simulated hosts whose evidence is bent; the gauntlet has more of the plain faults."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.machine.facts import Machine, PciFunction
from ansible_collections.ibready.cluster.plugins.module_utils._areas.nvlink.check_links import (
    judge_links,
    without_nvlink,
)
from ansible_collections.ibready.cluster.plugins.module_utils._areas.nvlink.check_mesh import judge_direct
from ansible_collections.ibready.cluster.plugins.module_utils._areas.nvlink.check_scope import Scope
from ansible_collections.ibready.cluster.plugins.module_utils._areas.nvlink.facts import NvlinkFacts
from ansible_collections.ibready.cluster.plugins.module_utils._data import nvlink as data
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import Bundle
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._expect.profiles import board_by_name, gpu_model
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import (
    FAIL,
    PASS,
    SKIP,
    UNKNOWN,
    Check,
    verdict,
)
from ansible_collections.ibready.cluster.plugins.module_utils._ground.command import Output, Unavailable
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._parse import nvlink_status, topo
from ansible_collections.ibready.cluster.plugins.module_utils._parse._nvsmi import Gpu, Nvsmi
from ansible_collections.ibready.cluster.plugins.module_utils._verify import verify as _verify
from ansible_collections.ibready.cluster.plugins.module_utils._verify.catalog import CATALOG
from tests.gauntlet import render
from tests.gauntlet.node import Node
from tests.gauntlet.nodes.nccl import ADDRESS
from tests.gauntlet.tree import Tree

pytestmark = pytest.mark.thorough

IDS = [one for one in CATALOG if one.startswith("nvlink.")]
MIG = "Nvlink queries are not supported for Devices in MIG mode"
NOTHING_TO_DO = (
    "nv-fabricmanager[1802]: request to query NVSwitch device information from NVSwitch driver"
    " failed with error:WARNING Nothing to do [NV_WARN_NOTHING_TO_DO]"
)
GONE = "Unit nvidia-fabricmanager.service could not be found.\n"

Bend = Callable[[Tree], None]


def node(board: str, **bent: Any) -> Node:
    described = render.node(board)
    for name, value in bent.items():
        setattr(described, name, value)
    return described


def judge(described: Node, *bends: Bend) -> list[Check]:
    tree = render.render(described)
    for bend in bends:
        bend(tree)
    return _verify.verify(tree, from_inventory(described.expect), ["nvlink"]).checks


def command(name: str, stdout: str, rc: int = 0, stderr: str = "") -> Bend:
    return lambda tree: tree.command(name, stdout, rc, stderr)


def replaced(name: str, old: str, new: str, times: int = -1) -> Bend:
    def bend(tree: Tree) -> None:
        text = tree.commands[name].stdout
        assert old in text
        tree.command(name, text.replace(old, new, times), tree.commands[name].rc)

    return bend


def gone(path: str) -> Bend:
    return lambda tree: tree.remove(path)


def broken(what: str, why: str = "permission denied") -> Bend:
    return lambda tree: tree.broken.update({what: why})


def found(checks: list[Check], *results: str) -> dict[str, str]:
    """By id and subject what was said, of the checks that ended in one of these ways."""
    return {f"{one.id} {one.subject}": f"{one.observed} {one.cause}" for one in checks if one.result in results}


def one(checks: list[Check], check_id: str) -> Check:
    mine = [check for check in checks if check.id == check_id]
    assert len(mine) == 1, mine
    return mine[0]


@pytest.mark.parametrize("board", render.boards())
def test_a_healthy_board_has_no_finding_and_every_check_its_say(board: str) -> None:
    checks = judge(node(board))
    assert found(checks, FAIL, UNKNOWN) == {}
    assert sorted({check.id for check in checks}) == sorted(IDS)


@pytest.mark.parametrize(
    ("bend", "board", "why"),
    [
        pytest.param(lambda tree: None, "ib-login", "no NVIDIA GPU", id="no GPU"),
        pytest.param(lambda tree: None, "l40s-8", "no GPU of this host has NVLink", id="no NVLink"),
        pytest.param(
            lambda tree: (
                tree.file("/etc/ibready-sandbox.json", '{"what": "fabric"}'),
                tree.file("/run/systemd/container", "podman"),
            )[0],
            "hgx-h100-8",
            "simulated node: fabric",
            id="a simulated node",
        ),
    ],
)
def test_what_does_not_apply_is_skipped_with_its_reason(bend: Bend, board: str, why: str) -> None:
    checks = judge(node(board), bend)
    assert len(checks) == len(IDS)
    assert {(check.result, why in check.cause) for check in checks} == {(SKIP, True)}


def test_where_nobody_can_look_everything_is_unknown() -> None:
    class Refusing(Tree):
        def _refuse(self, *names: str) -> None:
            raise Unavailable(names[0], "permission denied")

    checks = _verify.verify(Refusing(), from_inventory({}), ["nvlink"]).checks
    assert {check.result for check in checks} == {UNKNOWN}
    assert {check.id for check in checks} == set(IDS)
    assert verdict(checks) == "unknown"


# Links


def test_a_gpu_that_the_listing_leaves_out_was_not_seen() -> None:
    def shorten(tree: Tree) -> None:
        text = tree.commands["nvlink_status"].stdout
        tree.command("nvlink_status", text[: text.index("GPU 7:")])

    checks = judge(node("hgx-h100-8"), shorten)
    assert found(checks, UNKNOWN)["nvlink.link.state host"] == " nvidia-smi lists 7 of 8 GPUs"
    assert not [check for check in checks if check.id == "nvlink.link.state" and check.result == PASS]


def test_a_link_that_is_not_listed_is_a_fault_where_the_listing_is_whole() -> None:
    checks = judge(node("hgx-h100-8"), replaced("nvlink_status", "\t Link 17: 26.562 GB/s\n", "", 1))
    assert found(checks, FAIL) == {
        "nvlink.link.state GPU 0": "17 links up a link between the GPU and its NVSwitch is down: baseboard or GPU"
    }


def test_a_gpu_of_which_nothing_is_said_is_unknown() -> None:
    def bend(tree: Tree) -> None:
        lines = [
            line
            for line in tree.commands["nvlink_status"].stdout.split("\n")
            if not line.startswith("\t") or tree is None
        ]
        tree.command("nvlink_status", "\n".join(lines))

    assert "says nothing" in found(judge(node("hgx-h100-8"), bend), UNKNOWN)["nvlink.link.state host"]


def test_a_rate_of_another_generation_is_not_full() -> None:
    checks = judge(node("hgx-h100-8"), replaced("nvlink_status", "26.562 GB/s", "25 GB/s", 1))
    assert "25 GB/s on link 0" in found(checks, FAIL)["nvlink.link.speed GPU 0"]


def test_a_rate_at_the_floor_is_full() -> None:
    floor = f"{25.0 * data.RATE_FLOOR:g} GB/s"
    checks = judge(node("hgx-a100-8"), replaced("nvlink_status", "25 GB/s", floor))
    assert one(checks, "nvlink.link.speed").result == PASS


def test_a_card_without_a_bridge_promises_no_link() -> None:
    bent = {"nvlink": {"dark": [0, 1], "pairs": {"0-1": "NODE"}}}
    checks = judge(node("h100-pcie-2", more=bent))
    assert found(checks, FAIL, UNKNOWN) == {}
    assert one(checks, "nvlink.link.state").cause == "no NVLink bridge is fitted"


def test_a_bridge_that_leads_to_no_gpu_is_seen() -> None:
    checks = judge(node("h100-pcie-2", more={"nvlink": {"pairs": {"0-1": "NODE"}}}))
    assert "nvlink.pair.links GPU 0" in found(checks, FAIL)
    assert found(judge(node("h100-pcie-2", more={"nvlink": {"pairs": {"0-1": "NODE"}}}, virtual=True)), FAIL) == {}


def test_mig_is_no_fault_where_nvidia_smi_confirms_it_and_unknown_where_it_does_not() -> None:
    assert found(judge(node("h100-mig")), FAIL, UNKNOWN) == {}
    checks = judge(node("h100-mig"), broken("nvsmi_xml"))
    assert "MIG mode" in found(checks, UNKNOWN)["nvlink.link.state host"]
    assert "MIG mode" in one(checks, "nvlink.link.p2p").cause
    assert found(checks, FAIL) == {}


def test_a_gpu_of_no_known_model_promises_what_its_equals_have() -> None:
    def judged(old: str, new: str) -> list[Check]:
        def bend(tree: Tree) -> None:
            for card in node("hgx-a100-4").cards:
                tree.file(tree._resolve(f"/sys/bus/pci/devices/{card.address}/device"), "0x9999")
            for name in ("nvlink_status", "nvsmi_xml"):
                text = tree.commands[name].stdout.replace("A100-SXM4-40GB", "A9000")
                tree.command(name, text.replace(old, new))

        return judge(node("hgx-a100-4"), bend)

    assert one(judged("", ""), "nvlink.link.state").result == PASS
    down = judged("Link 3: 25 GB/s", "Link 3: <inactive>")
    assert "GPU 3 11 of 12 links up" in one(down, "nvlink.link.state").observed
    assert one(down, "nvlink.link.state").result == PASS  # as two cards whose bridge takes some of their links


NO_FABRIC, JOINING = {"state": "N/A"}, {"state": "In Progress"}


@pytest.mark.parametrize(
    ("up", "fabric", "switches", "result"),
    [
        ((0, 0, 0, 0), NO_FABRIC, 0, SKIP),
        ((0, 0, 0, 0), None, 0, UNKNOWN),  # a driver that shows no fabric
        ((0, 0, 0, 0), None, None, UNKNOWN),  # the listing alone
        ((0, 0, 0, 0), JOINING, None, FAIL),
        ((0, 0, 0, 0), None, 4, FAIL),
        ((4, 0), NO_FABRIC, 0, FAIL),
        ((4, 4, 0, 0), NO_FABRIC, 0, PASS),  # one bridge for four cards
        ((4, 4, 4, 0), NO_FABRIC, 0, FAIL),
    ],
)
def test_cards_of_no_known_model_without_a_link_up(
    up: tuple[int, ...], fabric: dict[str, str] | None, switches: int | None, result: str
) -> None:
    text = ""
    for at, count in enumerate(up):
        text += f"GPU {at}: NVIDIA A9000 (UUID: GPU-{at:08}-0000-0000-0000-000000000000)\n"
        text += "".join(f"\t Link {link}: {'25 GB/s' if link < count else '<inactive>'}\n" for link in range(4))
    cards = [PciFunction(f"0000:{at}1:00.0", "030200", "10de", "9999") for at in range(len(up))]
    chips = [PciFunction(f"0000:{at}2:00.0", "068000", "10de", "22a3") for at in range(switches or 0)]
    seen = tuple(Gpu(f"00000000:{at}1:00.0", name="NVIDIA A9000", fabric=fabric) for at in range(len(up)))
    facts = NvlinkFacts(status=Reading(nvlink_status.parse(text)), smi=Reading(Nvsmi(gpus=seen)))
    bus = Reading((*cards, *chips)) if switches is not None else Reading(None, "not in the bundle")
    host = Machine(pci=bus, gpus=Reading((None,) * len(up)))
    results = {check.result for check in judge_links(Scope(facts, host)) if check.id == "nvlink.link.state"}
    assert results == {result}


def test_a_stopped_fabric_manager_is_not_said_to_run_in_the_mode_of_its_old_log() -> None:
    shared = "[Nov 13 2025 07:13:22] [INFO] [tid 1570] FABRIC_MODE value set to: 0x1"
    waits = {at: {"state": "Not Started", "status": "N/A"} for at in range(8)}

    def cause(**manager: Any) -> str:
        checks = judge(node("hgx-h100-8", more={"fabric": waits, "manager": {"log": [shared], **manager}}))
        return one(checks, "nvlink.fabric.state").cause

    assert "runs in shared" in cause()
    assert "none runs" in cause(state="inactive (dead)")


# Pairs


def test_a_mesh_is_demanded_where_the_links_suffice_for_one() -> None:
    board = board_by_name("hgx-a100-4")
    model = replace(gpu_model("A100 SXM4"), links=(3,))
    pairs = {(0, 2): "SYS", (2, 0): "SYS"}
    rows = ["\t".join(["", *(f"GPU{at}" for at in range(4))])]
    rows += [
        "\t".join([f"GPU{at}", *("X" if at == to else pairs.get((at, to), "NV1") for to in range(4))])
        for at in range(4)
    ]
    matrix = topo.parse("\n".join(rows) + "\n")
    checks = judge_direct(Scope(NvlinkFacts(), Machine(board=board)), matrix, model)
    assert "nvlink.pair.joined GPU 0-2" in found(checks, FAIL)


def test_a_gpu_outside_the_fabric_is_one_finding_and_not_seven() -> None:
    checks = judge(node("hgx-h100-8", more={"nvlink": {"pairs": {"5-*": "SYS"}}}))
    assert list(found(checks, FAIL)) == ["nvlink.pair.joined GPU 5"]


def test_a_gpu_outside_the_fabric_is_seen_in_the_matrix_alone(tmp_path: Path) -> None:
    def cell(one: int, other: int) -> str:
        return "X" if one == other else "NODE" if 5 in (one, other) else "NV18"

    rows = ["GPU" + "\tGPU".join(map(str, range(8))) + "\tCPU Affinity"]
    rows += ["\t".join([f"GPU{at}", *(cell(at, to) for to in range(8)), "0-9"]) for at in range(8)]
    place = tmp_path / "commands" / "topo"
    place.mkdir(parents=True)
    (place / "stdout").write_text("\n".join(rows) + "\n")
    (place / "stderr").write_text("")
    (place / "rc").write_text("0\n")
    checks = _verify.verify(Bundle(tmp_path), from_inventory({}), ["nvlink"]).checks
    assert list(found(checks, FAIL)) == ["nvlink.pair.joined GPU 5"]


def test_a_driver_may_word_it_that_a_gpu_has_no_nvlink() -> None:
    assert without_nvlink(("NVML: Unable to retrieve NVLink information: Not Supported",))
    assert not without_nvlink(("NVML: Unable to retrieve NVLink information as all are inActive",))


def test_one_short_pair_is_named() -> None:
    checks = judge(node("hgx-h100-8", more={"nvlink": {"pairs": {"2-6": "NV16"}}}))
    assert found(checks, FAIL)["nvlink.pair.joined GPU 2-6"].startswith("NV16")


def test_a_part_of_a_board_in_a_virtual_machine_promises_nothing() -> None:
    half = node("dgx-1-v100", virtual=True, product="HVM domU")
    half.cards = half.cards[:2]
    down = {"down": {"0": [2, 3, 4, 5], "1": [0, 3, 4, 5]}}
    checks = judge(node_with(half, nvlink=down))
    assert found(checks, FAIL, UNKNOWN) == {}


def node_with(described: Node, **more: Any) -> Node:
    described.more = {**described.more, **more}
    return described


def test_power9_joins_only_the_gpus_of_one_processor() -> None:
    power = node("dgx-1-v100", product="8335-GTG")
    power.cards = power.cards[:4]
    pairs = {"0-1": "NV3", "2-3": "NV3", "0-2": "SYS", "0-3": "SYS", "1-2": "SYS", "1-3": "SYS"}
    checks = judge(node_with(power, nvlink={"pairs": pairs}))
    assert found(checks, FAIL, UNKNOWN) == {}
    lost = judge(node_with(power, nvlink={"pairs": {**pairs, "2-3": "SYS"}}))
    assert sorted(found(lost, FAIL)) == ["nvlink.pair.joined GPU 2", "nvlink.pair.joined GPU 3"]


def test_a_matrix_of_pci_express_alone_tells_nothing_of_nvlinks() -> None:
    checks = judge(node("hgx-h100-8"), replaced("topo", "NV18", "SYS"), replaced("topo", "  NV#", "  PIX"))
    assert "topo -mp" in one(checks, "nvlink.pair.joined").cause


def test_a_cut_matrix_is_unknown() -> None:
    def bend(tree: Tree) -> None:
        lines = tree.commands["topo"].stdout.split("\n")
        tree.command("topo", "\n".join(lines[:3]) + "\n")

    check = one(judge(node("hgx-h100-8"), bend), "nvlink.pair.joined")
    assert (check.result, "GPU2-GPU3" in check.cause) == (UNKNOWN, True)


# Errors


def test_a_counter_that_nobody_knows_is_a_warning_at_most() -> None:
    bent = {"nvlink": {"errors": {"0": {"0": {"CRC Errors": 0}}}}}
    checks = judge(
        node("hgx-h100-8", more=bent),
        replaced("nvlink_errors", "Link 4: Recovery Errors: 0", "Link 4: Strange Errors: 70000", 1),
        broken("again"),
    )
    assert list(found(checks, FAIL)) == ["nvlink.errors.any GPU 0"]


def test_corrected_code_words_and_traffic_are_no_errors() -> None:
    text = judge(node("hgx-b200-8"))
    assert one(text, "nvlink.errors.any").result == PASS


def test_a_link_that_is_up_and_not_in_a_listing_was_cut_out() -> None:
    """Between the lines of a GPU: the text itself ends as it should."""

    def cut(name: str, begins: str) -> Bend:
        def bend(tree: Tree) -> None:
            text = tree.commands[name].stdout
            mine = text.index("GPU 1:") if "GPU 1:" in text else len(text)
            lines = text[:mine].splitlines(keepends=True)
            kept = [line for line in lines if not line.strip().startswith(begins)]
            assert len(kept) < len(lines)
            tree.command(name, "".join(kept) + text[mine:])

        return bend

    for check_id in ("nvlink.errors.many", "nvlink.errors.any"):
        check = one(judge(node("hgx-h100-8"), cut("nvlink_errors", "Link 7:")), check_id)
        assert (check.result, check.subject) == (UNKNOWN, "GPU 0")
        assert "link 7 is up" in check.cause
    check = one(judge(node("hgx-h100-8"), cut("nvlink_errors", "Link 7: Rec")), "nvlink.errors.any")
    assert "link 7 lacks a counter" in check.cause
    check = one(judge(node("hgx-h100-8"), cut("nvlink_caps", "Link 7,")), "nvlink.link.p2p")
    assert (check.result, "link 7 is up" in check.cause) == (UNKNOWN, True)
    check = one(judge(node("hgx-h100-8"), cut("nvlink_caps", "Link 7, P2P at")), "nvlink.link.p2p")
    assert (check.result, "atomics" in check.cause) == (UNKNOWN, True)
    check = one(judge(node("hgx-h100-8"), cut("nvlink_caps", "Link 7, P2P is")), "nvlink.link.p2p")
    assert (check.result, "atomics" in check.cause) == (UNKNOWN, True)


def test_links_that_somebody_summed_up_are_told() -> None:
    def bend(tree: Tree) -> None:
        text = tree.commands["nvlink_errors"].stdout
        head, first, rest = text[: text.index("GPU 1:")], "", text[text.index("GPU 1:") :]
        first = head.split("\n", 1)[0] + "\n\t Links 0-17: no errors\n"
        tree.command("nvlink_errors", first + rest)

    assert one(judge(node("hgx-h100-8"), bend), "nvlink.errors.any").result == PASS


def test_a_gpu_without_counters_was_not_seen() -> None:
    def bend(tree: Tree) -> None:
        text = tree.commands["nvlink_errors"].stdout
        tree.command("nvlink_errors", text[: text.index("\n", text.index("GPU 7:")) + 1])

    assert "no error counter" in one(judge(node("hgx-h100-8"), bend), "nvlink.errors.many").cause


# The fabric


@pytest.mark.parametrize(
    ("told", "results"),
    [
        pytest.param({"state": "Not Started"}, {"nvlink.fabric.state": FAIL}, id="not started"),
        pytest.param({"state": "Not Supported"}, {"nvlink.fabric.state": FAIL}, id="not supported"),
        pytest.param(
            {"state": "N/A"},
            {"nvlink.fabric.state": UNKNOWN, "nvlink.fabric.health": UNKNOWN, "nvlink.fabric.recovery": UNKNOWN},
            id="N/A behind NVSwitches",
        ),
        pytest.param({"state": "Dreaming"}, {"nvlink.fabric.state": UNKNOWN}, id="a new state"),
    ],
)
def test_a_state_that_is_not_completed(told: dict[str, str], results: dict[str, str]) -> None:
    checks = judge(node("hgx-h100-8", more={"fabric": {2: told}}))
    seen = {check.id: check.result for check in checks if check.result in (FAIL, UNKNOWN)}
    assert seen == results


@pytest.mark.parametrize(
    ("health", "cause"),
    [
        pytest.param({"summary": "Unhealthy"}, "Unhealthy", id="the summary alone"),
        pytest.param({"bandwidth": "Degraded"}, "full bandwidth", id="less bandwidth"),
        pytest.param({"incorrect_configuration": "GFM"}, "configuration is wrong", id="configuration"),
        pytest.param({"summary": "Limited Capacity"}, "Limited Capacity", id="less capacity"),
    ],
)
def test_an_unhealthy_fabric(health: dict[str, str], cause: str) -> None:
    checks = judge(node("hgx-b200-8", more={"fabric_health": {0: health}}))
    assert list(found(checks, FAIL)) == ["nvlink.fabric.health GPU 0"]
    assert cause in found(checks, FAIL)["nvlink.fabric.health GPU 0"]


def test_a_driver_without_a_fabric_section_is_unknown_for_gpus_that_register() -> None:
    def bend(tree: Tree) -> None:
        head, *rest = tree.commands["nvsmi_xml"].stdout.split("<fabric>")
        parts = [one.partition("</fabric>")[2] for one in rest]
        tree.command("nvsmi_xml", head + "".join(parts))

    assert "no Fabric section" in one(judge(node("hgx-h100-8"), bend), "nvlink.fabric.state").cause
    assert one(judge(node("hgx-a100-8"), bend), "nvlink.fabric.state").result == SKIP


def test_a_recovery_is_judged_by_words_that_are_known() -> None:
    words = {"route_recovery_in_progress": "Perhaps"}
    checks = judge(node("hgx-b200-8", more={"fabric_health": {0: words}}))
    assert "not known" in found(checks, UNKNOWN)["nvlink.fabric.recovery GPU 0"]

    def bend(tree: Tree) -> None:
        head, *rest = tree.commands["nvsmi_xml"].stdout.split("<health>")
        parts = [one.partition("</health>")[2] for one in rest]
        tree.command("nvsmi_xml", head + "".join(parts))

    recovery = one(judge(node("hgx-b200-8"), bend), "nvlink.fabric.recovery")
    assert (recovery.result, "tells nothing" in recovery.cause) == (SKIP, True)


@pytest.mark.parametrize("odd", [{"cliqueId": "2"}, {"clusterUuid": "11111111-2222-3333-4444-55"}])
def test_all_gpus_of_a_rack_s_host_are_in_one_clique(odd: dict[str, str]) -> None:
    checks = judge(node("gb200-nvl72-node", more={"fabric": {3: odd}}))
    assert list(found(checks, FAIL)) == ["nvlink.fabric.clique host"]
    assert f"{next(iter(odd.values()))}" in found(checks, FAIL)["nvlink.fabric.clique host"]


@pytest.mark.parametrize(
    ("told", "cause"),
    [
        ({"status": "Insufficient Resources"}, "refused this GPU: Insufficient Resources"),
        ({"state": "Not Started", "status": "N/A"}, "waits for a fabric manager"),
    ],
)
def test_a_gpu_that_was_refused_is_not_one_that_waits(told: dict[str, str], cause: str) -> None:
    checks = judge(node("hgx-h100-8", more={"fabric": {2: told}}))
    assert cause in found(checks, FAIL)["nvlink.fabric.state GPU 2"]


# The fabric manager


@pytest.mark.parametrize(
    ("manager", "cause"),
    [
        pytest.param({"state": "inactive (dead)", "boot": "disabled"}, "is disabled", id="disabled"),
        pytest.param({"state": "inactive (dead)", "boot": "masked"}, "is masked", id="masked"),
        pytest.param({"state": "activating (auto-restart)"}, "again and again", id="restarting"),
        pytest.param({"state": "active (exited)"}, "service failed", id="exited"),
        pytest.param(
            {"state": "failed (Result: exit-code)", "journal": [NOTHING_TO_DO]},
            "no NVSwitch to manage",
            id="nothing to do on a board with NVSwitches",
        ),
    ],
)
def test_a_fabric_manager_that_does_not_run(manager: dict[str, Any], cause: str) -> None:
    checks = judge(node("hgx-a100-8", more={"manager": manager}))
    check = one(checks, "nvlink.fabric_manager.active")
    assert (check.result, cause in check.cause) == (FAIL, True)


def test_a_virtual_machine_without_nvswitches_needs_no_fabric_manager() -> None:
    manager = {"state": "failed (Result: exit-code)", "journal": [NOTHING_TO_DO]}
    described = node("cloud-a100-8-vm", switches=[], more={"manager": manager})
    checks = judge(described)
    assert found(checks, FAIL, UNKNOWN) == {}
    assert "its host runs the manager" in one(checks, "nvlink.fabric_manager.active").cause


def test_nobody_can_tell_where_neither_switches_nor_the_kind_of_host_are_seen() -> None:
    described = node("hgx-a100-8", switches=[], product="", vendor="")
    checks = judge(described, broken("/proc/cpuinfo"), command("fabricmanager_status", "", 4, GONE))
    assert one(checks, "nvlink.fabric_manager.installed").result == UNKNOWN


def test_whether_it_starts_at_boot_is_unknown_where_systemctl_cannot_be_asked() -> None:
    checks = judge(node("hgx-h100-8"), broken("fabricmanager_status"))
    assert one(checks, "nvlink.fabric_manager.boot").result == UNKNOWN


def test_a_status_with_which_systemctl_tells_no_state_is_unknown() -> None:
    def bend(tree: Tree) -> None:
        tree.command("fabricmanager_status", tree.commands["fabricmanager_status"].stdout, 1)

    check = one(judge(node("hgx-h100-8"), bend), "nvlink.fabric_manager.active")
    assert (check.result, "status 1" in check.cause) == (UNKNOWN, True)


def test_a_virtual_machine_with_a_part_of_a_board_runs_no_manager() -> None:
    part = node("hgx-b200-8", virtual=True, product="KVM", vendor="QEMU")
    part.cards = part.cards[:3]
    check = one(judge(part), "nvlink.fabric_manager.active")
    assert (check.result, "part of a board" in check.cause) == (SKIP, True), check


def test_a_board_without_switches_needs_no_fabric_manager() -> None:
    manager = one(judge(node("hgx-a100-4")), "nvlink.fabric_manager.active")
    assert (manager.result, "needs no fabric manager" in manager.cause) == (SKIP, True)


def test_a_running_manager_has_accepted_the_driver() -> None:
    check = one(judge(node("hgx-h100-8"), gone("/var/lib/dpkg/status")), "nvlink.fabric_manager.version")
    assert (check.result, "accepted" in check.observed) == (PASS, True)


def test_a_version_that_cannot_be_compared_is_unknown() -> None:
    def bend(tree: Tree) -> None:
        tree.remove("/sys/module/nvidia/version")
        tree.remove("/proc/driver/nvidia/version")
        del tree.commands["nvsmi_xml"]

    stopped = {"manager": {"state": "inactive (dead)"}}
    check = one(judge(node("hgx-a100-8", more=stopped), bend), "nvlink.fabric_manager.version")
    assert (check.result, check.observed) == (UNKNOWN, "535.183.06")


def test_a_log_that_is_not_there_or_too_long_is_unknown() -> None:
    path = "/var/log/fabricmanager.log"
    for bend in (gone(path), broken(path, "holds more than 8 MiB")):
        check = one(judge(node("hgx-h100-8"), bend), "nvlink.fabric_manager.log")
        assert (check.result, check.severity) == (UNKNOWN, "warning")


def test_a_fatal_error_counts_until_the_fabric_manager_starts_again() -> None:
    line = (
        "[Nov 17 2025 15:10:02] [ERROR] [tid 1] detected NVSwitch fatal error 20034 on fid 0 on"
        " NVSwitch pci bus id 00000000:e4:00.0 physical id 1 port 61"
    )
    start = "[Nov 18 2025 01:00:00] [INFO] [tid 2] Fabric Manager version 580.105.08 is running"
    fresh = judge(node("hgx-h100-8", more={"manager": {"log": [line]}}))
    assert list(found(fresh, FAIL)) == ["nvlink.nvswitch.fatal 00000000:e4:00.0"]
    old = judge(node("hgx-h100-8", more={"manager": {"log": [line, start]}}))
    check = one(old, "nvlink.fabric_manager.log")
    assert (check.result, "before it 1 error, last: " in check.observed, "SXid 20034" in check.observed) == (
        PASS,
        True,
        True,
    )


@pytest.mark.parametrize(
    "said",
    [
        "fabric manager NVIDIA GPU driver interface version 580.1.1 don't match with driver version"
        " 580.2.2. Please update with matching NVIDIA driver package.",
        NOTHING_TO_DO,
    ],
)
def test_a_refusal_to_start_is_over_once_it_started(said: str) -> None:
    line = f"[Nov 13 2025 07:14:00] [ERROR] [tid 1570] {said}"
    start = "[Nov 13 2025 07:15:00] [INFO] [tid 1] Fabric Manager version 580.2.2 is running"
    over = judge(node("hgx-h100-8", more={"manager": {"log": [line, start]}}))
    assert found(over, FAIL) == {}
    still = judge(node("hgx-h100-8", more={"manager": {"log": [line]}}))
    assert list(found(still, FAIL)) == ["nvlink.fabric_manager.log host"]


# NVSwitches


@pytest.mark.parametrize(
    ("number", "text", "ids"),
    [
        pytest.param(12020, "Non-fatal, Link 1", ["nvlink.nvswitch.fatal"], id="always fatal"),
        pytest.param(22013, "Non-fatal, Link 1", [], id="harmless"),
        pytest.param(39999, "Non-fatal, Link 1", ["nvlink.nvswitch.errors"], id="not in the table"),
    ],
)
def test_sxids_are_sorted_by_what_is_known_of_them(number: int, text: str, ids: list[str]) -> None:
    line = f"nvidia-nvswitch1: SXid (PCI:0000:e4:00.0): {number}, {text}"
    checks = judge(node("hgx-h100-8", more={"log": [line]}))
    assert [check.id for check in checks if check.result == FAIL] == ids


def test_ports_to_the_switches_need_their_driver_and_their_mark() -> None:
    described = node("hgx-b200-8")
    address = described.hca("mlx5_8").address
    unbound = judge(described, gone(f"/sys/bus/pci/devices/{address}/infiniband"))
    assert "mlx5_ib" in found(unbound, FAIL)[f"nvlink.nvlsm.ports {address}"]

    def unmark(tree: Tree) -> None:
        for hca in described.hcas:
            tree.remove(tree._resolve(f"/sys/bus/pci/devices/{hca.address}/vpd"))

    assert "SW_MNG" in found(judge(described, unmark), FAIL)["nvlink.nvlsm.ports host"]


def test_fewer_ways_to_the_switches_than_the_board_has_are_a_warning() -> None:
    described = node("hgx-b200-8")
    assert one(judge(described), "nvlink.nvlsm.redundancy").result == PASS
    address = described.hca("mlx5_8").address

    def unmark(tree: Tree) -> None:
        tree.remove(tree._resolve(f"/sys/bus/pci/devices/{address}/vpd"))

    lacking = judge(described, unmark)
    assert found(lacking, FAIL) == {
        "nvlink.nvlsm.redundancy host": "3 ports " + CATALOG["nvlink.nvlsm.redundancy"].causes[0]
    }
    assert one(lacking, "nvlink.nvlsm.redundancy").severity == "warning"
    unbound = judge(described, gone(f"/sys/bus/pci/devices/{address}/infiniband"))
    assert one(unbound, "nvlink.nvlsm.redundancy").result == SKIP


def test_a_log_of_the_kernel_that_lost_its_beginning_says_so() -> None:
    def bend(tree: Tree) -> None:
        tree.command("dmesg", "[ 9000.000001] mlx5_core 0000:1a:00.0: Port module event\n")

    check = one(judge(node("hgx-h100-8"), bend), "nvlink.nvswitch.fatal")
    assert (check.result, "no longer reaches back" in check.observed) == (PASS, True)


def test_a_virtual_machine_without_a_way_to_the_switches_has_none_to_manage() -> None:
    described = node("hgx-b200-8", virtual=True, product="KVM")
    described.hcas = [hca for hca in described.hcas if hca.role == "rail"]
    checks = judge(described, command("fabricmanager_status", "", 4, GONE))
    assert found(checks, FAIL, UNKNOWN) == {}


def test_processes_that_are_not_shown_are_unknown() -> None:
    checks = judge(node("hgx-b200-8", more={"manager": {"processes": []}}))
    assert one(checks, "nvlink.nvlsm.running").result == UNKNOWN


# IMEX


@pytest.mark.parametrize(
    ("nodes", "result"),
    [
        ([], FAIL),
        (["127.0.0.1"], FAIL),
        (["::1", "localhost", "0.0.0.0"], FAIL),
        (["nodes = none"], FAIL),
        (["10.0.0.300"], FAIL),
        (["10.0.0.1", "10.0.0.2"], FAIL),
        (["127.0.0.1", "10.0.0.1"], FAIL),
        (["fd00::7"], FAIL),
        (["10.0.0.1", ADDRESS], PASS),
        (["node-7.rack"], PASS),
        (["node-7.rack", "10.0.0.1"], PASS),
    ],
)
def test_the_nodes_of_imex_are_this_host_and_others(nodes: list[str], result: str) -> None:
    checks = judge(node("gb200-nvl72-node", more={"imex": {"nodes": nodes}}))
    assert one(checks, "nvlink.imex.nodes").result == result


@pytest.mark.parametrize(
    ("bend", "check_id", "result", "said"),
    [
        pytest.param(
            replaced(
                "systemctl_show@Id,LoadState,ActiveState,SubState-nvidia-imex.service",
                "LoadState=loaded",
                "LoadState=not-found",
            ),
            "nvlink.imex.service",
            FAIL,
            "not installed",
            id="not installed",
        ),
        pytest.param(broken("systemctl_show"), "nvlink.imex.service", UNKNOWN, "denied", id="denied"),
        pytest.param(gone("/etc/nvidia-imex/nodes_config.cfg"), "nvlink.imex.nodes", FAIL, "missing", id="file"),
        pytest.param(
            broken("/etc/nvidia-imex/nodes_config.cfg"), "nvlink.imex.nodes", UNKNOWN, "denied", id="file denied"
        ),
        pytest.param(broken("ip_addr"), "nvlink.imex.nodes", UNKNOWN, "which is this host", id="addresses"),
        pytest.param(gone("/dev/nvidia-caps-imex-channels"), "nvlink.imex.channels", FAIL, "none", id="no directory"),
    ],
)
def test_imex(bend: Bend, check_id: str, result: str, said: str) -> None:
    check = one(judge(node("gb200-nvl72-node"), bend), check_id)
    assert (check.result, said in f"{check.observed} {check.cause}") == (result, True)


@pytest.mark.parametrize(
    "bend",
    [
        pytest.param(command("nvlink_caps", ""), id="empty"),
        pytest.param(broken("nvlink_caps", "gave no complete answer within 90 s"), id="no answer"),
    ],
)
@pytest.mark.parametrize("board", ["h100-pcie-2", "dgx-1-v100", "hgx-h100-8"])
def test_abilities_that_nobody_could_read_are_unknown(board: str, bend: Bend) -> None:
    assert one(judge(node(board)), "nvlink.link.p2p").result == PASS
    assert one(judge(node(board), bend), "nvlink.link.p2p").result == UNKNOWN


def test_without_a_link_nobody_asks_what_links_can_do() -> None:
    dark = node_with(node("h100-pcie-2"), nvlink={"dark": [0, 1]})
    assert one(judge(dark, command("nvlink_caps", "")), "nvlink.link.p2p").result == SKIP


@pytest.mark.parametrize("board", ["hgx-h100-8", "dgx-1-v100"])
def test_a_listing_that_ends_within_the_last_gpu_is_not_held_against_it(board: str) -> None:
    def cut(tree: Tree) -> None:
        lines = tree.commands["nvlink_status"].stdout.splitlines(keepends=True)
        tree.command("nvlink_status", "".join(lines[:-1]))

    checks = judge(node(board), cut)
    assert not any("nvlink.link." in key for key in found(checks, FAIL))
    for name in ("nvlink.link.state", "nvlink.link.speed"):
        assert one(checks, name).result == UNKNOWN
        assert "the listing ends after" in one(checks, name).cause


# What an output that ends early with status 0 must not become


@pytest.mark.parametrize("name", ["nvlink_status", "nvlink_errors", "nvlink_caps", "topo"])
@pytest.mark.parametrize("board", ["hgx-h100-8", "hgx-a100-4", "dgx-1-v100", "gb200-nvl72-node", "h100-pcie-2"])
@pytest.mark.parametrize("left", ["nothing", "a line end", "the GPUs alone", "the first GPU"])
def test_an_output_that_is_empty_or_cut_is_no_skip(name: str, board: str, left: str) -> None:
    def bend(tree: Tree) -> None:
        lines = tree.commands[name].stdout.splitlines(keepends=True)
        heads = [line for line in lines if line.startswith("GPU ")]
        cut = {
            "nothing": [],
            "a line end": ["\n"],
            "the GPUs alone": heads,
            "the first GPU": lines[: lines.index(heads[1])] if len(heads) > 1 else [],
        }
        tree.command(name, "".join(cut[left]))

    whole, cut = judge(node(board)), judge(node(board), bend)
    skips = {check.id for check in whole if check.result == SKIP}
    assert [check.id for check in cut if check.result == SKIP and check.id not in skips] == []
    assert any(check.result == UNKNOWN for check in cut)


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("nvlink_status", ("nvlink.link.state", "nvlink.link.speed")),
        ("nvlink_errors", ("nvlink.errors.many", "nvlink.errors.any")),
        ("nvlink_caps", ("nvlink.link.p2p",)),
    ],
)
def test_links_below_an_unknown_headline_pass_nothing(name: str, ids: tuple[str, ...]) -> None:
    checks = judge(node("hgx-h100-8"), replaced(name, "GPU 3: NVIDIA", "Device 3 NVIDIA"))
    for check_id in ids:
        assert one(checks, check_id).result == UNKNOWN
        assert "the line of a GPU is missing" in one(checks, check_id).cause


@pytest.mark.parametrize(
    ("name", "old", "new", "check"),
    [
        ("nvlink_status", "Link 5: 26.562 GB/s", "Link 5: <inactive>", "nvlink.link.state"),
        ("nvlink_status", "Link 5: 26.562 GB/s", "Link 5: 9.1 GB/s", "nvlink.link.speed"),
        ("nvlink_errors", "Link 5: CRC Errors: 0", "Link 5: CRC Errors: 65535", "nvlink.errors.many"),
        ("nvlink_caps", "Link 5, P2P is supported: true", "Link 5, P2P is supported: false", "nvlink.link.p2p"),
    ],
)
def test_links_below_an_unknown_headline_fail_all_the_same(name: str, old: str, new: str, check: str) -> None:
    def bend(tree: Tree) -> None:
        before, _line, mine = tree.commands[name].stdout.partition("GPU 3: NVIDIA")
        tree.command(name, f"{before}Device 3 NVIDIA{mine.replace(old, new, 1)}")

    checks = judge(node("hgx-h100-8"), bend, broken("again"))
    assert f"{check} GPU" in found(checks, FAIL)
    assert not [entry for entry in checks if entry.id == check and entry.result == PASS]


def test_a_matrix_whose_first_line_is_lost_passes_nothing() -> None:
    checks = judge(node("hgx-h100-8"), lambda tree: tree.command("topo", _rows(tree)))
    for check_id in ("nvlink.pair.joined", "nvlink.pair.numa"):
        assert (one(checks, check_id).result, "its first line" in one(checks, check_id).cause) == (UNKNOWN, True)


def _rows(tree: Tree) -> str:
    return tree.commands["topo"].stdout.partition("\n")[2]


def test_relations_that_can_be_read_fail_all_the_same() -> None:
    def bend(tree: Tree) -> None:
        lines = tree.commands["topo"].stdout.replace("NV18", "NV6").splitlines(keepends=True)
        tree.command("topo", "".join([*lines[:4], "GPU3\tNV6\n", *lines[5:]]))

    checks = judge(node("hgx-h100-8"), bend)
    assert [check for check in found(checks, FAIL) if check.startswith("nvlink.pair.joined")]
    assert "nvlink.pair.numa host" in found(checks, UNKNOWN)


# What error counters rose by


@pytest.mark.parametrize(
    ("name", "first", "later", "many", "few"),
    [
        pytest.param("CRC Errors", 5, 504, PASS, FAIL, id="below 100 in a second"),
        pytest.param("CRC Errors", 5, 505, FAIL, PASS, id="100 in a second"),
        pytest.param("Replay Errors", 1, 2, FAIL, PASS, id="any replay"),
        pytest.param("Recovery Errors", 70000, 70001, FAIL, PASS, id="any recovery"),
        pytest.param("CRC Errors", 70000, 70000, PASS, PASS, id="many that stand still"),
        pytest.param("CRC Errors", 70000, 4, PASS, FAIL, id="set back, and counting again"),
        pytest.param("CRC Errors", 255, 255, PASS, PASS, id="stopped counting"),
    ],
)
def test_what_a_counter_rose_by_is_judged(name: str, first: int, later: int, many: str, few: str) -> None:
    bent = {"errors": {"3": {"5": {name: first}}}, "errors_later": {"3": {"5": {name: later}}}}
    checks = judge(node("hgx-h100-8", more={"nvlink": bent}))
    assert (one(checks, "nvlink.errors.many").result, one(checks, "nvlink.errors.any").result) == (many, few)


def test_old_counts_that_stand_still_are_shown_in_the_pass() -> None:
    bent = {"errors": {"3": {"5": {"CRC Errors": 70000}}}}
    check = one(judge(node("hgx-h100-8", more={"nvlink": bent})), "nvlink.errors.many")
    assert check.observed == "8 GPUs; old and standing still: GPU 3 link 5: 70000 CRC Errors"


def test_nobody_waits_where_no_error_was_counted() -> None:
    def bend(tree: Tree) -> None:
        tree.broken["again"] = "nobody may ask"

    for board in ("hgx-h100-8", "gb200-nvl72-node", "l40s-8"):
        assert found(judge(node(board), bend), UNKNOWN) == found(judge(node(board)), UNKNOWN)


@pytest.mark.parametrize("bad", ["", "GPU 0: NVIDIA H100 80GB HBM3 (UUID: x)\n\t Link 0: Replay"])
def test_a_second_look_that_tells_nothing_leaves_the_counts(bad: str) -> None:
    def bend(tree: Tree) -> None:
        tree.later_commands["nvlink_errors"] = Output(0, bad, "")

    bent = {"errors": {"3": {"5": {"CRC Errors": 70000}}}}
    assert one(judge(node("hgx-h100-8", more={"nvlink": bent}), bend), "nvlink.errors.many").result == FAIL
