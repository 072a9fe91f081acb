# SPDX-License-Identifier: GPL-3.0-or-later
"""That dnf knows the plan's keys afterwards, and how a diff shows them; no dnf needed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._act.packages import openpgp, survey
from ansible_collections.ibready.cluster.plugins.module_utils._act.packages.dnf import Dnf
from ansible_collections.ibready.cluster.plugins.module_utils._act.packages.model import Change, Outcome, Repository
from ansible_collections.ibready.cluster.plugins.module_utils._ground.command import Output
from ansible_collections.ibready.cluster.plugins.modules import stack_packages

REPOSITORIES = [
    Repository(name, "dnf", f"http://mirror/{name}/", "file:///key", ("0" * 40,)) for name in ("cuda", "cuda-more")
]
# A version 4 public key packet, as short as can be.
KEY = bytes([0x98, 6, 4]) + bytes(5)


class Host:
    """A root, and a dnf that remembers what it was told."""

    def __init__(self, root: Path, status: int = 0) -> None:
        self.root = root
        self.said: list[str] = []
        self._status = status

    def run(self, argv: Sequence[str]) -> Output:
        self.said = list(argv)
        return Output(self._status, "", "")

    def acquaint(self, *, anew: bool) -> list[str]:
        return Dnf(self.run, str(self.root)).acquaint(REPOSITORIES, anew=anew)

    def knows(self, name: str) -> None:
        (self.root / f"var/cache/dnf/ibready-{name}-0123456789abcdef/pubring").mkdir(parents=True)


def test_keys_that_dnf_does_not_know_are_made_known_and_others_left_alone(tmp_path: Path) -> None:
    host = Host(tmp_path)
    host.knows("cuda-more")
    assert host.acquaint(anew=False) == []
    assert [word for word in host.said if word.startswith("--repo")] == ["--repo=ibready-cuda"]
    assert {"--assumeyes", "makecache"} <= set(host.said)


@pytest.mark.parametrize("anew", [False, True])
def test_known_keys_are_only_read_again_where_something_changed(tmp_path: Path, anew: bool) -> None:
    host = Host(tmp_path)
    for one in REPOSITORIES:
        host.knows(one.name)
    assert host.acquaint(anew=anew) == []
    assert bool(host.said) is anew
    # What dnf took before is not what is pinned now.
    assert bool(list(tmp_path.rglob("pubring"))) is not anew


def test_a_repository_that_is_away_is_a_warning_that_names_it(tmp_path: Path) -> None:
    warnings = Host(tmp_path, status=1).acquaint(anew=True)
    assert len(warnings) == 1
    assert "cuda, cuda-more" in warnings[0]


def test_a_diff_shows_fingerprints_of_either_kind_of_key_file() -> None:
    (digest,) = openpgp.fingerprints(KEY)
    assert survey._shown(KEY) == f"public key {digest}\n"
    assert survey._shown(openpgp.armored(KEY).encode()) == f"public key {digest}\n"
    assert survey._shown(b"[ibready-cuda]\n") == "[ibready-cuda]\n"


def test_a_diff_names_the_file_of_the_holds() -> None:
    outcome = Outcome([Change("nvidia-open", "", "1")], held=["nvidia-open"], holds_in="/etc/locks")
    assert stack_packages.diff(outcome)[-1]["after_header"] == "held packages (/etc/locks)"
    outcome.holds_in = ""
    assert stack_packages.diff(outcome)[-1]["after_header"] == "held packages"
