# SPDX-License-Identifier: GPL-3.0-or-later
"""One cause is one line, and nothing is lost by it."""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._data.hides import ROWS
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import COMMANDS
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import (
    Check,
    failed,
    trouble,
    unknown,
    verdict,
)
from ansible_collections.ibready.cluster.plugins.module_utils._ground.command import Output
from ansible_collections.ibready.cluster.plugins.module_utils._verify.catalog import CATALOG
from ansible_collections.ibready.cluster.plugins.module_utils._verify.fold import Line, folded, told
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.table import rows
from tests.gauntlet import fault, render, run
from tests.gauntlet.node import Node
from tests.gauntlet.tree import Tree

SMI = [name for name, command in COMMANDS.items() if command.argv[0] == "nvidia-smi"]
HUNG = "gave no complete answer within 90 s"


def lines(board: str, *, hung: tuple[str, ...] = (), failed_smi: str = "") -> list[Line]:
    described = render.node(board)
    tree = render.render(described)
    tree.broken.update((name, HUNG) for name in hung)
    for name in SMI if failed_smi else ():
        tree.commands[name] = Output(9, failed_smi, "")
    return folded(trouble(run.judge(described, tree)))


def one(name: str) -> list[Line]:
    (known,) = (entry for entry in fault.load() if entry.name == name)
    return folded(trouble(run.judged(known)))


@pytest.mark.parametrize("board", ["hgx-h100-8", "gb200-nvl72-node", "hgx-b200-8", "dgx-1-v100", "h100-pcie-2"])
def test_a_hung_nvidia_smi_is_one_line(board: str) -> None:
    (line,) = lines(board, hung=tuple(SMI))
    assert line.check.subject == "nvidia-smi"
    assert f"{len(line.behind)} checks that need nvidia-smi and could not look" in told(line)


@pytest.mark.parametrize("tool", ["ibstat", "dmesg", "systemctl_show", "topo", "nvlink_errors"])
def test_a_tool_that_hangs_is_one_line(tool: str) -> None:
    (line,) = lines("hgx-h100-8", hung=(tool,))
    need = "needs" if len(line.behind) == 1 else "need"
    assert f"{need} {COMMANDS[tool].argv[0]} and could not look" in line.hidden


def test_a_driver_that_does_not_answer_is_one_line() -> None:
    (line,) = lines("hgx-h100-8", failed_smi="NVIDIA-SMI has failed because it couldn't communicate with the driver.\n")
    assert line.check.id == "gpu.driver.answers"
    assert line.hidden.startswith("15 checks that need nvidia-smi and could not look: pci.gpu.listed")


@pytest.mark.parametrize(
    ("name", "check", "hidden"),
    [
        ("a GPU is lost while the node runs", "gpu.device.lost", "6 checks that need nvidia-smi and could not look"),
        ("a GPU is on the bus and could not be started", "pci.gpu.listed", "gpu.device.count, and 4 checks"),
        ("nobody installed the fabric manager", "nvlink.fabric_manager.installed", "nvlink.fabric.state"),
        (
            "the driver was updated, and the fabric manager was not",
            "nvlink.fabric_manager.active",
            "nvlink.fabric_manager.version, nvlink.fabric.state",
        ),
        ("the fabric manager is masked since a driver was changed", "nvlink.fabric_manager.active", "fabric.state"),
        ("ECC was switched off", "gpu.ecc.mode", ""),
    ],
)
def test_a_cause_is_one_line(name: str, check: str, hidden: str) -> None:
    (line,) = one(name)
    assert (line.check.id, hidden in line.hidden) == (check, True)


def test_a_gpu_that_is_lost_everywhere_is_one_line() -> None:
    (lost,) = (entry for entry in fault.load() if entry.name == "a GPU is lost while the node runs")
    described, tree = fault.broken(lost)
    said = tree.commands["nvsmi_xml"]
    tree.commands.update((name, said) for name in SMI if name in tree.commands)
    xid = "[ 9999.1] NVRM: Xid (PCI:0000:43:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"
    tree.command("dmesg", tree.commands["dmesg"].stdout + xid)
    for path in [path for path in tree.files if path.endswith("0000:43:00.0/config")]:
        tree.file(path, b"\xff" * len(tree.files[path]))
    (line,) = folded(trouble(run.judge(described, tree)))
    assert (line.check.id, line.subject) == ("pci.device.answers", "0000:43:00.0")
    assert "gpu.device.lost, gpu.xid.fatal, and 16 checks" in line.hidden
    assert len(line.behind) > 15


