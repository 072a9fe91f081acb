# SPDX-License-Identifier: GPL-3.0-or-later
"""The driver from the distribution's own archive: which one, in which packages, from where."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.matrix import load
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.plan import install, table
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.plan.make import Made, PlanError, make
from tests.unit.plugins.plugin_utils.plan.nodes import NOW, SITES, host

DEBIAN = ("debian", "13")
WISH = {"stack_driver_flavour": "distribution"}
# Closed modules reach no HCA through the distribution's own RDMA stack.
CLOSED = {"stack_peer_memory": "none"}
# An A100 as a card: no board, no NVSwitches.
CARD = {"gpu": "20f1", "nvswitches": []}


def plan(offered: dict[str, list[str]] | None = None, os: tuple[str, str] = DEBIAN, **wish: Any) -> Made:
    node = host("a", os=os, **CARD, offered=offered or {}, wish={**WISH, **wish})
    return make([node], load.own(), None, relock=False, sites=SITES, now=NOW)


def driver(made: Made) -> dict[str, Any]:
    (row,) = made.rows
    assert row.planned is not None, row.refused
    return dict(row.planned.stack["driver"])


def told(made: Made) -> dict[str, Any]:
    (row,) = made.rows
    assert row.planned is not None
    matrix = load.own()
    to = install.target(row.planned.system, row.planned.arch, matrix)
    return install.install(row.planned.stack, to, matrix, SITES, row.name)


def names(made: Made) -> list[str]:
    return [package["name"] for package in told(made)["parts"]["nvidia_driver"]["packages"]]


def test_debians_own_driver_is_planned_as_its_archive_has_it() -> None:
    made = plan()
    assert driver(made) == {
        "branch": "550",
        "version": "550.163.01",
        "modules": "open",
        "flavour": "distribution",
    }
    assert names(made)[0] == "nvidia-open-kernel-dkms"
    assert "550.163.01 open of the distribution" in table.render(made.rows, made.changes, made.facts, "")


def test_modules_that_do_not_build_for_the_running_kernel_stop_the_plan() -> None:
    def of(kernel: str, **wish: str) -> Made:
        wishes = {**WISH, "stack_driver": "550", "stack_driver_modules": "open", **wish}
        node = host("a", os=DEBIAN, **CARD, kernel=f"{kernel}+deb13-amd64", wish=wishes)
        return make([node], load.own(), None, relock=False, sites=SITES, now=NOW)

    assert driver(of("6.12.48"))["version"] == "550.163.01"
    (refused,) = of("6.12.117").refused.values()
    assert refused.rule == "DRIVER_KERNEL"
    accepted = of("6.12.117", stack_accept="DRIVER_KERNEL")
    assert "mind DRIVER_KERNEL" in table.render(accepted.rows, accepted.changes, accepted.facts, "")


def test_the_closed_modules_and_the_older_branch_are_packages_of_their_own() -> None:
    assert names(plan(stack_driver="550", stack_driver_modules="proprietary", **CLOSED))[0] == "nvidia-kernel-dkms"
    tesla = names(plan(stack_driver="535", **CLOSED))
    assert tesla[0] == "nvidia-tesla-535-kernel-dkms"
    assert not {"nvidia-kernel-dkms", "nvidia-smi"} & set(tesla)
    bookworm = plan(os=("debian", "12"), stack_driver="535")
    assert names(bookworm)[0] in ("nvidia-kernel-dkms", "nvidia-open-kernel-dkms")


def test_an_archive_has_one_persistence_daemon_for_all_its_series() -> None:
    for branch in ("535", "550"):
        packages = told(plan(stack_driver=branch, **CLOSED))["parts"]["nvidia_driver"]["packages"]
        assert {"name": "nvidia-persistenced", "version": ""} in packages


def test_what_the_hosts_lists_have_counts_more_than_what_the_matrix_remembers() -> None:
    newer = {"nvidia-open-kernel-dkms": ["550.200.01-1", "580.82.07-1"], "nvidia-kernel-dkms": []}
    made = plan(newer, stack_driver_modules="open")
    assert driver(made)["version"] == "550.200.01"
    assert made.rows[0].missing == ()


def test_hosts_of_a_class_get_what_all_of_them_can_have() -> None:
    both = [
        host("a", os=DEBIAN, **CARD, offered={"nvidia-open-kernel-dkms": ["550.200.01-1", "550.163.01-2"]}, wish=WISH),
        host("b", os=DEBIAN, **CARD, offered={"nvidia-open-kernel-dkms": ["550.163.01-2"]}, wish=WISH),
    ]
    made = make(both, load.own(), None, relock=False, sites=SITES, now=NOW)
    assert driver(made)["version"] == "550.163.01"


def test_parts_of_the_archive_that_are_off_are_named_and_come_from_the_sites_mirror() -> None:
    off: dict[str, list[str]] = {"nvidia-kernel-dkms": [], "nvidia-open-kernel-dkms": []}
    made = plan(off)
    assert made.rows[0].missing == (install.OWN,)
    assert "needs:   stack_repositories.distribution.base" in table.render(made.rows, made.changes, made.facts, "")
    assert [entry["name"] for entry in told(made)["repositories"] if entry["name"] == install.OWN] == []
    matrix, (row,) = load.own(), made.rows
    assert row.planned is not None
    sites = install.Sites({**SITES.given, install.OWN: {"base": "http://mirror.example.com/debian"}})
    to = install.target("debian13", "x86_64", matrix)
    found = install.install(row.planned.stack, to, matrix, sites)["repositories"]
    (own,) = [entry for entry in found if entry["name"] == install.OWN]
    assert own["url"] == "http://mirror.example.com/debian/"
    assert (own["suite"], own["components"]) == ("trixie", ["contrib", "non-free", "non-free-firmware"])
    assert own["key"] == "file:///usr/share/keyrings/debian-archive-keyring.gpg"


def test_ubuntus_parts_of_the_archive_have_the_driver_and_what_belongs_to_it() -> None:
    matrix = load.own()
    (row,) = plan(os=("ubuntu", "24.04")).rows
    assert row.planned is not None
    sites = install.Sites({**SITES.given, install.OWN: {"base": "http://mirror.example.com/ubuntu"}})
    to = install.target("ubuntu24.04", "x86_64", matrix)
    found = install.install(row.planned.stack, to, matrix, sites)["repositories"]
    (own,) = [entry for entry in found if entry["name"] == install.OWN]
    assert (own["suite"], own["components"]) == ("noble", ["restricted", "multiverse"])


def test_ubuntus_signed_modules_are_of_the_kernel_that_runs() -> None:
    made = plan(os=("ubuntu", "24.04"))
    assert driver(made)["branch"] == "580"
    assert names(made) == [
        "nvidia-headless-no-dkms-580-server-open",
        "linux-modules-nvidia-580-server-open-{kernel}",
        "nvidia-utils-580-server",
    ]


def test_modules_that_come_signed_are_in_no_doubt_under_secure_boot() -> None:
    for os, doubt in ((("ubuntu", "24.04"), False), (DEBIAN, True)):
        node = host("a", os=os, **CARD, secure_boot=True, wish={**WISH, "stack_rdma_flavour": "inbox"})
        made = make([node], load.own(), None, relock=False, sites=SITES, now=NOW)
        assert any("SECURE_BOOT" in line for line in made.rows[0].planned.because) is doubt  # type: ignore[union-attr]
        assert ("signed" in driver(made)) is not doubt


def test_with_nvswitches_the_fabric_manager_is_the_archives_too() -> None:
    node = host("a", os=("ubuntu", "24.04"), wish=WISH)
    made = make([node], load.own(), None, relock=False, sites=SITES, now=NOW)
    assert "nvidia-fabricmanager-580" in names(made)
    assert "nvidia-fabricmanager" not in names(made)


def test_the_lock_holds_to_whose_packages_they_are() -> None:
    made = plan()
    node = host("a", os=DEBIAN, **CARD, wish={**WISH, "stack_driver_flavour": "nvidia"})
    with pytest.raises(PlanError, match="stack_driver_flavour is nvidia, the lock says distribution"):
        make([node], load.own(), made.lock, relock=False, sites=SITES, now=NOW)
    plain = make([host("a", os=DEBIAN, **CARD)], load.own(), None, relock=False, sites=SITES, now=NOW)
    assert "flavour" not in driver(plain)
    assert make([node], load.own(), plain.lock, relock=False, sites=SITES, now=NOW).lock is plain.lock


def test_no_shipped_stack_makes_the_distributions_packages_known() -> None:
    (row,) = plan(os=("ubuntu", "24.04")).rows
    assert row.planned is not None
    assert row.planned.verdict == "allowed"
