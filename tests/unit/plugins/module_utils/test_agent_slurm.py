# SPDX-License-Identifier: GPL-3.0-or-later
"""The health check, against a scontrol that keeps its state in a file.

The host is a simulated one in files, so that a look is a real one.
"""

from __future__ import annotations

import json
import os
import platform
import time
from dataclasses import replace
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._agent import judge, look, slurm
from ansible_collections.ibready.cluster.plugins.module_utils._agent.look import Look
from ansible_collections.ibready.cluster.plugins.module_utils._agent.settings import Settings
from ansible_collections.ibready.cluster.plugins.module_utils._ground import check as _model

GOOD = _model.passed("ib.port.state", "mlx5_0/1", "Active")
DOWN = _model.failed("ib.port.state", "mlx5_0/1", "Down", "Active", "capability")
BLIND = _model.unknown("ib.port.state", "mlx5_0/1", "ibstat: not installed")
# What slurmctld would keep: state and reason, one a line. Every call is remembered.
SCONTROL = """\
#!/bin/sh
echo "$*" >> "$0.calls"
[ ! -e "$0.broken" ] || { echo "slurm_load_node error: no slurm controller" >&2; exit 1; }
case "$1" in
  update)
    for word in "$@"; do
      case "$word" in
        State=DRAIN) echo IDLE+DRAIN > "$0.state" ;;
        State=RESUME) echo IDLE > "$0.state" ;;
        Reason=*) echo "${word#Reason=} [root@$(grep -c update "$0.calls")]" > "$0.reason" ;;
      esac
    done ;;
  show)
    echo "NodeName=$3 Arch=x86_64"
    echo "   State=$(cat "$0.state") ThreadsPerCore=1"
    [ ! -e "$0.reason" ] || echo "   Reason=$(cat "$0.reason")" ;;
esac
"""


class Cluster:
    """A Slurm of one node, and what the next looks find."""

    def __init__(self, place: Path) -> None:
        self.scontrol = place / "scontrol"
        self.scontrol.write_text(SCONTROL)
        self.scontrol.chmod(0o755)
        self.settings = Settings(
            host="node2.example",
            areas=("ib",),
            slurm_scontrol=str(self.scontrol),
            slurm_confirm_good=2,
            slurm_age=20.0,
            run=str(place / "run"),
            state=str(place / "state"),
        )
        self.node("IDLE")
        self._at = time.time() - 10

    def node(self, state: str, reason: str = "") -> None:
        Path(f"{self.scontrol}.state").write_text(f"{state}\n")
        if reason:
            Path(f"{self.scontrol}.reason").write_text(f"{reason}\n")

    def found(self, *checks: _model.Check, age: float = 0.0) -> None:
        """The next look found this; each is a second younger than the last."""
        self._at += 1
        up = look.uptime() - (time.time() - self._at) - age
        made = Look(self.settings.host, ("ib",), checks, self._at - age, boot=look.boot_id(), up=up)
        look.save(self.settings, made)

    def health(self, *checks: _model.Check) -> int:
        self.found(*checks)
        return slurm.health(self.settings)

    @property
    def state(self) -> str:
        return Path(f"{self.scontrol}.state").read_text().strip()

    @property
    def reason(self) -> str:
        return Path(f"{self.scontrol}.reason").read_text().strip()

    @property
    def updates(self) -> list[str]:
        calls = Path(f"{self.scontrol}.calls")
        lines = calls.read_text().splitlines() if calls.exists() else []
        return [line for line in lines if line.startswith("update")]


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cluster:
    monkeypatch.delenv("SLURMD_NODENAME", raising=False)
    monkeypatch.setattr(platform, "node", lambda: "node2.example")
    return Cluster(tmp_path)


def test_a_failure_drains_once_and_two_good_looks_resume(cluster: Cluster) -> None:
    assert cluster.health(GOOD) == 0
    assert cluster.updates == []
    for _ in range(3):
        assert cluster.health(DOWN) == 0
    reason = "ibready: ib.port.state mlx5_0/1 Down, expected Active"
    assert cluster.updates == [f"update NodeName=node2 State=DRAIN Reason={reason}"]
    assert cluster.reason.startswith(reason)
    assert cluster.health(GOOD) == 0
    assert cluster.state == "IDLE+DRAIN"
    assert cluster.health(GOOD) == 0
    assert cluster.updates[1:] == ["update NodeName=node2 State=RESUME"]
    # The reason stays in Slurm, and means nothing any more.
    assert cluster.health(GOOD) == 0
    assert cluster.health(DOWN) == 0
    assert cluster.state == "IDLE+DRAIN"


