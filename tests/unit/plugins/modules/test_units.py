# SPDX-License-Identifier: GPL-3.0-or-later
"""units, with a systemctl of the tests' own on PATH."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.modules import units

Run = Callable[..., dict[str, Any]]
SYSTEMCTL = """#!/bin/sh
echo "$*" >> {home}/said
[ "$1" = show ] || exit {status}
shift 3
for unit; do cat {home}/$unit 2>/dev/null || cat {home}/none; echo; done
"""


class Systemd:
    def __init__(self, home: Path) -> None:
        self.home = home
        self.has("none", "inactive", "", load="not-found")
        self.ends(0)

    def ends(self, status: int) -> None:
        """With which status its acts end."""
        path = self.home / "systemctl"
        path.write_text(SYSTEMCTL.format(home=self.home, status=status))
        path.chmod(0o755)

    def has(self, name: str, active: str, file: str, load: str = "loaded", stale: str = "no") -> None:
        (self.home / name).write_text(
            f"Id={name}\nLoadState={load}\nActiveState={active}\nUnitFileState={file}\nNeedDaemonReload={stale}\n"
        )

    def acts(self) -> list[str]:
        return [line for line in (self.home / "said").read_text().splitlines() if not line.startswith("show")]


@pytest.fixture
def systemd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Systemd:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return Systemd(tmp_path)


def test_only_what_is_not_as_asked_is_done_and_in_order(systemd: Systemd, run_module: Run) -> None:
    systemd.has("a.service", "active", "enabled")
    systemd.has("b.service", "inactive", "disabled", stale="yes")

    done = run_module(units.main, names=["a", "b"], enabled=True, running=True)

    assert done["acts"] == systemd.acts() == ["daemon-reload", "enable b.service", "start b.service"]
    assert done["changed"]


def test_what_is_left_out_stays(systemd: Systemd, run_module: Run) -> None:
    systemd.has("a.socket", "active", "disabled")
    assert run_module(units.main, names=["a.socket"])["changed"] is False
    assert run_module(units.main, names=["a.socket"], running=False)["acts"] == ["stop a.socket"]


def test_check_mode_only_tells(systemd: Systemd, run_module: Run) -> None:
    systemd.has("a.service", "failed", "disabled")

    done = run_module(units.main, check=True, names=["a", "to-come"], enabled=True, running=True)

    assert done["acts"] == ["enable a.service", "start a.service"]
    assert (done["absent"], systemd.acts()) == (["to-come.service"], [])


def test_a_unit_that_is_not_there_is_a_failure_unless_it_may_be(systemd: Systemd, run_module: Run) -> None:
    failed = run_module(units.main, names=["gone"], running=True)
    assert failed["failed"]
    assert "systemd knows no gone" in failed["msg"]
    assert run_module(units.main, names=["gone"], running=True, if_there=True)["changed"] is False


def test_an_act_that_fails_is_told_with_its_words(systemd: Systemd, run_module: Run) -> None:
    systemd.has("a.service", "inactive", "enabled")
    systemd.ends(1)
    assert "start a.service" in run_module(units.main, names=["a"], running=True)["msg"]


def test_an_answer_that_is_cut_is_no_answer(systemd: Systemd, run_module: Run) -> None:
    (systemd.home / "a.service").write_text("Id=a.service\nLoadState=loaded\n")
    assert run_module(units.main, names=["a"], running=True)["failed"]


def test_static_units_lack_nothing(systemd: Systemd, run_module: Run) -> None:
    systemd.has("a.service", "active", "static")
    assert run_module(units.main, names=["a"], enabled=True, running=True)["changed"] is False


def test_a_boot_counts_and_what_nothing_disables_lacks_nothing(systemd: Systemd, run_module: Run) -> None:
    for file, on, off in (
        ("enabled", [], ["disable a.service"]),
        ("enabled-runtime", ["enable a.service"], ["disable --runtime a.service"]),
        ("disabled", ["enable a.service"], []),
        ("linked", ["enable a.service"], ["disable a.service"]),
        ("alias", [], ["disable a.service"]),
        ("static", [], []),
        ("generated", [], []),
        ("indirect", [], []),
    ):
        systemd.has("a.service", "active", file)
        assert run_module(units.main, check=True, names=["a"], enabled=True)["acts"] == on, file
        assert run_module(units.main, check=True, names=["a"], enabled=False)["acts"] == off, file


@pytest.mark.parametrize("check", [True, False])
def test_a_masked_unit_is_there_and_is_not_started(systemd: Systemd, run_module: Run, check: bool) -> None:
    systemd.has("a.service", "active", "masked", load="masked")
    assert run_module(units.main, check=check, names=["a"], running=True)["changed"] is False
    assert run_module(units.main, check=check, names=["a"], enabled=False)["acts"] == []
    assert run_module(units.main, check=check, names=["a"], enabled=False, running=False)["acts"] == ["stop a.service"]
    refused = run_module(units.main, check=check, names=["a"], enabled=True, if_there=True)
    assert refused["failed"]
    assert "a.service is masked" in refused["msg"]


def test_systemd_reads_its_files_once(systemd: Systemd, run_module: Run) -> None:
    for name in ("a", "b"):
        systemd.has(f"{name}.service", "active", "disabled", stale="yes")
    done = run_module(units.main, names=["a", "b"], enabled=True)
    assert done["acts"] == ["daemon-reload", "enable a.service", "enable b.service"]
