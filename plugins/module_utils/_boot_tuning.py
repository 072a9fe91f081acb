# SPDX-License-Identifier: GPL-3.0-or-later
"""Set what every boot resets: ACS of PCIe switches, read requests of HCAs, the CPU governor.

This file stands alone and is longer for it (Python 3.8, nothing of this collection): the module
boot_tuning imports it, and also puts it on the host, where a systemd unit runs it at each boot:

    boot-tuning apply | show | restore

What was before is kept in /run, which a boot empties just as it resets the values themselves.
"""

from __future__ import annotations

import json
import os
import re
import sys
from dataclasses import dataclass
from typing import Any, Dict, List

CONFIG = "/etc/ibready/boot-tuning.json"
RECORD = "/run/ibready/boot-tuning.json"
KNOBS = ("acs", "read_request", "governor")
# The bits that send what one port has for another up to the processor: SrcValid, ReqRedir,
# CmpltRedir, UpstreamFwd. Source: PCI Express Base Specification, 7.7.8.3. Confidence: confirmed.
REDIRECTS = 0x1D
SIZES = (128, 256, 512, 1024, 2048, 4096)

_PCI = "/sys/bus/pci/devices"
_CPUFREQ = "/sys/devices/system/cpu/cpufreq"
_POLICY = re.compile(r"policy[0-9]{1,5}")
_ADDRESS = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_BUS = re.compile(r"pci[0-9a-f]{4,8}:[0-9a-f]{2}")
_NVIDIA, _MELLANOX = "0x10de", "0x15b3"
_HEADER, _CONVENTIONAL = 64, 256
_EXPRESS, _ACS = 0x10, 0x000D

Values = Dict[str, Dict[str, List[str]]]


class TuningError(Exception):
    """A value that the host does not take, with the reason and the next step."""


@dataclass(frozen=True)
class Setting:
    """One value to set: `subject` is a PCI address or a cpufreq policy, the values as shown."""

    knob: str
    subject: str
    before: str
    after: str