def test_a_reboot_forgets_no_drain(cluster: Cluster) -> None:
    cluster.health(DOWN)
    for name in os.listdir(cluster.settings.run):
        os.unlink(os.path.join(cluster.settings.run, name))
    cluster.health(GOOD)
    cluster.health(GOOD)
    assert cluster.state == "IDLE"


@pytest.mark.parametrize("change", ["RMA 17 [root@9]", "{} RMA 17 [root@1]", "{} [admin@9]"])
def test_who_changes_the_reason_takes_the_node_over(cluster: Cluster, change: str) -> None:
    cluster.health(DOWN)
    ours = cluster.reason.rpartition(" [")[0]
    cluster.node("IDLE+DRAIN", change.format(ours))
    before = cluster.updates
    for check in (GOOD, GOOD, GOOD, DOWN, DOWN):
        assert cluster.health(check) == 0
    assert (cluster.updates, cluster.state) == (before, "IDLE+DRAIN")


def test_what_an_admin_drained_stays(cluster: Cluster) -> None:
    cluster.node("IDLE+DRAIN", "disk swap [admin@5]")
    for check in (GOOD, DOWN, GOOD, GOOD, GOOD):
        assert cluster.health(check) == 0
    assert cluster.updates == []


def test_one_look_is_not_counted_twice(cluster: Cluster) -> None:
    cluster.found(BLIND)
    for _ in range(5):
        assert slurm.health(cluster.settings) == 0
    assert cluster.updates == []
    for _ in range(2):
        cluster.health(BLIND)
    assert cluster.state == "IDLE+DRAIN"


