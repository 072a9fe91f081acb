# SPDX-License-Identifier: GPL-3.0-or-later
"""Run a job under mpirun on several hosts without ssh between them.

mpirun is given an agent in place of ssh, which leaves the command of each daemon in a file; who
called us runs it on its host. Everything is a transient unit with RuntimeMaxSec: stopping that ends
whatever it started, and it ends by itself where nobody stops it.
"""

from __future__ import annotations

import os
import pwd
import re
import shutil
import time
from dataclasses import dataclass
from typing import Any, Callable, Mapping

from ..._ground import whole
from ..._ground.bound import Bound
from ..._ground.regular import open_regular
from ..._ground.text import last_word
from ..._ground.unit import Run, said

UNIT = "ibready-smoke.service"
# Not below /run or /tmp, which may be mounted noexec.
FOLDER = "/var/lib/ibready-smoke"
LOG = f"{FOLDER}/log"
ASKED = f"{FOLDER}/asked"
_AGENT = f"{FOLDER}/agent.sh"
_AGENT_TEXT = f"""#!/bin/sh
# In place of ssh: leave the command for host $1, and let it be run there by who waits for it.
host="$1"
shift
printf '%s\\n' "$*" > "{ASKED}/.$host" && mv "{ASKED}/.$host" "{ASKED}/$host"
"""
# Of Open MPI 4 and of 5, which takes its runtime from PRRTE.
_ENVIRONMENT = {
    "OMPI_MCA_plm_rsh_agent": _AGENT,
    "PRTE_MCA_plm_ssh_agent": _AGENT,
    "OMPI_MCA_plm_rsh_no_tree_spawn": "1",
    "PRTE_MCA_plm_ssh_no_tree_spawn": "1",
    "OMPI_MCA_pml_base_verbose": "10",
    "OMPI_MCA_btl_base_verbose": "100",
    "OMPI_MCA_mtl_base_verbose": "10",
    "UCX_LOG_LEVEL": "info",
}
_PATH = ("/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin")
# Where distributions and vendors put it without a link in the usual path.
_BINS = ("/usr/lib64/openmpi/bin", "/usr/mpi/gcc/openmpi/bin", "/opt/openmpi/bin")
_NO_MPIRUN = (
    "there is no mpirun on this host, in none of {}; next: have role mpi install Open MPI "
    "(mpi_manage: true), or install it from the distribution"
)
_DAEMON = re.compile(r"(?:^|[/;\s])(?:prted|orted)\s")
_DETACH = re.compile(r" --?daemonize\b")
_COMMAND_MOST: Bound = 65536
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")
# The names of files that we write.
_FILE = re.compile(r"[a-z][a-z0-9.-]{0,63}")
_AGAIN_S = 0.1
# What our programs say of themselves, ahead of what mpirun makes of it.
_OWN = re.compile(r"ibready-smoke: ([^\n]{1,500})")
# A daemon that cannot be started or loaded is gone by then.
_FIRST_S = 0.5


class SmokeError(Exception):
    """The job cannot go on; the message names the cause and the next step."""


class Busy(SmokeError):
    """Another job runs, which is not ours to end."""


@dataclass(frozen=True)
class State:
    """``running``: whether the main process is still there. ``result``: success, exit-code,
    timeout, ... of systemd; ``status``: its exit status, or the number of the signal."""

    running: bool
    result: str
    status: str


def prepare(run: Run, files: Mapping[str, str], user: str) -> str:
    """Lay out the folder anew; returns the folder of mpirun. ``user``: who the job runs as."""
    owner = _user(user)
    found = mpirun_folder()
    if state(run).running:
        raise Busy(f"{UNIT} still runs: another smoke job; next: wait for it to end")
    remove(run)
    whole.make_folder(FOLDER)
    for name, text in {**files, "agent.sh": _AGENT_TEXT}.items():
        if not _FILE.fullmatch(name):
            raise SmokeError(f"{name!r} is no name of a launch script; next: take it from launch")
        path = os.path.join(FOLDER, name)
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text)
        os.chmod(path, 0o755 if name.endswith(".sh") else 0o644)
    os.mkdir(ASKED, 0o700)
    os.chown(ASKED, owner.pw_uid, owner.pw_gid)
    return found


def start(
    run: Run,
    user: str,
    hosts: list[str],
    seconds: int,
    given: Mapping[str, str],
    sleep: Callable[[float], None] = time.sleep,
) -> dict[str, str]:
    """Start the script on the first host; returns the command that each of the others is to run.

    ``given``: more of the job's environment.
    """
    _unit(run, ["/bin/bash", f"{FOLDER}/mpirun.sh"], user, seconds, given)
    owner = _user(user).pw_uid
    deadline = time.monotonic() + seconds
    while True:
        found = {host: _asked(host, owner) for host in hosts}
        if all(found.values()):
            return found
        now = state(run)
        silent = [host for host, command in found.items() if not command]
        if not now.running or time.monotonic() > deadline:
            why = "did not ask for" if now.running else f"ended ({now.result}) without asking for"
            raise SmokeError(f"mpirun {why} {', '.join(silent)}: {last_line(read_log())}")
        sleep(_AGAIN_S)


