# SPDX-License-Identifier: GPL-3.0-or-later
"""Findings of broken nodes carry the node's own words; test_gauntlet.py asks every fault's for no others."""

from __future__ import annotations

from collections import Counter

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import COMMANDS, Cached, Output
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import FAIL, Check, failed
from ansible_collections.ibready.cluster.plugins.module_utils._verify import quotes
from ansible_collections.ibready.cluster.plugins.module_utils._verify.catalog import CATALOG
from tests.gauntlet import fault, run
from tests.gauntlet.tree import Tree

FAULTS = [one for one in fault.load() if CATALOG[one.check].looks_at]
PCI = "/sys/bus/pci/devices"
PORT = "/sys/class/infiniband/{}/ports/1/{}"


def found(name: str) -> list[Check]:
    """The findings on a broken node of the check that the fault is for."""
    one = next(one for one in FAULTS if one.name == name)
    return [check for check in run.judged(one) if check.id == one.check and check.result == FAIL]


def test_what_may_be_quoted_is_what_can_be_asked_and_nothing_that_tells_of_environments() -> None:
    assert set(COMMANDS) >= quotes._OPEN_COMMANDS
    assert "systemctl_show" not in quotes._OPEN_COMMANDS
    assert not quotes._is_open("/proc/1/environ")
    assert not quotes._is_open("/etc/apt/apt.conf.d/*")
    assert not quotes._is_open("container_probe")


@pytest.mark.parametrize("closed", [True, False])
def test_the_environment_of_a_service_is_not_quoted(monkeypatch: pytest.MonkeyPatch, closed: bool) -> None:
    if not closed:
        # What would be quoted otherwise: so this looks where it should.
        monkeypatch.setattr(quotes, "_OPEN_COMMANDS", {"systemctl_show"})
    secret = "X_SIG=correct horse"
    reported = Output(0, f"Id=slurmd.service\nEnvironment=NCCL_IB_DISABLE=1 {secret}\n", "")
    seen = Cached(Tree(commands={"systemctl_show@slurmd.service": reported}))
    seen.run("systemctl_show", "slurmd.service")
    harm = failed("nccl.conf.harm", "slurmd.service", "NCCL_IB_DISABLE=1", "not set", "capability")
    (check,) = quotes.quoted([harm], seen)
    assert (secret in str(check.evidence)) == (not closed)


@pytest.mark.parametrize(
    ("name", "evidence"),
    [
        pytest.param(
            "the cable of a rail is pulled",
            {PORT.format("mlx5_5", "state"): "1: DOWN"},
            id="a file of the port",
        ),
        pytest.param(
            "a rail trained at a quarter of its rate",
            {PORT.format("mlx5_3", "rate"): "100 Gb/sec (4X EDR)"},
            id="its rate",
        ),
        pytest.param(
            "symbol errors rise on a rail",
            {
                PORT.format("mlx5_3", "counters/symbol_error"): "0",
                PORT.format("mlx5_3", "counters/symbol_error") + " (5 s later)": "40",
            },
            id="both looks at a counter",
        ),
        pytest.param(
            "nouveau took a GPU",
            {f"{PCI}/0000:33:00.0/driver": "../../../../../../bus/pci/drivers/nouveau"},
            id="a link",
        ),
        pytest.param(
            "the nvidia module is not loaded",
            {
                "$ nvidia-smi -q -x": "NVIDIA-SMI has failed because it couldn't communicate with "
                "the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and "
                "running."
            },
            id="what a tool complained of",
        ),
    ],
)
def test_a_finding_quotes_what_its_check_saw(name: str, evidence: dict[str, str]) -> None:
    check, *_ = found(name)
    assert evidence.items() <= check.evidence.items()


def test_most_findings_of_rails_quote_something() -> None:
    """But for what the health agent remembers, and what is counted over a log as a whole."""
    mine = [one.name for one in FAULTS if one.check.startswith("ib.port.")]
    quoted = [name for name in mine if any(one.evidence for one in found(name))]
    assert len(quoted) >= len(mine) * 2 / 3


def test_what_many_checks_look_at_is_known() -> None:
    """It is written down, for a module knows the checks of its own areas alone."""
    times = Counter(item for entry in CATALOG.values() for item in entry.looks_at)
    many = {item for item, number in times.items() if number >= 5 and item.startswith("/") and "|" not in item}
    assert many == set(quotes.SCAFFOLD)
