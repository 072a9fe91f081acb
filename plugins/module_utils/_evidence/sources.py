# SPDX-License-Identifier: GPL-3.0-or-later
"""Where raw material comes from: the live host, or a bundle collected from one."""

from __future__ import annotations

import contextlib
import os
import posixpath
import re
import stat
import time
from typing import Any, Callable, Collection, Iterator, List, Mapping, NamedTuple, Protocol, TypeVar

from .._data import apt_options
from .._data.host_resources import WRITTEN
from .._ground.command import Missing, Output, Unavailable, as_unavailable, decode, find_first, run_program
from .._ground.paths import list_names, read_link, read_regular
from .._ground.regular import open_regular
from . import manifest

__all__ = [
    "COMMANDS",
    "QUESTIONS",
    "Bundle",
    "Cached",
    "Command",
    "Evidence",
    "Live",
    "Missing",
    "Output",
    "Unavailable",
]

T = TypeVar("T")


class Command(NamedTuple):
    """How an evidence name is asked on a live host; `timeout` in seconds, `most` in bytes.

    `or_at`: where else the program may lie. `cwd`: where it runs, if not where we do. Root runs a program that is named
    by its path only where nobody else may put another there. `newer`: options that an old program refuses, which is
    then asked without them.
    """

    argv: tuple[str, ...]
    timeout: float = 30.0
    most: int | None = None
    or_at: tuple[str, ...] = ()
    cwd: str | None = None
    newer: tuple[str, ...] = ()


