# SPDX-License-Identifier: GPL-3.0-or-later
"""Set what every boot resets: ACS of PCIe switches, read requests of HCAs, the CPU governor.

The module boot_tuning imports this, and also puts it on the host as a program that stands alone
(`host_program`), where a systemd unit runs it at each boot:

    boot-tuning apply | show | restore
"""

# Of a program, not of a module: it prints and exits.
# pylint: disable=ansible-bad-function

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from typing import Any

from ..._ground.host_program import HostError, Setting, TunedNode, command, everything

CONFIG = "/etc/ibready/boot-tuning.json"
RECORD = "/run/ibready/boot-tuning.json"
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


class Host(TunedNode):
    """The host whose / is `root`: reads and writes sysfs. Subjects are PCI addresses and cpufreq
    policies, the values as shown."""

    kept_in = RECORD

    def look(self, config: dict[str, Any]) -> tuple[list[Setting], list[str]]:
        """What is not yet as `config` wants it, and what could not be looked at."""
        wrong: list[Setting] = []
        notes: list[str] = []
        devices = self.devices()
        if config.get("acs"):
            for port in turning_ports(devices):
                self._compare(wrong, notes, "acs", port, None)
        if config.get("read_request"):
            for address, device in devices.items():
                if device.vendor == _MELLANOX and device.is_hca:
                    self._compare(wrong, notes, "read_request", address, config["read_request"])
        if config.get("governor"):
            for policy in self.policies():
                self._compare(wrong, notes, "governor", policy, config["governor"])
        return wrong, notes

    def _compare(self, wrong: list[Setting], notes: list[str], knob: str, subject: str, wanted: Any) -> None:
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
            return self.text(f"{_CPUFREQ}/{subject}/scaling_governor")
        data = self._config(subject)
        if len(data) <= (_CONVENTIONAL if knob == "acs" else _HEADER):
            return ""
        at = _acs_control(data) if knob == "acs" else _device_control(data)
        if at is None:
            return "none"
        word = _word(data, at)
        return f"0x{word:04x}" if knob == "acs" else str(128 << (word >> 12 & 7))

    def set(self, knob: str, subject: str, value: str) -> None:
        """Write one value and see that it was kept; HostError otherwise."""
        try:
            if knob == "governor":
                self._govern(subject, value)
            else:
                self._write_config(knob, subject, value)
        except OSError as exc:
            raise HostError(f"cannot set {knob} of {subject} to {value}: {exc.strerror}. {_next(knob)}") from exc
        kept = self.value(knob, subject)
        if kept != value:
            raise HostError(f"set {knob} of {subject} to {value}, and it shows {kept or 'nothing'}. {_next(knob)}")

    def _govern(self, policy: str, value: str) -> None:
        known = self.text(f"{_CPUFREQ}/{policy}/scaling_available_governors").split()
        if known and value not in known:
            raise HostError(
                f"{policy} has no governor {value}, it has {', '.join(known)}. Next: choose one of "
                "these for host_tuning_governor"
            )
        with open(self.place(f"{_CPUFREQ}/{policy}/scaling_governor"), "w") as stream:
            stream.write(value + "\n")

    def _write_config(self, knob: str, address: str, value: str) -> None:
        data = self._config(address)
        at = _acs_control(data) if knob == "acs" else _device_control(data)
        if at is None:
            raise HostError(f"{address} has no {knob}")
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
        self.remember(settings)
        for setting in settings:
            self.set(setting.knob, setting.subject, setting.after)

    def policies(self) -> list[str]:
        """The cpufreq policies; none where the kernel does not govern the clocks."""
        found = [name for name in self.names(_CPUFREQ) if _POLICY.fullmatch(name)]
        return sorted(found, key=lambda item: int(item[len("policy") :]))

    def devices(self) -> dict[str, Device]:
        """GPUs and HCAs by address, without virtual functions."""
        found: dict[str, Device] = {}
        for address in self.names(_PCI):
            base = f"{_PCI}/{address}"
            entry = Device(self.text(f"{base}/class")[2:6], self.text(f"{base}/vendor"), self._path(address))
            if (entry.is_gpu or entry.is_hca) and not os.path.islink(self.place(f"{base}/physfn")):
                found[address] = entry
        return found

    def _path(self, address: str) -> tuple[str, ...]:
        """From the root port down, by the link ../../../devices/pci0000:00/A/B."""
        try:
            parts = os.readlink(self.place(f"{_PCI}/{address}")).split("/")
        except OSError:
            return ()
        starts = [at for at, part in enumerate(parts) if _BUS.fullmatch(part)]
        return tuple(part for part in parts[starts[-1] if starts else 0 :] if _ADDRESS.fullmatch(part))

    def _config(self, address: str) -> bytes:
        try:
            with open(self.place(f"{_PCI}/{address}/config"), "rb") as stream:
                return stream.read(4096)
        except OSError:
            return b""


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
        return self.kind in ("0207", "0c06") or (self.vendor == _MELLANOX and self.kind in ("0200", "0280"))


def turning_ports(devices: dict[str, Device]) -> list[str]:
    """The downstream ports of PCIe switches at which a GPU's traffic turns to a neighbour.

    Paths run root port, upstream port, downstream port, ... device: where two part below an
    upstream port, the switch can hand over directly.
    """
    found: dict[str, None] = {}
    paths = [(device.path, device.is_gpu) for device in devices.values() if device.path]
    for number, (path, gpu) in enumerate(paths):
        for other, other_gpu in paths[number + 1 :]:
            shared = next((n for n, at in enumerate(zip(path, other)) if at[0] != at[1]), 0)
            deep = min(len(path), len(other)) - 1
            if (gpu or other_gpu) and 2 <= shared < deep and shared % 2 == 0:
                found.update({path[shared]: None, other[shared]: None})
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
        "Next: where the kernel is locked down (Secure Boot), set host_tuning_read_request: 0, and raise it in the BIOS"
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
    """The program."""

    def act(word: str) -> int:
        host = Host(root)
        wrong, notes = host.look(host.load(CONFIG))
        if word == "restore":
            wrong, notes = host.to_restore(everything), []
            host.restore(everything)
        elif word == "apply":
            host.apply(wrong)
        for setting in wrong:
            print(f"{setting.knob} of {setting.subject}: {setting.before} -> {setting.after}")
        for note in notes:
            print(note, file=sys.stderr)
        return 0

    return command("boot-tuning", argv, act)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
