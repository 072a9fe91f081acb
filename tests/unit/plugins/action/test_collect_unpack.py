# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import io
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase

from ansible_collections.ibready.cluster.plugins.action.collect_unpack import ActionModule

ROOT = Path(__file__).parents[4]


def archive(path: Path, **files: str) -> Path:
    with tarfile.open(path, "w:gz") as stream:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            stream.addfile(info, io.BytesIO(text.encode()))
    return path


@pytest.fixture
def unpack(action: Callable[..., ActionBase]) -> Callable[..., dict[str, Any]]:
    def over(src: Path, dest: Path) -> dict[str, Any]:
        args = {"src": str(src), "dest": str(dest), "host": "n1"}
        result: dict[str, Any] = action(ActionModule, {}, args).run(task_vars={})
        return result

    return over


def test_a_bundle_is_put_beside_its_archive(
    unpack: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    told = '{"format": 1, "host": "n1"}'
    path = archive(tmp_path / "n1.tar.gz", **{"n1/manifest.json": told})
    assert unpack(path, tmp_path)["path"] == str(tmp_path / "n1")
    assert (tmp_path / "n1/manifest.json").read_text() == told


def test_what_another_host_would_suffer_from_is_refused_with_the_next_step(
    unpack: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    path = archive(tmp_path / "n1.tar.gz", **{"n2/manifest.json": "{}"})
    with pytest.raises(AnsibleActionFail, match=r"of n1 .*'n2/manifest\.json'.* next: "):
        unpack(path, tmp_path)
    assert [one.name for one in tmp_path.iterdir()] == ["n1.tar.gz"]


def test_an_archive_that_is_not_there_is_the_controllers_trouble(
    unpack: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    with pytest.raises(AnsibleActionFail, match=r"of n1 .*No such file.* next: make room"):
        unpack(tmp_path / "n1.tar.gz", tmp_path)


def test_no_playbook_unpacks_what_a_host_gave_in_another_way() -> None:
    for path in (ROOT / "playbooks").glob("**/*.yml"):
        assert "unarchive" not in path.read_text(encoding="utf-8"), path
    (book,) = (
        one
        for one in yaml.safe_load((ROOT / "playbooks/collect.yml").read_text())
        if "tasks" in one
    )
    block = book["tasks"][-1]["block"]
    assert [one for one in block if "ibready.cluster.collect_unpack" in one]
