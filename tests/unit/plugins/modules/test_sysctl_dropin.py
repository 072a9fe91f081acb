# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.modules import sysctl_dropin

Run = Callable[..., dict[str, Any]]
TUNED = {"vm.zone_reclaim_mode": 0, "net.ipv4.tcp_rmem": "4096 87380 6291456"}


class Host:
    """A kernel's settings and a sysctl.d below a temporary directory."""

    def __init__(self, home: Path, run_module: Run) -> None:
        self.proc = home / "proc"
        self.dropin = home / "sysctl.d/90-ibready.conf"
        self._run = run_module
        self.dropin.parent.mkdir()
        self.kernel("vm/zone_reclaim_mode", "1\n")
        self.kernel("net/ipv4/tcp_rmem", "4096\t87380\t6291456\n")

    def kernel(self, name: str, text: str) -> Path:
        path = self.proc / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def kernel_link(self, name: str, target: str) -> None:
        (self.proc / name).symlink_to(target)

    def value(self, name: str) -> str:
        return (self.proc / name).read_text()

    def apply(self, settings: dict[str, Any] | None = None, **args: Any) -> dict[str, Any]:
        if settings is not None:
            args["settings"] = settings
        return self._run(sysctl_dropin.main, path=str(self.dropin), proc_sys=str(self.proc), **args)


@pytest.fixture
def host(tmp_path: Path, run_module: Run) -> Host:
    return Host(tmp_path, run_module)


def test_file_and_running_value_are_set(host: Host) -> None:
    result = host.apply(TUNED, reasons={"vm.zone_reclaim_mode": "Keeps the page cache."})
    assert result["changed"]
    assert result["running"] == {"vm.zone_reclaim_mode": {"before": "1", "after": "0"}}
    assert host.value("vm/zone_reclaim_mode") == "0\n"
    assert "# Keeps the page cache.\nvm.zone_reclaim_mode = 0\n" in host.dropin.read_text()
    assert host.dropin.stat().st_mode & 0o777 == 0o644


def test_second_run_changes_nothing(host: Host) -> None:
    host.apply(TUNED)
    before = host.dropin.stat().st_ino
    result = host.apply(TUNED)
    assert (result["changed"], result["file_changed"], result["running"]) == (False, False, {})
    assert host.dropin.stat().st_ino == before


def test_drift_of_the_running_value_is_a_change(host: Host) -> None:
    host.apply(TUNED)
    host.kernel("vm/zone_reclaim_mode", "7\n")
    result = host.apply(TUNED)
    assert (result["changed"], result["file_changed"]) == (True, False)
    assert host.value("vm/zone_reclaim_mode") == "0\n"


def test_drift_of_the_file_is_a_change(host: Host) -> None:
    host.apply(TUNED)
    host.dropin.write_text(host.dropin.read_text() + "kernel.panic = 1\n")
    result = host.apply(TUNED)
    assert (result["changed"], result["running"]) == (True, {})
    assert "kernel.panic" not in host.dropin.read_text()


def test_drift_of_the_mode_is_a_change(host: Host) -> None:
    host.apply(TUNED)
    host.dropin.chmod(0o600)
    assert host.apply(TUNED, check=True)["changed"]
    assert host.dropin.stat().st_mode & 0o777 == 0o600
    assert host.apply(TUNED)["changed"]
    assert host.dropin.stat().st_mode & 0o777 == 0o644


def test_check_mode_reports_without_changing(host: Host) -> None:
    result = host.apply(TUNED, check=True)
    assert result["changed"]
    assert result["running"] == {"vm.zone_reclaim_mode": {"before": "1", "after": "0"}}
    assert [part["before_header"] for part in result["diff"]] == [
        str(host.dropin),
        "running kernel",
    ]
    assert result["diff"][1]["after"] == "vm.zone_reclaim_mode = 0\n"
    assert host.value("vm/zone_reclaim_mode") == "1\n"
    assert list(host.dropin.parent.iterdir()) == []