def join(
    run: Run,
    user: str,
    command: str,
    seconds: int,
    given: Mapping[str, str],
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Start the daemon that mpirun on the first host wants here, and see that it does not fail at
    once."""
    text = command.strip()
    if len(text) > _COMMAND_MOST or not text.isprintable() or not _DAEMON.search(text):
        raise SmokeError("what mpirun wants to have run here is no daemon of Open MPI")
    # In the foreground: systemd sees when it ends.
    _unit(run, ["/bin/sh", "-c", _DETACH.sub("", text)], user, seconds, given)
    sleep(_FIRST_S)
    now = state(run)
    if not now.running and now.result != "success":
        raise SmokeError(f"the daemon of mpirun ended at once ({now.result} {now.status}): {last_line(read_log())}")


def wait(run: Run, seconds: int, sleep: Callable[[float], None] = time.sleep) -> State:
    """Return when the job has ended: systemd ends it in time, and later than that nobody waits."""
    deadline = time.monotonic() + seconds + 15
    while True:
        now = state(run)
        if not now.running or time.monotonic() > deadline:
            return now
        sleep(_AGAIN_S)


def state(run: Run) -> State:
    """How the unit is; not running where there is none."""
    wanted = ("SubState", "Result", "ExecMainStatus")
    output = run(["systemctl", "show", UNIT, *(f"--property={item}" for item in wanted)], 10.0)
    if output.rc != 0:
        raise SmokeError(f"cannot ask for {UNIT}: {said(output)}; next: is systemd running?")
    reported = dict(line.split("=", 1) for line in output.stdout.splitlines() if "=" in line)
    if "SubState" not in reported:
        raise SmokeError(f"systemd does not say how {UNIT} is; next: `systemctl show {UNIT}`")
    running = reported["SubState"] not in ("dead", "exited", "failed")
    return State(running, reported.get("Result", ""), reported.get("ExecMainStatus", ""))


def remove(run: Run) -> bool:
    """End what runs and take the folder away; returns whether there was anything."""
    there = state(run).running or os.path.isdir(FOLDER)
    run(["systemctl", "stop", UNIT], 30.0)
    if state(run).running:
        raise SmokeError(f"{UNIT} still runs after `systemctl stop`; next: stop it by hand")
    run(["systemctl", "reset-failed", UNIT], 10.0)
    if os.path.isdir(FOLDER):
        shutil.rmtree(FOLDER)
    return there


def read_log() -> str:
    """What the job has said so far."""
    try:
        with open(LOG, encoding="utf-8", errors="replace") as stream:
            return stream.read(8 * 1024 * 1024)
    except FileNotFoundError:
        return ""


def last_line(log: str) -> str:
    """What the job said last, for a message."""
    return last_word(log) or "it said nothing"


def own_word(log: str) -> str:
    """Why the job's own program gave up; "" where it said nothing of that."""
    found = _OWN.search(log)
    return found.group(1) if found else ""


def default_user(environment: Mapping[str, str]) -> str:
    """Who logged in; nobody where that is root, for whom Open MPI does not run."""
    name = environment.get("SUDO_USER", "")
    return name if name and name != "root" else "nobody"


def mpirun_folder() -> str:
    """Where mpirun is; SmokeError where there is none."""
    found = shutil.which("mpirun", path=os.pathsep.join((*_PATH, *_BINS)))
    if found is None:
        raise SmokeError(_NO_MPIRUN.format(", ".join((*_PATH, *_BINS))))
    return os.path.dirname(found)


def home_of(user: str) -> str:
    """The user's home, whose files Open MPI and UCX read."""
    return _user(user).pw_dir


def checked(given: Mapping[str, Any]) -> dict[str, str]:
    """Variables for the job; SmokeError for what is none, or is ours to set."""
    for name, value in given.items():
        if not _VARIABLE.fullmatch(name) or name in _ENVIRONMENT or name == "PATH":
            raise SmokeError(f"{name!r} cannot be set for the job; next: see smoke_environment")
        if not isinstance(value, (str, int)) or not str(value).isprintable():
            raise SmokeError(f"{name}: {value!r} is no value; next: see smoke_environment")
    return {name: str(value) for name, value in given.items()}


def _user(name: str) -> pwd.struct_passwd:
    if not _NAME.fullmatch(name):
        raise SmokeError(f"{name!r} is no user name; next: set smoke_user")
    try:
        return pwd.getpwnam(name)
    except KeyError:
        raise SmokeError(f"there is no user {name} on this host; next: set smoke_user") from None


def _asked(host: str, owner: int) -> str:
    """What mpirun left for a host. The folder is the job's user's, who may put anything there."""
    if "/" in host or host.startswith("."):
        raise SmokeError(f"{host!r} is no host; next: take it from the hostfile")
    place = os.path.join(ASKED, host)
    try:
        with open(open_regular(place), encoding="utf-8", errors="replace") as stream:
            if os.fstat(stream.fileno()).st_uid != owner:
                raise OSError("it is not a file of the job's user")
            return stream.read(_COMMAND_MOST + 1)
    except FileNotFoundError:
        return ""
    except OSError as exc:
        why = exc.strerror or exc
        raise SmokeError(f"{place}: {why}; next: see what else {FOLDER} is used by") from exc


def _unit(run: Run, argv: list[str], user: str, seconds: int, given: Mapping[str, str]) -> None:
    _user(user)
    properties = [
        f"RuntimeMaxSec={seconds}",
        "RemainAfterExit=yes",
        "KillMode=control-group",
        "TimeoutStopSec=5",
        "LimitMEMLOCK=infinity",
        f"StandardOutput=file:{LOG}",
        f"StandardError=file:{LOG}",
    ]
    path = os.pathsep.join(dict.fromkeys((mpirun_folder(), *_PATH)))
    environment = {**given, **_ENVIRONMENT, "PATH": path}
    output = run(
        [
            *("systemd-run", f"--unit={UNIT}", "--quiet", f"--uid={user}"),
            f"--working-directory={FOLDER}",
            "--description=ibready: MPI job",
            *(f"--property={entry}" for entry in properties),
            *(f"--setenv={name}={value}" for name, value in environment.items()),
            *argv,
        ],
        30.0,
    )
    if output.rc != 0:
        raise SmokeError(f"{UNIT} not started: {said(output)}; next: `systemctl status {UNIT}`")