# nvidia-smi wakes every GPU where no persistence daemon holds them: seconds per GPU.
_SMI = 90.0
# A fabric of 16,384 ports fills some 12 MiB.
_FABRIC = 64 * 1024 * 1024
# The names of a bundle (docs/bundles.md): those that every bundle may hold, and some of our own.
COMMANDS: dict[str, Command] = {
    "apt_check": Command(apt_options.CHECK, 60.0),
    "dcb": Command(("dcb",)),
    "df": Command(("df", "-k", "--output=fstype,size,avail,itotal,iavail,target", "--total", *WRITTEN), 10.0),
    "device_groups": Command(
        ("find", "-L", "/dev", "-maxdepth", "1", "-name", "nvidia*", "-printf", "%G %g %p\\n"), 10.0
    ),
    "dkms_status": Command(("dkms", "status"), 120.0),
    # The level of each line; util-linux before 2.20 and busybox do not tell it.
    "dmesg": Command(("dmesg",), newer=("-x",)),
    "ethtool_stats": Command(("ethtool", "-S")),
    "fabricmanager_status": Command(("systemctl", "--no-pager", "status", "nvidia-fabricmanager")),
    "dump_fts": Command(("dump_fts",), 120.0, _FABRIC),
    # It reads every GPU, and keeps a log where it runs, if it can: in /proc nobody can.
    "gdscheck": Command(
        ("/usr/local/cuda/gds/tools/gdscheck", "-p"),
        _SMI,
        or_at=("/usr/local/cuda/gds/tools/gdscheck.py", "/usr/libexec/gds/tools/gdscheck", "gdscheck", "gdscheck.py"),
        cwd="/proc",
    ),
    "getent_ahosts": Command(("getent", "ahosts"), 10.0),
    "gpu_use": Command(
        (
            "nvidia-smi",
            "--query-gpu=index,utilization.gpu,utilization.memory,memory.used,memory.total",
            "--format=csv,noheader,nounits",
        ),
        _SMI,
    ),
    "grubby_kernel": Command(("grubby", "--default-kernel")),
    "ibhosts": Command(("ibhosts",), 60.0),
    "iblinkinfo": Command(("iblinkinfo",), 120.0, _FABRIC),
    "ibnetdiscover": Command(("ibnetdiscover",), 120.0, _FABRIC),
    "ibqueryerrors": Command(("ibqueryerrors",), 120.0, _FABRIC),
    "ibstat": Command(("ibstat",)),
    "ibstatus": Command(("ibstatus",)),
    "ibv_devinfo": Command(("ibv_devinfo",)),
    # A BMC answers a sensor in milliseconds, some hundred in seconds, and one that hangs never.
    "ipmi_sdr": Command(("ipmitool", "sdr", "elist"), 20.0),
    "ipmi_sel": Command(("ipmitool", "sel", "list", "last", "100"), 10.0),
    "ip_addr": Command(("ip", "-j", "-d", "addr")),
    "ip_route": Command(("ip", "-j", "route", "get")),
    "ldconfig": Command(("ldconfig", "-p")),
    "lldpctl": Command(("lldpctl", "-f", "json"), 10.0),
    "lsmod": Command(("lsmod",)),
    "mlnx_qos": Command(("mlnx_qos",)),
    "mlxlink": Command(("mlxlink",)),
    # The same programs are in mstflint, and under the other name in NVIDIA's MFT. They read alone: nothing here sets.
    "mstconfig": Command(("mstconfig",), 60.0, or_at=("mlxconfig",)),
    "mstreg": Command(("mstreg",), or_at=("mlxreg",)),
    "mst_status": Command(("mst", "status")),
    "nvlink_caps": Command(("nvidia-smi", "nvlink", "-c"), _SMI),
    "nvlink_errors": Command(("nvidia-smi", "nvlink", "-e"), _SMI),
    "nvlink_throughput": Command(("nvidia-smi", "nvlink", "-gt", "d"), _SMI),
    "nvlink_status": Command(("nvidia-smi", "nvlink", "--status"), _SMI),
    "nvsmi_q": Command(("nvidia-smi", "-q"), _SMI),
    "nvsmi_xml": Command(("nvidia-smi", "-q", "-x"), _SMI),
    "ofed_info": Command(("ofed_info", "-s")),
    "ompi_info": Command(("ompi_info", "--parsable", "--param", "pml", "all", "--level", "9")),
    "perfquery": Command(("perfquery",)),
    "rdma_link": Command(("rdma", "link")),
    "rpm_names": Command(("rpm", "-qa", "--qf", "%{NAME}\\n"), 60.0),
    "rpm_qa": Command(("rpm", "-qa", "--qf", "%{NAME} %{VERSION}-%{RELEASE} %{ARCH}\\n"), 60.0),
    # What packages need of each other; their files would take minutes.
    "rpm_verify": Command(("rpm", "-Va", "--nofiles", "--nodigest", "--nosignature", "--noscripts"), 60.0),
    "saquery_sm": Command(("saquery", "SMInfoRecord"), 60.0),
    "sminfo": Command(("sminfo",)),
    # Process 1 as well: where that is hidden, others are, too.
    "spcx_cc": Command(("pgrep", "-x", "-a", "doca_spcx_cc|systemd|init"), 10.0),
    "systemctl_show": Command(("systemctl", "show")),
    "timedatectl_show": Command(("timedatectl", "show")),
    "topo": Command(("nvidia-smi", "topo", "-m"), _SMI),
    "ucx_info": Command(("ucx_info", "-v", "-d")),
}

# What programs of our own tell. Who asks them hands them to `Live`; each bounds its own time.
QUESTIONS = ("container_probe", "nccl_copies", "nccl_proof")
Questions = Mapping[str, Callable[..., Output]]

_NOT_WHOLE = "the bundle was damaged or not copied whole; copy it again from where it was made"
_SECONDS = re.compile(r"[0-9]{1,6}(?:\.[0-9]{1,6})?")
_RC = re.compile(r"-?[0-9]{1,9}")

Names = List[str]  # inside the classes below `list` is a method


def _found(known: Command) -> str:
    """The program's path, at the first of its places; Unavailable where it is at none, or may be anybody's."""
    places = (known.argv[0], *known.or_at)
    program = find_first(places)
    if program in places:
        with as_unavailable(program):
            os.close(open_regular(program, alone=True))
    return program


def entry_name(name: str, *args: str) -> str:
    """The directory of a command in a bundle: ``NAME``, or ``NAME@ARG-ARG`` without the options.

    A question of our own has one answer, however it is put.
    """
    if name in QUESTIONS:
        return name
    words = "-".join(arg for arg in args if not arg.startswith("-"))
    return f"{name}@{words}" if args else name


