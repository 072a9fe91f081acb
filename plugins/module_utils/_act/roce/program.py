# SPDX-License-Identifier: GPL-3.0-or-later
"""Set what every boot resets of RoCE: RDMA CM's mode and ToS, the driver's mark, trust, PFC, ECN.

The module roce_settings imports this, and also puts it on the host as a program that stands alone
(`host_program`), where a systemd unit runs it at each boot and whenever an RDMA device comes:

    roce apply | show | restore
"""

# Of a program, not of a module: it prints and exits.
# pylint: disable=ansible-bad-function

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import sys
from dataclasses import dataclass
from typing import Any, Iterator

from ..._ground.host_program import Going, HostError, Setting, TunedNode, command, everything

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


@dataclass(frozen=True)
class Wanted:
    """One value that the host is to have."""

    knob: str
    subject: str
    value: str


class Host(TunedNode):
    """The host whose / is ``root``: reads and writes sysfs and configfs, runs mlnx_qos."""

    kept_in = RECORD

    def __init__(self, root: str = "/") -> None:
        super().__init__(root)
        self.missing = _next("")
        self._qos: dict[str, str] = {}

    def there(self, wanted: Wanted) -> bool:
        """Whether the device or the interface is there."""
        name = wanted.subject.partition("/")[0]
        return os.path.isdir(self.place(f"{IB if wanted.knob in OF_PORT else NET}/{name}"))

    def look(self, wanted: list[Wanted]) -> tuple[list[Setting], list[str]]:
        """What is not yet as it should be, and what is not there."""
        wrong, notes = [], []
        for item in wanted:
            if not self.there(item):
                notes.append(f"{item.knob} of {item.subject}: it is not there")
                continue
            now = self.value(item.knob, item.subject)
            if now != item.value:
                wrong.append(Setting(item.knob, item.subject, now, item.value))
        return wrong, notes

    def value(self, knob: str, subject: str) -> str:
        """What the host has now; "" where that cannot be read."""
        device, _slash, number = subject.partition("/")
        if knob in OF_CM:
            return self.text(f"{CM}/{device}/ports/{number}/{OF_CM[knob]}")
        if knob == TRAFFIC_CLASS:
            match = _TCLASS.match(self.text(f"{IB}/{device}/tc/{number}/traffic_class"))
            return match.group(1) if match else ""
        if knob == ECN:
            sides = [self.text(f"{NET}/{device}/ecn/{side}/enable/{number}") for side in _SIDES]
            return sides[0] if sides[0] == sides[1] else _AND.join(sides)
        match = (_TRUSTED if knob == TRUST else _ENABLED).search(self._told(subject))
        return ",".join(match.group(1).split()).lower() if match else ""

    def set(self, knob: str, subject: str, value: str) -> None:
        """Set one value and see that it was kept; HostError otherwise."""
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
            raise HostError(f"{subject} does not take {knob} {value}: {exc.strerror}. {_next(knob)}") from exc
        kept = self.value(knob, subject)
        if kept != value:
            raise HostError(f"{knob} of {subject} was set to {value}, and it shows {kept or 'nothing'}. {_next(knob)}")

    def open_cm(self, device: str) -> None:
        """Have RDMA CM show a device's settings: a folder of its name in configfs. It stays, for
        the checks look there."""
        if not os.path.isdir(self.place(CM)):
            self.run("modprobe", "rdma_cm")
        if not os.path.isdir(self.place(CM)):
            raise HostError(
                f"RDMA CM shows no settings ({CM} is not there). Next: `modprobe rdma_cm`, and see"
                " that configfs is mounted (`systemctl start sys-kernel-config.mount`)"
            )
        with contextlib.suppress(FileExistsError):
            os.mkdir(self.place(f"{CM}/{device}"))

    def apply(self, settings: list[Setting]) -> list[Setting]:
        """Set all of these, and tell what each was before, remembered first. HostError names what
        is not taken, which is as it was then; the others before it are set."""
        done = []
        for setting in settings:
            before = setting.before
            if setting.knob in OF_CM:
                self.open_cm(setting.subject.partition("/")[0])
                before = self.value(setting.knob, setting.subject)
            if before == setting.after:
                continue
            done.append(Setting(setting.knob, setting.subject, before, setting.after))
            self.remember(done[-1:])
            try:
                self.set(setting.knob, setting.subject, setting.after)
            except HostError as exc:
                raise HostError(f"{exc}{self._back(setting.knob, setting.subject, before)}") from exc
        return done

    def staying(self, going: Going) -> list[Setting]:
        """What is going and nobody can put back: it had no value to be read."""
        return [
            Setting(knob, subject, "", after)
            for knob, subjects in self.record().items()
            for subject, (before, after) in subjects.items()
            if going(knob, subject) and not before and self.value(knob, subject) == after
        ]

    def undo(self, settings: list[Setting]) -> None:
        """Put back what `apply` has just set; HostError tells what had no value to go back to."""
        for setting in reversed(settings):
            if setting.before:
                self.set(setting.knob, setting.subject, setting.before)
                self._was(setting.knob, setting.subject, setting.before)
        stays = [f"{setting.knob} of {setting.subject}" for setting in settings if not setting.before]
        if stays:
            raise HostError(
                f"{', '.join(stays)}: no value could be read before; what was set holds until the next boot"
            )

    def _back(self, knob: str, subject: str, before: str) -> str:
        """Undo half of a change; what to say where that is not to be had."""
        try:
            if before and self.value(knob, subject) != before:
                self.set(knob, subject, before)
            self._was(knob, subject, before)
        except HostError:
            return f" It was {before}, and could not be put back."
        return ""

    def _was(self, knob: str, subject: str, now: str) -> None:
        """Remember that a value is back at this, which an earlier run may have set."""
        record = self.record()
        first = record.get(knob, {}).pop(subject, [now])[0]
        if first != now:
            record[knob][subject] = [first, now]
        self.keep(record)

    def _told(self, netdev: str) -> str:
        """What mlnx_qos says of an interface, asked once until something is set."""
        if netdev not in self._qos:
            self._qos[netdev] = self.run("mlnx_qos", "-i", netdev)
        return self._qos[netdev]

    def _write(self, path: str, value: str) -> None:
        # Never made: where the kernel shows no such file it takes no such value.
        fd = os.open(self.place(path), os.O_WRONLY | os.O_TRUNC)
        try:
            os.write(fd, f"{value}\n".encode())
        finally:
            os.close(fd)