def test_check_mode_needs_no_directory(host: Host) -> None:
    host.dropin.parent.rmdir()
    assert host.apply(TUNED, check=True)["changed"]


def test_a_key_that_the_kernel_lacks_is_written_for_later(host: Host) -> None:
    result = host.apply({"vm.nonesuch": 1, "vm.zone_reclaim_mode.deeper": 2})
    assert result["absent"] == ["vm.nonesuch", "vm.zone_reclaim_mode.deeper"]
    assert "\n-vm.nonesuch = 1\n" in host.dropin.read_text()
    assert not (host.proc / "vm/nonesuch").exists()
    assert not host.apply({"vm.nonesuch": 1, "vm.zone_reclaim_mode.deeper": 2})["changed"]


def test_a_key_that_turns_up_later_is_set(host: Host) -> None:
    host.apply({"vm.later": 1})
    host.kernel("vm/later", "0\n")
    assert host.apply({"vm.later": 1})["changed"]
    assert "\nvm.later = 1\n" in host.dropin.read_text()
    assert host.value("vm/later") == "1\n"


@pytest.mark.parametrize(
    ("target", "value", "cause"),
    [
        # The process's own oom_score_adj takes -1000 to 1000 only.
        pytest.param("/proc/self/oom_score_adj", 5000, "(EINVAL)", id="value out of range"),
        pytest.param("/proc/sys/kernel/ostype", "Plan9", "(EACCES)", id="read-only key"),
        pytest.param("/dev/null", 1, "shows '' afterwards", id="value not kept"),
    ],
)
def test_a_refused_value_leaves_everything_as_it_was(host: Host, target: str, value: object, cause: str) -> None:
    host.kernel_link("vm/refused", target)
    host.dropin.write_text("# by hand\n")
    result = host.apply({"vm.zone_reclaim_mode": 0, "vm.refused": value})
    assert result["failed"]
    assert f"cannot set vm.refused to '{value}'" in result["msg"]
    assert cause in result["msg"]
    assert "Next: " in result["msg"]
    assert host.value("vm/zone_reclaim_mode") == "1\n"
    assert [path.name for path in host.dropin.parent.iterdir()] == ["90-ibready.conf"]
    assert host.dropin.read_text() == "# by hand\n"


def test_a_read_only_key_is_reported_where_that_is_ok(host: Host) -> None:
    host.kernel_link("vm/fixed", "/proc/sys/kernel/ostype")
    settings = {"vm.fixed": "Plan9", "vm.zone_reclaim_mode": 0}
    result = host.apply(settings, read_only_ok=True)
    assert result["read_only"] == ["vm.fixed"]
    assert "\n-vm.fixed = Plan9\n" in host.dropin.read_text()
    assert host.value("vm/zone_reclaim_mode") == "0\n"
    assert not host.apply(settings, read_only_ok=True)["changed"]


def test_a_read_only_key_with_the_right_value_is_fine(host: Host) -> None:
    host.kernel_link("vm/fixed", "/proc/sys/kernel/ostype")
    assert host.apply({"vm.fixed": "Linux"}, read_only_ok=True)["read_only"] == []


def test_a_file_that_cannot_be_replaced_puts_the_kernel_back(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(src: str, dst: str) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "rename", refuse)
    result = host.apply(TUNED)
    assert result["failed"]
    assert f"cannot replace {host.dropin}" in result["msg"]
    assert host.value("vm/zone_reclaim_mode") == "1\n"
    assert list(host.dropin.parent.iterdir()) == []


def test_a_missing_directory_is_made(host: Host) -> None:
    host.dropin.parent.rmdir()
    assert host.apply(TUNED)["changed"]
    assert host.dropin.exists()