class Host:
    """The host whose / is `root`: reads and writes sysfs, and remembers what was before."""

    def __init__(self, root: str = "/") -> None:
        self._root = root

    def place(self, path: str) -> str:
        return os.path.join(self._root, path.lstrip("/"))

    def look(self, config: dict[str, Any]) -> tuple[list[Setting], list[str]]:
        """What is not yet as `config` wants it, and what could not be looked at."""
        wrong: list[Setting] = []
        notes: list[str] = []
        devices = self.devices()
        if config.get("acs"):
            for port in turning_ports(devices):
                self._compare(wrong, notes, "acs", port, None)
        if config.get("read_request"):
            for address, one in devices.items():
                if one.vendor == _MELLANOX and one.is_hca:
                    self._compare(wrong, notes, "read_request", address, config["read_request"])
        if config.get("governor"):
            for policy in self.policies():
                self._compare(wrong, notes, "governor", policy, config["governor"])
        return wrong, notes

    def _compare(
        self, wrong: list[Setting], notes: list[str], knob: str, subject: str, wanted: Any
    ) -> None:
        now = self.value(knob, subject)
        if knob == "acs" and now == "none":
            return  # A port without ACS cannot send anything up.
        if now in ("", "none"):
            notes.append(f"{knob} of {subject} cannot be read")
            return
        if knob == "acs":
            wanted = f"0x{int(now, 16) & ~REDIRECTS:04x}"
        if now != str(wanted):
            wrong.append(Setting(knob, subject, now, str(wanted)))

    def value(self, knob: str, subject: str) -> str:
        """What the host has now; "none" without the capability, "" where it cannot be read."""
        if knob == "governor":
            return self._text(f"{_CPUFREQ}/{subject}/scaling_governor")
        data = self._config(subject)
        if len(data) <= (_CONVENTIONAL if knob == "acs" else _HEADER):
            return ""
        at = _acs_control(data) if knob == "acs" else _device_control(data)
        if at is None:
            return "none"
        word = _word(data, at)
        return f"0x{word:04x}" if knob == "acs" else str(128 << (word >> 12 & 7))

    def set(self, knob: str, subject: str, value: str) -> None:
        """Write one value and see that it was kept; TuningError otherwise."""
        try:
            if knob == "governor":
                self._govern(subject, value)
            else:
                self._write_config(knob, subject, value)
        except OSError as exc:
            raise TuningError(
                f"cannot set {knob} of {subject} to {value}: {exc.strerror}. {_next(knob)}"
            ) from exc
        kept = self.value(knob, subject)
        if kept != value:
            raise TuningError(
                f"set {knob} of {subject} to {value}, and it shows {kept or 'nothing'}. "
                f"{_next(knob)}"
            )

    def _govern(self, policy: str, value: str) -> None:
        known = self._text(f"{_CPUFREQ}/{policy}/scaling_available_governors").split()
        if known and value not in known:
            raise TuningError(
                f"{policy} has no governor {value}, it has {', '.join(known)}. Next: choose one of "
                "these for host_tuning_governor"
            )
        with open(self.place(f"{_CPUFREQ}/{policy}/scaling_governor"), "w") as stream:
            stream.write(value + "\n")

    def _write_config(self, knob: str, address: str, value: str) -> None:
        data = self._config(address)
        at = _acs_control(data) if knob == "acs" else _device_control(data)
        if at is None:
            raise TuningError(f"{address} has no {knob}")
        if knob == "acs":
            word = int(value, 16)
        else:
            word = _word(data, at) & ~0x7000 | SIZES.index(int(value)) << 12
        fd = os.open(self.place(f"{_PCI}/{address}/config"), os.O_WRONLY)
        try:
            os.pwrite(fd, word.to_bytes(2, "little"), at)
        finally:
            os.close(fd)

    def apply(self, settings: list[Setting]) -> None:
        """Set all of these. What was before is remembered first; a failure names its subject."""
        record = self.record()
        for one in settings:
            known = record.setdefault(one.knob, {}).get(one.subject)
            record[one.knob][one.subject] = [known[0] if known else one.before, one.after]
        self._remember(record)
        for one in settings:
            self.set(one.knob, one.subject, one.after)

    def to_restore(self, knobs: tuple[str, ...]) -> list[Setting]:
        """What `apply` set and nobody has changed since, and what it was before."""
        return [
            Setting(knob, subject, after, before)
            for knob in knobs
            for subject, (before, after) in self.record().get(knob, {}).items()
            if self.value(knob, subject) == after and before != after
        ]

    def restore(self, knobs: tuple[str, ...]) -> None:
        """Put back the values of these knobs."""
        for one in self.to_restore(knobs):
            self.set(one.knob, one.subject, one.after)
        self._remember({knob: kept for knob, kept in self.record().items() if knob not in knobs})

    def record(self) -> Values:
        try:
            with open(self.place(RECORD), encoding="utf-8") as stream:
                found: Values = json.load(stream)
                return found
        except (FileNotFoundError, ValueError):
            return {}

    def _remember(self, record: Values) -> None:
        path = self.place(RECORD)
        if not any(record.values()):
            if os.path.exists(path):
                os.unlink(path)
            return
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(f"{path}.new", "w", encoding="utf-8") as stream:
            json.dump(record, stream, indent=2, sort_keys=True)
        os.replace(f"{path}.new", path)

    def policies(self) -> list[str]:
        """The cpufreq policies; none where the kernel does not govern the clocks."""
        try:
            names = os.listdir(self.place(_CPUFREQ))
        except OSError:
            return []
        found = [one for one in names if _POLICY.fullmatch(one)]
        return sorted(found, key=lambda one: int(one[len("policy") :]))

    def devices(self) -> dict[str, Device]:
        """GPUs and HCAs by address, without virtual functions."""
        found: dict[str, Device] = {}
        try:
            names = sorted(os.listdir(self.place(_PCI)))
        except OSError:
            return found
        for address in names:
            base = f"{_PCI}/{address}"
            one = Device(
                self._text(f"{base}/class")[2:6], self._text(f"{base}/vendor"), self._path(address)
            )
            if (one.is_gpu or one.is_hca) and not os.path.islink(self.place(f"{base}/physfn")):
                found[address] = one
        return found

    def _path(self, address: str) -> tuple[str, ...]:
        """From the root port down, by the link ../../../devices/pci0000:00/A/B."""
        try:
            parts = os.readlink(self.place(f"{_PCI}/{address}")).split("/")
        except OSError:
            return ()
        starts = [at for at, part in enumerate(parts) if _BUS.fullmatch(part)]
        return tuple(one for one in parts[starts[-1] if starts else 0 :] if _ADDRESS.fullmatch(one))

    def _config(self, address: str) -> bytes:
        try:
            with open(self.place(f"{_PCI}/{address}/config"), "rb") as stream:
                return stream.read(4096)
        except OSError:
            return b""

    def _text(self, path: str) -> str:
        try:
            with open(self.place(path), encoding="utf-8", errors="replace") as stream:
                return stream.read().strip()
        except OSError:
            return ""


