# SPDX-License-Identifier: GPL-3.0-or-later
"""What is linted is what changed, since the main branch was left."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tools import lint_changed


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A branch with a commit of its own, a change, a new file and one that is gone."""
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)

    def git(*argv: str) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *who, *argv], cwd=tmp_path, check=True, capture_output=True)

    git("init", "-q", "-b", "main")
    for name in ("same.py", "changed.py", "gone.py", "committed.yml"):
        (tmp_path / name).write_text("x\n")
    git("add", ".")
    git("commit", "-qm", "main")
    git("checkout", "-qb", "mine")
    (tmp_path / "committed.yml").write_text("y\n")
    git("commit", "-qam", "mine")
    (tmp_path / "changed.py").write_text("z\n")
    (tmp_path / "gone.py").unlink()
    (tmp_path / "new file.py").write_text("new\n")
    monkeypatch.setattr(lint_changed, "ROOT", tmp_path)
    return tmp_path


@pytest.mark.usefixtures("checkout")
def test_what_differs_is_found_committed_or_not() -> None:
    assert lint_changed.changed() == ["changed.py", "committed.yml", "new file.py"]


def test_where_git_cannot_tell_it_is_no_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lint_changed, "ROOT", tmp_path)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "none"))
    assert lint_changed.changed() is None
    assert lint_changed.main() == 1


def test_each_linter_gets_what_is_its_own() -> None:
    found = {argv[0]: argv for argv in lint_changed.commands(["a.py", "matrix/b.yml", "roles/c.yml", "d.md"])}
    assert found["ruff"][-1] == "a.py"
    assert found["yamllint"][2:] == ["matrix/b.yml", "roles/c.yml"]
    assert found["ansible-lint"][1:] == ["roles/c.yml"]
    assert found["mypy"] == ["mypy"]
    assert {argv[0] for argv in lint_changed.commands([])} == {"mypy", next(reversed(found))}


def test_a_linter_that_fails_is_a_failure(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lint_changed, "commands", lambda _files: iter([["false"], ["touch", "after"]]))
    assert lint_changed.main() == 1
    assert (checkout / "after").exists()
    monkeypatch.setattr(lint_changed, "commands", lambda _files: iter([["true"]]))
    assert lint_changed.main() == 0
