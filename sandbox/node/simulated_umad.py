#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run an InfiniBand tool, unmodified, against the simulated fabric.

A node has no /dev/infiniband/umadN. /usr/local/sbin/ibping and the like are links to this
program; it runs the real tool of the same name with ibsim's client library preloaded, on the HCA
that ``-C`` names. The library knows one HCA a process and calls it ibsim0, so ``-C ibsim1``
becomes another ibsim host name and, for the tool, ``-C ibsim0``.

The tool's working directory is a scratch directory, because the library writes files there:
give file arguments as absolute paths.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from typing import IO, Any, NamedTuple, NoReturn

CONFIG = "/etc/ibready-sandbox.json"
LIBRARY = "/usr/local/lib/ibready-sandbox/libumad2sim.so"
LINKS = "/usr/local/sbin"
REAL = ("/usr/sbin", "/usr/bin")
RUN = "/run/ibready-sandbox"

_SERVER_PORT = 7070
_SLOTS = 10
_SLOT_WAIT = 20.0
# How often a tool that was started is asked whether it has a place, every 4 ms.
_START_LOOKS = 250
# What the library panics with when another node's tool took the place between our look and its
# connection; nothing was sent to the fabric by then.
_NO_PLACE = b"sim_init: connect failed"
_DEVICE = "ibsim0"
_FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1)
_PR_SET_PDEATHSIG = 1
_SYS_FUTEX = "202"  # x86-64
_INODE = re.compile(r"socket:\[(\d+)\]")


class Choice(NamedTuple):
    """Which HCA a command line asks for, and the command line for the real tool."""

    rail: int
    argv: list[str]
    server: bool


def choose(tool: str, argv: list[str], hcas: list[str]) -> Choice:
    """Read -C/--Ca out of a tool's arguments; a name that no HCA has stays as it is."""
    rail = 0
    server = False
    passed: list[str] = []
    position = 0
    while position < len(argv):
        word = argv[position]
        position += 1
        if word in ("-C", "--Ca") and position < len(argv):
            name, rebuild = argv[position], "%s"
            passed.append(word)
            position += 1
        elif word.startswith("--Ca="):
            name, rebuild = word[5:], "--Ca=%s"
        elif word.startswith("-C") and len(word) > 2:
            name, rebuild = word[2:], "-C%s"
        else:
            passed.append(word)
            server = server or word == "--Server" or re.match(r"-[a-zA-Z]*S", word) is not None
            continue
        if name in hcas:
            rail = hcas.index(name)
            name = _DEVICE
        passed.append(rebuild % name)
    return Choice(rail, passed, server and tool == "ibping")


class Server:
    """ibsim's control port; see struct sim_ctl in its include/ibsim.h."""

    _MAGIC = 0xDEADBEEF
    _CTL = struct.Struct("=IIII64s")
    _INFO = struct.Struct("=III32s")
    _ERROR, _CONNECT, _DISCONNECT, _SET_ISSM = 0, 1, 2, 9

    def __init__(self, address: str) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("", 0))
        self._socket.connect((address, _SERVER_PORT))
        # Long: a connection that is asked for twice takes two places.
        self._socket.settimeout(4.0)

    def connect(self, host: str) -> int | None:
        """Take a slot as an ordinary client of ``host``; None when there is none free."""
        port = self._socket.getsockname()[1]
        kind, data = self._ask(self._CONNECT, 0, self._INFO.pack(port, 0, 0, host.encode()))
        return None if kind == self._ERROR else int(self._INFO.unpack(data[: self._INFO.size])[0])

    def disconnect(self, slot: int) -> None:
        self._ask(self._DISCONNECT, slot, b"")

    def answers_requests(self, slot: int, yes: bool) -> None:
        """Say whether requests to the slot's port are delivered to it."""
        self._ask(self._SET_ISSM, slot, struct.pack("=I", int(yes)))

    def _ask(self, kind: int, slot: int, data: bytes) -> tuple[int, bytes]:
        message = self._CTL.pack(self._MAGIC, slot, kind, len(data), data)
        for _ in range(3):
            try:
                self._socket.send(message)
                answer = self._CTL.unpack(self._socket.recv(self._CTL.size))
            except socket.timeout:
                continue
            return answer[2], answer[4]
        raise OSError("no answer")


