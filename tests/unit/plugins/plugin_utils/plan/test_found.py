# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts that are on a host and stay as they are: judged as they are, kept in the lock, refused where they are not."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.matrix import load
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.plan import install, lock as locks, table
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.plan.make import Host, Made, PlanError, make
from tests.unit.plugins.plugin_utils.plan.nodes import LATER, NOW, SITES, host

MATRIX = load.own()
CLASS = "ubuntu24.04-6.8-x86-64_hgx-h100-8_connectx-7"
# An image of a vendor: its packages are in no repository that a plan names.
IMAGE = {
    "rdma": "doca 25.10-3.1.8.0",
    "driver": "580.126.20 open",
    "fabric_manager": "580.126.20-1",
    "nscq": "580.126.20-1",
    "imex": "",
    "nvlsm": "",
    "nccl": "2.28.9-1+cuda13.0",
    "container_toolkit": "1.18.1-1",
    "cuda": "",
    "dcgm": "",
    "gdrcopy": "",
    "gds": "",
}
EVERYTHING = {"stack_default": "found"}


def image(name: str = "a", /, *, wish: dict[str, Any] | None = None, **differs: str) -> Host:
    return host(name, wish=EVERYTHING if wish is None else wish, installed={**IMAGE, **differs})


def plan(*hosts: Host, old: locks.Lock | None = None, relock: bool = False, sites: install.Sites = SITES) -> Made:
    return make(hosts, MATRIX, old, relock=relock, sites=sites, now=LATER if old else NOW)


def stack(made: Made) -> dict[str, Any]:
    (row,) = made.rows
    assert row.planned is not None, row.refused
    return {part: dict(fields) for part, fields in row.planned.stack.items()}


def packages(made: Made, sites: install.Sites = SITES) -> dict[str, Any]:
    to = install.target("ubuntu24.04", "x86_64", MATRIX)
    return install.install(stack(made), to, MATRIX, sites)


def minds(made: Made) -> list[str]:
    (row,) = made.rows
    assert row.planned is not None, row.refused
    return [line for line in row.planned.because if line.startswith("mind ")]


def test_one_variable_keeps_all_that_is_there() -> None:
    made = plan(image(), sites=install.Sites({}))
    assert {part: fields.get("found") for part, fields in stack(made).items()} == {
        "rdma": "25.10-3.1.8.0",
        "driver": "580.126.20",
        "fabric_manager": "580.126.20-1",
        "nscq": "580.126.20-1",
        "nccl": "2.28.9-1+cuda13.0",
        "container_toolkit": "1.18.1-1",
        "cuda": None,
        "peer_memory": None,
    }
    # The numbers by which everything else goes are the vendors' own.
    assert stack(made)["driver"] == {
        "branch": "580", "version": "580.126.20", "modules": "open", "found": "580.126.20"
    }  # fmt: skip
    assert stack(made)["rdma"]["version"] == "3.2.3"
    assert stack(made)["nccl"]["cuda"] == "13.0"
    # Nothing is installed, and so no repository is needed.
    assert made.rows[0].missing == ()
    assert packages(made, install.Sites({}))["parts"] == {}
    assert packages(made, install.Sites({}))["repositories"] == []


def test_the_table_and_the_lock_say_what_was_found() -> None:
    made = plan(image())
    shown = table.render(made.rows, made.changes, made.facts, "")
    assert "580.126.20 open, as found" in shown
    assert "2.28.9+cuda13.0, as found" in shown
    assert "because: stays as it was found: rdma doca 3.2.3, driver 580.126.20 open" in shown
    assert locks.parse(yaml.safe_load(locks.text(made.lock))) == made.lock
    assert "found: 580.126.20\n" in locks.text(made.lock)


@pytest.mark.parametrize(
    ("wish", "part", "name"),
    [
        ("stack_driver", "driver", "nvidia_driver"),
        ("stack_rdma_flavour", "rdma", "rdma"),
        ("stack_nccl", "nccl", "nccl"),
        ("stack_container_toolkit", "container_toolkit", "container_toolkit"),
    ],
)
def test_each_part_may_stay_by_itself(wish: str, part: str, name: str) -> None:
    made = plan(image(wish={wish: "found"}))
    kept = {item for item, fields in stack(made).items() if "found" in fields}
    # The daemons of a driver are of its very version.
    assert kept == {part, *(("fabric_manager", "nscq") if part == "driver" else ())}
    assert set(packages(made)["parts"]) == {"rdma", "nvidia_driver", "nccl", "container_toolkit"} - {name}


