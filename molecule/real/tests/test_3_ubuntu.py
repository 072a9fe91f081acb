# SPDX-License-Identifier: GPL-3.0-or-later
"""Ubuntu's driver: modules that come built and signed, from bare to a second converge, to another branch and back."""

from __future__ import annotations

from typing import Any

WISH = {"stack_driver": "580", "stack_driver_modules": "open"}
OTHER = {"stack_driver": "595", "stack_driver_modules": "open", "ibready_replace_stack_ok": True}


def modules_of(branch: str, kernel: str) -> str:
    return f"linux-modules-nvidia-{branch}-server-open-{kernel}"


def changed(done: Any) -> str:
    assert done.returncode == 0, done.stdout
    return str(done.stdout.partition("PLAY RECAP")[2].partition("real2")[2].partition("changed=")[2].split()[0])


def test_the_modules_of_the_running_kernel_come_signed(ubuntu: Any) -> None:
    assert changed(ubuntu.converge(**WISH)) != "0"
    kernel = ubuntu.root("uname -r").strip()
    assert ubuntu.host.package(modules_of("580", kernel)).is_installed
    told = ubuntu.root(f"modinfo -k {kernel} nvidia")
    assert f"vermagic:       {kernel} " in told
    assert "signer:         Canonical Ltd. Kernel Module Signing" in told
    utils = ubuntu.host.package("nvidia-utils-580-server").version.partition("-")[0]
    assert f"version:        {utils}\n" in told
    assert ubuntu.root("dpkg --audit") == ""
    assert not ubuntu.host.package("dkms").is_installed
    assert modules_of("580", kernel) in ubuntu.root("apt-mark showhold").split()


def test_a_second_converge_changes_nothing(ubuntu: Any) -> None:
    assert changed(ubuntu.converge(**WISH)) == "0"


def test_what_is_there_is_what_was_planned(ubuntu: Any) -> None:
    checks = {check["id"]: check for check in ubuntu.checks("gpu", "stack") if check["result"] != "skip"}
    for name in ("stack.kmod.built", "stack.packages.whole", "stack.packages.held"):
        assert checks[name]["result"] == "pass", checks[name]
    # A container can load no module.
    assert "it was not loaded since it was installed" in checks["stack.lock.match"]["cause"]
    assert "the nvidia kernel module is not loaded" in checks["gpu.driver.answers"]["cause"]


def test_another_branch_and_back(ubuntu: Any) -> None:
    kernel = ubuntu.root("uname -r").strip()
    for wish, there, gone in ((OTHER, "595", "580"), ({**WISH, "ibready_replace_stack_ok": True}, "580", "595")):
        assert changed(ubuntu.converge(**wish)) != "0"
        assert ubuntu.host.package(modules_of(there, kernel)).is_installed
        assert not ubuntu.host.package(modules_of(gone, kernel)).is_installed
        assert ubuntu.root("dpkg --audit") == ""
