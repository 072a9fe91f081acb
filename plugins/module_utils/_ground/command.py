# SPDX-License-Identifier: GPL-3.0-or-later
"""Find a program on the node and run it: no shell, C locale, bounded in time and output."""

from __future__ import annotations

import contextlib
import errno
import os
import selectors
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from typing import IO, Iterator, Mapping, Sequence

from .bound import Bound

# The diagnostics live in sbin directories, which an unprivileged or ssh PATH leaves out.
# EL keeps Open MPI out of it, too: users load it as a module.
_MORE_PATH = ("/usr/sbin", "/sbin", "/usr/local/sbin", "/usr/lib64/openmpi/bin")
NOT_INSTALLED = "not installed (no such program in PATH)"
LIMIT: Bound = 8 * 1024 * 1024
_CHUNK = 64 * 1024
# A process stuck in the kernel cannot be killed; it is left behind rather than waited for.
_REAP_S = 2.0


@dataclass(frozen=True)
class Output:
    """What a command left: exit status and text."""

    rc: int
    stdout: str
    stderr: str

    @property
    def said(self) -> str:
        """The end of its words in one line, for a message."""
        return " ".join((self.stderr.strip() or self.stdout.strip()).split())[-400:] or "no word"


class Unavailable(Exception):
    """We could not look at `what`, for `reason`; never to be read as "nothing is there"."""

    def __init__(self, what: str, reason: str) -> None:
        super().__init__(what, reason)
        self.what = what
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.what}: {self.reason}"


class Missing(Unavailable):
    """We looked, and it is not there; everything else that is Unavailable may well be."""


def _search_path() -> str:
    # A relative entry would run whatever lies in the working directory.
    given = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join([entry for entry in given if os.path.isabs(entry)] + list(_MORE_PATH))


def _why_not_found(program: str, path: str) -> str:
    for directory in path.split(os.pathsep):
        candidate = os.path.join(directory, program)
        if os.path.isfile(candidate):
            return f"{candidate} may not be executed (permission denied)"
    return NOT_INSTALLED


def find_program(program: str) -> str:
    """The program's absolute path; Unavailable where it is missing or may not be executed."""
    path = _search_path()
    found = shutil.which(program, path=path)
    if found is None:
        raise Unavailable(program, _why_not_found(program, path))
    return found


def find_first(programs: Sequence[str]) -> str:
    """The path of the first of these that is there; Unavailable where none is: of the first that may not be executed,
    else as of the last."""
    refused = []
    for program in programs:
        try:
            return find_program(program)
        except Unavailable as exc:
            refused.append(exc)
    raise next((exc for exc in refused if exc.reason != NOT_INSTALLED), refused[-1])


def is_there(program: str) -> bool:
    """Whether it is installed."""
    try:
        find_program(program)
    except Unavailable:
        return False
    return True


def run_program(
    name: str,
    argv: list[str],
    timeout: float,
    interrupt: float | None = None,
    *,
    env: Mapping[str, str] | None = None,
    stdin: IO[bytes] | None = None,
    most: int | None = None,
    cwd: str | None = None,
) -> Output:
    """Run argv for at most ``timeout`` seconds; Unavailable where it did not end by then.

    After ``interrupt`` seconds it gets one SIGINT, on which tools like ibping print what they have.
    ``env``: instead of our own with a full PATH and the C locale. ``stdin``: a file to read.
    ``most``: bytes that it may print (LIMIT). ``cwd``: where it runs.
    """
    begun = time.monotonic()
    if env is None:
        env = dict(os.environ, PATH=_search_path(), LC_ALL="C", LANGUAGE="")
    with as_unavailable(name):
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL if stdin is None else stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=env,
            cwd=cwd,
            start_new_session=True,
        )
    deadline = begun + timeout
    try:
        stdout, stderr = _collect(
            name,
            process,
            deadline,
            deadline if interrupt is None else begun + interrupt,
            LIMIT if most is None else most,
        )
        rc = process.wait(max(0.0, deadline - time.monotonic()))
    except (subprocess.TimeoutExpired, TimeoutError):
        raise Unavailable(name, f"gave no complete answer within {round(timeout, 2):g} s") from None
    finally:
        _stop(process)
    return Output(rc, decode(stdout), decode(stderr))


def run_by_name(argv: Sequence[str], timeout: float, interrupt: float | None = None) -> Output:
    """The same of a program by its name; Unavailable where it is missing, too."""
    return run_program(argv[0], [find_program(argv[0]), *argv[1:]], timeout, interrupt)


def _collect(
    name: str, process: subprocess.Popen[bytes], deadline: float, interrupt_at: float, most: int
) -> tuple[bytes, bytes]:
    """Read both pipes to their end; TimeoutError at the deadline."""
    if process.stdout is None or process.stderr is None:
        raise AssertionError("both are pipes")
    taken = {process.stdout.fileno(): bytearray(), process.stderr.fileno(): bytearray()}
    interrupted = interrupt_at >= deadline
    with selectors.DefaultSelector() as selector:
        for fd in taken:
            selector.register(fd, selectors.EVENT_READ)
        while selector.get_map():
            now = time.monotonic()
            if now >= deadline:
                raise TimeoutError
            if now >= interrupt_at and not interrupted:
                interrupted = True
                process.send_signal(signal.SIGINT)
            until = deadline if interrupted else interrupt_at
            for key, _events in selector.select(until - now):
                chunk = os.read(key.fd, _CHUNK)
                if not chunk:
                    selector.unregister(key.fd)
                taken[key.fd] += chunk
                if len(taken[key.fd]) > most:
                    raise Unavailable(name, f"printed more than {most // (1024 * 1024)} MiB")
    stdout, stderr = taken.values()
    return bytes(stdout), bytes(stderr)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Close the pipes; end the process and its group where it still runs."""
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()
    if process.returncode is None:
        # The group carries the pid of its leader, which is ours until it is waited for.
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_REAP_S)


@contextlib.contextmanager
def as_unavailable(what: str, missing: str = "no such file") -> Iterator[None]:
    try:
        yield
    except OSError as exc:
        if exc.errno in (errno.ENOENT, errno.ENOTDIR):
            raise Missing(what, missing) from exc
        raise Unavailable(what, exc.strerror.lower() if exc.strerror else str(exc)) from exc
    except ValueError as exc:  # a name that this system's encoding cannot write
        raise Unavailable(what, str(exc)) from exc


def decode(data: bytes) -> str:
    return data.decode("utf-8", errors="replace")
