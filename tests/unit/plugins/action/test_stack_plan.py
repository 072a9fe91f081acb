# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ansible_collections.ibready.cluster.plugins.action import stack_plan as acting
from ansible_collections.ibready.cluster.plugins.action.stack_plan import ActionModule
from ansible_collections.ibready.cluster.plugins.module_utils._act.packages import openpgp
from ansible_collections.ibready.cluster.plugins.modules import stack_plan
from ansible_collections.ibready.cluster.plugins.plugin_utils._bundle import gpg
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.resolve.platform import platform
from tests.unit.plugins.plugin_utils.plan.nodes import SITES, node

Inventory = Callable[..., dict[str, Any]]
Plan = Callable[..., dict[str, Any]]
KEY = openpgp.armored(b"\xc6\x01\x04").encode()


def told(**other: Any) -> dict[str, Any]:
    """The variables of a host that answered."""
    ours = {key: other.pop(key) for key in list(other) if key.startswith("stack_")}
    return {
        "ibready_node": {"node": node(**other)},
        "stack_repositories": dict(SITES.given),
        **ours,
    }


@pytest.fixture
def plan(action: Callable[..., ActionBase], inventory: Inventory, monkeypatch: pytest.MonkeyPatch) -> Plan:
    def run(check: bool = False, hosts: dict[str, Any] | None = None, **args: Any) -> dict[str, Any]:
        hosts = {"a": told(), "b": told()} if hosts is None else hosts
        variables = inventory(**hosts)
        plugin = action(ActionModule, variables, {"hosts": list(hosts), **args})
        plugin._task.check_mode = check
        monkeypatch.setattr(plugin._display, "display", lambda *_, **__: None)
        result: dict[str, Any] = plugin.run(task_vars=variables)
        return result

    return run


def test_a_plan_is_made_written_and_kept(plan: Plan, tmp_path: Path) -> None:
    first = plan()
    assert first["changed"]
    assert {Path(one).name for one in first["written"]} == {"stack.lock.yml", "stack.sbom.cdx.json"}
    assert Path(first["lock"]) == tmp_path / "stack.lock.yml"
    (name,) = set(first["classes"].values())
    assert set(first["classes"]) == {"a", "b"}
    assert first["plans"][name]["install"]["parts"]["rdma"]
    again = plan()
    assert (again["changed"], again["written"]) == (False, [])
    assert again["plans"] == first["plans"]


def test_check_mode_and_write_false_write_nothing(plan: Plan, tmp_path: Path) -> None:
    for args in ({"check": True}, {"write": False}):
        assert plan(**args)["written"] == []
        assert not (tmp_path / "stack.lock.yml").exists()


def test_relock_moves_the_lock_and_keeps_the_one_before(plan: Plan, tmp_path: Path) -> None:
    old = {"stack_driver": "580.126.20"}
    plan(hosts={"a": told(**old)})
    with pytest.raises(AnsibleActionFail, match="stack_driver is 595"):
        plan(hosts={"a": told(stack_driver="595")})
    moved = plan(hosts={"a": told(stack_driver="595")}, relock=True)
    assert any("driver 580.126.20 open -> 595." in line for line in moved["changes"])
    before = yaml.safe_load((tmp_path / "stack.lock.previous.yml").read_text())
    (one,) = before["classes"].values()
    assert one["stack"]["driver"]["version"] == "580.126.20"


UNUSABLE: list[tuple[dict[str, Any], str]] = [
    ({"kernel": None}, "node.kernel: nothing, and not text"),
    ({"os": {"id": ["ubuntu"], "version": "24.04"}}, "node.os.id: a list, and not text"),
    ({"gpus": 8}, "node.gpus: a number, and not a list"),
    ({"gpus": [{"vendor": "10de"}]}, "node.gpus[0].device: missing"),
    ({"engines": {"containerd": 2}}, "node.engines.containerd: a number, and not text"),
    ({"rdma_devices": [["mlx5_0"]]}, "node.rdma_devices[0]: a list, and not text"),
]


@pytest.mark.parametrize(("bent", "why"), UNUSABLE, ids=[why for _, why in UNUSABLE])
def test_a_host_whose_answer_cannot_be_used_has_no_plan_and_hinders_none(
    plan: Plan, bent: dict[str, Any], why: str
) -> None:
    odd = told()
    odd["ibready_node"]["node"].update(bent)
    found = plan(hosts={"a": told(), "b": odd})
    assert found["classes"] == {"a": next(iter(found["plans"]))}
    assert set(found["refused"]) == {"b"}
    assert why in found["refused"]["b"]
    with pytest.raises(AnsibleActionFail, match="no host told what it is; b: ") as caught:
        plan(hosts={"b": odd})
    assert why in str(caught.value)


