# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.matrix import load
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.plan import (
    install as installer,
    lock as locks,
    table,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.plan.install import Sites
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.plan.make import Host, Made, PlanError, make
from tests.unit.plugins.plugin_utils.plan.nodes import LATER, NOW, SITES, host

MATRIX = load.own()
H100 = "ubuntu24.04-6.8-x86-64_hgx-h100-8_connectx-7"
CPU = "ubuntu24.04-6.8-x86-64_connectx-7"


def plan(*hosts: Host, old: locks.Lock | None = None, relock: bool = False) -> Made:
    return make(hosts, MATRIX, old, relock=relock, sites=SITES, now=LATER if old else NOW)


def text(made: Made) -> str:
    return table.render(made.rows, made.changes, made.facts, "")


def test_equal_hosts_are_one_class_and_get_one_stack() -> None:
    made = plan(host("b"), host("a"), host("c", gpu=""))
    assert {row.name: tuple(row.hosts) for row in made.rows} == {H100: ("a", "b"), CPU: ("c",)}
    assert set(made.lock.classes) == {H100, CPU}
    assert made.lock.created == NOW
    assert made.lock.matrix == MATRIX.digest
    assert made.changes == [f"{CPU}: new, with c", f"{H100}: new, with a, b"]


def test_equal_hosts_with_other_wishes_are_another_class() -> None:
    made = plan(host("a"), host("b", wish={"stack_driver": "595"}))
    assert len(made.rows) == 2
    assert made.lock.of_host("b") is not None
    drivers = {row.hosts[0]: row.planned.stack["driver"]["branch"] for row in made.rows if row.planned}
    assert drivers == {"a": "580", "b": "595"}


def test_the_lock_is_kept_until_it_is_told_to_move() -> None:
    first = plan(host("a"), host("b"))
    older = _moved(first.lock, "580.126.20")
    again = plan(host("a"), host("b"), old=older)
    assert again.lock is older
    assert again.changes == []
    assert all(row.kept for row in again.rows)
    anew = plan(host("a"), host("b"), old=older, relock=True)
    assert any("driver 580.126.20 open -> 580." in line for line in anew.changes)
    assert anew.lock.created == LATER


def test_a_host_that_joins_is_told_and_moves_nothing() -> None:
    old = _moved(plan(host("a")).lock, "580.126.20")
    made = plan(host("a"), host("b"), old=old)
    assert made.changes == [f"{H100}: b joined"]
    assert made.lock.classes[H100].stack["driver"]["version"] == "580.126.20"
    # Only some hosts take part: the others stay where they are.
    assert plan(host("b"), old=made.lock).lock is made.lock


def test_a_host_that_became_another_leaves_its_class() -> None:
    old = plan(host("a"), host("b")).lock
    made = plan(host("b", kernel="6.11.0-21-generic"), old=old)
    assert made.lock.classes[H100].hosts == ("a",)
    assert f"{H100}: b left" in made.changes


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ({"stack_driver": "595"}, "stack_driver is 595, the lock says 580"),
        ({"stack_nccl": "none"}, "stack_nccl is none"),
        ({"stack_gdrcopy": "newest"}, "stack_gdrcopy is newest"),
        ({"stack_gds": "newest"}, "stack_gds is newest, the lock says none"),
        ({"stack_rdma_flavour": "inbox"}, "stack_rdma_flavour is inbox, the lock says doca"),
        ({"stack_peer_memory": "peermem"}, "stack_peer_memory is peermem, the lock says dmabuf"),
    ],
)
def test_a_wish_against_the_lock_is_refused(wish: dict[str, Any], said: str) -> None:
    old = plan(host("a")).lock
    with pytest.raises(PlanError, match=said) as caught:
        plan(host("a", wish=wish), old=old)
    assert "stack_relock=true" in str(caught.value)
    assert not plan(host("a", wish=wish), old=old, relock=True).refused