@pytest.mark.parametrize(
    ("wish", "gone", "said"),
    [
        ({"stack_driver": "found"}, "driver", "a: stack_driver is found, and no driver is on the host"),
        ({"stack_nccl": "found"}, "nccl", "a: stack_nccl is found, and no nccl is on the host"),
        (EVERYTHING, "driver", "a: stack_default is found, and no driver is on the host; next: .*stack_driver: none"),
        (EVERYTHING, "rdma", "a: stack_default is found, and no RDMA stack is on the host; next: .*stack_rdma_flavour"),
        ({"stack_dcgm": "found"}, "dcgm", "a: stack_dcgm is found, and no dcgm is on the host"),
    ],
)
def test_what_is_not_there_cannot_stay(wish: dict[str, str], gone: str, said: str) -> None:
    with pytest.raises(PlanError, match=said) as caught:
        plan(image(wish=wish, **{gone: ""}), image("b", wish=wish, dcgm="1:4.4.1-1"))
    assert "; b: " not in str(caught.value)
    assert "Nothing was changed on any host" in str(caught.value)


def test_where_nobody_could_look_nothing_stays() -> None:
    with pytest.raises(PlanError, match="a: stack_default is found, and nobody could see which driver is installed"):
        plan(host("a", wish=EVERYTHING, installed={}))


def test_what_no_job_needs_is_not_brought_where_all_stays() -> None:
    made = plan(image(nccl="", container_toolkit=""))
    assert not {"nccl", "container_toolkit", "dcgm"} & set(stack(made))
    (row,) = made.rows
    assert row.planned is not None
    assert "not there, and not brought (stack_default is found): nccl, container_toolkit" in row.planned.because


def test_a_word_of_its_own_goes_before_the_one_for_all() -> None:
    made = plan(image(wish={**EVERYTHING, "stack_nccl": "2.30.7", "stack_container_toolkit": "none"}))
    assert "found" not in stack(made)["nccl"]
    assert stack(made)["nccl"]["version"] == "2.30.7"
    assert "container_toolkit" not in stack(made)
    assert set(packages(made)["parts"]) == {"nccl"}


def test_a_host_without_gpus_needs_no_driver_to_stay() -> None:
    made = plan(host("a", gpu="", wish=EVERYTHING, installed={**IMAGE, "driver": "", "nccl": ""}))
    assert set(stack(made)) == {"rdma", "container_toolkit"}


def test_found_parts_that_do_not_go_together_are_told_and_stay() -> None:
    # NCCL of CUDA 13 needs driver 580.
    made = plan(image(driver="535.288.01 proprietary", fabric_manager="535.288.01-1", nscq="535.288.01-1"))
    assert stack(made)["driver"]["version"] == "535.288.01"
    assert stack(made)["nccl"]["cuda"] == "13.0"
    assert any("CUDA_DRIVER" in line or "NCCL_CUDA" in line for line in minds(made))


def test_a_fabric_manager_of_another_release_is_told_and_stays() -> None:
    made = plan(image(fabric_manager="580.95.05-1"))
    assert stack(made)["fabric_manager"] == {"version": "580.95.05", "found": "580.95.05-1"}
    assert any("FM_EQ_DRIVER" in line for line in minds(made))
    assert any("FM_NEEDED" in line for line in minds(plan(image(fabric_manager=""))))


def test_what_the_plan_would_bring_has_to_go_with_what_stays() -> None:
    # NCCL is chosen for the driver that stays...
    made = plan(image(wish={"stack_driver": "found"}, driver="535.288.01 open"))
    assert stack(made)["nccl"]["cuda"].startswith("12.")
    # ...and refused where the site asks for one that does not go.
    wish = {"stack_driver": "found", "stack_cuda": "13.0"}
    (row,) = plan(image(wish=wish, driver="535.288.01 open")).rows
    assert row.refused is not None
    assert row.refused.rule == "CUDA_DRIVER"
    assert set(row.refused.change) == {"stack_cuda"}


