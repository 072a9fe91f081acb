# SPDX-License-Identifier: GPL-3.0-or-later
"""The base image: what it depends on, and which drivers it does without."""

from __future__ import annotations

import fnmatch
from pathlib import Path

import pytest

from sandbox.machines import base

WHAT = base.Recipe("http://archive.invalid/debian", "trixie", "http://security.invalid", ())


def kept(path: str) -> bool:
    """Whether dpkg unpacks a file: its last pattern that fits decides."""
    said = True
    for word in base.argv(WHAT, Path("ROOT"), Path("SETUP")):
        option, _, pattern = word.removeprefix("--dpkgopt=").partition("=")
        if option in ("path-exclude", "path-include") and fnmatch.fnmatchcase(path, pattern):
            said = option == "path-include"
    return said


@pytest.mark.parametrize(
    "driver",
    [
        "drivers/infiniband/sw/rxe/rdma_rxe.ko.xz",
        "drivers/net/ethernet/mellanox/mlx5/core/mlx5_core.ko.xz",
        "drivers/net/virtio_net.ko.xz",
        "drivers/block/virtio_blk.ko.xz",
        "drivers/scsi/scsi_transport_iscsi.ko.xz",
        "net/netfilter/nf_tables.ko.xz",
        "fs/overlayfs/overlay.ko.xz",
    ],
)
def test_what_rdma_containers_and_the_machine_ask_for_is_there(driver: str) -> None:
    assert kept(f"/usr/lib/modules/6.12.107+deb13-amd64/kernel/{driver}")


@pytest.mark.parametrize(
    "driver", ["drivers/gpu/drm/drm.ko.xz", "drivers/net/ethernet/sfc/sfc.ko.xz", "sound/core/snd.ko.xz"]
)
def test_what_no_machine_has_is_not(driver: str) -> None:
    assert not kept(f"/usr/lib/modules/6.12.107+deb13-amd64/kernel/{driver}")


def test_the_image_is_another_when_a_part_of_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "module-1.0"
    folder.mkdir()
    source = folder / "module.c"
    source.write_text("one")
    monkeypatch.setattr(base, "_PARTS", (folder,))
    before = WHAT.home
    assert WHAT.home == before
    source.write_text("two")
    assert WHAT.home != before


def test_without_a_mirror_the_choice_is_mmdebstrap_s() -> None:
    given = base.argv(WHAT, Path("ROOT"), Path("SETUP"))
    free = base.argv(base.Recipe("", "trixie", "", ()), Path("ROOT"), Path("SETUP"))
    assert given[-3:] == ["trixie", "ROOT", WHAT.mirror]
    assert free[-2:] == ["trixie", "ROOT"]
    assert [one.split("setup.sh")[-1] for one in free if "chroot" in one] == [" ''"]


def test_every_part_of_the_image_is_there() -> None:
    assert [part for part in base._PARTS if not part.exists()] == []
