# SPDX-License-Identifier: GPL-3.0-or-later
"""What differs is told, what cannot be told is unknown, and nothing changes."""

from __future__ import annotations

import grp
import os
import pwd
import sys
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._act.container import ask
from ansible_collections.ibready.cluster.plugins.module_utils._desired import compare, plain
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.manage import BEGIN
from tests.unit.engine_world import Host

US = {"owner": pwd.getpwuid(os.getuid()).pw_name, "group": grp.getgrgid(os.getgid()).gr_name}
CORE = "ansible.builtin."


def state(kind: str, rest: dict[str, Any] | None = None, **want: Any) -> str:
    told = compare.one({"role": "r", "task": "t", "kind": kind, "want": want, "rest": rest or {}})
    return "same" if told is None else str(told["state"])


def test_a_file_of_ours_by_the_module_that_writes_it(tmp_path: Path) -> None:
    path = tmp_path / "x"
    ours: dict[str, Any] = {"files": [{"path": str(path), "content": "a\n"}], **US}
    kind = "ibready.cluster.written_files"
    assert state(kind, **ours) == "differs"
    assert not path.exists()
    path.write_text("a\n")
    path.chmod(0o644)
    assert state(kind, **ours) == "same"
    path.chmod(0o600)
    assert state(kind, **ours) == "differs"
    assert path.stat().st_mode & 0o777 == 0o600


def test_ansible_s_own_name_is_back_afterwards(tmp_path: Path) -> None:
    before = sys.modules.get("ansible.module_utils.basic")
    state("ibready.cluster.written_files", files=[], **US)
    assert sys.modules.get("ansible.module_utils.basic") is before


def test_copies_folders_and_links(tmp_path: Path) -> None:
    path = tmp_path / "x"
    assert state(f"{CORE}copy", dest=str(path), content="a") == "differs"
    path.write_text("a")
    path.chmod(0o640)
    assert state(f"{CORE}copy", dest=str(path), content="a", mode="0640", **US) == "same"
    assert state(f"{CORE}copy", dest=str(path), content="a", mode="0644") == "differs"
    assert state(f"{CORE}copy", dest=str(path), content="b") == "differs"
    assert state(f"{CORE}file", path=str(path), state="absent") == "differs"
    assert state(f"{CORE}file", path=f"{path}2", state="absent") == "same"
    assert state(f"{CORE}file", path=str(tmp_path), state="directory") == "same"
    assert state(f"{CORE}file", path=str(path), state="directory") == "unknown"
    (tmp_path / "l").symlink_to("there")
    assert state(f"{CORE}file", path=str(tmp_path / "l"), src="there", state="link") == "same"
    assert state(f"{CORE}file", path=str(tmp_path / "l"), src="elsewhere", state="link") == "differs"
    assert state(f"{CORE}copy", dest=str(tmp_path / "l"), content="a") == "unknown"


def test_a_program_s_answer_is_held_against_what_the_role_says(tmp_path: Path) -> None:
    argv = ["printf", "b\\na\\n"]
    assert state(f"{CORE}command", {"rc": 0, "stdout_lines": ["a", "b"]}, argv=argv) == "same"
    assert state(f"{CORE}command", {"rc": 1}, argv=argv) == "differs"
    assert state(f"{CORE}command", {"stdout_lines": ["a"]}, argv=argv) == "differs"
    assert state(f"{CORE}command", {"rc": 0}, argv=["no-such-program"]) == "unknown"
    assert state(f"{CORE}stat", {"stat": {"exists": False}}, path=str(tmp_path / "no")) == "same"
    assert state(f"{CORE}stat", {"stat": {"exists": False}}, path=str(tmp_path)) == "differs"


