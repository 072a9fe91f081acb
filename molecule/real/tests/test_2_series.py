# SPDX-License-Identifier: GPL-3.0-or-later
"""From one series of the driver to another and back, whatever became of the build on the way."""

from __future__ import annotations

from typing import Any

# Where the modules do not build, the plan stops before that; what the host does with them is the story here.
NEWER = {
    "stack_driver": "550",
    "stack_driver_modules": "open",
    "stack_accept": "DRIVER_KERNEL",
    "ibready_replace_stack_ok": True,
}
CLOSED = {**NEWER, "stack_driver_modules": "proprietary"}
OLDER = {"stack_driver": "535", "ibready_replace_stack_ok": True}
_LOG = "/var/lib/dkms/nvidia-current-open/*/build/make.log"


def found(real: Any, check: str) -> dict[str, Any]:
    return next(one for one in real.checks("stack") if one["id"] == check)


def test_another_series_goes_only_with_consent(real: Any) -> None:
    assert real.converge(**OLDER).returncode == 0
    before = real.root("dpkg-query -W")
    done = real.converge(stack_driver="550")
    assert done.returncode != 0
    assert "ibready_replace_stack_ok" in done.stdout
    assert real.root("dpkg-query -W") == before


def test_the_newer_series_is_built_or_the_compiler_s_line_is_told(real: Any) -> None:
    # Debian's archive decides which: 550.163.01-2 does not build for 6.12.117, and a later release may.
    done = real.converge(**NEWER)
    if "installed" in real.root("dkms status"):
        assert done.returncode == 0, done.stdout
        assert found(real, "stack.kmod.built")["result"] == "pass"
        return
    assert done.returncode != 0
    line = real.root(f"grep -h -m 1 'error:' {_LOG}").strip().rpartition("error: ")[2]
    assert line in done.stdout
    built, whole = found(real, "stack.kmod.built"), found(real, "stack.packages.whole")
    assert (built["result"], whole["result"]) == ("fail", "fail")
    assert line in built["cause"]
    assert "nvidia-open-kernel-dkms" in whole["observed"]


def test_the_closed_modules_of_the_newer_series_take_their_place(real: Any) -> None:
    done = real.converge(**CLOSED)
    assert done.returncode == 0, done.stdout
    kernel = real.root("uname -r").strip()
    assert real.root("dkms status").startswith("nvidia-current/550.")
    assert f"vermagic:       {kernel} " in real.root(f"modinfo -k {kernel} nvidia-current")
    assert real.root("dpkg --audit") == ""
    for check in ("stack.kmod.built", "stack.packages.whole", "stack.packages.held"):
        assert found(real, check)["result"] == "pass"


def test_the_way_back_leaves_nothing_of_it(real: Any) -> None:
    done = real.converge(**OLDER)
    assert done.returncode == 0, done.stdout
    assert real.root("dpkg --audit") == ""
    assert real.root("dkms status").startswith("nvidia-tesla-535/")
    assert "nvidia-open-kernel-dkms" not in real.root(
        "dpkg-query -W -f '${Package} ${db:Status-Status}\\n' | grep installed"
    )
    for check in ("stack.kmod.built", "stack.packages.whole", "stack.packages.held"):
        assert found(real, check)["result"] == "pass"
