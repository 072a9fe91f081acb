# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine that a node keeps: run only where nobody but its owner could have written it."""

from __future__ import annotations

import marshal
import os
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._engine import bootstrap
from tests.unit.engines import ABSENT, Node, archive, digest

pytestmark = pytest.mark.thorough

# What would be said if code of somebody's were run.
PLANTED = "import os; print('\\n{\"planted\": true}', flush=True); os._exit(0)"
NOBODY = 65534
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")


@pytest.fixture
def node(tmp_path: Path) -> Node:
    tmp_path.chmod(0o755)
    return Node(tmp_path / "engine")


@pytest.fixture
def visited(node: Node) -> Node:
    """A node that has the engine and its code."""
    assert "node" in node.bring()
    return node


def planted(name: str = "") -> bytes:
    """Compiled code that is sealed for an engine, and says that it was run."""
    body = marshal.dumps({bootstrap.SERVE: marshal.dumps(compile(PLANTED, "planted", "exec"))})
    return bootstrap.sealed(name or digest(), body) + body


def test_it_is_sent_once(node: Node) -> None:
    assert node.visit() == ABSENT
    brought = node.bring()
    before = {path.name: (path.stat().st_mtime_ns, path.stat().st_ino) for path in node.place.iterdir()}

    again = node.visit()

    assert again == brought
    assert again["changed"] is False
    assert {path.name: (path.stat().st_mtime_ns, path.stat().st_ino) for path in node.place.iterdir()} == before
    assert node.engine.read_bytes() == archive()


def test_only_its_owner_may_read_and_write_what_is_kept(visited: Node) -> None:
    assert visited.place.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in visited.place.iterdir()} == {0o600}


def _aside(path: Path) -> Path:
    return path.rename(path.with_name(f"{path.name}-aside"))


def _linked(path: Path) -> None:
    path.symlink_to(_aside(path))


def _bent(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def _fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path, 0o600)


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir(0o700)


SPOILT: dict[str, Callable[[Node], Any]] = {
    "the folder is a link": lambda node: _linked(node.place),
    "others may write in the folder": lambda node: node.place.chmod(0o722),
    "others may read the folder": lambda node: node.place.chmod(0o755),
    "others may write where the folder is": lambda node: node.place.parent.chmod(0o777),
    "the engine is a link": lambda node: _linked(node.engine),
    "others may write the engine": lambda node: node.engine.chmod(0o620),
    "a byte of the engine is another": lambda node: _bent(node.engine),
    "the engine is cut": lambda node: _cut(node.engine),
    "the engine is empty": lambda node: node.engine.write_bytes(b""),
    "the engine is a pipe": lambda node: _fifo(node.engine),
    "the engine is a folder": lambda node: _folder(node.engine),
    "the engine is gone": lambda node: node.engine.unlink(),
}
# Who made these may do as they like with the place: nothing is kept there until an operator looks.
_STAYS = {"the folder is a link", "others may write where the folder is", "the engine is a folder"}


@pytest.mark.parametrize("how", SPOILT)
def test_what_is_not_as_it_was_kept_is_not_run_and_is_sent_again(visited: Node, how: str) -> None:
    SPOILT[how](visited)

    assert visited.visit() == ABSENT
    assert "node" in visited.bring()
    assert ("node" in visited.visit()) is (how not in _STAYS)


@as_root
@pytest.mark.parametrize("what", ["place", "engine"])
def test_what_belongs_to_somebody_else_is_not_run(visited: Node, what: str) -> None:
    os.chown(getattr(visited, what), NOBODY, NOBODY)

    assert visited.visit() == ABSENT
    assert "node" in visited.bring()


def test_code_of_the_right_place_and_seal_is_run(visited: Node) -> None:
    """What makes the refusals below mean something."""
    visited.code.write_bytes(planted())
    assert visited.visit() == {"planted": True}


def _code(visited: Node, data: bytes, mode: int = 0o600) -> None:
    visited.code.write_bytes(data)
    visited.code.chmod(mode)


