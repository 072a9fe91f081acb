# SPDX-License-Identifier: GPL-3.0-or-later
"""Which libraries of the driver the linker takes, and what it loads into every process."""

from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.stack import check_linker, observe_linker
from ansible_collections.ibready.cluster.plugins.module_utils._areas.stack.facts import Driver, Linker, Loaded
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import Check
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from tests.gauntlet.tree import Tree
from tests.unit.plugins.module_utils.test_checks_stack import ABSENT, DENIED, machine

DRIVER = "580.105.08"
UBUNTU = "/lib/x86_64-linux-gnu"
HOOK = Reading("/opt/profiler/libhook.so")
CLOSED: Reading[tuple[Loaded, ...]] = Reading(None, "ldconfig: not installed", missing=True)


def judged(linker: Linker, check_id: str) -> Check:
    (found,) = [
        one for one in check_linker.judge(linker, Reading(Driver(DRIVER, True)), machine()) if one.id == check_id
    ]
    return found


def taken(*loaded: Loaded) -> Check:
    return judged(Linker(Reading(loaded), ABSENT), "stack.linker.driver")


@pytest.mark.parametrize("folder", [UBUNTU, "/usr/lib64", "/lib64"])
def test_the_linkers_own_folders_stay_in_its_way(folder: str) -> None:
    tree = Tree()
    path = f"{folder}/libcuda.so.1"
    tree.command("ldconfig", f"1 libs found in cache `/etc/ld.so.cache'\n\tlibcuda.so.1 (libc6,x86-64) => {path}\n")
    tree.links[path] = "libcuda.so.570.10.01"
    tree.file("/etc/ld.so.conf.d/x86_64-linux-gnu.conf", f"# Multiarch support\n{folder}\n")
    found = judged(observe_linker.observe(tree), "stack.linker.driver")
    assert found.result == "fail"
    assert f"remove the package or file of driver 570.10.01 that {path} is of" in found.remedy
    assert "out of" not in found.remedy
    assert ".conf" not in found.cause


def test_a_library_that_stands_beside_libcuda_is_named_by_what_it_breaks() -> None:
    odd = Loaded("libnvidia-ml.so.1", "/opt/m/libnvidia-ml.so.1", "470.57.02", "/etc/ld.so.conf.d/m.conf")
    alone = taken(odd, Loaded("libcuda.so.1", "/usr/lib64/libcuda.so.1", DRIVER))
    assert "programs that use it fail" in alone.cause
    assert "803" not in alone.cause
    assert "/etc/ld.so.conf.d/m.conf leads" in alone.cause
    assert "libnvidia-ml.so.1" in alone.remedy
    both = taken(odd, Loaded("libcuda.so.1", "/opt/m/libcuda.so.1", "470.57.02", "/etc/ld.so.conf.d/m.conf"))
    assert both.cause.startswith("the linker takes libcuda.so.1")
    assert "error 803" in both.cause
    assert both.observed.startswith("libcuda.so.1")  # type: ignore[union-attr]


def test_a_libcuda_of_no_known_release_is_not_passed_for_its_neighbours() -> None:
    neighbour = Loaded("libnvidia-ml.so.1", "/usr/lib64/libnvidia-ml.so.1", DRIVER)
    assert taken(neighbour, Loaded("libcuda.so.1", "/opt/x/libcuda.so.1")).result == "unknown"
    assert taken(neighbour, Loaded("libnvcuvid.so.1", "/opt/x/libnvcuvid.so.1")).result == "pass"


@pytest.mark.parametrize("cached", [CLOSED, DENIED])
@pytest.mark.parametrize(("preload", "result"), [(HOOK, "fail"), (Reading("# none"), "pass")])
def test_what_is_loaded_into_every_process_is_judged_without_the_linkers_list(
    cached: Reading[tuple[Loaded, ...]], preload: Reading[str], result: str
) -> None:
    assert judged(Linker(cached, preload), "stack.linker.preload").result == result


def test_without_both_nothing_is_said_of_what_is_preloaded() -> None:
    assert judged(Linker(CLOSED, ABSENT), "stack.linker.preload").result == "skip"
    assert judged(Linker(DENIED, ABSENT), "stack.linker.preload").result == "unknown"
