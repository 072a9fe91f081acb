# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.modules import kernel_args

Run = Callable[..., dict[str, Any]]

# Writes what GRUB would boot from the files that it reads; a stand-in for Debian's program.
UPDATE_GRUB = """#!/bin/sh
echo run >> {root}/runs
GRUB_CMDLINE_LINUX= GRUB_CMDLINE_LINUX_DEFAULT=
for file in {root}/etc/default/grub {root}/etc/default/grub.d/*.cfg; do
  if [ -f "$file" ]; then . "$file"; fi
done
args="$GRUB_CMDLINE_LINUX $GRUB_CMDLINE_LINUX_DEFAULT"
printf "\\tlinux\\t/boot/vmlinuz-6 ro %s\\n" "$args" \\
  > {root}/boot/grub/grub.cfg
"""
# Edits one entry as grubby does; a stand-in for EL's program.
GRUBBY = """#!/usr/bin/python3
import sys, pathlib
place = pathlib.Path("{root}/entry")
words = place.read_text().split()
for option in sys.argv[1:]:
    name, _, value = option.partition("=")
    if name == "--remove-args":
        words = [one for one in words if one not in value.split()]
    if name == "--args":
        words += [one for one in value.split() if one not in words]
    if name == "--info":
        print('index=0\\nkernel="/boot/vmlinuz-5"\\nargs="' + " ".join(words) + '"')
place.write_text(" ".join(words))
if not sys.argv[1].startswith("--info"):
    with open("{root}/runs", "a") as log:
        log.write("run\\n")
"""


class Host:
    """A host's files below a directory, and stand-ins for the boot loader's programs."""

    def __init__(self, root: Path, run_module: Run, program: str) -> None:
        self.root = root
        self._run = run_module
        self.grub = program == "update-grub"
        self.write("proc/cmdline", "BOOT_IMAGE=/vmlinuz ro quiet\n")
        self.write("entry", "ro quiet")
        text = UPDATE_GRUB if self.grub else GRUBBY
        if self.grub:
            self.write("etc/default/grub", 'GRUB_CMDLINE_LINUX_DEFAULT="quiet"\n')
            self.write("boot/grub/grub.cfg", "\tlinux /boot/vmlinuz-6 ro quiet\n")
        self.write(f"bin/{program}", text.replace("{root}", str(root))).chmod(0o755)

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def keep(self, *words: str, check: bool = False) -> dict[str, Any]:
        return self._run(kernel_args.main, check=check, args=list(words), root=str(self.root))

    @property
    def boots(self) -> list[str]:
        place = "boot/grub/grub.cfg" if self.grub else "entry"
        words = (self.root / place).read_text().split()
        return words[words.index("ro") + 1 :]

    @property
    def runs(self) -> int:
        log = self.root / "runs"
        return len(log.read_text().split()) if log.exists() else 0

    def files(self) -> dict[str, str]:
        return {
            str(path.relative_to(self.root)): path.read_text()
            for path in self.root.rglob("*")
            if path.is_file() and path.name != "runs"
        }


