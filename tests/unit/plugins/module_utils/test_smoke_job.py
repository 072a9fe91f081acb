# SPDX-License-Identifier: GPL-3.0-or-later
"""The smoke job on one host: its folder, its unit, and mpirun's commands for the others."""

from __future__ import annotations

import getpass
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._between.smoke import job
from ansible_collections.ibready.cluster.plugins.module_utils._ground.command import Output
from tests.unit import roots_place
from tests.unit.roots_place import as_root

ME = getpass.getuser()
DAEMON = '/usr/bin/prted --daemonize --prtemca ess "env"'


@dataclass
class Systemd:
    """Keeps one unit, as systemctl and systemd-run tell of it."""

    sub: str = "dead"
    result: str = "success"
    started: list[list[str]] = field(default_factory=list)
    on_start: Callable[[], None] | None = None
    stops: bool = True

    def __call__(self, argv: list[str], timeout: float) -> Output:
        if argv[0] == "systemd-run":
            self.started.append(argv)
            self.sub = "running"
            if self.on_start:
                self.on_start()
        elif argv[:2] == ["systemctl", "show"]:
            return Output(0, f"SubState={self.sub}\nResult={self.result}\nExecMainStatus=0\n", "")
        elif argv[:2] == ["systemctl", "stop"] and self.stops:
            self.sub = "dead"
        return Output(0, "", "")

    def ends(self, result: str = "success") -> None:
        self.sub, self.result = "exited", result


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The job's folder somewhere else, and a host with mpirun."""
    place = tmp_path / "smoke"
    for name, path in (("FOLDER", place), ("ASKED", place / "asked"), ("LOG", place / "log")):
        monkeypatch.setattr(job, name, str(path))
    bins = tmp_path / "bin"
    bins.mkdir()
    (bins / "mpirun").write_text("#!/bin/sh\n")
    (bins / "mpirun").chmod(0o755)
    monkeypatch.setattr(job, "_PATH", (str(bins),))
    monkeypatch.setattr(job, "_BINS", ())
    return place


def sleep(seconds: float) -> None:
    assert seconds < 1


def test_the_folder_is_laid_out_anew_and_taken_away(folder: Path) -> None:
    run = Systemd()
    folder.mkdir()
    (folder / "old").write_text("of a controller that died")
    found = job.prepare(run, {"mpirun.sh": "echo\n", "mpi-hostfile": "a slots=1\n"}, ME)
    assert found == job._PATH[0]
    assert sorted(path.name for path in folder.iterdir()) == [
        "agent.sh",
        "asked",
        "mpi-hostfile",
        "mpirun.sh",
    ]
    assert (folder / "mpirun.sh").stat().st_mode & 0o777 == 0o755
    assert (folder / "asked").stat().st_mode & 0o777 == 0o700
    assert job.remove(run) is True
    assert not folder.exists()
    assert job.remove(run) is False


def test_the_job_s_user_reaches_its_scripts_whatever_the_umask(folder: Path) -> None:
    before = os.umask(0o077)
    try:
        job.prepare(Systemd(), {"mpirun.sh": "echo\n", "mpi-hostfile": "a\n"}, ME)
    finally:
        os.umask(before)
    assert folder.stat().st_mode & 0o777 == 0o755
    assert (folder / "mpi-hostfile").stat().st_mode & 0o777 == 0o644


def test_a_job_that_runs_is_not_disturbed(folder: Path) -> None:
    with pytest.raises(job.SmokeError, match="still runs: another smoke job"):
        job.prepare(Systemd(sub="running"), {}, ME)


def test_without_mpirun_it_is_said_plainly(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job, "_PATH", ("/nonexistent",))
    with pytest.raises(job.SmokeError, match=r"there is no mpirun .*mpi_manage: true"):
        job.prepare(Systemd(), {}, ME)
    assert not folder.exists()


@pytest.mark.parametrize("name", ["../x", "/etc/x", "A", "a/b", ""])
def test_only_names_of_scripts_are_written(folder: Path, name: str) -> None:
    with pytest.raises(job.SmokeError, match="is no name of a launch script"):
        job.prepare(Systemd(), {name: ""}, ME)


@pytest.mark.parametrize("user", ["", "a b", "-x", "no-such-user"])
def test_a_user_that_is_none_is_refused(folder: Path, user: str) -> None:
    with pytest.raises(job.SmokeError, match="next: set smoke_user"):
        job.prepare(Systemd(), {}, user)


def test_mpirun_leaves_the_commands_of_the_others(folder: Path) -> None:
    run = Systemd()
    job.prepare(run, {}, ME)
    run.on_start = lambda: (folder / "asked/10.0.0.2").write_text(DAEMON + "\n") and None
    assert job.start(run, ME, ["10.0.0.2"], 9, {}, sleep) == {"10.0.0.2": DAEMON + "\n"}
    (argv,) = run.started
    assert argv[-2:] == ["/bin/bash", f"{folder}/mpirun.sh"]
    assert f"--uid={ME}" in argv
    assert "--property=RuntimeMaxSec=9" in argv
    assert "--setenv=PRTE_MCA_plm_ssh_no_tree_spawn=1" in argv


