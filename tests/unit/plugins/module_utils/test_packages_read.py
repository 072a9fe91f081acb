# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._act.packages import openpgp, read
from ansible_collections.ibready.cluster.plugins.module_utils._act.packages.model import PackageError

REPOSITORY = {
    "name": "doca",
    "kind": "apt",
    "url": "http://mirror/doca/",
    "key": "http://mirror/key.pub",
    "fingerprints": ["A75494DC85AC9107BC83F6EC1D0322EC4FB57D59"],
}
PART = {"packages": [{"name": "doca-ofed", "version": "3.2.3"}]}


def test_a_plan_is_read_as_it_stands() -> None:
    (one,) = read.repositories([REPOSITORY], "apt")
    assert (one.suite, one.components, one.gpgcheck) == ("./", (), True)
    (part,) = read.parts(
        {
            "rdma": {
                **PART,
                "pins": [{"names": ["mlnx-*"], "version": ""}],
                "conflicts": ["mlnx-ofed-all"],
                "modules": {"stream": "580-open"},
            }
        }
    )
    assert part.owns("doca-ofed")
    assert part.owns("mlnx-tools")
    assert not part.owns("dkms")
    assert part.stream == "580-open"


def test_a_package_of_signed_modules_is_of_the_kernel_that_runs() -> None:
    raw = {"nvidia_driver": {"packages": [{"name": "linux-modules-nvidia-580-server-open-{kernel}"}, "nvidia-smi"]}}
    (part,) = read.parts(raw, ["6.8.0-90-generic", "6.8.0-88-generic"])
    assert [package.name for package in part.packages] == [
        "linux-modules-nvidia-580-server-open-6.8.0-90-generic",
        "linux-modules-nvidia-580-server-open-6.8.0-88-generic",
        "nvidia-smi",
    ]
    with pytest.raises(PackageError, match=r"\{kernel\}"):
        read.parts(raw)


def test_repositories_of_the_other_kind_are_left_out() -> None:
    assert read.repositories([REPOSITORY], "dnf") == ()


def test_a_key_that_came_with_the_plan_needs_no_address() -> None:
    armored = openpgp.armored(b"\xc6")
    (one,) = read.repositories([{**REPOSITORY, "public_key": armored}], "apt")
    assert (one.key, one.public_key) == ("", armored)
    with pytest.raises(PackageError, match="key: None cannot be meant"):
        read.repositories([{**REPOSITORY, "key": None, "public_key": ""}], "apt")


def test_a_fingerprint_may_be_written_in_groups() -> None:
    spaced = "a754 94dc 85ac 9107 bc83  f6ec 1d03 22ec 4fb5 7d59"
    (one,) = read.repositories([{**REPOSITORY, "fingerprints": [spaced]}], "apt")
    assert one.fingerprints == tuple(REPOSITORY["fingerprints"])


@pytest.mark.parametrize(
    "changed",
    [
        {"name": "../x"},
        {"name": "a b"},
        {"kind": "zypper"},
        {"url": "ftp://mirror/"},
        {"url": "http://mirror/ [trusted=yes]"},
        {"url": "http://mirror/\ndeb http://evil/ ./"},
        {"suite": "./ main\n"},
        {"key": "/etc/passwd"},
        {"public_key": "/etc/passwd"},
        {"public_key": ["x"]},
        {"fingerprints": []},
        {"fingerprints": ["4FB57D59"]},
        {"exclude": ["a b"]},
        {"gpgcheck": False, "repo_gpgcheck": False},
        {"trusted": True},
    ],
    ids=str,
)
def test_a_repository_that_cannot_be_meant_is_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(PackageError) as caught:
        read.repositories([{**REPOSITORY, **changed}], "apt")
    assert caught.value.kind == "input"


@pytest.mark.parametrize(
    "raw",
    [
        {"r d": PART},
        {"rdma": {"packages": [{"name": "--allow-unauthenticated"}]}},
        {"rdma": {"packages": [{"name": "a", "version": "1 2"}]}},
        {"rdma": {"packages": [{"name": "a", "release": "1"}]}},
        {"rdma": {"packages": "a"}},
        {"rdma": {"pins": [{"names": ["a b"]}]}},
        {"rdma": {"modules": {"stream": "a\nb"}}},
        {"rdma": []},
    ],
    ids=str,
)
def test_a_part_that_cannot_be_meant_is_refused(raw: dict[str, Any]) -> None:
    with pytest.raises(PackageError) as caught:
        read.parts(raw)
    assert caught.value.kind == "input"


@given(st.text(max_size=40))
def test_no_text_becomes_an_option_or_a_second_word(text: str) -> None:
    try:
        (part,) = read.parts({"p": {"packages": [{"name": text, "version": text}]}})
    except PackageError:
        return
    name = part.packages[0].name
    assert not name.startswith("-")
    assert len(name.split()) == 1


def test_a_repository_named_twice_is_refused() -> None:
    with pytest.raises(PackageError, match="named twice"):
        read.repositories([REPOSITORY, REPOSITORY], "apt")