def test_a_memory_error_of_a_gpu_is_one_line() -> None:
    described, tree = odd_gpu(
        *("Xid (PCI:0000:13:00): 48, pid=7, An uncorrectable double bit error (DBE) has been detected",),
        *("Xid (PCI:0000:13:00): 63, pid=7, Row Remapper: New row (0x1) marked for remapping",),
        *("Xid (PCI:0000:13:00): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)",),
    )
    (line,) = folded(trouble(run.judge(described, tree)))
    assert (line.check.id, line.subject) == ("gpu.xid.fatal", "0000:13:00.0")
    assert {check.id for check in line.behind} == {
        *("gpu.device.reset", "gpu.ecc.volatile", "gpu.rows.pending", "gpu.xid.early"),
    }


def test_another_error_s_xid_hides_no_memory_error() -> None:
    described, tree = odd_gpu("Xid (PCI:0000:13:00): 149, NETIR_LINK_EVT  Fatal   XC0 i0 Link 07 (0x004505c6)")
    lines = folded(trouble(run.judge(described, tree)))
    assert [line.check.id for line in lines] == ["gpu.xid.fatal", "gpu.ecc.volatile"]


def odd_gpu(*xids: str) -> tuple[Node, Tree]:
    """A host whose first GPU met an error in its memory, and what the driver logged."""
    described = render.node("hgx-h100-8")
    sick = {"ecc_errors/volatile/dram_uncorrectable": "1", "remapped_row_pending": "Yes"}
    described.more["smi"] = {0: {**sick, "gpu_recovery_action": "Reset"}}
    tree = render.render(described)
    lines = "".join(f"[8000.1] NVRM: {xid}\n" for xid in xids)
    tree.command("dmesg", tree.commands["dmesg"].stdout + lines)
    return described, tree


def test_the_same_of_many_things_is_told_once_with_their_names() -> None:
    (line,) = one("ECC was switched off")
    assert told(line).startswith("gpu.ecc.mode 0000:13:00.0, 0000:23:00.0, 0000:33:00.0, 0000:43:00.0 and 4 more: ")


def state(result: str = "Down") -> Check:
    return failed("ib.port.state", "mlx5_0/1", result, "Active", "capability")


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(
            failed("ib.port.errors", "mlx5_0/1", "9", "0", "capability"), id="a failure that follows from none"
        ),
        pytest.param(failed("ib.port.lid", "mlx5_1/1", "0", "1", "capability"), id="of another port"),
        pytest.param(unknown("ib.port.lid", "mlx5_1/1", "the port is Down"), id="another port could not be looked at"),
        pytest.param(unknown("ib.port.rate", "mlx5_0/1", f"ibstat: {HUNG}"), id="for a reason of its own"),
        pytest.param(failed("gpu.ecc.volatile", "0000:13:00.0", "2", "0", "capability"), id="of another area"),
    ],
)
def test_what_does_not_follow_stands_for_itself(other: Check) -> None:
    assert [line.check for line in folded([state(), other])] == [state(), other]


def test_a_lost_gpu_hides_no_other_gpus_fault() -> None:
    lost = failed("gpu.device.lost", "0000:43:00.0", "GPU is lost", "a GPU that answers", "capability")
    sick = failed("gpu.ecc.volatile", "0000:13:00.0", "2 in DRAM", "0", "capability")
    assert [line.check for line in folded([lost, sick])] == [lost, sick]


def test_two_that_name_each_other_do_not_go_round() -> None:
    checks = [
        unknown("ib.port.state", "mlx5_0/1", "fix ib.port.lid first"),
        unknown("ib.port.lid", "mlx5_0/1", "fix ib.port.state first"),
    ]
    (line,) = folded(checks)
    assert (line.check, line.behind) == (checks[0], [checks[1]])


def test_a_verdict_goes_by_every_check() -> None:
    tree = Tree()
    assert verdict(run.judge(render.node("hgx-h100-8"), tree)) in ("unknown", "not_ready")
    warned = failed("nvlink.link.count", "GPU 0", "11", "12", "capability")
    grave = failed("nvlink.pair.joined", "GPU 0-1", "SYS", "NVLink", "capability")
    lines = folded(trouble([warned, grave]))
    # A warning speaks for no error, whatever is below what.
    assert ([line.check for line in lines], verdict([warned, grave])) == ([grave, warned], "not_ready")