def test_whatever_is_raised_of_one_host_s_platform_costs_that_host_alone(
    plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    def odd(facts: dict[str, Any], matrix: Any) -> Any:
        return 1 / 0 if facts["kernel"] == "odd" else platform(facts, matrix)

    monkeypatch.setattr(acting, "platform", odd)
    found = plan(hosts={"a": told(), "b": told(kernel="odd")})
    assert set(found["classes"]) == {"a"}
    assert "cannot be used: ZeroDivisionError" in found["refused"]["b"]


WRONG = {
    "refused": ({"a": told(stack_cuda="13.0", stack_driver="535")}, "a: CUDA_DRIVER"),
    "nowhere": ({"a": told(stack_repositories={})}, "nobody said where DOCA-Host"),
    "no host": ({"a": {"ibready_node": {"msg": "unreachable"}}}, "no host told what it is"),
    "two mirrors": ({"a": told(), "b": told(stack_repositories={})}, "stack_repositories differs"),
    "no matrix": ({"a": told(stack_matrix=["/nonexistent"])}, "/nonexistent: no matrix file"),
    "wish": ({"a": told(stack_driver=True)}, "a: stack_driver must be"),
}


@pytest.mark.parametrize(("hosts", "said"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_planned_is_refused_and_nothing_written(
    plan: Plan, tmp_path: Path, hosts: dict[str, Any], said: str
) -> None:
    with pytest.raises(AnsibleActionFail, match=said):
        plan(hosts=hosts)
    assert not (tmp_path / "stack.lock.yml").exists()


def test_to_show_a_plan_no_repository_is_needed(plan: Plan) -> None:
    shown = plan(hosts={"a": told(stack_repositories={})}, show_only=True)
    (one,) = shown["plans"].values()
    assert one["install"] == {}
    assert "no location given" in shown["table"]


def test_a_host_that_did_not_answer_has_no_plan_and_hinders_none(plan: Plan) -> None:
    found = plan(hosts={"a": told(), "b": {"ibready_node": {"msg": "unreachable"}}})
    assert set(found["classes"]) == {"a"}


def test_a_damaged_lock_is_refused(plan: Plan, tmp_path: Path) -> None:
    (tmp_path / "stack.lock.yml").write_text("schema: other\n")
    with pytest.raises(AnsibleActionFail, match=r"(?s)stack\.lock\.yml is no lock"):
        plan()


def test_a_lock_that_cannot_be_written_says_so(plan: Plan, tmp_path: Path) -> None:
    (tmp_path / "stack.lock.yml").mkdir()
    with pytest.raises(AnsibleActionFail, match="stack"):
        plan()


def test_a_bundle_s_key_goes_out_with_the_plan_and_is_asked_of_no_mirror(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fingerprint = "A" * 40
    bundle = {"stack_bundle": "http://mirror/bundle", "stack_bundle_key": fingerprint}
    monkeypatch.setattr(gpg, "public", lambda key: {fingerprint: KEY}[key])
    (one,) = plan(hosts={"a": told(**bundle)})["plans"].values()
    (repository,) = one["install"]["repositories"]
    assert repository["public_key"].encode() == KEY
    assert "key" not in repository


def test_without_gpg_a_bundle_behind_an_address_is_refused_before_anything_changes(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    bundle = {"stack_bundle": "http://mirror/bundle", "stack_bundle_key": "A" * 40}
    with pytest.raises(AnsibleActionFail, match=r"no gpg.*next: install.*Nothing was changed"):
        plan(hosts={"a": told(**bundle)})
    assert not (tmp_path / "stack.lock.yml").exists()


def test_what_is_documented_is_returned(plan: Plan) -> None:
    documented = yaml.safe_load(stack_plan.RETURN)
    found = plan()
    assert set(documented) <= set(found)
    (one,) = found["plans"].values()
    assert set(documented["plans"]["contains"]) == set(one)


def test_a_release_that_the_matrix_lacks_has_to_be_published(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def lacking(*_of: object) -> list[str]:
        asked.append("asked")
        return ["libnccl2 2.28.5-1+cuda13.0 (there is 2.28.9-1+cuda13.0)"]

    monkeypatch.setattr(acting.published, "lacking", lacking)
    plan()
    assert not asked
    hosts = {"a": told(stack_nccl="2.28.5")}
    with pytest.raises(AnsibleActionFail, match=r"a: no repository has libnccl2 2\.28\.5-1\+cuda13\.0 \(there is 2"):
        plan(hosts=hosts, relock=True)

    def gone(*_of: object) -> list[str]:
        raise OSError("no route")

    monkeypatch.setattr(acting.published, "lacking", gone)
    (made,) = plan(hosts=hosts, relock=True)["plans"].values()
    assert made["stack"]["nccl"]["version"] == "2.28.5"