@pytest.mark.parametrize(
    ("kind", "want"),
    [
        (f"{CORE}copy", {"dest": "/x", "content": "a", "validate": "visudo"}),
        (f"{CORE}file", {"path": "/etc", "state": "directory", "recurse": True}),
        (f"{CORE}file", {"path": "/x", "src": "/y", "state": "link", "mode": "0600"}),
        (f"{CORE}file", {"path": "/x", "src": "/y", "state": "absent"}),
        (f"{CORE}systemd_service", {"name": "x", "state": "restarted"}),
        (f"{CORE}lineinfile", {"path": "/x"}),
        ("ibready.cluster.hostverify", {}),
        ("ibready.cluster.no_such", {}),
        ("ibready.cluster.written_files", {"nothing": 1}),
        ("ibready.cluster.written_files", {"files": [{"path": "/x"}]}),
        ("ibready.cluster.units", {"names": ["x"], "enabled": "perhaps"}),
    ],
)
def test_what_is_not_read_is_unknown_and_never_the_same(kind: str, want: dict[str, Any]) -> None:
    assert state(kind, **want) == "unknown"


@pytest.mark.parametrize(
    ("wanted", "found", "same"),
    [
        ({}, {}, True),
        ({}, {"left": "pfc"}, False),
        ({}, None, False),
        ({"a": 1}, {"a": 1, "b": 2}, True),
        ({"a": {}}, {"a": {"b": 2}}, False),
        ([2, 1], [1, 2], True),
        ([], [1], False),
        ("", "problem", False),
    ],
)
def test_an_answer_is_as_at_rest(wanted: Any, found: Any, same: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(plain.KINDS, f"{CORE}stat", lambda _args: {"changed": False, "said": found})
    assert (state(f"{CORE}stat", {"said": wanted}) == "same") is same


def test_whatever_a_module_raises_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_args: Any) -> dict[str, Any]:
        raise RuntimeError("boom")

    monkeypatch.setitem(plain.KINDS, f"{CORE}copy", broken)  # type: ignore[arg-type]
    assert state(f"{CORE}copy") == "unknown"


@pytest.fixture
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    host = Host(tmp_path, lambda *_args, **_more: {})
    host.docker()
    return host


def engines(host: Host) -> dict[str, Any]:
    want = {"names": ["docker"], "nvidia": "no", "root": str(host.root)}
    told = compare.one({"role": "r", "task": "t", "kind": "ibready.cluster.container_engines", "want": want})
    assert told is not None
    return told


def test_a_file_of_the_site_that_no_role_can_read_is_refused_by_line_and_column(docker: Host) -> None:
    docker.site('{\n  // ours\n  "debug": true\n}')
    told = engines(docker)
    assert told["state"] == "refused"
    assert "/etc/docker/daemon.json is left as it is: line 2 column 3: " in told["why"]
    assert "Next: fix it" in told["why"]


def test_what_the_engine_takes_neither_now_nor_with_ours_is_refused(docker: Host) -> None:
    docker.site('{"refused": 1}')
    assert engines(docker)["state"] == "refused"


def test_the_file_of_an_engine_that_is_still_to_come_is_read_beforehand(
    docker: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ask, "there", lambda _engine: False)
    want = {"names": ["docker"], "root": str(docker.root)}
    kind = "ibready.cluster.container_engines"
    docker.site('{"debug": true}')
    assert state(kind, **want) == "same"
    docker.site('{"debug": true,}')
    assert state(kind, **want) == "refused"
    # Nobody asked for it.
    assert state(kind, **{**want, "names": ["docker", "podman"]}) == "same"
    (docker.root / "etc/containerd").mkdir()
    (docker.root / "etc/containerd/config.toml").write_text("version = \n")
    assert state(kind, **{**want, "names": ["containerd"]}) == "refused"


def test_what_a_role_may_mend_is_unknown(docker: Host) -> None:
    docker.program("dockerd", "exit 1")
    assert engines(docker)["state"] == "unknown"


def test_what_ibready_remembers_and_half_a_block_of_ours_are_refused_too(docker: Host) -> None:
    docker.memory.parent.mkdir(parents=True)
    docker.memory.write_text("{")
    assert engines(docker)["state"] == "refused"
    conf = docker.root / "nccl.conf"
    conf.write_text(f"{BEGIN}\nNCCL_DEBUG=WARN\n")
    assert (
        state("ibready.cluster.nccl_conf", path=str(conf), settings=[{"name": "NCCL_DEBUG", "value": "INFO"}])
        == "refused"
    )


def test_every_module_that_is_compared_is_one() -> None:
    home = Path(compare.__file__).parents[2] / "modules"
    for name in compare.MODULES:
        text = (home / f"{name}.py").read_text()
        assert "supports_check_mode=True" in text, name
