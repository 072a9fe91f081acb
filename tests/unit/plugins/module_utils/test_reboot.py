# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._act.reboot import look as _reboot_look
from ansible_collections.ibready.cluster.plugins.module_utils._areas.host import reboot
from ansible_collections.ibready.cluster.plugins.module_utils._areas.host.reboot import ModuleVersion, RebootFacts
from ansible_collections.ibready.cluster.plugins.module_utils._data.reloads import WATCHED
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import Live
from ansible_collections.ibready.cluster.plugins.module_utils._ground.command import Output, Unavailable
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading

KERNEL = "6.8.0-48-generic"
MODINFO = """\
filename:       /lib/modules/6.8.0-48-generic/updates/dkms/nvidia.ko.zst
version:        580.173.02
license:        Dual MIT/GPL
srcversion:     0F4D58EE2EB9AE6D5A2A2B7
depends:        ecc
vermagic:       6.8.0-48-generic SMP preempt mod_unload
"""


def facts(**more: Any) -> RebootFacts:
    """A host that runs what is installed."""
    healthy: dict[str, Any] = {
        "running": KERNEL,
        "default": Reading(KERNEL),
        "own_modules": Reading(True),
        "asked": Reading(()),
    }
    return RebootFacts(**{**healthy, **more})


def modules(loaded: ModuleVersion, installed: ModuleVersion | None, why: str = "") -> RebootFacts:
    there = {"nvidia": Reading(installed, why)}
    return facts(loaded={"nvidia": loaded}, installed=there)


def test_a_host_that_runs_what_is_installed_needs_nothing() -> None:
    same = ModuleVersion("580.173.02", "ABC")
    assert reboot.judge(facts()) == reboot.Need()
    assert reboot.judge(modules(same, same)) == reboot.Need()


@pytest.mark.parametrize(
    ("loaded", "installed", "says"),
    [
        (
            ModuleVersion("580.126.20", "A"),
            ModuleVersion("580.173.02", "B"),
            "nvidia 580.126.20 is loaded, 580.173.02 is installed",
        ),
        (
            ModuleVersion("580.173.02", "A"),
            ModuleVersion("580.173.02", "B", "/lib/x.ko"),
            "nvidia 580.173.02 (another build) is loaded, 580.173.02 (/lib/x.ko) is installed",
        ),
        (
            ModuleVersion("", ""),
            ModuleVersion("25.10-3.1.8", ""),
            "nvidia no version is loaded, 25.10-3.1.8 is installed",
        ),
    ],
)
def test_another_build_of_a_module_is_a_reason(loaded: ModuleVersion, installed: ModuleVersion, says: str) -> None:
    (reason,) = reboot.judge(modules(loaded, installed)).reasons
    assert (reason.kind, reason.what) == ("module", says)
    assert "anew is enough" in reason.reload


def test_what_is_built_in_or_not_loaded_is_no_reason() -> None:
    built_in = ModuleVersion(filename="(builtin)")
    assert reboot.judge(modules(ModuleVersion("1"), built_in)) == reboot.Need()
    only_installed = facts(installed={"nvidia": Reading(ModuleVersion("1"))})
    assert reboot.judge(only_installed) == reboot.Need()


def test_what_could_not_be_told_is_unknown_and_no_pass() -> None:
    need = reboot.judge(modules(ModuleVersion("1"), None, "modinfo: not installed"))
    assert (need.reasons, need.unknown) == (
        (),
        ("nvidia is loaded, and its file cannot be asked for (modinfo: not installed)",),
    )
    assert reboot.judge(facts(default=Reading(None, "/boot: no"))).unknown == ("/boot: no",)
    assert reboot.judge(facts(asked=Reading(None, "status 2"))).unknown == ("status 2",)


