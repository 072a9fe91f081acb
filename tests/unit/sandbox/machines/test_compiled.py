# SPDX-License-Identifier: GPL-3.0-or-later
"""What the machines' Python keeps of what it compiled: the same code, and never another's."""

from __future__ import annotations

import errno
import importlib
import marshal
import os
import sys
import zipfile
import zipimport
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from sandbox.machines import compiled
from tests.unit.on_disk import damaged

NAME = "ibready_kept_for_a_test"
SOURCE = "def told():\n    raise ValueError('here')\n\nVALUE = 1\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    kept = tmp_path / "kept"
    kept.mkdir()
    monkeypatch.setattr(compiled, "HOME", str(kept))
    monkeypatch.setattr(zipimport, "_compile_source", compiled._compile)
    compiled.install()
    yield kept
    sys.modules.pop(NAME, None)


def loaded(archive: Path, monkeypatch: pytest.MonkeyPatch, source: str = SOURCE) -> Any:
    """Import the source out of an archive, as Ansible's modules do."""
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr(f"{NAME}.py", source)
    sys.modules.pop(NAME, None)
    importlib.invalidate_caches()
    with monkeypatch.context() as path:
        path.syspath_prepend(str(archive))
        return importlib.import_module(NAME)


def full(*_paths: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def never(place: str, source: bytes) -> CodeType:
    raise AssertionError(f"{place} was compiled again")


def test_what_was_compiled_once_is_not_compiled_again(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded(tmp_path / "first.zip", monkeypatch)
    assert len(list(home.iterdir())) == 1
    monkeypatch.setattr(compiled, "_compile", never)
    again = loaded(tmp_path / "second.zip", monkeypatch)
    assert again.VALUE == 1
    # A traceback names the archive that it was found in this time.
    with pytest.raises(ValueError, match="here") as raised:
        again.told()
    assert str(raised.traceback[-1].path).startswith(str(tmp_path / "second.zip"))


def test_another_source_of_the_same_name_is_another(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert loaded(tmp_path / "one.zip", monkeypatch).VALUE == 1
    changed = SOURCE.replace("VALUE = 1", "VALUE = 2")
    assert loaded(tmp_path / "two.zip", monkeypatch, changed).VALUE == 2
    assert len(list(home.iterdir())) == 2


@given(data=st.data())
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_of_damaged_code_nothing_is_taken_and_it_is_compiled_and_kept_again(
    home: Path, tmp_path: Path, data: st.DataObject
) -> None:
    with pytest.MonkeyPatch.context() as patched:
        loaded(tmp_path / "one.zip", patched)
        (kept,) = home.iterdir()
        damage = data.draw(damaged(kept.read_bytes()))
        kept.write_bytes(damage)

        def loads(body: bytes) -> Any:
            assert kept.read_bytes() != damage, "damaged code was read"
            return marshal.loads(body)

        patched.setattr(compiled, "marshal", SimpleNamespace(loads=loads, dumps=marshal.dumps))
        assert loaded(tmp_path / "two.zip", patched).VALUE == 1
        assert kept.read_bytes()[:8] == compiled._sum(kept.read_bytes()[8:])


def test_what_cannot_be_kept_whole_leaves_nothing(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled.os, "replace", full)
    assert loaded(tmp_path / "one.zip", monkeypatch).VALUE == 1
    assert not list(home.iterdir())


def test_a_pipe_in_its_place_is_not_waited_for(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded(tmp_path / "one.zip", monkeypatch)
    (kept,) = home.iterdir()
    kept.unlink()
    os.mkfifo(kept)
    assert loaded(tmp_path / "two.zip", monkeypatch).VALUE == 1
    assert kept.is_file()


def test_where_nothing_can_be_kept_it_is_compiled_as_usual(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.rmdir()
    assert loaded(tmp_path / "one.zip", monkeypatch).VALUE == 1


def test_a_source_with_a_mistake_says_where(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SyntaxError) as raised:
        loaded(tmp_path / "one.zip", monkeypatch, "def broken(:\n")
    assert raised.value.lineno == 1
    assert not list(home.iterdir())
