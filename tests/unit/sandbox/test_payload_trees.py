# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of the NVIDIA stand-ins: each says that it is simulated, and asks the right program."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sandbox.config import REPOSITORY
from sandbox.vendor.payload import LINK

TREES = REPOSITORY / "sandbox/vendor/payload"
OURS = (
    *("nvidia-utils", "nvidia-dkms", "nvidia-kernel-common", "nvidia-modprobe", "nvidia-imex"),
    *("nvidia-fabricmanager", "nvidia-persistenced", "libnvidia-compute", "libnvidia-nscq"),
    *("libnvsdm", "nvlsm", "dcgm", "nvidia-container-toolkit", "nvidia-container-toolkit-base", "nvidia-fs-dkms"),
)
FILES = [path for stem in OURS for path in sorted((TREES / stem).rglob("*")) if path.is_file() and path.suffix != LINK]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(TREES)))
def test_every_file_says_that_it_is_simulated(path: Path) -> None:
    if path.suffix != ".fields":  # dkms writes the word into what it makes of these
        assert "SIMULATED" in path.read_text()


def test_every_package_has_a_tree() -> None:
    assert all(any((TREES / stem).rglob("*")) for stem in OURS)


def test_placeholders_are_those_that_are_filled_in() -> None:
    texts = [str(path) + path.read_text() for path in FILES]
    texts += [path.read_text() for stem in OURS for path in TREES.glob(f"{stem}.scripts/*")]
    assert {name for text in texts for name in re.findall(r"@([A-Z_]+)@", text)} == {*("VERSION", "MODULES")}


def test_links_lead_to_files_of_the_same_package() -> None:
    links = [path for stem in OURS for path in (TREES / stem).rglob("*") if path.suffix == LINK]
    assert links
    assert all((path.parent / path.read_text().strip()).is_file() for path in links)


def test_a_copy_of_the_checkout_meets_no_link() -> None:
    assert not [path for path in TREES.rglob("*") if path.is_symlink()]


def test_units_name_programs_that_come_along() -> None:
    units = [path for path in FILES if path.suffix == ".service"]
    assert len(units) == 4
    for unit in units:
        stem = unit.relative_to(TREES).parts[0]
        for line in unit.read_text().splitlines():
            if line.startswith("ExecStart="):
                program = line.partition("=")[2].split()[0]
                assert (TREES / stem / program.lstrip("/")).stat().st_mode & 0o100


def test_open_and_proprietary_modules_differ_in_their_license() -> None:
    home = TREES / "nvidia-dkms/usr/src/nvidia-@VERSION@"
    conf = (home / "dkms.conf").read_text()
    names = re.findall(r'BUILT_MODULE_NAME\[\d\]="([a-z-]+)"', conf)
    assert {"nvidia", "nvidia-uvm", "nvidia-peermem"} < set(names)
    for kind, licence in (("open", "Dual MIT/GPL"), ("proprietary", "NVIDIA")):
        assert all((home / kind / f"{name}.fields").is_file() for name in names)
        assert f"license: {licence}\n" in (home / kind / "nvidia.fields").read_text()
