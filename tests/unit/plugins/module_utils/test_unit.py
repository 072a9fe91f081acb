# SPDX-License-Identifier: GPL-3.0-or-later
"""A systemd that cannot be asked is told from a unit that does not run, by whoever asks."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._act.container import service
from ansible_collections.ibready.cluster.plugins.module_utils._act.container.model import EngineError
from ansible_collections.ibready.cluster.plugins.module_utils._act.ipoib import persist
from ansible_collections.ibready.cluster.plugins.module_utils._act.opensm import apply
from ansible_collections.ibready.cluster.plugins.module_utils._act.roce import mtu
from ansible_collections.ibready.cluster.plugins.module_utils._between.smoke import job
from ansible_collections.ibready.cluster.plugins.module_utils._ground import unit
from ansible_collections.ibready.cluster.plugins.module_utils._ground.command import Output, Unavailable

NAME = "ibready-x.service"
# With which status, and what it prints, systemctl tells nothing of the unit.
SILENT = {
    "no bus": Output(1, "", "Failed to connect to bus: No such file or directory\n"),
    "no systemd": Output(1, "", "System has not been booted with systemd as init system\n"),
    "timed out": Output(1, "", "Failed to retrieve unit state: Connection timed out\n"),
    "no right": Output(4, "", "Access denied\n"),
    "killed": Output(-9, "", ""),
    "no word": Output(0, "", ""),
    "another status": Output(3, "", ""),
    "another word": Output(3, "Failed\n", ""),
}
# Every question on a unit that is asked on a node.
ASKED: dict[str, Callable[[], object]] = {
    "_unit.active": lambda: unit.active(lambda *_: _SAYS[0], NAME),
    "_unit.stop": lambda: unit.stop(lambda *_: _SAYS[0], [NAME]),
    "_opensm.apply.active": lambda: apply.active("compute"),
    "_ipoib.keep.active": lambda: persist.active(NAME),
    "_ipoib.keep.detect": lambda: persist.detect(),
    "_roce.mtu.tell": lambda: mtu.tell({mtu.data.MANAGER_FILE: "x"}),
    "_container.service.active": lambda: service.active(NAME),
    "_container.service.look": lambda: service.look(NAME),
    "_smoke.job.state": lambda: job.state(lambda *_: _SAYS[0]),
    "_smoke.job.remove": lambda: job.remove(lambda *_: _SAYS[0]),
}
_SAYS = [Output(0, "", "")]


@pytest.fixture(autouse=True)
def _systemd(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (apply, persist, service):
        monkeypatch.setattr(module, "find_program", lambda name: name)
        monkeypatch.setattr(module, "run_program", lambda *_args, **_more: _SAYS[0])
    monkeypatch.setattr(service, "runs", lambda _root: True)


@pytest.mark.parametrize("why", SILENT)
@pytest.mark.parametrize("asked", ASKED)
def test_a_silent_systemd_is_no_answer(asked: str, why: str) -> None:
    _SAYS[:] = [SILENT[why]]

    with pytest.raises((Unavailable, EngineError, job.SmokeError)):
        ASKED[asked]()


@pytest.mark.parametrize("why", ["no bus", "timed out", "killed", "no word"])
def test_a_silent_systemd_does_not_say_that_a_unit_starts_at_boot(why: str) -> None:
    _SAYS[:] = [SILENT[why]]

    with pytest.raises(EngineError):
        service.disabled(NAME)


@pytest.mark.parametrize(
    ("word", "up", "ended"),
    [
        ("active", True, False),
        ("reloading", True, False),
        ("refreshing", True, False),
        ("activating", False, False),
        ("deactivating", False, False),
        ("maintenance", False, False),
        ("inactive", False, True),
        ("failed", False, True),
        ("unknown", False, True),
    ],
)
def test_what_is_on_its_way_neither_runs_nor_has_ended(word: str, up: bool, ended: bool) -> None:
    def run(_argv: list[str], _timeout: float) -> Output:
        return Output(0 if up else 3, f"{word}\n", "")

    assert unit.active(run, NAME) is up
    if ended:
        unit.stop(run, [NAME])
    else:
        with pytest.raises(unit.UnitError, match="still runs after"):
            unit.stop(run, [NAME])


@pytest.mark.parametrize(
    ("sub", "running"),
    [
        *((one, False) for one in ("dead", "exited", "failed")),
        *((one, True) for one in ("start-pre", "running", "stop-post", "final-sigkill")),
    ],
)
def test_a_job_runs_until_its_unit_has_ended(sub: str, running: bool) -> None:
    assert job.state(lambda *_: Output(0, f"SubState={sub}\n", "")).running is running
