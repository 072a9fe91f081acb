# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a build by DKMS failed: the lines that tell it, which are not the last ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._act.packages import dkms
from ansible_collections.ibready.cluster.plugins.module_utils._parse import _make_log
from ansible_collections.ibready.cluster.plugins.module_utils._parse.dkms_status import DkmsModule

HOME = "/var/lib/dkms/nvidia-current-open/550.163.01/build"
# Debian's nvidia-open-kernel-dkms 550.163.01-2 on its kernel 6.12.117, 2026-11-26: a real build, the lines cut.
REAL = f"""\
DKMS (dkms-3.2.2) make.log for nvidia-current-open/550.163.01 for kernel 6.12.117+deb13-amd64 (x86_64)
  x86_64-linux-gnu-gcc-14 -nostdinc -Werror=implicit-int -Wno-error -D__KERNEL__ -c -o {HOME}/nvidia/nv-pci.o nv-pci.c
{HOME}/nvidia/nv-pci.c: In function \u2018nv_resize_pcie_bars\u2019:
{HOME}/nvidia/nv-pci.c:237:9: error: too few arguments to function \u2018pci_resize_resource\u2019
  237 |     r = pci_resize_resource(pci_dev, NV_GPU_BAR1, requested_size);
make[4]: *** [Makefile.build:234: {HOME}/nvidia/nv-pci.o] Error 1
make[4]: *** Waiting for unfinished jobs....
make: *** [Makefile:140: modules] Error 2

# exit code: 2
# elapsed time: 00:04:10
----------------------------------------------------------------
"""


def test_a_real_build_is_told_by_the_compilers_word() -> None:
    found = _make_log.parse(REAL)
    assert found.lines == (
        "nvidia/nv-pci.c:237:9: error: too few arguments to function \u2018pci_resize_resource\u2019",
    )
    assert "does not fit this kernel" in found.cause
    assert "newer release" in found.following


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("/bin/sh: 1: gcc-14: not found", "compiler"),
        ("gcc-12: error: unrecognized command-line option \u2018-fmin-function-alignment=16\u2019", "compiler"),
        ("x86_64-linux-gnu-gcc: fatal error: Killed signal terminated program cc1", "memory"),
        ("/tmp/cc1.s: Assembler: error: writing to nv.o: No space left on device", "disk"),
        ("make[2]: *** No rule to make target 'scripts/module.lds', needed by 'nvidia.ko'.  Stop.", "headers"),
        ('ERROR: modpost: "drm_gem_object_free" [/build/nvidia-drm.ko] undefined!', "does not fit"),
        ("ERROR: modpost: GPL-incompatible module nvidia.ko uses GPL-only symbol '__rcu_read_lock'", "does not fit"),
        ("linux/kconfig.h:5:10: fatal error: generated/autoconf.h: No such file or directory", "headers"),
        ("nv.c:12:10: fatal error: linux/stdarg.h: No such file or directory", "does not fit"),
    ],
)
def test_what_a_failure_means(line: str, cause: str) -> None:
    found = _make_log.parse(f"make: Entering directory\n{line}\nmake: *** [Makefile:140: modules] Error 2\n")
    assert cause in found.cause
    assert len(found.lines) == 1


def test_a_tool_that_is_no_compiler_is_not_called_one() -> None:
    found = _make_log.parse("/bin/sh: 1: rebuild: not found\n")
    assert found == _make_log.Failure(("/bin/sh: 1: rebuild: not found",))


def test_of_a_log_without_an_error_nothing_is_made_up() -> None:
    assert _make_log.parse("make: Nothing to be done\n# exit code: 0\n") == _make_log.Failure()
    assert "disk is full" in _make_log.parse("\n").cause


def test_of_many_errors_the_first_are_told_and_the_rest_is_counted() -> None:
    found = _make_log.parse("".join(f"nv-{number}.c:1:1: error: no\n" for number in range(5)))
    assert [line[:4] for line in found.lines] == ["nv-0", "nv-1", "nv-2", "and "]
    assert found.lines[-1] == "and 2 more lines of errors"
    (long,) = _make_log.parse(f"nv.c:1:1: error: {'x' * 500}\n").lines
    assert (len(long), long[-4:]) == (240, "x...")


def test_a_log_that_is_longer_than_is_read_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "var/lib/dkms/nv/1/build/make.log"
    place.parent.mkdir(parents=True)
    place.write_text("nv.c:1:1: error: no\nmore\n")
    module = DkmsModule("nv", "1")
    assert dkms.make_log(str(tmp_path), module, "6.1")[1].lines == ("nv.c:1:1: error: no",)
    place.write_text("make: Nothing to be done\n\nits end\n")
    assert dkms.make_log(str(tmp_path), module, "6.1")[1].lines == ("make: Nothing to be done | its end",)
    place.write_text("nv.c:1:1: error: no\nmore\n")
    monkeypatch.setattr(dkms, "_LONGEST_LOG", 21)
    assert dkms.make_log(str(tmp_path), module, "6.1")[1].lines == (
        "nv.c:1:1: error: no",
        "its first 21 characters are read, and there are more",
    )