def test_kernels() -> None:
    (newer,) = reboot.judge(facts(default=Reading("6.8.0-50-generic"))).reasons
    assert newer.what == f"{KERNEL} runs, 6.8.0-50-generic is installed and boots next"
    (gone,) = reboot.judge(facts(own_modules=Reading(False))).reasons
    assert "no longer installed" in gone.what
    chosen = facts(default=Reading(None, "GRUB_DEFAULT is saved", missing=True))
    assert reboot.judge(chosen) == reboot.Need()


@pytest.mark.parametrize(
    ("releases", "last"),
    [
        (["6.8.0-9-generic", "6.8.0-48-generic"], "6.8.0-48-generic"),
        (["5.14.0-427.el9.x86_64", "5.14.0-427.13.1.el9_4.x86_64"], "5.14.0-427.13.1.el9_4.x86_64"),
        (["6.12.9", "6.12.10-rc1", "6.2.99"], "6.12.10-rc1"),
        ([], ""),
    ],
)
def test_the_newest_kernel_is_told_by_its_numbers(releases: list[str], last: str) -> None:
    assert reboot.newest(releases) == last


def test_nouveau_has_to_go_where_nvidia_is_installed() -> None:
    installed = {"nvidia": Reading(ModuleVersion("580"))}
    need = reboot.judge(facts(loaded={"nouveau": ModuleVersion()}, installed=installed))
    assert [one.subject for one in need.reasons] == ["nouveau"]
    assert need.reasons[0].reload == ""


def test_arguments_blacklist_and_packages() -> None:
    need = reboot.judge(facts(late=("+iommu=pt", "-old=1"), kept_out=("ast",), asked=Reading(("dbus",))))
    assert [(one.kind, one.what) for one in need.reasons] == [
        ("blacklist", "ast is to be kept out and is still loaded"),
        ("argument", "iommu=pt is not yet on the kernel's command line"),
        ("argument", "old=1 is still on the kernel's command line"),
        ("packages", "asked for by dbus"),
    ]


def test_a_containers_kernel_is_not_its_own() -> None:
    stale = {"nvidia": ModuleVersion("1")}
    other = {"nvidia": Reading(ModuleVersion("2"))}
    inside = facts(container="podman", own_modules=Reading(False), loaded=stale, installed=other)
    assert reboot.judge(inside) == reboot.Need()
    simulated = facts(container="podman", simulated="all", loaded=stale, installed=other)
    assert [one.kind for one in reboot.judge(simulated).reasons] == ["module"]


def test_modinfo_is_read_and_nonsense_refused() -> None:
    assert reboot.parse_modinfo(MODINFO) == ModuleVersion(
        "580.173.02",
        "0F4D58EE2EB9AE6D5A2A2B7",
        "/lib/modules/6.8.0-48-generic/updates/dkms/nvidia.ko.zst",
    )
    with pytest.raises(ValueError, match="no filename"):
        reboot.parse_modinfo("modinfo: nothing\n")


def test_each_watched_module_has_its_source() -> None:
    assert all(one.source and one.confidence and one.reload for one in WATCHED)