SECRET = "root:$6$hash:1:\n"


def secret(place: Path) -> Path:
    (place.parent.parent / "secret").write_text(SECRET)
    return place.parent.parent / "secret"


# What the job's user may put in place of mpirun's command for a host.
PLANTED: dict[str, Callable[[Path], object]] = {
    "link": lambda place: place.symlink_to(secret(place)),
    "link to a link": lambda place: place.symlink_to("/proc/self/environ"),
    "hard link": lambda place: os.link(secret(place), place),
    "FIFO": os.mkfifo,
    "folder": os.mkdir,
    "device": lambda place: os.mknod(place, 0o600 | stat.S_IFCHR, os.makedev(1, 3)),
}


@as_root
@pytest.mark.parametrize("planted", PLANTED)
def test_only_a_file_of_the_jobs_user_is_taken_for_a_command(
    folder: Path, monkeypatch: pytest.MonkeyPatch, planted: str
) -> None:
    run = Systemd()
    job.prepare(run, {}, "nobody")
    run.on_start = lambda: PLANTED[planted](folder / "asked/n2") and None
    opened = roots_place.record(monkeypatch)
    with pytest.raises(job.SmokeError, match=r"asked/n2: .*; next: ") as raised:
        job.start(run, "nobody", ["n2"], 9, {}, sleep)
    assert "hash" not in str(raised.value)
    assert {kind for _path, kind in opened} <= {stat.S_IFREG}


def test_a_command_that_is_no_text_or_endless_is_for_the_other_host_to_refuse(
    folder: Path,
) -> None:
    run = Systemd()
    for text in (b"\xff\xfe\n", b"x" * 10_000_000):
        job.prepare(run, {}, ME)
        run.on_start = lambda text=text: (folder / "asked/n2").write_bytes(text) and None
        (command,) = job.start(run, ME, ["n2"], 9, {}, sleep).values()
        assert len(command) <= job._COMMAND_MOST + 1
        with pytest.raises(job.SmokeError, match="no daemon of Open MPI"):
            job.join(run, ME, command, 9, {}, sleep)
        run.ends()


def test_an_mpirun_that_ends_before_it_asks_is_told_with_its_last_words(folder: Path) -> None:
    run = Systemd()
    job.prepare(run, {}, ME)

    def fail() -> None:
        (folder / "log").write_text("mpirun: no such option\n")
        run.ends("exit-code")

    run.on_start = fail
    said = r"mpirun ended \(exit-code\) without asking for b: mpirun: no such option"
    with pytest.raises(job.SmokeError, match=said):
        job.start(run, ME, ["b"], 9, {}, sleep)


def test_an_mpirun_that_asks_for_nobody_is_given_up(folder: Path) -> None:
    run = Systemd()
    job.prepare(run, {}, ME)
    with pytest.raises(job.SmokeError, match="mpirun did not ask for b, c: it said nothing"):
        job.start(run, ME, ["b", "c"], 0, {}, sleep)


def test_a_daemon_stays_in_the_foreground(folder: Path) -> None:
    run = Systemd()
    job.join(run, ME, f"X=1; export X; {DAEMON}\n", 9, {}, sleep)
    (argv,) = run.started
    assert argv[-3:] == [
        "/bin/sh",
        "-c",
        'X=1; export X; /usr/bin/prted --prtemca ess "env"',
    ]


def test_a_daemon_that_ends_at_once_is_told(folder: Path) -> None:
    folder.mkdir()
    run = Systemd()

    def fail() -> None:
        (folder / "log").write_text("sh: prted: not found\n")
        run.ends("exit-code")

    run.on_start = fail
    with pytest.raises(job.SmokeError, match=r"ended at once \(exit-code 0\): sh: prted"):
        job.join(run, ME, DAEMON, 9, {}, sleep)


@pytest.mark.parametrize("command", ["", "rm -rf /", "prted\nrm -rf /", "/usr/bin/prtedx ", "prted " + "x" * 70000])
def test_what_is_no_daemon_of_open_mpi_is_not_run(folder: Path, command: str) -> None:
    run = Systemd()
    with pytest.raises(job.SmokeError, match="is no daemon of Open MPI"):
        job.join(run, ME, command, 9, {}, sleep)
    assert run.started == []


def test_a_unit_that_survives_its_stop_is_told(folder: Path) -> None:
    with pytest.raises(job.SmokeError, match="still runs after `systemctl stop`"):
        job.remove(Systemd(sub="running", stops=False))


def test_who_logged_in_runs_it_and_never_root() -> None:
    assert job.default_user({"SUDO_USER": "ops"}) == "ops"
    assert job.default_user({"SUDO_USER": "root"}) == "nobody"
    assert job.default_user({}) == "nobody"