def test_what_a_program_showed_is_no_reason_that_other_checks_share() -> None:
    checks = [
        unknown("gpu.mig.mode", "0000:3b:00.0", "nvidia-smi showed no MIG mode"),
        unknown("gpu.power.limit", "0000:5b:00.0", "nvidia-smi showed '[Foo]' for power limit"),
    ]
    assert [line.check for line in folded(checks)] == checks
    lost = failed("gpu.device.lost", "0000:1b:00.0", "GPU is lost", "an answer", "capability")
    assert [line.check for line in folded([lost, *checks])] == [lost, *checks]


def test_a_link_that_is_down_says_nothing_of_other_pairs() -> None:
    down = failed("nvlink.link.state", "GPU 0", "17 up", "18 up", "capability")
    own, other = (
        failed("nvlink.pair.joined", name, "SYS", "NVLink", "capability") for name in ("GPU0-GPU3", "GPU5-GPU6")
    )
    lines = folded([down, own, other])
    assert [(line.check, line.behind) for line in lines] == [(down, [own]), (other, [])]


def glob(sign: str) -> str:
    return sign.partition("~")[0]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.roots[0])
def test_what_hides_a_failure_explains_it_in_the_table_of_causes(row: object) -> None:
    assert row in ROWS
    table = rows()
    for root in (check for hides in ROWS if hides is row for sign in hides.roots for check in matching(sign)):
        mine = [cause for cause in table if any(fnmatchcase(root, glob(sign)) for sign in cause.signs)]
        explained = [
            glob(sign) for cause in mine for sign in (*cause.here, *cause.same, *cause.rail, *cause.far, *cause.signs)
        ]
        for hidden in (check for hides in ROWS if hides is row for sign in hides.fails for check in matching(sign)):
            assert hidden == root or any(fnmatchcase(hidden, name) for name in explained), (root, hidden)


def matching(sign: str) -> list[str]:
    found = [check for check in CATALOG if fnmatchcase(check, glob(sign))]
    assert found, f"no check is like {sign}"
    return found


def of_each(observed: str, cause: str, check: str = "roce.qos.trust") -> list[Check]:
    """The same of three rails, each called as it is."""
    return [
        failed(check, f"mlx5_{n}/1", observed.format(n=n), "dscp", "capability", cause=cause.format(n=n))
        for n in range(3)
    ]


@pytest.mark.parametrize(
    ("observed", "cause"),
    [
        ("rail{n} 1500, RDMA MTU 1024", "rail{n} was left at its default"),
        ("enp{n}6s0np0 is down", ""),
        ("0000:{n}b:00.0 has 512", "0000:{n}a:01.0 above it gives 4{n}"),
        ("none at fe80::a2b8:c2ff:fe0{n}:1", "GPU {n} is beside it"),
        ("192.168.{n}.1", "seen {n} times"),
        ("mlx5_{n}/1 and ib{n}", "bond{n}.100"),
    ],
)
def test_names_of_their_own_do_not_part_what_is_the_same(observed: str, cause: str) -> None:
    (line,) = folded(of_each(observed, cause))
    assert line.subject == "mlx5_0/1, mlx5_1/1, mlx5_2/1"


@pytest.mark.parametrize("observed", ["x{n}", "{n}0 Gb/s", "Gen{n}", "{n}00 W", "1{n}00, RDMA MTU 1024"])
def test_what_is_measured_parts_them(observed: str) -> None:
    assert len(folded(of_each(observed, ""))) == 3


def test_which_leaf_a_cable_leads_to_is_the_finding_itself() -> None:
    assert len(folded(of_each("on leaf{n}", "", "fabric.rail.leaf"))) == 3


def test_what_several_things_wait_for_stands_behind_it() -> None:
    first = failed("nvlink.fabric.state", "GPU 0", "In Progress", "Completed", "capability")
    blind = unknown("nvlink.fabric.health", "host", "GPU 0: fix nvlink.fabric.state first (and 3 more like it)")
    also = unknown("pci.gpu.bar_size", "host", "0000:13:00.0: fix nvlink.fabric.state first (and 7 more like it)")
    (line,) = folded([first, blind, also])
    assert line.check is first
    assert line.behind == [blind, also]


def test_versions_are_no_addresses() -> None:
    assert len(folded(of_each("96.00.8{n}.00.01", "", "gpu.equals.firmware"))) == 3


def test_a_hostile_cause_costs_no_time() -> None:
    # Long before a reader gives up: a nested repetition would take years for this.
    odd = unknown("ib.port.rate", "mlx5_0/1", "a" + ".:" * 20_000 + "fix")
    assert folded([odd])[0].check is odd