def become_server(server: Server, slot: int, host: str) -> None:
    """Have ibsim deliver requests to the slot, without calling its port an SM's.

    ibsim ties the two together: only a client that says it is an SM gets requests. opensm would
    then ask the port for its SMInfo at each sweep, and the preloaded library dies of that
    question. The capability bit belongs to the port and the delivery to the client, so a second
    client of the same port takes the bit away again.
    """
    server.answers_requests(slot, True)
    second = server.connect(host)
    if second is not None:
        server.answers_requests(second, False)
        server.disconnect(second)


def slot_of(pid: int) -> int | None:
    """Return ibsim's number of a client process: its data socket's remote port tells."""
    inodes = set()
    try:
        for entry in os.listdir(f"/proc/{pid}/fd"):
            match = _INODE.match(os.readlink(f"/proc/{pid}/fd/{entry}"))
            if match:
                inodes.add(match.group(1))
    except OSError:
        return None
    if not inodes:
        return None
    with open("/proc/net/udp") as table:
        for line in table.readlines()[1:]:
            fields = line.split()
            port = int(fields[2].rpartition(":")[2], 16)
            if fields[9] in inodes and _SERVER_PORT < port <= _SERVER_PORT + _SLOTS:
                return port - _SERVER_PORT - 1
    return None


def wait_for_slot(server: Server, host: str, deadline: float) -> None:
    """Wait until ibsim, which serves ten processes at a time, has room for one more."""
    while True:
        slot = server.connect(host)
        if slot is not None:
            server.disconnect(slot)
            return
        if time.monotonic() > deadline:
            raise OSError(f"all {_SLOTS} places are taken")
        time.sleep(random.uniform(0.05, 0.2))


class Held:
    """A tool's standard error, held back until it is known whether the tool got its place."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self._kept = b""
        self._passed = False
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def text(self) -> bytes:
        """All that an ended tool said, if it was not passed on."""
        self._reader.join(1.0)
        with self._lock:
            return self._kept

    def pass_on(self) -> None:
        """Give our own standard error what was kept, and all that comes from now on."""
        with self._lock:
            self._passed = True
            self._write(self._kept)
            self._kept = b""

    def end(self) -> None:
        """Wait for the last words of an ended tool."""
        self._reader.join(1.0)

    def _read(self) -> None:
        with self._stream:
            while True:
                said = os.read(self._stream.fileno(), 65536)
                if not said:
                    return
                with self._lock:
                    if self._passed:
                        self._write(said)
                    else:
                        self._kept += said

    @staticmethod
    def _write(said: bytes) -> None:
        with contextlib.suppress(OSError):
            while said:
                said = said[os.write(2, said) :]


class Keeper:
    """A process that cleans up when this one is killed and cannot do it itself."""

    def __init__(self, address: str, scratch: str) -> None:
        read, self._write = os.pipe()
        if os.fork() == 0:
            os.close(self._write)
            try:
                self._keep(read, address, scratch)
            finally:
                os._exit(0)
        os.close(read)

    def tell(self, word: str, number: int = 0) -> None:
        os.write(self._write, f"{word} {number}\n".encode())

    @staticmethod
    def _keep(read: int, address: str, scratch: str) -> None:
        os.setsid()
        for number in _FORWARDED:
            signal.signal(number, signal.SIG_IGN)
        null = os.open(os.devnull, os.O_RDWR)
        for target in (0, 1, 2):
            os.dup2(null, target)
        with os.fdopen(read) as pipe:
            reported = dict(line.split() for line in pipe)
        if "done" in reported:
            return
        if "child" in reported:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(reported["child"]), signal.SIGKILL)
        time.sleep(0.05)
        if "slot" in reported:
            Server(address).disconnect(int(reported["slot"]))
        shutil.rmtree(scratch, ignore_errors=True)


def stuck(pid: int) -> bool:
    """Tell whether every thread of a process waits for a lock.

    The library's receiving thread otherwise always waits for a packet.
    """
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/syscall") as file:
                if file.read().split(None, 1)[0] != _SYS_FUTEX:
                    return False
    except (OSError, IndexError):
        return False
    return True


def watch_for_deadlock(pid: int) -> None:
    """Kill a tool whose library deadlocks in its clean-up, as it does when a packet comes late."""
    seen = [0]

    def look(number: int, frame: object) -> None:
        seen[0] = seen[0] + 1 if stuck(pid) else 0
        if seen[0] == 4:
            sys.stderr.write("simulated-umad: the library hung at the end; output may be cut\n")
            os.kill(pid, signal.SIGKILL)

    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)


def wait_for_start(child: subprocess.Popen[bytes]) -> int | None:
    """Return ibsim's number of a tool once it has one; None where it ended, or has none in a second."""
    for _ in range(_START_LOOKS):
        if child.poll() is not None:
            return None
        slot = slot_of(child.pid)
        if slot is not None:
            return slot
        time.sleep(0.004)
    return None


