# SPDX-License-Identifier: GPL-3.0-or-later
"""stack.rdma.verbs: whether programs of the host can use its RDMA devices."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.machine.facts import Machine, PciFunction
from ansible_collections.ibready.cluster.plugins.module_utils._areas.stack import check_verbs, observe_verbs
from ansible_collections.ibready.cluster.plugins.module_utils._areas.stack.check_installed import Stack, installed
from ansible_collections.ibready.cluster.plugins.module_utils._areas.stack.facts import StackFacts, Verbs
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import Check
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._parse.packages import Package
from tests.gauntlet.tree import Tree

LIB = "/usr/lib/x86_64-linux-gnu"
HCA = PciFunction("0000:18:00.0", "020700", "15b3", "1021", driver="mlx5_core")
BROADCOM = PciFunction("0000:18:00.0", "020000", "14e4", "1750", driver="bnxt_en")
WHOLE = Verbs(
    Reading((f"{LIB}/librdmacm.so.1",)),
    Reading({"mlx5": "/etc/libibverbs.d/mlx5.driver"}),
    Reading(("mlx5",)),
    Reading({"mlx5_0": "mlx5_core"}),
    Reading(False),
    Reading(""),
)
DENIED: Reading[Any] = Reading(None, "permission denied")


def facts(packages: tuple[str, ...] = ("libibverbs1",), **bent: Any) -> StackFacts:
    healthy = StackFacts(
        packages=Reading(tuple(Package(name, "50.0-2", "amd64") for name in packages)),
        database="dpkg",
        devices=Reading(("mlx5_0",)),
        verbs=Reading((f"{LIB}/libibverbs.so.1",)),
        userspace=WHOLE,
    )
    return replace(healthy, **bent)


def judge(
    seen: StackFacts,
    *functions: PciFunction,
    expect: dict[str, Any] | None = None,
    stack: Reading[Stack] | None = None,
    container: str = "",
) -> Check:
    host = Machine(pci=Reading(functions or (HCA,)), container=container)
    (check,) = check_verbs.judge(seen, host, from_inventory(expect), stack or installed(seen))
    return check


def test_a_whole_user_space_passes() -> None:
    assert judge(facts()).result == "pass"


@pytest.mark.parametrize(
    ("driver", "device", "provider"),
    [
        ("bnxt_en", "bnxt_re0", "bnxt_re"),
        ("ice", "irdma0", "irdma"),
        ("efa", "efa_0", "efa"),
        ("mlx4_core", "mlx4_0", "mlx4"),
    ],
)
def test_each_device_needs_its_own_provider(driver: str, device: str, provider: str) -> None:
    space = replace(WHOLE, drivers=Reading({device: driver}))
    check = judge(facts(devices=Reading((device,)), userspace=space), BROADCOM)
    assert (check.result, check.subject) == ("fail", provider)
    assert f"no lib{provider}-rdmav*.so" in check.observed
    assert device in check.cause
    both = replace(space, named=Reading({provider: "x"}), providers=Reading((provider,)))
    assert judge(facts(devices=Reading((device,)), userspace=both), BROADCOM).result == "pass"


def test_a_device_of_an_unknown_driver_is_left_alone() -> None:
    space = replace(WHOLE, named=Reading({}), providers=Reading(()), drivers=Reading({"rxe0": "virtio"}))
    assert judge(facts(devices=Reading(("rxe0",)), userspace=space), BROADCOM).result == "pass"


def test_a_configuration_file_that_was_deleted_comes_back_only_by_force() -> None:
    unlisted = judge(facts(userspace=replace(WHOLE, named=Reading({}))))
    assert "--force-confmiss ibverbs-providers" in unlisted.remedy
    moved = judge(facts(userspace=replace(WHOLE, providers=Reading(()))))
    assert "force-confmiss" not in moved.remedy
    assert "ibverbs-providers" in moved.remedy
    rpm = judge(facts(userspace=replace(WHOLE, named=Reading({})), database="rpm"))
    assert "dnf reinstall libibverbs" in rpm.remedy


@pytest.mark.parametrize("bent", [{"named": DENIED}, {"providers": DENIED}, {"rdmacm": DENIED}])
def test_what_cannot_be_looked_at_is_unknown(bent: dict[str, Any]) -> None:
    check = judge(facts(userspace=replace(WHOLE, **bent)))
    assert (check.result, check.cause) == ("unknown", "permission denied")


def test_librdmacm_is_asked_for_where_somebody_has_it_installed() -> None:
    none = replace(WHOLE, rdmacm=Reading(()))
    assert judge(facts(userspace=none)).result == "pass"
    assert judge(facts(("libibverbs1", "librdmacm1t64"), userspace=none)).result == "fail"
    assert judge(facts(userspace=none), stack=Reading(Stack("doca", ("25.10",)))).result == "fail"


def test_without_any_only_containers_bring_their_own() -> None:
    none = facts(("bash",), verbs=Reading(()))
    assert judge(none).result == "fail"
    kube = replace(none, userspace=replace(WHOLE, kubelet=Reading(True)))
    assert judge(kube).result == "skip"
    assert judge(kube, expect={"stack": {"rdma": {"flavour": "inbox"}}}).result == "fail"
    assert judge(none, container="docker").result == "skip"
    assert (
        judge(none, PciFunction("0000:01:00.0", "020000", "8086", "1572")).result == "fail"
    )  # an RDMA device is there
    assert (
        judge(replace(none, devices=Reading(())), PciFunction("0000:01:00.0", "0c0330", "8086", "1")).result == "skip"
    )


def _tree() -> Tree:
    tree = Tree()
    tree.file(f"{LIB}/libibverbs.so.1", "ELF")
    tree.file("/etc/libibverbs.d/mlx5.driver", "driver mlx5")
    tree.file(f"{LIB}/libibverbs/libmlx5-rdmav57.so", "ELF")
    tree.symlink("/sys/class/infiniband/mlx5_0/device/driver", "../../../bus/auxiliary/drivers/mlx5_core.sf")
    return tree


def observe(tree: Tree) -> Verbs:
    return observe_verbs.observe(tree, ("mlx5_0",), observe_verbs.libraries(tree, observe_verbs.VERBS))


def test_list_providers_and_drivers_are_read() -> None:
    seen = observe(_tree())
    assert seen.providers.value == ("mlx5",)
    assert seen.named.value == {"mlx5": "/etc/libibverbs.d/mlx5.driver"}
    assert seen.drivers.value == {"mlx5_0": "mlx5_core"}
    assert seen.rdmacm.value == ()


@pytest.mark.parametrize("name", ["mlx5.driver~", ".mlx5.driver.swp"])
def test_a_copy_that_libibverbs_passes_by_names_nothing(name: str) -> None:
    tree = _tree()
    tree.remove("/etc/libibverbs.d/mlx5.driver")
    tree.file(f"/etc/libibverbs.d/{name}", "driver mlx5")
    assert observe(tree).named.value == {}


def test_a_provider_may_be_named_by_its_path() -> None:
    tree = _tree()
    tree.file("/etc/libibverbs.d/mlx5.driver", "driver /opt/lib/libmlx5")
    assert observe(tree).named.value == {"mlx5": "/etc/libibverbs.d/mlx5.driver"}


def test_the_linkers_list_counts_only_with_the_file() -> None:
    tree = Tree()
    tree.command(
        "ldconfig",
        "1 libs found in cache `/etc/ld.so.cache'\n\tlibibverbs.so.1 (libc6,x86-64) => /opt/libibverbs.so.1\n",
    )
    assert observe_verbs.libraries(tree, observe_verbs.VERBS).value == ()
    tree.file("/opt/libibverbs.so.1", "ELF")
    assert observe_verbs.libraries(tree, observe_verbs.VERBS).value == ("/opt/libibverbs.so.1",)
    tree.broken["ldconfig"] = "timed out"
    assert not observe_verbs.libraries(tree, observe_verbs.VERBS).known


def test_who_takes_no_device_is_told_by_its_own_words() -> None:
    tree = _tree()
    tree.command("ibv_devinfo", "No IB devices found\n", 255, "libibverbs: Warning: couldn't load driver 'x'\n")
    assert observe(tree).refused.missing  # the kernel offers none either
    tree.file("/sys/class/infiniband_verbs/uverbs0/abi_version", "1")
    assert observe(tree).refused.value == "libibverbs: Warning: couldn't load driver 'x'"
    check = judge(facts(userspace=replace(WHOLE, refused=observe(tree).refused)))
    assert check.result == "fail"
    assert "do not fit" in check.cause


@pytest.mark.parametrize(
    "space",
    [
        pytest.param(replace(WHOLE, refused=Reading(None, "gave no answer within 30 s")), id="ibv_devinfo hangs"),
        pytest.param(replace(WHOLE, drivers=Reading(None, "permission denied")), id="a link that nobody may read"),
    ],
)
def test_what_could_not_be_looked_at_is_no_pass(space: Verbs) -> None:
    assert judge(facts(userspace=space)).result == "unknown"