@pytest.mark.parametrize(
    "wish",
    [
        {"stack_driver": "580"},
        {"stack_rdma_version": "3.2"},
        {"stack_driver_modules": "open"},
        {"stack_dcgm": "none"},
    ],
)
def test_a_wish_that_the_lock_fulfils_is_none_against_it(wish: dict[str, Any]) -> None:
    old = plan(host("a")).lock
    assert plan(host("a", wish=wish), old=old).lock is old


def test_a_wish_that_cannot_be_meant_names_its_host() -> None:
    with pytest.raises(PlanError, match="a: stack_driver must be"):
        plan(host("a", wish={"stack_driver": True}))


def test_a_refused_class_is_told_with_what_would_go() -> None:
    made = plan(host("a"), host("v", gpu="1db1", nvswitches=[], wish={"stack_driver": "620"}))
    assert set(made.refused) == {"v"}
    reported = text(made)
    assert "REFUSED  (1 host: v)" in reported
    assert "rule:    GPU_BRANCH" in reported
    assert "set stack_driver=580" in reported
    assert "set stack_driver=580" in table.refusal(made.refused["v"])


def test_the_table_tells_what_is_there_what_will_be_and_why() -> None:
    other = host("b", installed={"rdma": "doca 3.2.1", "driver": "580.95.05 open"})
    reported = text(plan(host("a"), other))
    assert f"{H100}: allowed  (2 hosts: a, b)" in reported
    assert "inbox 50.0 (1), doca 3.2.1 (1)" in reported
    assert "because: rdma, cuda as in Azure HPC images" in reported
    assert "NVIDIA driver" in reported
    assert "not looked at" in reported
    assert re.search(r"\nThe facts that this rests on were last checked on \d{4}-\d\d-\d\d or later \(", reported)


@pytest.mark.parametrize(
    ("wish", "shown"),
    [
        ({"stack_rdma_flavour": "doca", "stack_rdma_version": "3.2.3"}, "doca 3.2.3 (kernel modules 25.10-3.1.8.0)"),
        ({"stack_rdma_flavour": "inbox"}, "inbox"),
    ],
)
def test_the_planned_rdma_stack_has_the_number_that_hosts_will_show(wish: dict[str, str], shown: str) -> None:
    (line,) = [line for line in text(plan(host("a", wish=wish))).split("\n") if line.startswith("  RDMA stack")]
    assert line.endswith(f"  {shown}")


def test_a_repository_without_a_location_is_told() -> None:
    made = make([host("a")], MATRIX, None, relock=False, sites=Sites({}), now=NOW)
    assert made.rows[0].missing == ("doca", "cuda", "container_toolkit")
    assert "needs:   stack_repositories.doca.base (no location given)" in text(made)


def test_a_lock_is_read_as_it_was_written() -> None:
    lock = plan(host("a"), host("c", gpu="")).lock
    assert locks.parse(yaml.safe_load(locks.text(lock))) == lock


def _moved(lock: locks.Lock, driver: str) -> locks.Lock:
    raw = yaml.safe_load(locks.text(lock))
    for part in ("driver", "fabric_manager", "nscq"):
        raw["classes"][H100]["stack"][part]["version"] = driver
    return locks.parse(raw)


def test_an_install_names_the_parts_that_dkms_builds() -> None:
    def built(**wish: str) -> list[str]:
        (row,) = plan(host("a", wish=wish)).rows
        assert row.planned is not None
        to = installer.target(row.planned.system, row.planned.arch, load.own())
        return list(installer.install(row.planned.stack, to, load.own(), SITES)["dkms"])

    assert built() == ["rdma", "nvidia_driver"]
    assert built(stack_rdma_flavour="inbox", stack_gds="newest") == ["nvidia_driver", "gds"]
    assert built(stack_driver_flavour="distribution", stack_rdma_flavour="inbox", stack_gdrcopy="newest") == ["extras"]