def test_a_release_that_nobody_knows_is_told_and_stays() -> None:
    made = plan(image(driver="999.10.02 open", rdma="vendor 9999mlnx1-1", nccl="2.99.1-1+cuda13.0"))
    assert stack(made)["driver"] == {"branch": "999", "version": "999.10.02", "modules": "open", "found": "999.10.02"}
    assert stack(made)["rdma"] == {"flavour": "vendor", "version": "9999mlnx1-1", "found": "9999mlnx1-1"}
    for rule in ("BRANCH_KNOWN", "RDMA_KNOWN", "NCCL_BUILD"):
        (line,) = [line for line in minds(made) if rule in line]
        assert "is there" in line
        assert "asked for" not in line


def test_nobody_asks_for_packages_or_builds_of_what_stays() -> None:
    wish = {"stack_driver": "found", "stack_rdma_flavour": "found"}
    made = plan(image(wish=wish, rdma="doca 24.10-0.7.0.0"), sites=SITES)
    assert not [line for line in minds(made) if "SECURE_BOOT" in line or "RDMA_SYSTEM" in line]
    secured = plan(host("a", wish=wish, installed=IMAGE, secure_boot=True))
    assert not [line for line in minds(secured) if "SECURE_BOOT" in line]
    assert [line for line in minds(plan(host("a", secure_boot=True))) if "SECURE_BOOT" in line]


def test_wishes_that_say_more_of_what_stays_come_to_nothing() -> None:
    made = plan(image(wish={"stack_driver": "found", "stack_driver_modules": "proprietary"}))
    assert stack(made)["driver"]["modules"] == "open"
    said = "mind stack_driver_modules proprietary comes to nothing, because the driver stays as it was found"
    assert said in minds(made)


@pytest.mark.parametrize("name", ["stack_fabric_manager", "stack_cuda", "stack_peer_memory", "stack_driver_flavour"])
def test_only_parts_can_be_found(name: str) -> None:
    with pytest.raises(PlanError, match=f"a: {name} must be"):
        plan(image(wish={name: "found"}))


def test_hosts_of_which_other_things_stay_are_classes_of_their_own() -> None:
    made = plan(image("a"), image("b", driver="570.133.20 open"), image("c"))
    assert {row.name: tuple(row.hosts) for row in made.rows} == {
        f"{CLASS}_default-found+driver-580.126.20-open": ("a", "c"),
        f"{CLASS}_default-found+driver-570.133.20-open": ("b",),
    }
    # What nobody keeps splits no class.
    assert len(plan(image("a", wish={}), image("b", wish={}, nccl="")).rows) == 1


def test_the_lock_holds_what_was_found_until_it_moves() -> None:
    old = plan(image("a"), image("b")).lock
    assert plan(image("a"), image("b"), old=old).lock is old
    later = image("a", driver="580.159.03 open")
    said = "a: stack_default is found, and 580.159.03 open is there of driver; the lock found 580.126.20"
    for hosts in ([later], [later, image("b")]):
        with pytest.raises(PlanError, match=said) as caught:
            plan(*hosts, old=old)
        assert "stack_relock=true" in str(caught.value)
    anew = plan(later, image("b"), old=old, relock=True)
    assert {kind.stack["driver"]["found"] for kind in anew.lock.classes.values()} == {"580.159.03", "580.126.20"}


def test_what_was_planned_is_not_left_to_itself_without_a_word() -> None:
    planned = plan(image(wish={})).lock
    with pytest.raises(
        PlanError, match=r"stack_driver is found, and 580.126.20 open is there of driver; the lock says"
    ):
        plan(image(wish={"stack_driver": "found"}), old=planned)
    found = plan(image()).lock
    with pytest.raises(PlanError, match=r"stack_driver is 580, the lock says 580.126.20 as found"):
        plan(image(wish={"stack_driver": "580"}), old=found)


def test_packages_that_stay_are_named_for_who_installs_the_others() -> None:
    made = packages(plan(image(wish={"stack_driver": "found", "stack_rdma_flavour": "found"})))
    assert {"nvidia-*", "libnvidia-*", "linux-modules-nvidia-*-server-*", "libibverbs*", "doca-*"} <= set(made["stay"])
    assert "libnccl*" not in made["stay"]
    assert "stay" not in packages(plan(image(wish={})))


def test_rdma_may_be_left_alone_altogether() -> None:
    made = plan(image(wish={"stack_rdma_flavour": "none"}))
    assert "rdma" not in stack(made)
    assert any("RDMA_NEEDED" in line for line in minds(made))
    assert "rdma" not in packages(made)["parts"]
