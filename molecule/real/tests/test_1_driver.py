# SPDX-License-Identifier: GPL-3.0-or-later
"""From bare to Debian's driver by what an operator runs; then broken, and each fault found by its id."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

FAULTS: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("faults.yml").read_text())["faults"]
ROOT = Path(__file__).resolve().parents[3]
SERIES = "535"
_PACKAGE = f"nvidia-tesla-{SERIES}-kernel-dkms"


@pytest.fixture(scope="module")
def places(real: Any) -> dict[str, str]:
    """What the faults' lines name; the driver is there."""
    done = real.converge(stack_driver=SERIES)
    assert done.returncode == 0, done.stdout
    kernel = real.root("uname -r").strip()
    version = real.root(f"dpkg-query -W -f '${{source:Upstream-Version}}' {_PACKAGE}").strip()
    name = f"nvidia-tesla-{SERIES}"
    return {"kernel": kernel, "name": name, "module": f"{name}/{version}", "version": version, "package": _PACKAGE}


def test_the_modules_are_built_for_the_kernel_and_the_packages_whole(real: Any, places: dict[str, str]) -> None:
    status = real.root("dkms status").strip()
    assert status == f"{places['module']}, {places['kernel']}, x86_64: installed"
    told = real.root(f"modinfo -k {places['kernel']} {places['name']}")
    assert f"vermagic:       {places['kernel']} " in told
    assert f"version:        {places['version']}\n" in told
    assert real.root("dpkg --audit") == ""
    assert _PACKAGE in real.root("apt-mark showhold").split()


def test_what_the_archive_has_is_signed_by_keys_that_are_pinned(real: Any, places: dict[str, str]) -> None:
    matrix = yaml.safe_load((ROOT / "matrix/repositories.yml").read_text())
    pinned = matrix["repositories"]["distribution"]["fingerprints"]
    written = real.root("cat /etc/apt/sources.list.d/ibready-distribution.list")
    (keyring,) = set(re.findall(r"signed-by=(\S+?)[\]\s]", written))
    shown = real.root(f"gpg --show-keys --with-colons {keyring}")
    primary = re.findall(r"^pub:.*\nfpr:+([0-9A-F]+):", shown, flags=re.MULTILINE)
    assert primary
    assert set(primary) <= {entry.replace(" ", "") for entry in pinned}


def test_a_second_converge_changes_nothing(real: Any, places: dict[str, str]) -> None:
    done = real.converge(stack_driver=SERIES)
    assert done.returncode == 0, done.stdout
    assert "changed=0" in done.stdout.partition("PLAY RECAP")[2].partition("real1")[2], done.stdout


@pytest.fixture
def broken(real: Any, places: dict[str, str], request: pytest.FixtureRequest) -> Iterator[dict[str, Any]]:
    fault: dict[str, Any] = request.param
    where = {**places, "room": fault.get("room", "")}
    if "build" in fault and places["kernel"] in real.root("dkms status"):
        real.root("dkms unbuild {module} -k {kernel}".format(**places))
    try:
        real.root(fault.get("break", "true").format(**where))
        if "build" in fault:
            done = real.host.run("dkms build {module} -k {kernel}".format(**places))
            assert done.rc != 0, done.stdout
        yield fault
    finally:
        real.root(fault.get("heal", "true").format(**where))


@pytest.mark.parametrize("broken", FAULTS, ids=[fault["name"] for fault in FAULTS], indirect=True)
def test_a_fault_is_named(real: Any, places: dict[str, str], broken: dict[str, Any]) -> None:
    checks = real.checks("gpu", "stack")
    found = [check for check in checks if check["id"] == broken["check"] and check["result"] != "skip"]
    wrong = [check for check in found if check["result"] == broken.get("result", "fail")]
    assert wrong, found
    assert all(check["cause"] for check in wrong)
    assert broken.get("cause", "") in wrong[0]["cause"]
    assert broken.get("observed", "").format(**places) in wrong[0]["observed"]


def test_what_was_broken_is_built_again(real: Any, places: dict[str, str]) -> None:
    """Nothing but the plan's packages is asked for; the role finds that their modules are not there."""
    done = real.converge(stack_driver=SERIES)
    assert done.returncode == 0, done.stdout
    assert "installed" in real.root("dkms status")
    checks = real.checks("stack")
    for wanted in ("stack.packages.whole", "stack.packages.held", "stack.kmod.built"):
        assert next(check["result"] for check in checks if check["id"] == wanted) == "pass"
