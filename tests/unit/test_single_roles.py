# SPDX-License-Identifier: GPL-3.0-or-later
"""A role in a playbook that holds nothing else: it does its work, or says what it lacks.

Every role that there is is followed twice by what reads the roles' tasks for a comparison (docs/desired.md), here with
what a role says besides: once with a plan, and once with none of what earlier plays bring.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.plugins.loader import init_plugin_loader
from ansible.template import Templar
from ansible.utils.collection_loader._collection_finder import _AnsibleCollectionFinder

from ansible_collections.ibready.cluster.plugins.plugin_utils._desired import compose, facts
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.plan.lack import lack

ROOT = Path(__file__).resolve().parents[2]
ROLES = sorted(path.name for path in (ROOT / "roles").iterdir() if path.is_dir())
UBUNTU = {"os": {"id": "ubuntu", "version": "24.04"}, "kernel": "6.8.0-88-generic"}
PARTS = ("rdma", "nvidia_driver", "nccl", "container_toolkit", "extras", "gds")
PART = {"packages": [{"name": "thing", "version": "1"}]}
PLAN = {
    "class": "c1",
    "digest": "0123",
    "stack": {"rdma": {"flavour": "doca"}, "driver": {}, "nccl": {"version": "2.29.7"}},
    "install": {"repositories": [], "parts": dict.fromkeys(PARTS, PART)},
}
# As plan.yml leaves it where nobody said where packages are to be had.
NO_PACKAGES = {**PLAN, "install": {}}
SAYS = ("ansible.builtin.debug states", "ansible.builtin.fail states", "it would be refused")


@pytest.fixture(autouse=True, scope="module")
def plugins() -> Iterator[None]:
    init_plugin_loader([])
    yield
    _AnsibleCollectionFinder._remove()


@dataclass(frozen=True)
class Followed:
    """``does``: tasks that state something or act. ``says``: tasks that tell or refuse. ``dies``: what is undefined."""

    does: frozenset[str]
    says: frozenset[str]
    dies: frozenset[str]


@pytest.fixture
def followed(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(compose, "_SILENT", {"ansible.builtin.setup"})

    def follow(role: str, **variables: Any) -> Followed:
        loader = DataLoader()
        seen = {
            "inventory_hostname": "node1",
            "groups": {"all": ["node1"]},
            "hostvars": {"node1": {}},
            "ansible_run_tags": ["all"],
            "ansible_play_batch": ["node1"],
            "ansible_play_hosts_all": ["node1"],
            "ansible_facts": facts.of(UBUNTU),
            **variables,
        }
        wanted = compose.Composer(Templar(loader=loader), loader, seen, {}).role(role)
        acts = [line for line in wanted.always if not any(word in line for word in SAYS)]
        return Followed(
            frozenset([*(item.task for item in wanted.items), *(line.partition(":")[0] for line in acts)]),
            frozenset(line.partition(":")[0] for line in set(wanted.always) - set(acts)),
            frozenset(line for line in acts if "undefined" in line or "has no attribute" in line),
        )

    return follow


def test_there_are_roles() -> None:
    assert {"nccl", "nvidia_driver", "rdma"} <= set(ROLES)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("without", [{}, {"ibready_plan": NO_PACKAGES}], ids=["no plan", "no packages"])
def test_a_role_by_itself_does_its_work_or_says_what_it_lacks(
    followed: Any, role: str, without: dict[str, Any]
) -> None:
    alone, planned = followed(role, **without), followed(role, ibready_plan=PLAN)

    said = alone.says - planned.says
    assert alone.does or alone.says, "it would end well without a word and with nothing done"
    # Where it does other work instead, that is what it says.
    if planned.does - alone.does and not alone.does - planned.does:
        assert said, f"left out without a word: {sorted(planned.does - alone.does)}"
    # What is undefined behind a refusal is never reached.
    assert said or alone.dies <= planned.dies


def test_a_role_that_takes_all_from_the_plan_refuses_to_run_without(followed: Any) -> None:
    for role in ("nvidia_driver", "nccl", "kubernetes_rdma"):
        assert "Refuse to go on without a plan" in followed(role).says, role
        assert "Refuse to go on without a plan" not in followed(role, ibready_plan=PLAN).says, role


@pytest.mark.parametrize(
    ("wish", "refused"), [("auto", False), ("inbox", False), ("doca", True), ("mlnx_ofed", True), ("none", True)]
)
def test_the_distributions_stack_is_brought_only_where_the_site_names_no_other(
    followed: Any, wish: str, refused: bool
) -> None:
    assert ("Refuse to go on without a plan" in followed("rdma", stack_rdma_flavour=wish).says) is refused


@pytest.mark.parametrize("role", ["nvidia_driver", "nccl"])
def test_a_plan_without_a_part_is_no_lack(followed: Any, role: str) -> None:
    plan = {**PLAN, "install": {"repositories": [], "parts": {}}}
    says = followed(role, ibready_plan=plan).says
    assert "Refuse to go on without a plan" not in says
    assert ("Say that the plan has no driver" in says) is (role == "nvidia_driver")


def test_the_plan_without_packages_is_enough_for_manifests(followed: Any) -> None:
    assert followed("kubernetes_rdma", ibready_plan=NO_PACKAGES) == followed("kubernetes_rdma", ibready_plan=PLAN)


@pytest.mark.parametrize("role", ["roce", "subnet_manager"])
def test_a_role_of_which_nothing_is_asked_says_so(followed: Any, role: str) -> None:
    wish = {"roce": {"roce_mtu": 9000}, "subnet_manager": {"subnet_manager_hosts": ["node1"]}}[role]
    assert {name for name in followed(role).says - followed(role, **wish).says if name.startswith("Say ")}


@pytest.mark.parametrize(
    ("plan", "packages", "words"),
    [
        (None, True, "role nccl has no plan"),
        ({}, True, "role nccl has no plan"),
        ({}, False, "role nccl has no plan"),
        ("c1", True, "cannot read ibready_plan"),
        ({"install": PLAN["install"]}, True, "cannot read ibready_plan"),
        (NO_PACKAGES, True, "what class c1 is planned: nobody said where its packages are to be had"),
        ({"stack": {}, "install": {"parts": {}}}, True, "are to be had"),
        (NO_PACKAGES, False, ""),
        (PLAN, True, ""),
    ],
)
def test_what_is_lacking_is_named_with_the_next_step(plan: Any, packages: bool, words: str) -> None:
    said = lack(plan, "nccl", packages=packages)
    assert words in said
    assert bool(said) is bool(words)
    assert not words or ("role nccl" in said and "Nothing was changed. Next: " in said)
