# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong in the files of causes/ is refused by file, entry and key."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose import table
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.row import Fix


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the causes, to be damaged."""
    copy = tmp_path / "causes"
    shutil.copytree(table.FOLDER, copy)
    monkeypatch.setattr(table, "FOLDER", copy)
    caches = (table.rows, table.effects, table._read)
    for cached in caches:
        cached.cache_clear()
    yield copy
    for cached in caches:
        cached.cache_clear()


# The file, what is changed in it, and what is said of that.
WRONG = {
    "no YAML": ("gpu.yml", "causes:", "causes: [", "gpu.yml: cannot be read as YAML"),
    "unknown section": ("gpu.yml", "lists:", "list:", "gpu.yml: 'list' is none of defaults, lists, causes"),
    "unknown key": ("gpu.yml", "    effect: stops", "    efect: stops", "gpu.two_drivers: 'efect' is none of"),
    "missing key": ("other.yml", "    signs: ['*']\n", "", "other.yml: other: signs is missing"),
    "unknown effect": ("other.yml", "effect: risk", "effect: rsik", "other.effect: 'rsik' is none of stops, tcp"),
    "unknown confidence": ("other.yml", "possible", "maybe", "other.confidence: 'maybe' is none of sure, likely"),
    "text for a list": ("other.yml", "['*']", "'*'", "other.signs: must be a list, not '*'"),
    "number in a list": ("other.yml", "['*']", "[7]", "other.signs: must be a text, not 7"),
    "sign that YAML takes apart": ("job.yml", "[nccl.log.hcas]", "[nccl.log.hcas~: 1]", "signs: must be a text, not {"),
    "whole number": ("gpu.yml", "loss: 0.9", "loss: 9", "gpu.xid.loss: must be a number with a point, not 9"),
    "text for a switch": ("gpu.yml", "fleet: true", "fleet: 'yes'", "two_drivers.fleet: must be true or false"),
    "unknown relation": ("gpu.yml", "      same:", "      sane:", "gpu.reset.explains: 'sane' is none of same, rail"),
    "two fixes": ("other.yml", "look: uptime", "look: uptime, run: w", "other.fix has to have just one of site, play"),
    "no hands": ("other.yml", ", hands: do what the check's own remedy says", "", "other.fix: hands is missing"),
    "a note for hands": ("other.yml", "hands:", "note:", "other.fix: 'note' is none of look, otherwise, hands"),
    "an unknown value": ("gpu.yml", "--gpu-reset -i {address}", "-i {adress}", "'adress' is none of device, port"),
    "a value of one host": (
        "gpu.yml",
        "signs: [gpu.device.reset]",
        "fleet: true\n    signs: [gpu.device.reset]",
        "gpu.reset.fix: {address} is one host's",
    ),
    "tags that leave out the reboot": (
        "rail.yml",
        "      site: [rdma_ports]\n",
        "      site: [rdma_ports]\n      reboot: true\n",
        "link_layer.fix: site has to be [] with reboot: with tags nothing drains and reboots the host",
    ),
    "no otherwise": ("gpu.yml", "      otherwise: nvidia-smi -q -d PERFORMANCE\n", "", "fix: otherwise is missing"),
    "a cause that is none": ("other.yml", "  other:", "  first: 1\n  other:", "first: must be a dictionary, not 1"),
    "a file left out": ("table.yml", " gpu, ", " ", "order has to name each of these files once: bench, bus"),
    "an effect in part": ("table.yml", "loss: 0.3, ", "", "table.yml: effects.unsteady: loss is missing"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named(folder: Path, name: str) -> None:
    file, old, new, says = WRONG[name]
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1))
    with pytest.raises(table.CausesError, match=re.escape(says)) as told:
        table.rows()
    assert str(folder / file) in str(told.value)


def test_a_file_of_nobody_is_refused(folder: Path) -> None:
    (folder / "more.yml").write_text("causes: {}\n")
    with pytest.raises(table.CausesError, match="more"):
        table.rows()


def fix(name: str) -> Fix:
    return next(row.fix for row in table.rows() if row.id == name)


def test_each_kind_of_fix_is_a_command() -> None:
    assert fix("nvlink.imex") == Fix(
        play=(
            *("site.yml", "--tags"),
            "nvidia_driver_packages,nvidia_driver_imex,nvidia_driver_modules,nvidia_driver_services",
            *("-e", "ibready_fabric_restart_ok=true"),
        ),
        note="drain the rack first: IMEX restarts where its hosts changed; nvidia_driver_imex_domain names the rack",
        act="converge",
    )
    assert fix("stack.mixed") == Fix(
        play=("site.yml", "-e", "ibready_replace_stack_ok=true", "-e", "ibready_reboot_ok=true"),
        note="the host reboots: drain it first",
        act="converge",
    )
    assert fix("host.converge") == Fix(play=("site.yml",), act="converge")
    assert fix("nccl.rdma_off").play == ("playbooks/converge.yml", "--tags", "nccl_conf")
    assert fix("gpu.mig") == Fix(
        words=("nvidia-smi", "-i", "{address}", "-mig", "0"),
        otherwise=("nvidia-smi", "-mig", "0"),
        note="drain the host first; the GPU is reset",
        act="gpu",
    )
    assert fix("other") == Fix(words=("uptime",), mends=False, note="do what the check's own remedy says")


def test_a_setting_explains_how_it_shows_beside_equal_hosts() -> None:
    rows = {row.id: row for row in table.rows()}
    assert rows["roce.pfc"].here == ("fleet.roce.qos",)
    assert rows["fleet.qos"].here == ()