def run(tool: str, real: str, choice: Choice, config: dict[str, Any]) -> int:
    """Run the real tool to its end and return what waitpid says of it."""
    hca = config["hcas"][choice.rail]
    server = Server(config["server"])
    # The group tells one rail's packets from the other's, for a packet filter. All three ids:
    # were only the effective one set, the loader would ignore LD_PRELOAD.
    os.setgid(hca["gid"])
    scratch = f"{RUN}/{os.getpid()}"
    os.makedirs(scratch, exist_ok=True)
    keeper = Keeper(config["server"], scratch)
    libc = ctypes.CDLL(None)

    def on_its_own() -> None:
        # A signal for the whole group reaches the tool once, through us: the library deadlocks
        # when a second one interrupts its clean-up.
        os.setpgid(0, 0)
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)

    def start() -> subprocess.Popen[bytes]:
        child = subprocess.Popen(
            [tool, *choice.argv],
            executable=real,
            cwd=scratch,
            stderr=subprocess.PIPE,
            env={
                **os.environ,
                "LD_PRELOAD": LIBRARY,
                "IBSIM_SERVER_NAME": config["server"],
                "SIM_HOST": hca["host"],
            },
            preexec_fn=on_its_own,
        )
        keeper.tell("child", child.pid)
        for number in _FORWARDED:
            signal.signal(number, lambda number, _: child.send_signal(number))
        return child

    deadline = time.monotonic() + _SLOT_WAIT
    with open(RUN + "/start.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        while True:
            wait_for_slot(server, hca["host"], deadline)
            child = start()
            assert child.stderr is not None
            held = Held(child.stderr)
            slot = wait_for_start(child)
            if slot is not None or child.poll() is None or _NO_PLACE not in held.text():
                break
            if child.returncode < 0 or time.monotonic() > deadline:
                break
            time.sleep(random.uniform(0.05, 0.2))
    if slot is not None:
        keeper.tell("slot", slot)
    held.pass_on()
    if slot is not None and choice.server:
        time.sleep(0.1)  # a request before the tool has registered for it kills the library
        become_server(server, slot, hca["host"])
    watch_for_deadlock(child.pid)
    status = child.wait()
    signal.setitimer(signal.ITIMER_REAL, 0)
    held.end()
    if slot is not None and status < 0:
        # Only a tool that ends by itself tells ibsim.
        server.disconnect(slot)
    shutil.rmtree(scratch, ignore_errors=True)
    keeper.tell("done")
    return status


def fail(message: str) -> NoReturn:
    sys.exit("simulated-umad: " + message)


def main() -> None:
    tool = os.path.basename(sys.argv[0])
    real = next((p for p in (d + "/" + tool for d in REAL) if os.path.exists(p)), None)
    if real is None:
        fail(f"{tool} is not installed")
    with open(real, "rb") as file:
        if file.read(2) == b"#!":
            # Scripts call their helpers by this path.
            os.execve(real, [real, *sys.argv[1:]], {**os.environ, "IBPATH": LINKS})
    if os.geteuid() != 0:
        fail(f"{tool}: the simulated umad devices belong to root")
    with open(CONFIG) as file:
        config = json.load(file)
    choice = choose(tool, sys.argv[1:], [hca["name"] for hca in config["hcas"]])
    try:
        status = run(tool, real, choice, config)
    except OSError as exc:
        fail(f"{tool}: the simulated fabric at {config['server']}: {exc}")
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    sys.exit(status)


if __name__ == "__main__":
    main()
