# SPDX-License-Identifier: GPL-3.0-or-later
"""Set what every boot resets of RoCE: RDMA CM's mode and ToS, the driver's mark, trust, PFC, ECN.

This file stands alone (Python 3.8, nothing of this collection): the module roce_settings imports
it, and also puts it on the host, where a systemd unit runs it at each boot and whenever an RDMA
device comes:

    roce apply | show | restore

What was before is kept in /run, which a boot empties just as it resets the values themselves.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List

CONFIG = "/etc/ibready/roce.json"
RECORD = "/run/ibready/roce.json"
LOCK = "/run/ibready/roce.lock"
IB = "/sys/class/infiniband"
NET = "/sys/class/net"
CM = "/sys/kernel/config/rdma_cm"
MODE, CM_TOS, TRAFFIC_CLASS = "mode", "cm_tos", "traffic_class"
TRUST, PFC, ECN = "trust", "pfc", "ecn"
# Subjects: of these a port (mlx5_0/1), of the others an interface (eth0), of ECN one of its
# priorities (eth0/3).
OF_PORT = (MODE, CM_TOS, TRAFFIC_CLASS)
OF_CM = {MODE: "default_roce_mode", CM_TOS: "default_roce_tos"}
_SIDES = ("roce_np", "roce_rp")
# Between the values of the two, where they differ.
_AND = " and "
_TCLASS = re.compile(r"Global tclass=([0-9]{1,3})")
_TRUSTED = re.compile(r"^\s*(?:Priority )?trust state: *([a-z]+)", re.MULTILINE | re.IGNORECASE)
_ENABLED = re.compile(r"^\s*enabled:?((?:\s+[01]){8})\s*$", re.MULTILINE)
_LIMIT = 30.0
_MORE_PATH = "/usr/sbin:/sbin:/usr/bin:/bin"

# By knob and subject, what was before and what was set.
Values = Dict[str, Dict[str, List[str]]]


class RoceError(Exception):
    """A value that the host does not take, with the reason and the next step."""


@dataclass(frozen=True)
class Setting:
    """One value to set; ``before`` is "" where it cannot be read yet."""

    knob: str
    subject: str
    before: str
    after: str


@dataclass(frozen=True)
class Wanted:
    """One value that the host is to have."""

    knob: str
    subject: str
    value: str


class Host:
    """The host whose / is ``root``: reads and writes sysfs and configfs, runs mlnx_qos."""

    def __init__(self, root: str = "/") -> None:
        self._root = root
        self._qos: dict[str, str] = {}

    def place(self, path: str) -> str:
        return os.path.join(self._root, path.lstrip("/"))

    def there(self, one: Wanted) -> bool:
        """Whether the device or the interface is there."""
        name = one.subject.partition("/")[0]
        return os.path.isdir(self.place(f"{IB if one.knob in OF_PORT else NET}/{name}"))

    def look(self, wanted: list[Wanted]) -> tuple[list[Setting], list[str]]:
        """What is not yet as it should be, and what is not there."""
        wrong, notes = [], []
        for one in wanted:
            if not self.there(one):
                notes.append(f"{one.knob} of {one.subject}: it is not there")
                continue
            now = self.value(one.knob, one.subject)
            if now != one.value:
                wrong.append(Setting(one.knob, one.subject, now, one.value))
        return wrong, notes

    def value(self, knob: str, subject: str) -> str:
        """What the host has now; "" where that cannot be read."""
        device, _slash, number = subject.partition("/")
        if knob in OF_CM:
            return self._text(f"{CM}/{device}/ports/{number}/{OF_CM[knob]}")
        if knob == TRAFFIC_CLASS:
            match = _TCLASS.match(self._text(f"{IB}/{device}/tc/{number}/traffic_class"))
            return match.group(1) if match else ""
        if knob == ECN:
            sides = [self._text(f"{NET}/{device}/ecn/{side}/enable/{number}") for side in _SIDES]
            return sides[0] if sides[0] == sides[1] else _AND.join(sides)
        match = (_TRUSTED if knob == TRUST else _ENABLED).search(self._told(subject))
        return ",".join(match.group(1).split()).lower() if match else ""

    def set(self, knob: str, subject: str, value: str) -> None:
        """Set one value and see that it was kept; RoceError otherwise."""
        device, _slash, number = subject.partition("/")
        try:
            if knob in OF_CM:
                self.open_cm(device)
                self._write(f"{CM}/{device}/ports/{number}/{OF_CM[knob]}", value)
            elif knob == TRAFFIC_CLASS:
                self._write(f"{IB}/{device}/tc/{number}/traffic_class", value)
            elif knob == ECN:
                for side, half in zip(_SIDES, _halves(value)):
                    self._write(f"{NET}/{device}/ecn/{side}/enable/{number}", half)
            else:
                self._qos.pop(subject, None)
                self.run("mlnx_qos", "-i", subject, f"--{knob}", value)
        except OSError as exc:
            raise RoceError(
                f"{subject} does not take {knob} {value}: {exc.strerror}. {_next(knob)}"
            ) from exc
        kept = self.value(knob, subject)
        if kept != value:
            raise RoceError(
                f"{knob} of {subject} was set to {value}, and it shows {kept or 'nothing'}."
                f" {_next(knob)}"
            )

    def open_cm(self, device: str) -> None:
        """Have RDMA CM show a device's settings: a folder of its name in configfs. It stays, for
        the checks look there."""
        if not os.path.isdir(self.place(CM)):
            self.run("modprobe", "rdma_cm")
        if not os.path.isdir(self.place(CM)):
            raise RoceError(
                f"RDMA CM shows no settings ({CM} is not there). Next: `modprobe rdma_cm`, and see"
                " that configfs is mounted (`systemctl start sys-kernel-config.mount`)"
            )
        with contextlib.suppress(FileExistsError):
            os.mkdir(self.place(f"{CM}/{device}"))

    def apply(self, settings: list[Setting]) -> list[Setting]:
        """Set all of these, and tell what each was before, remembered first. RoceError names what
        is not taken, which is as it was then; the others before it are set."""
        done = []
        for one in settings:
            before = one.before
            if one.knob in OF_CM:
                self.open_cm(one.subject.partition("/")[0])
                before = self.value(one.knob, one.subject)
            if before == one.after:
                continue
            record = self.record()
            known = record.setdefault(one.knob, {}).get(one.subject)
            record[one.knob][one.subject] = [known[0] if known else before, one.after]
            self._remember(record)
            try:
                self.set(one.knob, one.subject, one.after)
            except RoceError as exc:
                raise RoceError(f"{exc}{self._back(one.knob, one.subject, before)}") from exc
            done.append(Setting(one.knob, one.subject, before, one.after))
        return done

    def to_restore(self, wanted: list[Wanted]) -> list[Setting]:
        """What `apply` set, nobody wants and nobody has changed since, and what it was before."""
        asked = {(one.knob, one.subject) for one in wanted}
        return [
            Setting(knob, subject, after, before)
            for knob, subjects in self.record().items()
            for subject, (before, after) in subjects.items()
            if (knob, subject) not in asked
            and before not in ("", after)
            and self.value(knob, subject) == after
        ]

    def staying(self, wanted: list[Wanted]) -> list[Setting]:
        """What `apply` set, nobody wants and nobody can put back: it had no value to be read."""
        asked = {(one.knob, one.subject) for one in wanted}
        return [
            Setting(knob, subject, "", after)
            for knob, subjects in self.record().items()
            for subject, (before, after) in subjects.items()
            if (knob, subject) not in asked and not before and self.value(knob, subject) == after
        ]

    def restore(self, wanted: list[Wanted]) -> None:
        """Put those back, and forget what is no longer wanted."""
        for one in self.to_restore(wanted):
            self.set(one.knob, one.subject, one.after)
        asked = {(one.knob, one.subject) for one in wanted}
        kept = {
            knob: {at: pair for at, pair in subjects.items() if (knob, at) in asked}
            for knob, subjects in self.record().items()
        }
        self._remember({knob: subjects for knob, subjects in kept.items() if subjects})

    def undo(self, settings: list[Setting]) -> None:
        """Put back what `apply` has just set; RoceError tells what had no value to go back to."""
        for one in reversed(settings):
            if one.before:
                self.set(one.knob, one.subject, one.before)
                self._was(one.knob, one.subject, one.before)
        stays = [f"{one.knob} of {one.subject}" for one in settings if not one.before]
        if stays:
            raise RoceError(
                f"{', '.join(stays)}: no value could be read before; what was set holds until the"
                " next boot"
            )

    def _back(self, knob: str, subject: str, before: str) -> str:
        """Undo half of a change; what to say where that is not to be had."""
        try:
            if before and self.value(knob, subject) != before:
                self.set(knob, subject, before)
            self._was(knob, subject, before)
        except RoceError:
            return f" It was {before}, and could not be put back."
        return ""

    def _was(self, knob: str, subject: str, now: str) -> None:
        """Remember that a value is back at this, which an earlier run may have set."""
        record = self.record()
        first = record.get(knob, {}).pop(subject, [now])[0]
        if first != now:
            record[knob][subject] = [first, now]
        self._remember({name: subjects for name, subjects in record.items() if subjects})

    def record(self) -> Values:
        try:
            with open(self.place(RECORD), encoding="utf-8") as stream:
                found: Values = json.load(stream)
                return found
        except (FileNotFoundError, ValueError):
            return {}

    def _remember(self, record: Values) -> None:
        path = self.place(RECORD)
        if not record:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
            return
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(f"{path}.new", "w", encoding="utf-8") as stream:
            json.dump(record, stream, indent=2, sort_keys=True)
        os.replace(f"{path}.new", path)

    def _told(self, netdev: str) -> str:
        """What mlnx_qos says of an interface, asked once until something is set."""
        if netdev not in self._qos:
            self._qos[netdev] = self.run("mlnx_qos", "-i", netdev)
        return self._qos[netdev]

    def run(self, *argv: str) -> str:
        """What a program prints; RoceError where it is missing, fails or does not end."""
        path = os.environ.get("PATH", os.defpath) + ":" + _MORE_PATH
        shown = " ".join(argv)
        try:
            done = subprocess.run(
                argv,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_LIMIT,
                env=dict(os.environ, PATH=path, LC_ALL="C"),
            )
        except FileNotFoundError:
            raise RoceError(
                f"`{shown}` cannot be run: {argv[0]} is not installed. {_next('')}"
            ) from None
        except (OSError, subprocess.TimeoutExpired) as exc:
            raise RoceError(f"`{shown}` cannot be run: {exc}. Next: run it by hand") from exc
        if done.returncode:
            said = " ".join((done.stderr.strip() or done.stdout.strip()).split())[-300:]
            raise RoceError(
                f"`{shown}` ended with status {done.returncode}: {said}. Next: run it by hand"
            )
        return done.stdout

    def _text(self, path: str) -> str:
        try:
            with open(self.place(path), encoding="utf-8", errors="replace") as stream:
                return stream.read().strip()
        except OSError:
            return ""

    def _write(self, path: str, value: str) -> None:
        # Never made: where the kernel shows no such file it takes no such value.
        fd = os.open(self.place(path), os.O_WRONLY | os.O_TRUNC)
        try:
            os.write(fd, f"{value}\n".encode())
        finally:
            os.close(fd)


def _halves(value: str) -> list[str]:
    """ECN's value for either side."""
    told, _and, heard = value.partition(_AND)
    return [told, heard or told]