def test_what_is_no_directory_stops_before_the_kernel_changes(host: Host) -> None:
    host.dropin.parent.rmdir()
    host.dropin.parent.write_text("")
    result = host.apply(TUNED)
    assert result["failed"]
    assert f"{host.dropin}: Not a directory" in result["msg"]
    assert host.value("vm/zone_reclaim_mode") == "1\n"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        pytest.param({"vm.zone_reclaim_mode": 0, "../etc": 1}, "'../etc'", id="bad key"),
        pytest.param({"vm.zone_reclaim_mode": 0, "vm.x": "1\n2"}, "vm.x: ", id="bad value"),
        pytest.param({"vm.zone_reclaim_mode": 0, "net.ipv4": 1}, "group", id="a directory"),
    ],
)
def test_bad_input_is_refused_before_anything_changes(host: Host, settings: dict[str, Any], message: str) -> None:
    result = host.apply(settings)
    assert result["failed"]
    assert message in result["msg"]
    assert host.value("vm/zone_reclaim_mode") == "1\n"
    assert not host.dropin.exists()


def test_a_name_that_nobody_reads_at_boot_is_refused(run_module: Run, tmp_path: Path) -> None:
    result = run_module(sysctl_dropin.main, path=str(tmp_path / "tuning"), settings={})
    assert "ends in .conf" in result["msg"]


@pytest.mark.parametrize("state", ["present", "absent"])
def test_a_file_of_someone_else_is_kept(host: Host, state: str) -> None:
    host.dropin.write_text("# by hand\n")
    result = host.apply(TUNED, state=state, backup=True)
    assert Path(result["backup_file"]).read_text() == "# by hand\n"
    assert not result["backup_file"].endswith(".conf")


def test_our_own_file_is_not_kept(host: Host) -> None:
    host.apply({"vm.zone_reclaim_mode": 1}, backup=True)
    assert "backup_file" not in host.apply(TUNED, backup=True)


def test_absent_removes_the_file_only(host: Host) -> None:
    host.apply(TUNED)
    assert host.apply(state="absent", check=True)["changed"]
    assert host.dropin.exists()
    result = host.apply(state="absent")
    assert (result["changed"], host.dropin.exists()) == (True, False)
    assert "until the next boot" in result["msg"]
    assert host.value("vm/zone_reclaim_mode") == "0\n"
    assert not host.apply(state="absent")["changed"]


def test_remembered_values_come_back_when_their_setting_goes(host: Host, tmp_path: Path) -> None:
    memory = tmp_path / "lib/sysctl.json"
    host.apply(TUNED, remember=str(memory))
    host.apply({**TUNED, "vm.zone_reclaim_mode": 4}, remember=str(memory))
    assert host.value("vm/zone_reclaim_mode") == "4\n"
    rest = {"net.ipv4.tcp_rmem": TUNED["net.ipv4.tcp_rmem"]}
    reported = host.apply(rest, remember=str(memory), check=True)
    assert reported["running"] == {"vm.zone_reclaim_mode": {"before": "4", "after": "1"}}
    assert host.value("vm/zone_reclaim_mode") == "4\n"
    assert host.apply(rest, remember=str(memory))["changed"]
    assert host.value("vm/zone_reclaim_mode") == "1\n"
    assert not host.apply(rest, remember=str(memory))["changed"]
    assert not memory.exists()


def test_absent_gives_back_what_is_remembered(host: Host, tmp_path: Path) -> None:
    memory = str(tmp_path / "sysctl.json")
    host.apply(TUNED, remember=memory)
    gone = host.apply(state="absent", remember=memory)
    assert gone["running"] == {"vm.zone_reclaim_mode": {"before": "0", "after": "1"}}
    assert host.value("vm/zone_reclaim_mode") == "1\n"
    assert not host.apply(state="absent", remember=memory)["changed"]


def test_what_somebody_else_set_since_is_not_given_back(host: Host, tmp_path: Path) -> None:
    memory = str(tmp_path / "sysctl.json")
    host.apply(TUNED, remember=memory)
    host.kernel("vm/zone_reclaim_mode", "7\n")
    host.apply({}, remember=memory)
    assert host.value("vm/zone_reclaim_mode") == "7\n"