class Evidence(Protocol):
    """A source of raw material. Every method raises Unavailable and nothing else.

    ``recorded``: whether it was collected earlier, so that nothing more can be asked.
    """

    recorded: bool

    def run(self, name: str, *args: str) -> Output:
        """Give the output of what has this evidence name (COMMANDS, QUESTIONS)."""

    def read(self, path: str) -> str:
        """Give the text of the file at an absolute path."""

    def list(self, path: str) -> Names:
        """Give the sorted names in the directory at an absolute path."""

    def read_bytes(self, path: str) -> bytes:
        """Give the bytes of the file at an absolute path, for what is no text."""

    def link(self, path: str) -> str:
        """Give the text of the symbolic link at an absolute path, unresolved."""

    def mode(self, path: str) -> int:
        """Give the permission bits (like 0o666) of what is at an absolute path."""

    def again(self, seconds: float) -> tuple[Evidence, float]:
        """Give the host as it is this long after, and how many seconds lay between the looks."""


class Live:
    """The host itself; `root` takes the place of / for files.

    `timeout` (seconds) takes the place of every command's own limit, `pause` of every wait between
    two looks. `questions`: those of QUESTIONS that can be asked. `unasked`: commands that are not run.
    """

    recorded = False

    def __init__(
        self,
        root: str | os.PathLike[str] = "/",
        timeout: float | None = None,
        pause: float | None = None,
        questions: Questions | None = None,
        unasked: Collection[str] = (),
    ) -> None:
        self._questions = questions or {}
        self._unasked = unasked
        self._root = os.fspath(root)
        self._timeout = timeout
        self._pause = pause

    def run(self, name: str, *args: str) -> Output:
        """Run the command in the C locale, without a shell, for at most its time limit."""
        if name in QUESTIONS:
            if os.path.realpath(self._root) != "/":
                raise Unavailable(name, "only the host itself can be asked")
            if name not in self._questions:
                raise Unavailable(name, "the areas that are judged here do not ask it")
            return self._questions[name](*args)
        if name not in COMMANDS:
            raise Unavailable(name, "no command is known by this name")
        if name in self._unasked:
            raise Unavailable(name, "it takes too long to be asked here")
        known = COMMANDS[name]
        argv = [_found(known), *known.argv[1:], *known.newer, *args]
        seconds = known.timeout if self._timeout is None else self._timeout
        told = run_program(name, argv, seconds, most=known.most, cwd=known.cwd)
        if known.newer and told.rc != 0 and not told.stdout:
            argv = [argv[0], *known.argv[1:], *args]
            told = run_program(name, argv, seconds, most=known.most, cwd=known.cwd)
        return told

    def read(self, path: str) -> str:
        """Read a regular file below the root."""
        return decode(self.read_bytes(path))

    def read_bytes(self, path: str) -> bytes:
        """Read a regular file below the root, as it is."""
        return read_regular(_below(self._root, path), path)

    def link(self, path: str) -> str:
        """Read a symbolic link below the root."""
        return read_link(_below(self._root, path), path, "no such link")

    def mode(self, path: str) -> int:
        """Ask for the permissions below the root, following links."""
        with as_unavailable(path, "no such file"):
            return stat.S_IMODE(os.stat(_below(self._root, path)).st_mode)

    def again(self, seconds: float) -> tuple[Evidence, float]:
        """Wait, and look at the same host anew."""
        begun = time.monotonic()
        time.sleep(seconds if self._pause is None else self._pause)
        return self, time.monotonic() - begun

    def list(self, path: str) -> Names:
        """List a directory below the root."""
        return list_names(_below(self._root, path), path)