@dataclass(frozen=True)
class Device:
    """A PCI function: four digits of its class, its vendor, the functions on the way down."""

    kind: str
    vendor: str
    path: tuple[str, ...]

    @property
    def is_gpu(self) -> bool:
        return self.vendor == _NVIDIA and self.kind in ("0300", "0302")

    @property
    def is_hca(self) -> bool:
        return self.kind in ("0207", "0c06") or (
            self.vendor == _MELLANOX and self.kind in ("0200", "0280")
        )


def turning_ports(devices: dict[str, Device]) -> list[str]:
    """The downstream ports of PCIe switches at which a GPU's traffic turns to a neighbour.

    Paths run root port, upstream port, downstream port, ... device: where two part below an
    upstream port, the switch can hand over directly.
    """
    found: dict[str, None] = {}
    paths = [(one.path, one.is_gpu) for one in devices.values() if one.path]
    for number, (one, gpu) in enumerate(paths):
        for other, other_gpu in paths[number + 1 :]:
            shared = next((n for n, at in enumerate(zip(one, other)) if at[0] != at[1]), 0)
            deep = min(len(one), len(other)) - 1
            if (gpu or other_gpu) and 2 <= shared < deep and shared % 2 == 0:
                found.update({one[shared]: None, other[shared]: None})
    return sorted(found)


def _next(knob: str) -> str:
    if knob == "governor":
        return "Next: see who governs the clocks (tuned, power-profiles-daemon, the BIOS)"
    if knob == "acs":
        return (
            "Next: where the kernel is locked down (Secure Boot), switch ACS off in the BIOS, or "
            "set host_tuning_acs: keep"
        )
    return (
        "Next: where the kernel is locked down (Secure Boot), set host_tuning_read_request: 0, and "
        "raise it in the BIOS"
    )


def _device_control(data: bytes) -> int | None:
    if len(data) < _HEADER or not _word(data, 6) & 0x10:
        return None
    at, seen = data[0x34] & 0xFC, set()
    while _HEADER <= at < len(data) - 10 and at not in seen:
        seen.add(at)
        if data[at] == _EXPRESS:
            return at + 8
        at = data[at + 1] & 0xFC
    return None


def _acs_control(data: bytes) -> int | None:
    at, seen = _CONVENTIONAL, set()
    while _CONVENTIONAL <= at <= len(data) - 8 and at not in seen:
        seen.add(at)
        header = int.from_bytes(data[at : at + 4], "little")
        if header & 0xFFFF == _ACS:
            return at + 6
        at = header >> 20 & 0xFFC
    return None


def _word(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 2], "little")


def main(argv: list[str], root: str = "/") -> int:
    """The program; exit status 0 done, 1 something could not be set, 64 usage."""
    if len(argv) != 1 or argv[0] not in ("apply", "show", "restore"):
        print("usage: boot-tuning apply | show | restore", file=sys.stderr)
        return 64
    host = Host(root)
    try:
        with open(host.place(CONFIG), encoding="utf-8") as stream:
            config = json.load(stream)
        wrong, notes = host.look(config)
        if argv[0] == "restore":
            wrong, notes = host.to_restore(KNOBS), []
            host.restore(KNOBS)
        elif argv[0] == "apply":
            host.apply(wrong)
    except (OSError, ValueError, TuningError) as exc:
        print(f"boot-tuning: {exc}", file=sys.stderr)
        return 1
    for one in wrong:
        print(f"{one.knob} of {one.subject}: {one.before} -> {one.after}")
    for note in notes:
        print(note, file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
