# SPDX-License-Identifier: GPL-3.0-or-later
"""The module hca_firmware, with cards of a simulated mstflint."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._act.reboot import look
from ansible_collections.ibready.cluster.plugins.module_utils._areas.host import reboot
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import Live
from ansible_collections.ibready.cluster.plugins.module_utils._ground import state
from ansible_collections.ibready.cluster.plugins.modules import hca_firmware

Run = Callable[..., dict[str, Any]]
SCRIPT = Path(__file__).parents[3] / "system/simulated_mstflint.sh"
CARDS = ("0000:18:00.0", "0000:3a:00.0")
OLD, NEW = "28.39.1002", "28.43.2026"


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A host with two cards, and the place where the simulated mstflint keeps their flash."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "mstflint").symlink_to(SCRIPT)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("SIMULATED_MSTFLINT", str(tmp_path / "flash"))
    monkeypatch.setenv("SIMULATED_MSTFLINT_RAN", str(tmp_path / "ran"))
    for card in CARDS:
        home = tmp_path / "root/sys/bus/pci/devices" / card
        home.mkdir(parents=True)
        for name, value in (("vendor", "0x15b3"), ("device", "0x1021"), ("class", "0x020700")):
            (home / name).write_text(f"{value}\n")
    return tmp_path


def image(host: Path, text: str = f"{NEW} SIMULATED0001", **bent: str) -> dict[str, Any]:
    given = {"psid": "SIMULATED0001", "version": NEW, "image": "fw.bin", **bent}
    path = host / "images" / given["psid"]
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"{text}\n")
    return {"sha256": hashlib.sha256(path.read_bytes()).hexdigest(), **given}


def asked(run_module: Run, host: Path, *, apply: bool, check: bool = False, **bent: str) -> dict[str, Any]:
    return ask(run_module, host, [{**image(host), **bent}], apply=apply, check=check)


def ask(run_module: Run, host: Path, given: list[dict[str, Any]], **options: bool) -> dict[str, Any]:
    check, apply = options.get("check", False), options.get("apply", True)
    places = {"directory": str(host / "images"), "root": str(host / "root")}
    return run_module(hca_firmware.main, check=check, images=given, apply=apply, **places)


def written(host: Path) -> list[str]:
    log = host / "flash/log"
    return log.read_text().splitlines() if log.exists() else []


@pytest.mark.parametrize(("apply", "check"), [(False, False), (True, True), (True, False)])
def test_firmware_is_written_only_with_consent(run_module: Run, host: Path, apply: bool, check: bool) -> None:
    told = asked(run_module, host, apply=apply, check=check)
    assert written(host) == ([f"{card} {NEW}" for card in CARDS] if apply and not check else [])
    assert told["changed"] == apply
    if apply:
        assert told["behind"] == told["needed"] == []
        assert told["pending"] == [f"{card} (SIMULATED0001) runs {OLD}, {NEW} is on its flash" for card in CARDS]
    else:
        assert told["needed"] == ["SIMULATED0001"]
        assert told["behind"] == [f"{card} (SIMULATED0001) has {OLD} instead of {NEW}" for card in CARDS]


def test_a_second_time_nothing_is_written(run_module: Run, host: Path) -> None:
    assert asked(run_module, host, apply=True)["changed"]
    again = asked(run_module, host, apply=True)
    assert (again["changed"], len(written(host)), len(again["pending"])) == (False, 2, 2)


@pytest.mark.parametrize(
    ("text", "bent", "word"),
    [
        pytest.param("", {"sha256": "0" * 64}, "has sha256", id="other file"),
        pytest.param(f"{NEW} MT_1", {}, "for MT_1, not", id="image of another board"),
        pytest.param("28.40.1000 SIMULATED0001", {}, "is 28.40.1000 for", id="another version"),
        pytest.param("", {"psid": "SIMULATED0001", "gone": "1"}, "No such file", id="no file"),
        pytest.param("x", {}, "tells no firmware version", id="no image at all"),
    ],
)
def test_nothing_is_written_where_an_image_is_not_what_is_said(
    run_module: Run, host: Path, text: str, bent: dict[str, str], word: str
) -> None:
    gone = bent.pop("gone", "")
    given = [{**image(host, text or f"{NEW} SIMULATED0001"), **bent}]
    if gone:
        (host / "images/SIMULATED0001").unlink()
    told = ask(run_module, host, given)
    assert told["failed"]
    assert word in told["msg"]
    assert "no firmware was written" in told["msg"]
    assert written(host) == []


def test_a_card_of_another_board_is_left_alone(run_module: Run, host: Path) -> None:
    told = ask(run_module, host, [image(host, psid="MT_1")])
    assert (told["changed"], told["behind"]) == (False, [])
    assert {card["wanted"] for card in told["cards"]} == {""}


def test_a_write_that_fails_says_what_was_written_before(run_module: Run, host: Path) -> None:
    (host / "flash").mkdir()
    (host / "flash/first").write_text(f"{OLD}\n")
    (host / "flash/stuck").touch()
    told = asked(run_module, host, apply=True)
    assert "Flash write failed" in told["msg"]
    assert "no firmware was written" in told["msg"]


def test_a_card_that_cannot_be_asked_is_no_pass(run_module: Run, host: Path) -> None:
    (host / "bin/mstflint").unlink()
    (host / "bin/mstflint").write_text("#!/bin/sh\necho '-E- Cannot open Device: x. MFE_CR_ERROR'\nexit 1\n")
    (host / "bin/mstflint").chmod(0o755)
    assert "MFE_CR_ERROR" in asked(run_module, host, apply=False)["msg"]


def test_what_was_written_waits_for_a_boot_and_runs_after_it(run_module: Run, host: Path) -> None:
    assert asked(run_module, host, apply=True)["changed"]
    root = str(host / "root")
    assert set(state.load("firmware", root)) == set(CARDS)

    def waits() -> list[str]:
        seen = look.look(Live(root), root)
        return [reason.subject for reason in reboot.judge(seen).reasons if reason.kind == reboot.FIRMWARE]

    assert waits() == list(CARDS)
    for path in (host / "ran").iterdir():
        path.unlink()
    assert waits() == []


def test_a_written_card_that_no_longer_answers_is_no_reason_and_no_all_clear(run_module: Run, host: Path) -> None:
    assert asked(run_module, host, apply=True)["changed"]
    root = str(host / "root")
    (host / "bin/mstflint").unlink()
    (host / "bin/flint").write_text("#!/bin/sh\nexit 1\n")
    (host / "bin/flint").chmod(0o755)
    need = reboot.judge(look.look(Live(root), root))
    assert [word for word in need.unknown if "nobody can tell what it runs" in word]


def test_a_card_that_was_taken_out_waits_for_no_boot(run_module: Run, host: Path) -> None:
    assert asked(run_module, host, apply=True)["changed"]
    root = host / "root"
    shutil.rmtree(root / "sys/bus/pci/devices" / CARDS[0])
    need = reboot.judge(look.look(Live(str(root)), str(root)))
    assert [reason.subject for reason in need.reasons if reason.kind == reboot.FIRMWARE] == [CARDS[1]]
    assert not [word for word in need.unknown if CARDS[0] in word]