class Host:
    """Files below a directory, and programs that answer from a table."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.says: dict[str, Output] = {"modinfo": Output(0, MODINFO, "")}
        self.file("proc/sys/kernel/osrelease", KERNEL)
        self.file("proc/cmdline", "ro quiet")
        self.file("proc/modules", "nvidia 1 0 - Live 0x0\nast 1 0 - Live 0x0\n")
        self.file(f"lib/modules/{KERNEL}/modules.dep", "")
        self.file(f"boot/vmlinuz-{KERNEL}", "")
        self.file("sys/module/nvidia/version", "580.173.02")
        self.file("sys/module/nvidia/srcversion", "0F4D58EE2EB9AE6D5A2A2B7")

    def file(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")

    def _run(self, argv: list[str]) -> Output:
        if argv[0] not in self.says:
            raise Unavailable(argv[0], "not installed")
        return self.says[argv[0]]

    def need(self) -> reboot.Need:
        found = _reboot_look.look(Live(self.root), str(self.root), self._run)
        return reboot.judge(found)

    def whats(self) -> list[str]:
        need = self.need()
        assert need.unknown == ()
        return [one.what for one in need.reasons]


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


def test_a_quiet_host(host: Host) -> None:
    assert host.whats() == []


def test_a_driver_that_was_upgraded_below_the_loaded_module(host: Host) -> None:
    host.file("sys/module/nvidia/version", "580.126.20")
    host.file("sys/module/nvidia/srcversion", "OTHER")
    assert host.whats() == ["nvidia 580.126.20 is loaded, 580.173.02 is installed"]


def test_a_newer_kernel_counts_once_its_modules_are_there(host: Host) -> None:
    host.file("boot/vmlinuz-6.8.0-50-generic", "")
    assert host.whats() == []
    host.file("lib/modules/6.8.0-50-generic/modules.dep", "")
    assert len(host.whats()) == 1
    host.file("etc/default/grub", "GRUB_DEFAULT=saved")
    assert host.whats() == []


def test_on_el_grubby_says_what_boots_next(host: Host) -> None:
    host.says["grubby"] = Output(0, "/boot/vmlinuz-6.9.0-1.el9.x86_64\n", "")
    assert "6.9.0-1.el9.x86_64 is installed and boots next" in host.whats()[0]
    host.says["grubby"] = Output(1, "", "no entry")
    assert "grubby --default-kernel said" in host.need().unknown[0]


def test_arguments_and_blacklist_are_those_that_the_modules_keep(host: Host) -> None:
    known = {"added": ["iommu=pt"], "wanted": ["iommu=pt", "quiet"], "dropped": []}
    host.file("var/lib/ibready/kernel_args.json", json.dumps(known))
    host.file("etc/modprobe.d/ibready-blacklist.conf", "blacklist ast\ninstall ast /bin/false")
    assert host.whats() == [
        "ast is to be kept out and is still loaded",
        "iommu=pt is not yet on the kernel's command line",
    ]


def test_hints_of_the_distribution(host: Host) -> None:
    host.file("var/run/reboot-required", "*** System restart required ***")
    host.file("var/run/reboot-required.pkgs", "linux-image-6.8\ndbus\ndbus")
    assert host.whats() == ["asked for by linux-image-6.8, dbus"]


def test_needs_restarting_names_packages_or_cannot_tell(host: Host) -> None:
    said = "Core libraries or services have been updated:\n  * glibc\n  * systemd\n"
    host.says["needs-restarting"] = Output(1, said, "")
    assert host.whats() == ["asked for by glibc, systemd"]
    host.says["needs-restarting"] = Output(0, "No core libraries", "")
    assert host.whats() == []
    host.says["needs-restarting"] = Output(2, "", "broken")
    assert host.need().unknown == ("needs-restarting -r ended with status 2",)


@pytest.mark.parametrize("answer", [None, Output(1, "", "modinfo: ERROR: Module nvidia not found."), Output(0, "", "")])
def test_a_loaded_module_whose_file_cannot_be_asked_for_is_unknown(host: Host, answer: Output | None) -> None:
    del host.says["modinfo"]
    if answer:
        host.says["modinfo"] = answer
    assert "nvidia is loaded, and its file cannot be asked for" in host.need().unknown[0]


def test_a_module_that_was_removed_by_intent_waits_for_a_boot() -> None:
    there = {"nvidia": Reading[ModuleVersion](None, "modinfo: not found", missing=True)}
    gone = facts(loaded={"nvidia": ModuleVersion("1")}, installed=there)
    assert reboot.judge(gone).unknown
    need = reboot.judge(gone, removed=True)
    assert [one.what for one in need.reasons] == ["nvidia 1 is loaded, and was removed"]
    assert not need.unknown
    silent = modules(ModuleVersion("1"), None, "modinfo: not installed")
    assert reboot.judge(silent, removed=True).unknown