def _halves(value: str) -> list[str]:
    """ECN's value for either side."""
    reported, _and, heard = value.partition(_AND)
    return [reported, heard or reported]


def _next(knob: str) -> str:
    if knob in OF_CM:
        return "Next: see what it takes with `cma_roce_mode` (mlnx-tools), or leave the setting out"
    if knob in (TRAFFIC_CLASS, ECN):
        return "Next: see what the driver says in `dmesg`, or leave the setting out"
    return (
        "Next: run it by hand; mlnx_qos is in mlnx-tools of NVIDIA's stack; DCBX of the firmware"
        " may own the setting (`mlnx_qos -i INTERFACE` shows it)"
    )


def unwanted(wanted: list[Wanted]) -> Going:
    """Whether a setting is none of these."""
    asked = {(item.knob, item.subject) for item in wanted}
    return lambda knob, subject: (knob, subject) not in asked


def read(known: Any) -> list[Wanted]:
    """What a host is to have, as the file holds it; KeyError or TypeError where it is no sense."""
    return [
        Wanted(str(setting["knob"]), str(setting["subject"]), str(setting["value"])) for setting in known["settings"]
    ]


def render(wanted: list[Wanted]) -> str:
    """The same the other way round."""
    settings: list[dict[str, Any]] = [
        {"knob": item.knob, "subject": item.subject, "value": item.value} for item in wanted
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
    for item in wanted:
        try:
            wrong, notes = host.look([item])
            done = host.apply(wrong)
        except (OSError, HostError) as exc:
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
    """The program."""

    def act(word: str) -> int:
        host = Host(root)
        wanted = read(host.load(CONFIG))
        with alone(host):
            if word == "apply":
                return _apply(host, wanted)
            if word == "restore":
                host.restore(everything)
        for item in wanted:
            print(f"{item.knob} of {item.subject}: {host.value(item.knob, item.subject) or 'unknown'}")
        return 0

    return command("roce", argv, act)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