def test_a_slurm_that_does_not_answer_is_told_and_nothing_is_forgotten(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster.health(DOWN)
    Path(f"{cluster.scontrol}.broken").touch()
    assert cluster.health(GOOD) == 1
    assert "no slurm controller. Next: see `scontrol ping`" in capsys.readouterr().err
    Path(f"{cluster.scontrol}.broken").unlink()
    cluster.health(GOOD)
    cluster.health(GOOD)
    assert cluster.state == "IDLE"


def test_a_memory_that_cannot_be_read_resumes_nothing(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    cluster.health(DOWN)
    Path(cluster.settings.state, "slurm.json").write_text("{")
    for _ in range(3):
        assert cluster.health(GOOD) == 0
    assert cluster.state == "IDLE+DRAIN"
    said = capsys.readouterr()
    assert "cannot be read" in said.err
    assert "Resume it by hand" in said.out


def test_only_one_health_check_at_a_time(cluster: Cluster) -> None:
    from ansible_collections.ibready.cluster.plugins.module_utils._agent import bounded

    def second() -> bytes:
        return str(cluster.health(DOWN)).encode()

    os.makedirs(cluster.settings.run)
    with bounded.locked(os.path.join(cluster.settings.run, "slurm.lock"), 0, heirs=False):
        assert bounded.run(second, 20).said == b"0"
    assert cluster.updates == []


def test_words_of_the_host_reach_scontrol_as_one_plain_word(cluster: Cluster) -> None:
    evil = replace(DOWN, subject="$(touch /tmp/x)';\nState=DOWN \"", observed="-x `id`\\")
    cluster.health(evil)
    (update,) = cluster.updates
    assert update == (
        "update NodeName=node2 State=DRAIN Reason=ibready: ib.port.state $(touch /tmp/x) ; "
        "State=DOWN -x id , expected Active"
    )


def test_the_nodes_name_is_slurms(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    assert slurm.node_name(cluster.settings) == "node2"
    # The inventory's name may be an address, or another node's.
    assert slurm.node_name(replace(cluster.settings, host="192.0.2.11")) == "node2"
    monkeypatch.setenv("SLURMD_NODENAME", "gpu-2")
    assert slurm.node_name(cluster.settings) == "gpu-2"
    assert slurm.node_name(replace(cluster.settings, slurm_node="n2")) == "n2"
    assert slurm.health(replace(cluster.settings, slurm_node="-x")) == 1


def test_a_look_is_bounded_remembered_and_taken_again_while_it_is_fresh(cluster: Cluster, tmp_path: Path) -> None:
    settings = replace(cluster.settings, root=str(tmp_path / "empty"), expect=str(tmp_path / "e"))
    (tmp_path / "e").write_text(json.dumps({"hcas": 2}))
    made = judge.current(settings, 0.0)
    assert (made.verdict, made.why) != ("ready", "")
    assert made.checks
    assert made.cpu_seconds > 0
    assert made.peak_bytes > 0
    assert judge.current(settings, 60.0) == made
    assert judge.current(settings, 0.0).looked_at > made.looked_at
    # Other areas are another question.
    assert judge.current(replace(settings, areas=("host",)), 60.0).areas == ("host",)


@pytest.mark.parametrize(("expect", "why"), [("{", "not JSON"), ('{"hca": 1}', "expect.hca is not known")])
def test_expectations_that_nobody_understands_are_no_verdict(
    cluster: Cluster, tmp_path: Path, expect: str, why: str
) -> None:
    (tmp_path / "e").write_text(expect)
    made = judge.current(replace(cluster.settings, expect=str(tmp_path / "e")), 0.0)
    assert made.verdict == "unknown"
    assert why in made.why


def test_while_another_look_hangs_there_is_no_verdict(cluster: Cluster) -> None:
    from ansible_collections.ibready.cluster.plugins.module_utils._agent import bounded

    def second() -> bytes:
        return json.dumps(judge.current(cluster.settings, 0.0, 0.3).to_dict()).encode()

    with bounded.locked(os.path.join(cluster.settings.run, "look.lock"), 0):
        done = bounded.run(second, 20)
    reported = json.loads(done.said or b"{}")
    assert (reported["verdict"], reported["why"]) == ("unknown", "another look has not ended for 0.3 s")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": "other"}', '{"schema": 1}'])
def test_a_verdict_that_is_none_is_not_taken(cluster: Cluster, text: str) -> None:
    cluster.found(GOOD)
    assert look.last(cluster.settings) is not None
    Path(look.path(cluster.settings)).write_text(text)
    assert look.last(cluster.settings) is None
    assert slurm.known_drained(cluster.settings).reason == ""


def test_who_takes_the_node_over_while_it_is_looked_at_keeps_it(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A look takes seconds; what Slurm said before it may no longer hold."""
    current = judge.current

    def taken_over(settings: Settings, *given: float) -> Look:
        cluster.node("IDLE+DRAIN", "disk swap [admin@5]")
        return current(settings, *given)

    monkeypatch.setattr(judge, "current", taken_over)
    assert cluster.health(DOWN) == 0
    assert cluster.updates == []
    monkeypatch.undo()
    cluster.node("IDLE")
    cluster.health(DOWN)
    cluster.health(GOOD)
    before = cluster.updates
    monkeypatch.setattr(judge, "current", taken_over)
    assert cluster.health(GOOD) == 0
    assert (cluster.updates, cluster.state) == (before, "IDLE+DRAIN")


def test_a_count_that_cannot_be_kept_keeps_no_bad_node_in_use(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(cluster.settings.run, "slurm.json").mkdir(parents=True)
    assert cluster.health(DOWN) == 1
    assert cluster.state == "IDLE+DRAIN"
    assert "slurm.json cannot be written" in capsys.readouterr().err


def test_a_health_check_that_never_ends_is_told(cluster: Cluster) -> None:
    from ansible_collections.ibready.cluster.plugins.module_utils._agent import bounded

    lock = os.path.join(cluster.settings.run, "slurm.lock")
    with bounded.locked(lock, 0, heirs=False):
        assert bounded.run(lambda: str(cluster.health(DOWN)).encode(), 20).said == b"0"
        long_ago = time.time() - 600
        os.utime(lock, (long_ago, long_ago))
        assert bounded.run(lambda: str(cluster.health(DOWN)).encode(), 20).said == b"1"