STRANGE: dict[str, Callable[[Node], Any]] = {
    "of another engine": lambda node: _code(node, planted("0" * 64)),
    "without its seal": lambda node: _code(node, planted()[32:]),
    "with a bent seal": lambda node: _code(node, b"x" + planted()[1:]),
    "open to others": lambda node: _code(node, planted(), 0o620),
    "in an open folder": lambda node: (_code(node, planted()), node.place.chmod(0o702)),
    "behind a link": lambda node: (_code(node, planted()), _linked(node.code)),
    "cut": lambda node: _cut(node.code),
    "bent": lambda node: _bent(node.code),
    "empty": lambda node: _code(node, b""),
    "no table": lambda node: _code(node, bootstrap.sealed(digest(), marshal.dumps(7)) + marshal.dumps(7)),
}


@pytest.mark.parametrize("how", STRANGE)
def test_strange_code_is_not_run_and_is_compiled_again(visited: Node, how: str) -> None:
    STRANGE[how](visited)

    answers = [visited.visit(), visited.bring(), visited.visit()]

    assert {"planted": True} not in answers
    assert "node" in answers[-1]
    assert visited.code.read_bytes() != planted()


@as_root
def test_code_of_somebody_else_is_not_run(visited: Node) -> None:
    _code(visited, planted())
    os.chown(visited.code, NOBODY, NOBODY)
    assert "node" in visited.visit()


def test_an_engine_of_another_name_is_taken_away_and_not_run(visited: Node) -> None:
    old = visited.place / ("0" * 64)
    old.write_bytes(b"an engine of an older release")

    assert visited.visit(named="0" * 64) == ABSENT
    visited.code.unlink()
    visited.visit()

    assert not old.exists()


def test_what_is_damaged_on_the_way_is_neither_run_nor_kept(node: Node) -> None:
    assert node.visit(carried=archive()[:-1], named=digest()) == {"ibready_engine": "damaged"}
    assert not node.place.exists()


def _full() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


def test_a_full_disk_keeps_nothing_and_the_answer_is_there(node: Node) -> None:
    assert "node" in node.bring(preexec_fn=_full)
    assert list(node.place.iterdir()) == []
    assert node.visit() == ABSENT


def test_without_the_place_above_it_nothing_is_kept_and_the_answer_is_there(tmp_path: Path) -> None:
    node = Node(tmp_path / "run" / "engine")
    assert "node" in node.bring()
    assert not node.place.parent.exists()


@as_root
def test_another_user_than_root_is_answered_and_keeps_nothing(node: Node) -> None:
    python = ["/usr/bin/env", "python3"]
    assert node.bring(python=python, user=NOBODY, group=NOBODY, env={"PATH": "/usr/bin:/bin"})["node"]["root"] is False
    assert not node.place.exists()


def test_where_it_is_started_decides_nothing(node: Node, tmp_path: Path) -> None:
    """That may be anybody's folder: `sudo` stays in the home of who logged in."""
    here = tmp_path / "home"
    here.mkdir()
    for name in ("marshal", "os", "stat", "hashlib", "json", "zlib", "binascii", "dataclasses", "platform"):
        (here / f"{name}.py").write_text(PLANTED)

    assert "node" in node.bring(cwd=here)
    assert "node" in node.visit(cwd=here)


def test_a_python_that_has_no_code_yet_compiles_its_own(visited: Node) -> None:
    """Beside that of the others: here of one that strips assertions."""
    assert "node" in visited.visit(python=[sys.executable, "-O"])
    assert len(list(visited.place.iterdir())) == 3


def test_what_was_cut_off_while_it_was_written_goes(visited: Node) -> None:
    begun = visited.place / f"{visited.engine.name}.1.part"
    begun.write_bytes(b"half")
    visited.engine.unlink()

    assert "node" in visited.bring()

    assert (begun.exists(), visited.engine.read_bytes()) == (False, archive())