class Bundle:
    """A directory that ``playbooks/collect.yml`` wrote for one host.

    Raises Unavailable where it is none, or of a format that is not known. What its manifest
    records as absent on the host is Missing; anything else that it does not hold may well be there.
    """

    recorded = True

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self._directory = os.path.realpath(os.fspath(directory))
        self.manifest = manifest.load(self._directory)
        self.peers = self.manifest.peers
        self._resolved: dict[str, str] = {}
        self._names: dict[str, list[str]] = {}
        for path in self.manifest.sums:
            folder, _slash, name = path.rpartition("/")
            self._names.setdefault(folder, []).append(name)

    def run(self, name: str, *args: str) -> Output:
        """Give the recorded output from ``commands/NAME``, or with arguments ``NAME@ARG-ARG``.

        Options are no part of the directory's name. A call with arguments is never answered with
        what the command said without them.
        """
        entry = entry_name(name, *args)
        if not name or "/" in entry or "\0" in entry or name.startswith("."):
            raise Unavailable(entry, "not a name that a bundle can hold")
        rc = decode(self._get(f"commands/{entry}/rc", entry)).strip()
        if _RC.fullmatch(rc) is None:
            raise Unavailable(entry, f"the exit status in the bundle is not a number: {rc[:20]!r}")
        most = COMMANDS[name].most if name in COMMANDS else None
        stdout = decode(self._get(f"commands/{entry}/stdout", entry, most))
        return Output(int(rc), stdout, self._stderr(entry))

    def read(self, path: str) -> str:
        """Read the copy of the file at `path` on the host."""
        return decode(self.read_bytes(path))

    def read_bytes(self, path: str) -> bytes:
        """Read the copy of the file at `path` on the host, as it is."""
        return self._get("files/" + _relative(path), path)

    def link(self, path: str) -> str:
        """Read the copy of the symbolic link at `path` on the host."""
        head, _slash, name = path.rpartition("/")
        if path in self.manifest.links:
            return self.manifest.links[path]
        place = os.path.join(self._inside("files/" + _relative(head or "/"), path), name)
        with self._only_not_collected(path):
            return read_link(place, path, "not in the bundle")

    def mode(self, path: str) -> int:
        """Give the permissions that the manifest records, for a copy has none of its own."""
        if path in self.manifest.modes:
            return self.manifest.modes[path]
        with self._only_not_collected(path):
            raise Missing(path, "its permissions are not in the bundle")

    def again(self, seconds: float) -> tuple[Evidence, float]:
        """Give the second look, a bundle of its own in ``again/``; however long after it was."""
        after = decode(self._get("again/seconds", "again/seconds")).strip()
        if _SECONDS.fullmatch(after) is None:
            raise Unavailable("again/seconds", f"not a number of seconds: {after[:20]!r}")
        return Bundle(self._inside("again", "again")), float(after)

    def list(self, path: str) -> Names:
        """List the copies of the files below `path` on the host."""
        relative = posixpath.normpath("files/" + _relative(path))
        place = self._inside(relative, path)
        with self._only_not_collected(path):
            found = list_names(place, path, "not in the bundle")
        lost = set(self._names.get(relative, ())).difference(found)
        if lost:
            raise Unavailable(path, f"the bundle has lost {min(lost)} of it: {_NOT_WHOLE}")
        return found

    def _stderr(self, entry: str) -> str:
        # A bundle may hold any subset, and no fact is ever taken from stderr alone.
        path = f"commands/{entry}/stderr"
        there = os.path.lexists(os.path.join(self._directory, path)) or path in self.manifest.sums
        return decode(self._get(path, entry)) if there else ""

    def _get(self, relative: str, what: str, most: int | None = None) -> bytes:
        place = self._inside(relative, what)
        # Of a file that somebody added later there is no sum.
        wanted = self.manifest.sums.get(posixpath.normpath(relative))
        if wanted is not None and not os.path.lexists(place):
            raise Unavailable(what, f"it was collected and is gone: {_NOT_WHOLE}")
        with self._only_not_collected(what):
            # Names of a list are folders, so that they can be listed: a link to nothing, for instance.
            if os.path.isdir(place):
                raise Missing(what, "only its name is in the bundle")
            data = read_regular(place, what, "not in the bundle", most)
        if wanted is not None and wanted != manifest.sum_of(data):
            raise Unavailable(what, f"not what was collected: {_NOT_WHOLE}")
        return data

    @contextlib.contextmanager
    def _only_not_collected(self, what: str) -> Iterator[None]:
        try:
            yield
        except Missing as exc:
            if self.manifest.says_absent(what):
                raise Missing(what, "not on the host when the bundle was made") from exc
            reason = self.manifest.unavailable.get(what, exc.reason)
            raise Unavailable(what, reason) from exc

    def _inside(self, relative: str, what: str) -> str:
        """Resolve links, and refuse a place outside the bundle: it may come from a stranger."""
        head, name = os.path.split(relative)
        with as_unavailable(what):
            # A directory is resolved once; most questions are about another name beside it.
            if head not in self._resolved:
                self._resolved[head] = os.path.realpath(os.path.join(self._directory, head))
            place = os.path.join(self._resolved[head], name)
            if name in ("", ".", "..") or os.path.islink(place):
                place = os.path.realpath(place)
            if os.path.commonpath([self._directory, place]) == self._directory:
                return place
        raise Unavailable(what, "leads out of the bundle")


