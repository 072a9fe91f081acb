# SPDX-License-Identifier: GPL-3.0-or-later
"""Only objects of the sandbox are touched, and every object of the sandbox can be told."""

from __future__ import annotations

import os
import subprocess

import pytest

from sandbox import lifecycle, podman, purpose
from sandbox.apt import Distribution
from sandbox.config import NODES, sandbox
from sandbox.errors import SandboxError
from sandbox.image import Recipe, carried_options, mmdebstrap_argv
from sandbox.lifecycle import fabric_argv, node_argv
from sandbox.podman import LABEL, Thing, argv, owned

BOX = sandbox("ibready-test", "198.18.90")


OURS = BOX.owner
THEIRS = "/home/other/ibready/.sandbox/ibready-test"


def test_an_object_of_the_same_name_without_the_label_is_refused() -> None:
    with pytest.raises(SandboxError, match="is no sandbox's"):
        owned([Thing("ibready-test-node1", "")], BOX.containers, OURS)


def test_a_running_sandbox_of_another_checkout_is_refused() -> None:
    with pytest.raises(SandboxError, match=f"is the sandbox of {THEIRS}"):
        owned([Thing("ibready-test-node1", THEIRS, running=True)], BOX.containers, OURS)


def test_what_another_checkout_left_behind_is_taken_over() -> None:
    left = [Thing("ibready-test-node1", THEIRS)]
    assert owned(left, BOX.containers, OURS) == ["ibready-test-node1"]


def test_what_runs_for_a_run_of_tests_that_was_killed_is_taken_over(monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen(["sleep", "60"]) as process:
        monkeypatch.setenv(purpose.VARIABLE, str(process.pid))
        left = [Thing("ibready-test-node1", THEIRS, running=True, made_for=purpose.asked())]
        with pytest.raises(SandboxError, match=f"is the sandbox of {THEIRS}"):
            owned(left, BOX.containers, OURS)
        process.kill()
    assert owned(left, BOX.containers, OURS) == ["ibready-test-node1"]


def test_an_object_with_the_label_under_another_name_is_left_alone() -> None:
    listed = [Thing("precious", OURS, running=True), Thing("ibready-test-node2", OURS)]
    assert owned(listed, BOX.containers, OURS) == ["ibready-test-node2"]


def test_every_container_carries_the_label_its_name_and_its_address() -> None:
    made = {BOX.fabric: (fabric_argv(BOX, "image"), BOX.fabric_address)}
    made |= {BOX.container(n): (node_argv(BOX, n, "image"), BOX.address(n)) for n in NODES}
    assert set(made) == set(BOX.containers)
    for name, (words, address) in made.items():
        assert f"--label={LABEL}={OURS}" in words
        assert f"--name={name}" in words
        assert f"--ip={address}" in words


def test_every_container_of_a_run_of_tests_names_its_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(purpose.VARIABLE, str(os.getpid()))
    mark = f"--label={purpose.LABEL}={purpose.asked()}"
    assert mark in fabric_argv(BOX, "image")
    assert all(mark in node_argv(BOX, node, "image") for node in NODES)


def test_a_node_is_not_privileged_and_cannot_write_what_it_is_shown() -> None:
    words = node_argv(BOX, "node1", "image")
    assert "--privileged" not in words
    assert f"--volume={BOX.volume('node1')}:/srv/simulated-sysfs:ro" in words
    assert not any("SYS_MODULE" in word for word in words)


def test_a_nodes_engines_make_groups_of_its_own_and_store_on_a_volume_of_its_own() -> None:
    words = node_argv(BOX, "node1", "image")
    assert "--cgroupns=private" in words
    assert f"--volume={BOX.engines('node1')}:/srv/engines" in words
    assert BOX.engines("node1") in BOX.volumes


def test_an_ordinary_user_calls_podman_through_sudo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert argv("ps")[:3] == ["sudo", "-n", "podman"]
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert argv("ps")[0] == "podman"


@pytest.mark.parametrize(
    ("name", "subnet", "reason"),
    [
        pytest.param("a b", "198.18.90", "--name 'a b'", id="a name with a blank"),
        pytest.param("-x", "198.18.90", "--name '-x'", id="a name like an option"),
        pytest.param("x", "198.18.90.0", "--subnet", id="four octets"),
        pytest.param("x", "198.18.300", "--subnet", id="no network"),
    ],
)
def test_a_name_or_subnet_that_cannot_be_is_refused(name: str, subnet: str, reason: str) -> None:
    with pytest.raises(SandboxError, match=reason):
        sandbox(name, subnet)


def test_the_image_s_name_changes_with_its_recipe() -> None:
    recipe = Recipe(Distribution("http://mirror.test", "trixie", ("main",)), ())
    other = Recipe(Distribution("http://other.test", "trixie", ("main",)), ())
    assert recipe.node != other.node
    assert recipe.fabric != other.fabric
    assert recipe.node == Recipe(recipe.distribution, ()).node


def test_the_node_is_built_from_the_host_s_archive_without_infiniband() -> None:
    recipe = Recipe(
        Distribution("http://mirror.test/debian", "trixie", ("main",)),
        ('Acquire::http::Proxy "http://proxy.test:3142";',),
    )
    words = mmdebstrap_argv(recipe, "/tmp/setup.sh")
    assert words[-3:] == ["trixie", "-", "http://mirror.test/debian"]
    assert '--aptopt=Acquire::http::Proxy "http://proxy.test:3142";' in words
    packages = next(word for word in words if word.startswith("--include="))
    for forbidden in ("rdma", "infiniband", "ibverbs", "ibumad"):
        assert forbidden not in packages


def test_only_what_reaches_the_archive_is_carried_from_the_host_s_apt() -> None:
    dump = (
        'Acquire "";\nAcquire::http "";\nAcquire::http::Proxy "http://proxy.test:3142";\n'
        'Acquire::https::Proxy "";\nAPT::Periodic::Enable "0";\n'
    )
    assert carried_options(dump) == ('Acquire::http::Proxy "http://proxy.test:3142";',)


def test_a_container_that_was_killed_with_its_monitor_is_removed_at_the_second_try(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    there = [BOX.container("node1"), BOX.container("node2")]

    def run(args: list[str]) -> None:
        # podman 4.3 does so: it removes the others, and learns that this one has ended.
        if len(args) > 5:
            there.remove(BOX.container("node2"))
            raise SandboxError("podman rm --force: container state improper: stopped")
        there.remove(args[-1])

    listed = {"container": lambda: [Thing(name, OURS, running=True) for name in there]}
    monkeypatch.setattr(podman, "run", run)
    monkeypatch.setattr(podman, "_listed", lambda kind: listed.get(kind, list)())
    assert podman.remove(BOX) == [BOX.container("node1"), BOX.container("node2")]
    assert not there


def test_nodes_that_were_made_for_another_process_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(purpose.VARIABLE, raising=False)
    made = [Thing(name, OURS, running=True, made_for="1 2 pid:[3] boot") for name in BOX.containers]
    monkeypatch.setattr(podman, "_listed", lambda _kind: [*made, Thing("else", "", made_for="")])
    assert podman.made_for(BOX) == {"1 2 pid:[3] boot"}
    assert not lifecycle._is_for(BOX)
    made[:] = [Thing(name, OURS, running=True) for name in BOX.containers]
    assert lifecycle._is_for(BOX)
