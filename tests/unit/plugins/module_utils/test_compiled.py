# SPDX-License-Identifier: GPL-3.0-or-later
"""Modules of ours in a zip as Ansible sends it: compiled once, kept where only we write."""

from __future__ import annotations

import hashlib
import json
import marshal
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._ground import compiled
from tests.unit.on_disk import damaged

pytestmark = pytest.mark.thorough

PACKAGE = "ansible_collections/ibready/cluster/plugins/module_utils"
DOTTED = PACKAGE.replace("/", ".")
# What a payload does, and how often it had to compile.
RUN = f"""
import builtins, json, sys
sys.path.insert(0, sys.argv[1])
from {DOTTED} import _compiled
compiled = []
true_compile = builtins.compile
def counted(text, name, *more, **named):
    compiled.append(name)
    return true_compile(text, name, *more, **named)
builtins.compile = counted
_compiled.use(sys.argv[2])
from {DOTTED} import _one
from {DOTTED}._two import three
builtins.compile = true_compile
print(json.dumps({{
    "said": [_one.SAID, three.SAID], "compiled": compiled, "file": three.__file__,
    "package": three.__package__, "source": _one.__spec__.loader.get_source(_one.__name__),
}}))
"""


def payload(path: Path, said: str = "one") -> Path:
    """A zip with this module and two small ones."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        parts = PACKAGE.split("/")
        for depth in range(1, len(parts) + 1):
            archive.writestr("/".join([*parts[:depth], "__init__.py"]), "")
        archive.writestr(f"{PACKAGE}/_two/__init__.py", "")
        archive.writestr(f"{PACKAGE}/_one.py", f"SAID = {said!r}\n")
        archive.writestr(f"{PACKAGE}/_two/three.py", "def f():\n    return 3\nSAID = f()\n")
        archive.write(str(compiled.__file__), f"{PACKAGE}/_compiled.py")
    return path


def call(archive: Path, folder: Path) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-I", "-c", RUN, str(archive), str(folder)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    reported: dict[str, Any] = json.loads(done.stdout)
    return reported


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where code is kept; not there yet."""
    return tmp_path / "code"


def kept(folder: Path) -> Path:
    (file,) = folder.iterdir()
    return file


def test_what_is_imported_is_compiled_once_and_then_not_again(tmp_path: Path, folder: Path) -> None:
    archive = payload(tmp_path / "one.zip")

    first, second = call(archive, folder), call(archive, folder)

    three = f"{PACKAGE}/_two/three.py"
    assert first["compiled"] == [f"{PACKAGE}/_one.py", f"{PACKAGE}/_two/__init__.py", three]
    assert second["compiled"] == []
    assert first["said"] == second["said"] == ["one", 3]
    assert second["file"] == f"{archive}/{three}"
    assert second["package"] == f"{DOTTED}._two"
    assert second["source"] == "SAID = 'one'\n"


def test_a_changed_source_is_compiled_again_and_the_others_are_not(tmp_path: Path, folder: Path) -> None:
    call(payload(tmp_path / "one.zip"), folder)

    changed = payload(tmp_path / "two.zip", said="two")

    assert call(changed, folder)["compiled"] == [f"{PACKAGE}/_one.py"]
    assert call(changed, folder)["said"] == ["two", 3]
    assert call(changed, folder)["compiled"] == []


def test_only_we_may_read_and_write_what_is_kept(tmp_path: Path, folder: Path) -> None:
    call(payload(tmp_path / "one.zip"), folder)

    assert folder.stat().st_mode & 0o777 == 0o700
    assert kept(folder).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("which", ["the folder", "the file"])
def test_what_others_could_have_written_is_not_run(tmp_path: Path, folder: Path, which: str) -> None:
    archive = payload(tmp_path / "one.zip")
    call(archive, folder)
    (folder if which == "the folder" else kept(folder)).chmod(0o722)

    assert len(call(archive, folder)["compiled"]) == 3


def test_a_link_in_place_of_the_folder_is_not_followed(tmp_path: Path, folder: Path) -> None:
    archive = payload(tmp_path / "one.zip")
    call(archive, folder)
    link = tmp_path / "link"
    link.symlink_to(folder)

    assert len(call(archive, link)["compiled"]) == 3


@given(data=st.data())
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_damaged_file_ends_no_module_and_is_whole_again_afterwards(tmp_path: Path, data: st.DataObject) -> None:
    archive, folder = payload(tmp_path / "one.zip"), tmp_path / "code"
    call(archive, folder)
    kept(folder).write_bytes(data.draw(damaged(kept(folder).read_bytes())))

    assert call(archive, folder)["said"] == ["one", 3]
    assert call(archive, folder)["compiled"] == []


def test_of_a_damaged_file_nothing_is_read_wherever_the_damage_is(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call(payload(tmp_path / "one.zip"), folder)
    whole = kept(folder).read_bytes()
    file = kept(folder)
    read: list[bytes] = []
    monkeypatch.setattr(marshal, "loads", read.append)

    for text in (
        *(whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1 :] for at in range(len(whole))),
        *(whole[:end] for end in range(len(whole))),
    ):
        file.write_bytes(text)
        file.chmod(0o600)
        assert compiled._read(str(folder)) == {}
        assert not list(folder.iterdir())
    assert read == []


def test_a_pipe_in_place_of_the_file_is_not_waited_for(tmp_path: Path, folder: Path) -> None:
    archive = payload(tmp_path / "one.zip")
    call(archive, folder)
    file = kept(folder)
    file.unlink()
    os.mkfifo(file, 0o600)

    assert call(archive, folder)["said"] == ["one", 3]
    assert call(archive, folder)["compiled"] == []


@pytest.mark.parametrize("value", [7, (7, 8), (7, 8, 9, 10), "text", None])
def test_what_another_release_has_kept_is_compiled_again(tmp_path: Path, folder: Path, value: object) -> None:
    archive = payload(tmp_path / "one.zip")
    call(archive, folder)
    body = marshal.dumps({f"{PACKAGE}/_one.py": value})
    kept(folder).write_bytes(hashlib.sha256(body).digest() + body)

    assert call(archive, folder)["said"] == ["one", 3]
    assert call(archive, folder)["compiled"] == []


def test_a_place_where_nothing_can_be_kept_is_no_failure(tmp_path: Path) -> None:
    assert call(payload(tmp_path / "one.zip"), Path("/proc/ibready"))["said"] == ["one", 3]


def test_out_of_a_folder_nothing_is_changed() -> None:
    before = list(sys.meta_path)

    compiled.use()

    assert sys.meta_path == before
