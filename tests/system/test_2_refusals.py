# SPDX-License-Identifier: GPL-3.0-or-later
"""What keeps a stack from being installed: each named with its cause, and nothing changed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.system.conftest import Box, said

# All that a refused run must leave as it was: packages, holds, repositories, files of ours.
STATE = (
    "dpkg-query -W | sha256sum; apt-mark showhold; dpkg --audit; "
    "ls -A /etc/apt/sources.list.d /etc/apt/keyrings /etc/apt/preferences.d 2>/dev/null; "
    "find /etc -xdev -name '*ibready*' -type f ! -path '*/ibready-sandbox*' | sort "
    "| xargs -r sha256sum"
)


QUERY = "dpkg-query -W -f '${db:Status-Status}' doca-ofed || test $? -eq 1"


def converge(box: Box, *argv: str) -> tuple[int, str]:
    """Only the RDMA stack's packages: what refuses is the same for every part."""
    done = box.playbook("playbooks/converge.yml", "--tags", "rdma_packages", *argv)
    return done.returncode, said(done.stdout)


def fails_unchanged(box: Box, node: str, *words: str, argv: tuple[str, ...] = ()) -> None:
    before = box.root(node, STATE)
    status, text = converge(box, "--limit", node, *argv)
    assert status != 0, text
    for word in (f"{node}: ", *words):
        assert word in text, text
    assert "Nothing was changed" in text, text
    assert "Next: " in text
    assert box.root(node, STATE) == before


@contextmanager
def broken(box: Box, fault: str) -> Iterator[None]:
    box.sandbox("break", fault)
    try:
        yield
    finally:
        box.sandbox("heal")


@pytest.mark.parametrize(
    ("fault", "cause"),
    [
        ("repo-key", "signed by another key than the pinned one"),
        pytest.param("repo-checksum", "not what its index promises", marks=pytest.mark.thorough),
        pytest.param("repo-vanished", "no repository has a package doca-ofed", marks=pytest.mark.thorough),
        pytest.param("repo-down", "cannot be fetched", marks=pytest.mark.thorough),
    ],
)
def test_a_repository_that_cannot_be_trusted_or_used_is_refused(bare: Box, fault: str, cause: str) -> None:
    with broken(bare, fault):
        fails_unchanged(bare, "node1", cause)


@pytest.mark.thorough
def test_a_key_that_is_not_the_pinned_one_is_refused(bare: Box, tmp_path: Path) -> None:
    doca = {"base": f"http://{bare.subnet}.2:8080/doca", "fingerprints": ["A" * 40]}
    only = {
        "stack_repositories": {"doca": doca},
        **dict.fromkeys(("stack_driver", "stack_container_toolkit"), "none"),
        "stack_lock_file": str(tmp_path / "stack.lock.yml"),
    }
    fails_unchanged(bare, "node1", "A" * 40, argv=("-e", json.dumps(only)))


@pytest.mark.thorough
def test_missing_kernel_headers_are_refused_before_dkms_would_skip_the_build(bare: Box) -> None:
    with broken(bare, "headers-gone"):
        fails_unchanged(bare, "node1", "headers", "linux-headers-")


@pytest.mark.thorough
def test_a_package_that_the_operator_holds_is_left_alone(bare: Box) -> None:
    with bare.archive("node2"):
        bare.root("node2", "apt-get -qq install -y rdma-core >/dev/null 2>&1; apt-mark hold rdma-core")
    try:
        fails_unchanged(bare, "node2", "rdma-core", "hold")
    finally:
        bare.root("node2", "apt-mark unhold rdma-core")


@pytest.mark.thorough
def test_too_little_space_is_refused(bare: Box) -> None:
    fails_unchanged(bare, "node1", "MiB", argv=("-e", "rdma_min_free_mb=99999999"))


@pytest.mark.thorough
def test_a_build_that_fails_is_a_failure_and_the_next_run_repairs_it(bare: Box) -> None:
    bare.root(
        "node1",
        "mkdir -p /etc/ibready-sandbox; echo mlnx-ofed-kernel > /etc/ibready-sandbox/fail-dkms",
    )
    try:
        status, text = converge(bare, "--limit", "node1")
        assert status != 0
        assert "mlnx-ofed-kernel" in text
        assert "make.log" in text
    finally:
        bare.root("node1", "rm /etc/ibready-sandbox/fail-dkms")
    status, text = converge(bare, "--limit", "node1")
    assert status == 0, text
    assert bare.root("node1", "dpkg --audit") == ""
    assert "installed" in bare.root("node1", "dkms status")


@pytest.mark.thorough
def test_power_lost_in_the_middle_is_repaired_by_the_next_run(bare: Box) -> None:
    # While dpkg unpacks or configures, the node goes down without a word. (The brackets keep the
    # watcher from finding itself.)
    watch = "until pgrep -f '[d]pkg .*--(unpack|configure)' >/dev/null; do sleep 0.05; done"
    down = "touch /root/power-lost; sync; systemctl reboot --force --force"
    bare.root("node3", f'systemd-run --quiet --collect --unit=power sh -c "{watch}; sleep 1; {down}"')
    status, text = converge(bare, "--limit", "node3")
    assert status != 0, text
    bare.back("node3")
    assert bare.root("node3", "ls /root/power-lost")
    status, text = converge(bare, "--limit", "node3")
    assert status == 0, text
    assert "an interrupted run was made good" in text
    assert bare.root("node3", "dpkg --audit") == ""


@pytest.mark.thorough
def test_another_rdma_stack_goes_only_with_consent(bare: Box) -> None:
    other = (
        "-e",
        "stack_rdma_flavour=mlnx_ofed stack_rdma_version=24.10-3.2.5.0 stack_relock=true",
    )
    fails_unchanged(bare, "node3", "doca-ofed", "ibready_replace_stack_ok", argv=other)
    status, text = converge(bare, "--limit", "node3", *other, "-e", "ibready_replace_stack_ok=true")
    assert status == 0, text
    assert "MLNX_OFED_LINUX-24.10-3.2.5.0" in bare.root("node3", "ofed_info -s")
    assert bare.root("node3", QUERY).strip() != "installed"
    # And back, for those who come after.
    status, text = converge(bare, "--limit", "node3", "-e", "stack_relock=true ibready_replace_stack_ok=true")
    assert status == 0, text