def _next(knob: str) -> str:
    if knob in OF_CM:
        return "Next: see what it takes with `cma_roce_mode` (mlnx-tools), or leave the setting out"
    if knob in (TRAFFIC_CLASS, ECN):
        return "Next: see what the driver says in `dmesg`, or leave the setting out"
    return (
        "Next: run it by hand; mlnx_qos is in mlnx-tools of NVIDIA's stack; DCBX of the firmware"
        " may own the setting (`mlnx_qos -i INTERFACE` shows it)"
    )


def read(text: str) -> list[Wanted]:
    """What a host is to have, as the file holds it; ValueError or the like where it is no sense."""
    return [
        Wanted(str(one["knob"]), str(one["subject"]), str(one["value"]))
        for one in json.loads(text)["settings"]
    ]


def render(wanted: list[Wanted]) -> str:
    """The same the other way round."""
    settings: list[dict[str, Any]] = [
        {"knob": one.knob, "subject": one.subject, "value": one.value} for one in wanted
    ]
    return json.dumps({"settings": settings}, indent=2, sort_keys=True) + "\n"


@contextlib.contextmanager
def alone(host: Host) -> Iterator[None]:
    """One at a time: each RDMA device that comes starts the program."""
    path = host.place(LOCK)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def _apply(host: Host, wanted: list[Wanted]) -> int:
    """Set what is not right; one that is not taken does not keep the others from being set."""
    right = failed = 0
    for one in wanted:
        try:
            wrong, notes = host.look([one])
            done = host.apply(wrong)
        except (OSError, RoceError) as exc:
            print(f"roce: {exc}", file=sys.stderr)
            failed += 1
            continue
        right += not done and not notes
        for made in done:
            print(f"{made.knob} of {made.subject}: {made.before or 'unknown'} -> {made.after}")
        for note in notes:
            print(note)
    print(f"{right} of {len(wanted)} settings were right")
    return 1 if failed else 0


def main(argv: list[str], root: str = "/") -> int:
    """The program; exit status 0 done, 1 something could not be set, 64 usage."""
    if len(argv) != 1 or argv[0] not in ("apply", "show", "restore"):
        print("usage: roce apply | show | restore", file=sys.stderr)
        return 64
    host = Host(root)
    try:
        with open(host.place(CONFIG), encoding="utf-8") as stream:
            wanted = read(stream.read())
        with alone(host):
            if argv[0] == "apply":
                return _apply(host, wanted)
            if argv[0] == "restore":
                host.restore([])
        for one in wanted:
            print(f"{one.knob} of {one.subject}: {host.value(one.knob, one.subject) or 'unknown'}")
    except (OSError, ValueError, KeyError, TypeError, RoceError) as exc:
        print(f"roce: {exc}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
