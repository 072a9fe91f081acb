# SPDX-License-Identifier: GPL-3.0-or-later
"""What the kernel that boots next would lack, on hosts made of files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.host import boot
from ansible_collections.ibready.cluster.plugins.module_utils._areas.stack import kmods_gaps, observe_kmods
from ansible_collections.ibready.cluster.plugins.module_utils._areas.stack.kmods_facts import (
    KernelTree,
    KmodFacts,
    Objects,
    ours,
)
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import Live, Output, Unavailable
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._parse.dkms_status import Entry

OLD, NEW = "6.1.0-39-amd64", "6.1.0-40-amd64"


class Host(Live):
    """A tree of files, and answers of programs by evidence name."""

    def __init__(self, root: Path, **answers: str) -> None:
        super().__init__(root)
        self.answers = answers

    def run(self, name: str, *args: str) -> Output:
        if name not in self.answers:
            raise Unavailable(name, "not installed (no such program in PATH)")
        return Output(0, self.answers[name], "")


def put(root: Path, path: str, text: str = "") -> None:
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)


def a_host(root: Path, *kernels: str, running: str = OLD) -> Path:
    put(root, "proc/sys/kernel/osrelease", f"{running}\n")
    put(root, "etc/os-release", 'ID=debian\nVERSION_ID="12"\n')
    (root / "sys/module").mkdir(parents=True)
    for one in kernels:
        put(root, f"boot/vmlinuz-{one}")
        put(root, f"lib/modules/{one}/modules.dep", "kernel/fs/ext4/ext4.ko: \n")
    return root


def dep(root: Path, kernel: str, *paths: str) -> None:
    put(root, f"lib/modules/{kernel}/modules.dep", "".join(f"{path}:\n" for path in paths))


def test_where_the_running_kernel_boots_next_nothing_more_is_asked(tmp_path: Path) -> None:
    found = observe_kmods.observe(Host(a_host(tmp_path, OLD)))
    assert found == KmodFacts(OLD, Reading(()))
    assert kmods_gaps.find(found) == kmods_gaps.Found()


@pytest.mark.parametrize(
    ("grub", "env", "kernels", "because"),
    [
        ("", "", (NEW,), ""),
        ('GRUB_DEFAULT=0\nGRUB_TIMEOUT="5"\n', "", (NEW,), ""),
        (
            f'GRUB_DEFAULT="Advanced options for Debian>Debian, with Linux {OLD}"\n',
            "",
            (OLD,),
            "with Linux",
        ),
        (
            "GRUB_DEFAULT=saved\n",
            f"saved_entry=gnulinux-advanced-ab12>gnulinux-{OLD}-advanced-ab12-34\n",
            (OLD,),
            "saved (gnulinux",
        ),
        ("GRUB_DEFAULT='1>2'\n", "", (OLD, NEW), "1>2"),
        ("GRUB_DEFAULT=saved\n", "", (OLD, NEW), "saved"),
    ],
)
def test_the_kernel_that_boots_next(
    tmp_path: Path, grub: str, env: str, kernels: tuple[str, ...], because: str
) -> None:
    root = a_host(tmp_path, OLD, NEW)
    put(root, "etc/default/grub", grub)
    put(root, "boot/grub/grubenv", env)
    found = boot.candidates(Host(root))
    assert sorted(found.kernels.value or ()) == sorted(kernels)
    assert because in found.because


@pytest.mark.parametrize(
    ("texts", "because"),
    [
        ({boot.GRUB: "GRUB_DEFAULT=0\n", f"{boot.DROPINS}/9-pin.cfg": "PIN"}, "9-pin.cfg says"),
        ({boot.GRUB: "  export PIN"}, "/etc/default/grub says"),
        ({boot.GRUBENV[0]: "saved_entry=x\nnext_ENTRY\n###"}, "grub-reboot chose"),
    ],
)
def test_the_kernel_that_was_chosen_counts_wherever_that_is_said(
    tmp_path: Path, texts: dict[str, str], because: str
) -> None:
    root = a_host(tmp_path, OLD, NEW)
    entry = f"Advanced options for Debian>Debian, with Linux {OLD}"
    for path, text in texts.items():
        text = text.replace("PIN", f'GRUB_DEFAULT="{entry}"').replace("ENTRY", f"entry={entry}")
        put(root, path[1:], text)
    found = boot.candidates(Host(root))
    assert found.kernels.value == (OLD,)
    assert because in found.because
    assert boot.newest(Host(root)).missing


def test_what_chooses_the_kernel_and_cannot_be_read_is_no_pass(tmp_path: Path) -> None:
    root = a_host(tmp_path, OLD, NEW)
    (root / "etc/default/grub").mkdir(parents=True)
    assert "grub" in boot.candidates(Host(root)).kernels.why
    assert not boot.newest(Host(root)).missing


def test_the_newest_kernel_without_modules_is_what_boots(tmp_path: Path) -> None:
    root = a_host(tmp_path, OLD)
    for name in (f"{NEW}.dpkg-new", f"{NEW}.old", "6.9.0~"):
        put(root, f"boot/vmlinuz-{name}")
    assert kmods_gaps.find(observe_kmods.observe(Host(root))) == kmods_gaps.Found()
    put(root, f"boot/vmlinuz-{NEW}")
    found = kmods_gaps.find(observe_kmods.observe(Host(root)))
    assert found.unknown == (f"/lib/modules/{NEW}/modules.dep: no such file",)


def test_grubby_knows_best_and_what_it_says_amiss_is_no_answer(tmp_path: Path) -> None:
    root = a_host(tmp_path, OLD, NEW)
    reported = boot.candidates(Host(root, grubby_kernel=f"/boot/vmlinuz-{OLD}\n"))
    assert reported.kernels.value == (OLD,)
    silent = boot.candidates(Host(root, grubby_kernel="\n"))
    assert silent.kernels.value is None
    assert "grubby" in silent.kernels.why


def test_without_boot_nothing_is_known(tmp_path: Path) -> None:
    put(tmp_path, "proc/sys/kernel/osrelease", OLD)
    found = kmods_gaps.find(observe_kmods.observe(Host(tmp_path)))
    assert found.unknown == ("/boot: no such directory",)


def test_a_module_that_dkms_has_not_built_for_the_next_kernel(tmp_path: Path) -> None:
    root = a_host(tmp_path, OLD, NEW)
    put(root, f"var/lib/dkms/nvidia/580.95.05/{OLD}/x86_64/module/nvidia.ko.xz")
    dep(root, OLD, "updates/dkms/nvidia.ko.xz")
    put(root, "sys/module/nvidia/version")
    said = f"nvidia/580.95.05, {OLD}, x86_64: installed\n"
    (gap,) = kmods_gaps.find(observe_kmods.observe(Host(root, dkms_status=said))).gaps
    assert (gap.kind, gap.subject, gap.kernel) == ("headers", "nvidia/580.95.05", NEW)
    assert gap.required
    assert f"/lib/modules/{NEW}/build" in gap.cause
    assert f"linux-headers-{NEW} (and linux-headers-amd64," in gap.following
    # The verification says it as well, and builds nothing when it is run again.
    assert f"`dkms install nvidia/580.95.05 -k {NEW}` then builds it" in gap.following
    put(root, f"lib/modules/{NEW}/build/Makefile")
    (gap,) = kmods_gaps.find(observe_kmods.observe(Host(root, dkms_status=said))).gaps
    assert (gap.kind, gap.following) == (
        "unbuilt",
        f"`dkms install nvidia/580.95.05 -k {NEW}`",
    )
    assert kmods_gaps.find(observe_kmods.observe(Host(root, dkms_status=said)), ["nvidia"]).gaps == ()
    put(root, f"var/lib/dkms/nvidia/580.95.05/{NEW}/x86_64/module/nvidia.ko.xz")
    dep(root, NEW, "updates/dkms/nvidia.ko.xz")
    done = said + f"nvidia/580.95.05, {NEW}, x86_64: installed\n"
    assert kmods_gaps.find(observe_kmods.observe(Host(root, dkms_status=done))) == kmods_gaps.Found()


def facts(*entries: Entry, files: dict[str, str] | None = None, built: str = "") -> KmodFacts:
    """A host with a module package for the old kernel; ``built``: its object for the new one."""
    objects = [Objects("vend", "1", OLD, Reading(("vend_core",)))]
    if built:
        objects.append(Objects("vend", "1", NEW, Reading((built,))))
    tree = KernelTree(NEW, Reading(True), Reading(files or {}))
    return KmodFacts(
        *(OLD, Reading((NEW,)), ""),
        Reading({"vend_core": "updates/vend_core.ko"}),
        Reading(entries),
        tuple(objects),
        (tree,),
        ("debian",),
    )


HERE = Entry("vend", "1", OLD, "x86_64", "installed")
THERE = Entry("vend", "1", NEW, "x86_64", "installed")


@pytest.mark.parametrize(
    ("entry", "files", "built", "says"),
    [
        (THERE, {"vend_core": "updates/vend_core.ko"}, "vend_core", ""),
        (THERE, {}, "vend_core", "installed for 6.1.0-40-amd64, and vend_core is not to be found"),
        (THERE, {"vend_core": "kernel/drivers/vend_core.ko"}, "vend_core", "is not to be found"),
        (Entry("vend", "1", NEW, "x86_64", "built"), {}, "vend_core", "did not install it"),
        (
            Entry("vend", "1", NEW, "x86_64", "installed-weak", OLD),
            {"vend_core": "weak-updates/vend_core.ko"},
            "",
            "",
        ),
        (Entry("vend", "1", "", "", "broken"), {}, "", "lost its source"),
    ],
)
def test_what_modprobe_finds_counts_and_not_dkms_word(
    entry: Entry, files: dict[str, str], built: str, says: str
) -> None:
    found = kmods_gaps.find(facts(HERE, entry, files=files, built=built))
    assert [says in one.cause for one in found.gaps] == ([True] if says else [])


def test_the_version_that_runs_counts_and_one_that_never_ran_is_only_told() -> None:
    newer = Entry("vend", "2", "", "", "added")
    idle = Entry("idle", "1.10", "", "", "added")
    other = Entry("idle", "1.9", "", "", "added")
    found = kmods_gaps.wanted(facts(HERE, newer, idle, other))
    assert [(str(one), required) for one, required in found] == [
        ("idle/1.10", False),
        ("vend/1", True),
    ]


@pytest.mark.parametrize(
    ("version", "subjects"),
    [
        pytest.param("2", [], id="an upgrade waits for the boot"),
        pytest.param("0.9", ["vend/1"], id="an older one is not what runs"),
    ],
)
def test_a_version_that_the_next_kernel_has_already(version: str, subjects: list[str]) -> None:
    there = Entry("vend", version, NEW, "x86_64", "installed")
    found = facts(HERE, there, files={"vend_core": "updates/vend_core.ko"})
    objects = (*found.objects, Objects("vend", version, NEW, Reading(("vend_core",))))
    reported = kmods_gaps.find(replace(found, objects=objects))
    assert [one.subject for one in reported.gaps] == subjects


def test_the_rdma_stack_is_built_before_what_is_built_against_it() -> None:
    entries = [Entry(name, "1", "", "", "added") for name in ("nvidia", "mlnx-ofed-kernel", "a")]
    found = kmods_gaps.wanted(facts(*entries))
    assert [one.name for one, _required in found] == ["mlnx-ofed-kernel", "a", "nvidia"]
    assert [required for _one, required in found] == [True, False, True]


def test_a_module_of_a_package_for_one_kernel(tmp_path: Path) -> None:
    root = a_host(tmp_path, OLD, NEW)
    dep(root, OLD, "kernel/nvidia-580/nvidia.ko", "kernel/fs/ext4/ext4.ko", "extra/mlx5_core.ko")
    for name in ("nvidia", "ext4", "mlx5_core"):
        put(root, f"sys/module/{name}/initstate")
    own = "kernel/drivers/net/mlx5_core.ko"
    dep(root, NEW, own)
    found = kmods_gaps.find(observe_kmods.observe(Host(root)))
    assert [(one.kind, one.subject) for one in found.gaps] == [
        ("lost", "mlx5_core"),
        ("lost", "nvidia"),
    ]
    assert f"has its own mlx5_core ({own}) in place of" in found.gaps[0].cause
    assert "linux-modules-nvidia-*" in found.gaps[1].following
    dep(root, NEW, "kernel/nvidia-580/nvidia.ko", "weak-updates/mlx5_core.ko")
    assert kmods_gaps.find(observe_kmods.observe(Host(root))) == kmods_gaps.Found()


def test_a_kernel_whose_tree_is_gone_is_told_by_the_marks_of_its_modules(tmp_path: Path) -> None:
    root = a_host(tmp_path, NEW)
    put(root, "sys/module/nvidia/taint", "POE\n")
    put(root, "sys/module/ext4/taint", "\n")
    put(root, "sys/module/livepatch_1/taint", "OEK\n")
    (gap,) = kmods_gaps.find(observe_kmods.observe(Host(root))).gaps
    assert (gap.subject, gap.kind) == ("nvidia", "lost")


def test_a_loaded_module_whose_package_is_gone_is_told_by_its_mark(tmp_path: Path) -> None:
    root = a_host(tmp_path, OLD, NEW)
    put(root, "sys/module/nvidia/taint", "POE\n")
    put(root, "sys/module/usbcore/initstate")
    put(root, "sys/module/agent_4711/taint", "POE\n")
    (gap,) = kmods_gaps.find(observe_kmods.observe(Host(root))).gaps
    assert (gap.subject, gap.kind) == ("nvidia", "lost")
    assert "nvidia is loaded (its file is gone)" in gap.cause


@pytest.mark.parametrize("running", [True, False])
def test_debians_nvidia_lies_in_a_file_of_another_name(tmp_path: Path, running: bool) -> None:
    root = a_host(tmp_path, *([OLD] if running else []), NEW)
    for name in ("nvidia", "nvidia_uvm"):
        put(root, f"sys/module/{name}/taint", "POE\n")
    names = ("nvidia-current.ko", "nvidia-current-uvm.ko")
    said = ""
    for kernel in (OLD, NEW) if running else (NEW,):
        said += f"nvidia-current/550.1, {kernel}, x86_64: installed\n"
        dep(root, kernel, *(f"updates/dkms/{name}" for name in names))
        for name in names:
            put(root, f"var/lib/dkms/nvidia-current/550.1/{kernel}/x86_64/module/{name}")
    assert kmods_gaps.find(observe_kmods.observe(Host(root, dkms_status=said))) == kmods_gaps.Found()


@pytest.mark.parametrize("cut", ["dkms", "dep", "objects", "headers"])
def test_what_could_not_be_looked_at_is_no_pass(cut: str) -> None:
    lost: Reading[object] = Reading(None, f"cannot read {cut}")
    whole = facts(HERE, Entry("vend", "1", NEW, "x86_64", "built"), built="vend_core")
    tree = whole.trees[0]
    changed = {
        "dkms": lambda: KmodFacts(**{**whole.__dict__, "dkms": lost}),
        "dep": lambda: KmodFacts(
            **{**whole.__dict__, "trees": (KernelTree(NEW, tree.headers, lost),)}  # type: ignore[arg-type]
        ),
        "objects": lambda: KmodFacts(
            **{**whole.__dict__, "objects": (Objects("vend", "1", NEW, lost),)}  # type: ignore[arg-type]
        ),
        "headers": lambda: KmodFacts(
            **{**whole.__dict__, "trees": (KernelTree(NEW, lost, tree.files),)}  # type: ignore[arg-type]
        ),
    }[cut]()
    assert kmods_gaps.find(changed).unknown == (f"cannot read {cut}",)


@pytest.mark.parametrize(
    ("system", "kernel", "package"),
    [
        ("ubuntu", "6.8.0-1012-nvidia", "linux-headers-6.8.0-1012-nvidia (and linux-headers-nvid"),
        ("debian", "6.1.0-40-cloud-amd64", "(and linux-headers-cloud-amd64, which follows"),
        ("debian", "6.12.48+deb13-amd64", "(and linux-headers-amd64, which follows"),
        ("debian", "6.12.9", "linux-headers-6.12.9"),
        ("rhel", "5.14.0-427.el9.x86_64", "kernel-devel-5.14.0-427.el9.x86_64"),
        ("rhel", "5.14.0-427.el9.aarch64+64k", "kernel-64k-devel-5.14.0-427.el9.aarch64"),
        ("arch", "6.9.1", "the package with the headers of 6.9.1"),
    ],
)
def test_the_package_with_the_headers_is_named(system: str, kernel: str, package: str) -> None:
    assert package in kmods_gaps.package(KmodFacts(system=(system,)), kernel)


def test_what_came_with_the_kernel() -> None:
    assert ours("kernel/drivers/infiniband/core/ib_core.ko")
    assert not ours("kernel/nvidia-580/nvidia.ko")
    assert not ours("updates/dkms/nvidia.ko")
