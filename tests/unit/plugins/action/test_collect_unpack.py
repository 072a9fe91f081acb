# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import io
import re
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.errors import AnsibleActionFail, AnsibleConnectionFailure, AnsibleError
from ansible.plugins.action import ActionBase

from ansible_collections.ibready.cluster.plugins.action import collect
from ansible_collections.ibready.cluster.plugins.action.collect import ActionModule

ROOT = Path(__file__).parents[4]


def archive(path: Path, **files: str) -> Path:
    with tarfile.open(path, "w:gz") as stream:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            stream.addfile(info, io.BytesIO(text.encode()))
    return path


class Fetch:
    """Stands for Ansible's own action: lays what the host gives where it is told to."""

    def __init__(self, task: Any, **_: object) -> None:
        self.args = task.args

    def run(self, task_vars: dict[str, Any]) -> dict[str, Any]:
        assert self.args["flat"] is True
        given = Path(self.args["src"])
        if given.name == "cut.tar.gz":
            Path(self.args["dest"]).write_bytes(b"half of it")
            return {"failed": True, "msg": "checksum mismatch"}
        if given.name == "lost.tar.gz":
            Path(self.args["dest"]).write_bytes(b"half of it")
            raise AnsibleConnectionFailure("the host is gone")
        Path(self.args["dest"]).write_bytes(given.read_bytes())
        return {"changed": True}


@pytest.fixture
def unpack(action: Callable[..., ActionBase], monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Any]]:
    monkeypatch.setattr(collect.action_loader, "get", lambda name, task, **more: Fetch(task, **more))

    def over(src: object, dest: Path, host: str = "n1") -> dict[str, Any]:
        monkeypatch.setattr(ActionBase, "_execute_module", lambda *_, **__: {"archive": str(src)})
        args = {"dest": "/root", "home": str(dest), "host": host}
        result: dict[str, Any] = action(ActionModule, {}, args).run(task_vars={})
        return result

    return over


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder of bundles with that of an earlier run."""
    home = tmp_path / "bundles"
    (home / "n1").mkdir(parents=True)
    (home / "n1/manifest.json").write_text("before")
    (home / "n1.tar.gz").write_text("before")
    return home


def seen(home: Path) -> dict[str, str]:
    return {str(one.relative_to(home)): one.read_text() for one in home.rglob("*") if one.is_file()}


TOLD = '{"format": 1, "host": "n1"}'


def test_a_bundle_and_its_archive_take_the_place_of_the_last(
    unpack: Callable[..., dict[str, Any]], tmp_path: Path, home: Path
) -> None:
    path = archive(tmp_path / "x.tar.gz", **{"n1/manifest.json": TOLD})
    assert unpack(path, home)["home"] == str(home / "n1")
    assert (home / "n1/manifest.json").read_text() == TOLD
    assert (home / "n1.tar.gz").read_bytes() == path.read_bytes()
    assert (home / "n1.tar.gz").stat().st_mode & 0o077 == 0
    assert sorted(one.name for one in home.iterdir()) == ["n1", "n1.tar.gz"]


def test_a_folder_that_is_not_there_is_made_for_its_owner(
    unpack: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    path = archive(tmp_path / "x.tar.gz", **{"n1/manifest.json": TOLD})
    unpack(path, tmp_path / "a/b")
    assert (tmp_path / "a/b").stat().st_mode & 0o077 == 0
    assert (tmp_path / "a/b/n1/manifest.json").exists()


@pytest.mark.parametrize(
    ("name", "files", "why"),
    [
        ("x", {"n2/manifest.json": "{}"}, r"'n2/manifest\.json'.* next: do not trust"),
        ("x", {"n1/manifest.json": TOLD.replace("n1", "n2")}, "says that it is of 'n2'.* next: "),
        ("x", {"n1/manifest.json": TOLD, "../evil": "x"}, "a way out.* next: "),
        ("x", {"n1/manifest.json": TOLD, "n1/" + "a/" * 3000: "x"}, "too long.* next: "),
        ("x", {}, "is no bundle.* next: "),
        ("none", {}, "No such file.* next: make room"),
        ("cut", {"n1/manifest.json": TOLD}, "checksum mismatch; next: run collect"),
        ("lost", {"n1/manifest.json": TOLD}, "the host is gone"),
    ],
)
def test_what_is_refused_stays_nowhere_and_the_last_one_stays(
    unpack: Callable[..., dict[str, Any]], tmp_path: Path, home: Path, name: str, files: dict[str, str], why: str
) -> None:
    if name != "none":
        archive(tmp_path / f"{name}.tar.gz", **files)
    before = seen(home)
    with pytest.raises(AnsibleError, match=why):
        unpack(tmp_path / f"{name}.tar.gz", home)
    assert seen(home) == before
    assert sorted(one.name for one in home.iterdir()) == ["n1", "n1.tar.gz"]


@pytest.mark.parametrize(
    "src",
    [
        "/tmp/x\\'\"\n!touch /tmp/pwned\n#",
        *("/tmp/a\nb", "/tmp/'x'", '/tmp/"', "/tmp/\\x", "x.tar.gz", "-o", "", "/a\0", "~/x", "/a;b"),
    ],
)
def test_a_strange_path_of_the_host_is_not_asked_for(
    unpack: Callable[..., dict[str, Any]], home: Path, src: str
) -> None:
    before = seen(home)
    with pytest.raises(AnsibleActionFail, match=r"no plain path; next: do not trust"):
        unpack(src, home)
    assert seen(home) == before


@pytest.mark.parametrize("host", ["..", "a/b"])
def test_a_host_that_is_no_folder_is_refused(unpack: Callable[..., dict[str, Any]], home: Path, host: str) -> None:
    with pytest.raises(AnsibleActionFail, match="no name for a folder"):
        unpack("/tmp/x.tar.gz", home, host)
    assert sorted(one.name for one in home.iterdir()) == ["n1", "n1.tar.gz"]


def test_check_mode_brings_nothing(
    action: Callable[..., ActionBase], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ActionBase, "_execute_module", lambda *_, **__: {"archive": "/x"})
    made = action(ActionModule, {}, {"dest": "/root", "home": str(tmp_path / "b"), "host": "n1"})
    made._task.check_mode = True
    assert "home" not in made.run(task_vars={})
    assert not (tmp_path / "b").exists()


def test_no_playbook_brings_home_what_a_host_gave_in_another_way() -> None:
    for path in [*ROOT.glob("playbooks/**/*.yml"), *ROOT.glob("roles/**/*.yml")]:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"\b(?:unarchive|fetch|slurp|synchronize):", text), path
    (book,) = (one for one in yaml.safe_load((ROOT / "playbooks/collect.yml").read_text()) if "tasks" in one)
    (fetched,) = (one for one in book["tasks"] if "block" in one)
    block = fetched["block"]
    (task,) = (one for one in block if "ibready.cluster.collect" in one)
    assert task["ibready.cluster.collect"]["home"] == "{{ __collect_dest }}"
    # What the host answered is a path of the host alone.
    for one in book["tasks"]:
        if "delegate_to" in one:
            assert "__collect_place" not in str(one)
    assert not [one for one in [*block, *fetched["always"]] if "delegate_to" in one]
