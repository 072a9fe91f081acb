# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of drop-ins in the order in which modprobe and systemd read them."""

from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.host import check_boot, dropins
from ansible_collections.ibready.cluster.plugins.module_utils._areas.host.facts import KeptOut
from tests.gauntlet.tree import Tree

ETC, RUN, LIB = "/etc/modprobe.d", "/run/modprobe.d", "/usr/lib/modprobe.d"
SYSTEM = "/etc/systemd/system"


def kept_out(texts: dict[str, str]) -> dict[str, KeptOut]:
    tree = Tree()
    for path, text in texts.items():
        tree.file(path, text)
    return dropins.kept_out(tree).value or {}


@pytest.mark.parametrize(
    ("texts", "out"),
    [
        ({f"{ETC}/a.conf": "blacklist nouveau"}, {"nouveau": KeptOut(f"{ETC}/a.conf", "blacklist nouveau")}),
        ({f"{ETC}/a.conf": "# blacklist nouveau\nblacklist\noptions nouveau modeset=0\nsoftdep x pre: nouveau"}, {}),
        ({f"{ETC}/a.txt": "blacklist nouveau"}, {}),
        (
            {f"{LIB}/a.conf": "alias nouveau off\nalias net-pf-3 x"},
            {"nouveau": KeptOut(f"{LIB}/a.conf", "alias nouveau off")},
        ),
        # Of two files of one name the first folder's counts, and of two lines of install the first.
        ({f"{LIB}/a.conf": "blacklist nouveau", f"{RUN}/a.conf": "# nothing"}, {}),
        (
            {f"{ETC}/a.conf": "install mlx5-ib \\\n /bin/true", f"{LIB}/b.conf": "install mlx5_ib modprobe -i mlx5_ib"},
            {"mlx5_ib": KeptOut(f"{ETC}/a.conf", "install mlx5-ib /bin/true", never=True)},
        ),
        (
            {
                f"{ETC}/a.conf": "install nvidia /sbin/modprobe -i nvidia-current",
                f"{LIB}/b.conf": "install nvidia /bin/true",
            },
            {},
        ),
        # Debian's nvidia.conf.
        (
            {
                f"{ETC}/nvidia.conf": "install nvidia-uvm modprobe nvidia ; modprobe -i nvidia-current-uvm "
                "$CMDLINE_OPTS\ninstall nvidia-drm modprobe nvidia-modeset ; modprobe -i nvidia-current-drm "
                "$CMDLINE_OPTS"
            },
            {},
        ),
        ({f"{ETC}/a.conf": "install modprobe"}, {"modprobe": KeptOut(f"{ETC}/a.conf", "install modprobe", never=True)}),
        (
            {"/proc/cmdline": "ro modprobe.blacklist=nouveau,nova-core quiet"},
            {name: KeptOut("/proc/cmdline", "blacklist=nouveau,nova-core") for name in ("nouveau", "nova_core")},
        ),
    ],
)
def test_what_modprobe_keeps_out(texts: dict[str, str], out: dict[str, KeptOut]) -> None:
    assert kept_out(texts) == out


def test_a_file_that_cannot_be_read_leaves_it_open() -> None:
    tree = Tree()
    tree.file(f"{ETC}/a.conf", "blacklist nouveau")
    tree.broken[f"{ETC}/a.conf"] = "permission denied"
    reading = dropins.kept_out(tree)
    assert (reading.value, "permission denied" in reading.why) == (None, True)


def test_a_unit_is_read_by_all_of_its_names_and_its_kind() -> None:
    tree = Tree()
    tree.file("/usr/lib/systemd/system/ssh.service", "[Service]\nExecStart=-/usr/sbin/sshd -D\nLimitNOFILE=1")
    tree.file(f"{SYSTEM}/sshd.service.d/20.conf", "[Service]\nLimitNOFILE = 2 \\\n\nUser=x")
    tree.file(f"{SYSTEM}/service.d/10.conf", "[Service]\nLimitNOFILE=3\n#LimitNOFILE=4")
    found = dropins.unit(tree, ("ssh.service", "sshd.service")).value
    assert found is not None
    assert (found.name, found.program) == ("ssh.service", "sshd")
    assert [(line.key, line.value) for line in found.lines] == [
        ("ExecStart", "-/usr/sbin/sshd -D"),
        *(("LimitNOFILE", value) for value in "132"),
    ]
    tree.symlink(f"{SYSTEM}/ssh.service", "/dev/null")
    masked = dropins.unit(tree, ("ssh.service", "sshd.service"))
    assert (masked.value, masked.missing) == (None, True)


