# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a build by DKMS failed: the lines that tell it, which are not the last ones."""

from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._parse import _make_log

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