@pytest.fixture(params=["update-grub", "grubby"])
def host(
    tmp_path: Path,
    run_module: Run,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> Host:
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    return Host(tmp_path, run_module, request.param)


def test_added_once_pending_until_the_boot_and_quiet_afterwards(host: Host) -> None:
    first = host.keep("iommu=pt", "quiet")
    assert (first["changed"], first["args"], first["there"]) == (True, ["iommu=pt"], ["quiet"])
    assert first["pending"] == ["+iommu=pt"]
    assert sorted(host.boots) == ["iommu=pt", "quiet"]
    again = host.keep("iommu=pt", "quiet")
    assert (again["changed"], again["pending"], host.runs) == (False, ["+iommu=pt"], 1)
    host.write("proc/cmdline", "ro quiet iommu=pt")
    assert host.keep("iommu=pt", "quiet")["pending"] == []


def test_emptied_it_is_as_it_was(host: Host) -> None:
    before = {name: text.split() for name, text in host.files().items()}
    host.keep("iommu=pt")
    host.write("proc/cmdline", "ro quiet iommu=pt")
    gone = host.keep()
    assert (gone["changed"], gone["dropped"], gone["pending"]) == (
        True,
        ["iommu=pt"],
        ["-iommu=pt"],
    )
    assert host.keep()["pending"] == ["-iommu=pt"]
    host.write("proc/cmdline", "BOOT_IMAGE=/vmlinuz ro quiet\n")
    assert host.keep()["changed"] is False
    after = {name: text.split() for name, text in host.files().items()}
    after["boot/grub/grub.cfg"] = before.get("boot/grub/grub.cfg", [])
    before.setdefault("boot/grub/grub.cfg", [])
    assert after == before
    assert host.boots == ["quiet"]


def test_check_mode_tells_and_changes_nothing(host: Host) -> None:
    before = host.files()
    reported = host.keep("iommu=pt", check=True)
    assert (reported["changed"], reported["pending"]) == (True, ["+iommu=pt"])
    assert "iommu=pt" in reported["diff"][0]["after"]
    assert (host.files(), host.runs) == (before, 0)


def test_the_operators_other_value_stays(host: Host) -> None:
    if host.grub:
        host.write("etc/default/grub", 'GRUB_CMDLINE_LINUX="iommu=soft"\n')
    else:
        host.write("entry", "ro iommu=soft")
    reported = host.keep("iommu=pt")
    assert (reported["changed"], reported["kept"]) == (False, {"iommu=pt": "iommu=soft"})


def test_power_lost_before_the_boot_loader_was_told(host: Host) -> None:
    host.keep("iommu=pt")
    if host.grub:
        host.write("boot/grub/grub.cfg", "\tlinux /boot/vmlinuz-6 ro quiet\n")
    else:
        host.write("entry", "ro quiet")
    assert host.keep("iommu=pt")["changed"]
    assert "iommu=pt" in host.boots


def test_a_later_file_that_overrules_ours_is_named(
    tmp_path: Path, run_module: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    host = Host(tmp_path, run_module, "update-grub")
    host.write("etc/default/grub.d/99-site.cfg", "GRUB_CMDLINE_LINUX=\n")
    failed = host.keep("iommu=pt")
    assert failed["failed"]
    assert "still lacks iommu=pt" in failed["msg"]


def test_a_program_that_fails_is_named_with_its_words(host: Host) -> None:
    name = "update-grub" if host.grub else "grubby"
    host.write(f"bin/{name}", "#!/bin/sh\necho no space left >&2\nexit 3\n")
    failed = host.keep("iommu=pt")
    assert failed["failed"]
    assert "status 3: no space left" in failed["msg"]


@pytest.mark.parametrize("mark", ["run/.containerenv", ""])
def test_without_a_boot_loader_it_says_so_and_does_not_fail(
    tmp_path: Path, run_module: Run, monkeypatch: pytest.MonkeyPatch, mark: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    if mark:
        (tmp_path / "run").mkdir()
        (tmp_path / mark).write_text("")
    reported = run_module(kernel_args.main, args=["iommu=pt"], root=str(tmp_path))
    assert reported["changed"] is False
    assert ("container" if mark else "no boot loader") in reported["why_not"]


def test_a_lost_memory_is_an_error_not_an_empty_one(host: Host) -> None:
    host.write("var/lib/ibready/kernel_args.json", "{")
    assert "cannot be read" in host.keep("iommu=pt")["msg"]


def test_memory_holds_what_reboot_gate_needs(host: Host) -> None:
    host.keep("iommu=pt", "quiet")
    known = json.loads((host.root / "var/lib/ibready/kernel_args.json").read_text())
    assert known == {"added": ["iommu=pt"], "dropped": [], "wanted": ["iommu=pt", "quiet"]}
