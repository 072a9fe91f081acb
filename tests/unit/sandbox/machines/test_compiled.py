# SPDX-License-Identifier: GPL-3.0-or-later
"""What the machines' Python keeps of what it compiled: the same code, and never another's."""

from __future__ import annotations

import importlib
import sys
import zipfile
import zipimport
from collections.abc import Iterator
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

from sandbox.machines import compiled

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


@pytest.mark.parametrize("damage", [b"", b"\0\0\0\0", b"i\1\0\0\0"])
def test_what_was_not_written_to_its_end_is_compiled(
    damage: bytes, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded(tmp_path / "one.zip", monkeypatch)
    (kept,) = home.iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(damage)
    assert loaded(tmp_path / "two.zip", monkeypatch).VALUE == 1
    assert kept.read_bytes()[:4] == whole[:4]


def test_where_nothing_can_be_kept_it_is_compiled_as_usual(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.rmdir()
    assert loaded(tmp_path / "one.zip", monkeypatch).VALUE == 1


def test_a_source_with_a_mistake_says_where(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SyntaxError) as raised:
        loaded(tmp_path / "one.zip", monkeypatch, "def broken(:\n")
    assert raised.value.lineno == 1
    assert not list(home.iterdir())