def _relative(path: str) -> str:
    if not path.startswith("/") or "\0" in path or ".." in path.split("/"):
        raise Unavailable(path, "not an absolute path without '..'")
    return path.lstrip("/")


def _below(root: str, path: str) -> str:
    return os.path.join(root, _relative(path))


class Cached:
    """Asks another source once for each thing; what it could not tell is remembered as well.

    ``parsed``: what parsers made of its outputs, kept for _evidence/ask. ``given``, ``peers`` and ``beside``:
    as of the source, see given.py, manifest.py and pasted.py.
    """

    def __init__(self, source: Evidence) -> None:
        self._source = source
        self.recorded = source.recorded
        self.given: tuple[str, ...] = getattr(source, "given", ())
        self.peers: tuple[str, ...] = getattr(source, "peers", ())
        self.beside: tuple[Evidence, ...] = getattr(source, "beside", ())
        self._known: dict[tuple[str, ...], object] = {}
        self.parsed: dict[tuple[object, ...], Any] = {}

    def run(self, name: str, *args: str) -> Output:
        """Give the output of the first run."""
        return self._once(("run", name, *args), lambda: self._source.run(name, *args))

    def read(self, path: str) -> str:
        """Give the text of the first look."""
        return self._once(("read", path), lambda: self._source.read(path))

    def list(self, path: str) -> Names:
        """Give the names of the first look."""
        return self._once(("list", path), lambda: self._source.list(path))

    def read_bytes(self, path: str) -> bytes:
        """Give the bytes of the first look."""
        return self._once(("bytes", path), lambda: self._source.read_bytes(path))

    def link(self, path: str) -> str:
        """Give the link's text of the first look."""
        return self._once(("link", path), lambda: self._source.link(path))

    def mode(self, path: str) -> int:
        """Give the permissions of the first look."""
        return self._once(("mode", path), lambda: self._source.mode(path))

    def again(self, seconds: float) -> tuple[Evidence, float]:
        """Give the second look, which is asked once for each thing, too."""
        return self._once(("again",), lambda: self._again(seconds))

    def answers(self) -> Iterator[tuple[tuple[str, ...], object]]:
        """Give what was asked, as ``(run, NAME, ARG...)`` or ``(read, PATH)``, and what it told.

        The second look is ``(again,)``: a source of its own, and after how many seconds.
        """
        for key, known in self._known.items():
            if not isinstance(known, Unavailable):
                yield key, known

    def lost(self, *, missing: bool) -> Names:
        """Give the files that are not there, or those that could not be read and may well be."""
        asked = [(key[1], no) for key, no in self._known.items() if key[0] == "read" and isinstance(no, Unavailable)]
        return [path for path, no in asked if isinstance(no, Missing) is missing]

    def renew(self, later: Cached) -> None:
        """Take the answers of another look in place of those of the first."""
        self._known.update(later._known)

    def _again(self, seconds: float) -> tuple[Evidence, float]:
        later, after = self._source.again(seconds)
        return Cached(later), after

    def _once(self, key: tuple[str, ...], ask: Callable[[], T]) -> T:
        if key not in self._known:
            try:
                self._known[key] = ask()
            except Unavailable as exc:
                self._known[key] = type(exc)(exc.what, exc.reason)
        known = self._known[key]
        if isinstance(known, Unavailable):
            # Each time a new one: what was raised holds on to all that was at hand where it was.
            raise type(known)(known.what, known.reason)
        return known  # type: ignore[return-value]