UNIT = "/usr/lib/systemd/system/nvidia-imex.service"


def test_drop_ins_of_a_names_beginning_are_read_and_those_of_the_kind_give_way() -> None:
    tree = Tree()
    own = "/usr/lib/systemd/system/nvidia-imex.service.d"
    tree.file(UNIT, "[Service]\nExecStart=/usr/bin/nvidia-imex")
    for number, path in enumerate(
        (
            *(f"{SYSTEM}/nvidia-imex.service.d/10.conf", f"{SYSTEM}/nvidia-.service.d/10.conf"),
            *(f"{SYSTEM}/nvidia-.service.d/20.conf", f"{own}/20.conf"),
            *(f"{own}/30.conf", f"{SYSTEM}/service.d/30.conf"),
            f"{SYSTEM}/service.d/40.conf",
        )
    ):
        tree.file(path, f"[Service]\nLimitNOFILE={number}")
    found = dropins.unit(tree, ["nvidia-imex.service"]).value
    assert found is not None
    assert [line.value for line in found.lines[1:]] == ["0", "2", "4", "6"]


@pytest.mark.parametrize("path", [UNIT, f"{SYSTEM}/nvidia-imex.service"])
def test_a_unit_file_that_cannot_be_read_is_not_taken_for_none(path: str) -> None:
    tree = Tree()
    tree.file(UNIT, "[Service]\nExecStart=/usr/bin/nvidia-imex")
    tree.file(f"{SYSTEM}/nvidia-imex.service", "[Service]\nExecStart=/bin/true")
    tree.broken[path] = "permission denied"
    found = dropins.unit(tree, ["nvidia-imex.service"])
    assert (found.value, found.missing, "permission denied" in found.why) == (None, False, True)


def test_a_unit_that_the_package_masks_has_no_program_of_the_packages() -> None:
    tree = Tree()
    tree.symlink(UNIT, "/dev/null")
    tree.file(f"{SYSTEM}/nvidia-imex.service", "[Service]\nExecStart=/bin/true")
    found = dropins.unit(tree, ["nvidia-imex.service"]).value
    assert found is not None
    assert (found.program, len(found.lines)) == ("", 1)


def test_a_file_in_the_place_of_the_packages_is_held_against_it() -> None:
    tree = Tree()
    tree.file("/usr/lib/systemd/system/slurmd.service", "[Service]\nExecStart=/usr/sbin/slurmd -D\n")
    tree.file(f"{SYSTEM}/slurmd.service", "[Service]\nExecStart=/bin/sleep infinity\n")
    found = dropins.unit(tree, ["slurmd.service"]).value
    assert found is not None
    assert (found.program, [line.value for line in found.lines]) == ("slurmd", ["/bin/sleep infinity"])
    assert [check.observed for check in check_boot._another_program(found)] == ["/bin/sleep infinity"]


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("64K", (65536, 65536)),
        ("8M:infinity", (8388608, float("inf"))),
        ("1024:1048576", (1024, 1048576)),
        ("", (0, 0)),
        ("x", (0, 0)),
    ],
)
def test_an_amount_of_systemd(text: str, amount: tuple[float, float]) -> None:
    assert check_boot._amounts(text) == amount


def test_only_what_is_less_than_was_given_is_taken_back() -> None:
    tree = Tree()
    given = "[Service]\nLimitMEMLOCK=infinity\nLimitNOFILE=infinity\n"
    tree.file("/usr/lib/systemd/system/slurmd.service", given)
    tree.file(f"{SYSTEM}/slurmd.service.d/50.conf", "[Service]\nLimitMEMLOCK=64K\nLimitNOFILE=1048576\n")
    found = dropins.unit(tree, ["slurmd.service"]).value
    assert found is not None
    # How many files a site gives is its own to say; a process that has the limit already is told of elsewhere.
    assert [check.observed.split()[0] for check in check_boot._lowered(found, ())] == ["LimitMEMLOCK"]
    assert list(check_boot._lowered(found, ("MEMLOCK",))) == []
    tree.file(f"{SYSTEM}/slurmd.service.d/90-ibready.conf", "[Service]\nLimitNOFILE=1024:1048576\n")
    tree.file(f"{SYSTEM}/slurmd.service.d/99.conf", "[Service]\nLimitMEMLOCK=infinity\nLimitNOFILE=1024:4096\n")
    found = dropins.unit(tree, ["slurmd.service"]).value
    assert found is not None
    assert [check.observed for check in check_boot._lowered(found, ())] == [
        "LimitNOFILE 1024:4096 from its next start on"
    ]
