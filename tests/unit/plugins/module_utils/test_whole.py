# SPDX-License-Identifier: GPL-3.0-or-later
"""Whoever writes for good: what goes onto the disk in which order, and what a failure leaves.

A writer is a row of WRITERS, or of ELSEWHERE with the reason why it need not be there for good.
"""

from __future__ import annotations

import ast
import errno
import os
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args

from ansible_collections.ibready.cluster.plugins.module_utils._act.container import cdi_rdma, disk
from ansible_collections.ibready.cluster.plugins.module_utils._act.container.model import EngineError
from ansible_collections.ibready.cluster.plugins.module_utils._act.packages import files as package_files
from ansible_collections.ibready.cluster.plugins.module_utils._act.packages.model import PackageError
from ansible_collections.ibready.cluster.plugins.module_utils._act.snapshot import files as snapshot_files, store
from ansible_collections.ibready.cluster.plugins.module_utils._act.snapshot.model import (
    FILE,
    LINK,
    Packages,
    Persisted,
    Snapshot,
)
from ansible_collections.ibready.cluster.plugins.module_utils._ground import state as _state, whole
from ansible_collections.ibready.cluster.plugins.module_utils._ground.state import StateError
from ansible_collections.ibready.cluster.plugins.modules import (
    node_program,
    slurm_health_conf,
    sysctl_dropin,
    written_files,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._ground import files as _files

PLUGINS = Path(whole.__file__).parents[2]
TEXT = "x=1\n" * 64
ME = (os.getuid(), os.getgid())
# A writer may raise, or say by its answer that it failed.
may_fail = partial(suppress, EngineError, OSError, PackageError, StateError)
# Writes TEXT or the like to the file, below the folder that stands for the host.
Write = Callable[[Path, str], object]


def _module(main: Callable[[], None], **args: Any) -> None:
    with patch_module_args(args), pytest.raises(SystemExit):
        main()


def _slurm(path: Path, _root: str) -> None:
    _module(slurm_health_conf.main, path=str(path), lines={"HealthCheckInterval": "60"})


def _sysctl(path: Path, root: str) -> None:
    proc = Path(root, "proc/kernel")
    proc.mkdir(parents=True, exist_ok=True)
    (proc / "panic").write_text("1\n")
    given = {"settings": {"kernel.panic": 1}, "reasons": {"kernel.panic": "x" * len(TEXT)}}
    _module(sysctl_dropin.main, path=str(path), proc_sys=str(proc.parent), **given)


def _program(path: Path, _root: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(node_program.pack, "read_sources", lambda _placed: {"x.py": TEXT.encode()})
        sources = node_program.pack.digest({"x.py": TEXT.encode()})
        node_program.write(str(path), "", sources)


def _link(path: Path, root: str) -> None:
    snapshot_files.put(f"/{path.relative_to(root)}", Persisted(LINK, b"/aim", 0o777, *ME), root)


WRITERS: dict[str, Write] = {
    "_whole.put": lambda path, _root: whole.put(str(path), TEXT.encode(), 0o600, ME),
    "_state.write": lambda path, _root: _state.write(str(path), TEXT, 0o644),
    "_state.save_file": lambda path, _root: _state.save_file(str(path), {"x": TEXT}),
    "_packages.files.put": lambda path, _root: package_files.put(str(path), TEXT.encode()),
    "_snapshot.files.put": lambda path, root: snapshot_files.put(
        f"/{path.relative_to(root)}", Persisted(FILE, TEXT.encode(), 0o640, *ME), root
    ),
    "_snapshot.files.put, a link": _link,
    "_container.disk.put": lambda path, root: disk.put(root, f"/{path.relative_to(root)}", TEXT),
    "_container.cdi_rdma.write": lambda _path, root: cdi_rdma.write(TEXT, root),
    "_files.write_whole": lambda path, _root: _files.write_whole(path, TEXT),
    "node_program": _program,
    "slurm_health_conf": _slurm,
    "sysctl_dropin": _sysctl,
    "written_files": lambda path, _root: _module(written_files.main, files=[{"path": str(path), "content": TEXT}]),
}
REMOVERS: dict[str, Write] = {
    "_whole.remove": lambda path, _root: whole.remove(str(path)),
    "_state.write": lambda path, _root: _state.write(str(path), "", 0o644),
    "_state.save_file": lambda path, _root: _state.save_file(str(path), {}),
    "_packages.files.put": lambda path, _root: package_files.put(str(path), None),
    "_snapshot.files.put": lambda path, root: snapshot_files.put(f"/{path.relative_to(root)}", None, root),
    "_container.disk.put": lambda path, root: disk.put(root, f"/{path.relative_to(root)}", None),
    "_container.cdi_rdma.write": lambda _path, root: cdi_rdma.write("", root),
    "sysctl_dropin": lambda path, _root: _module(sysctl_dropin.main, path=str(path), state="absent"),
}
# Every other place that gives a file its name, and why a loss of power may take that back.
ELSEWHERE = {
    "module_utils/_ground/compiled.py:_write": "in /run, which a loss of power empties",
    "module_utils/_engine/keep.py:_write": "in /run, which a loss of power empties",
    "plugin_utils/_engine/pack.py:engine": "in Ansible's folder of the run, which goes with it",
    "module_utils/_verify/collect.py:collect": "evidence, which is collected again",
    "module_utils/_verify/collect.py:_pack": "evidence, which is collected again",
    "plugin_utils/_ground/unpack.py:replace": "evidence, which is collected again",
    "module_utils/_act/packages/apt_host.py:keep": "apt's lists, which it fetches again",
    "modules/stack_bundle_copy.py:place": "its sum is looked at before each use",
    "action/stack_bundle.py:_carry": "its sum is looked at before each use",
}
# The places that WRITERS and the test of snapshots go through.
HERE = {
    "module_utils/_ground/whole.py:settle",
    "module_utils/_act/snapshot/store.py:_save",
    "modules/sysctl_dropin.py:_commit",
    "modules/written_files.py:_replace",
}


def _gives_a_name(call: ast.Call) -> bool:
    """os.replace and the like, Path.rename, and Path.replace, which has one argument."""
    if not isinstance(call.func, ast.Attribute):
        return False
    name, of = call.func.attr, ast.unparse(call.func.value)
    if name == "replace":
        return of == "os" or (len(call.args) == 1 and not call.keywords)
    return name in ("rename", "renames", "atomic_move") or (name, of) == ("move", "shutil")


def _places() -> Iterator[str]:
    for file in sorted(PLUGINS.rglob("*.py")):
        for one in ast.walk(ast.parse(file.read_text())):
            if isinstance(one, ast.FunctionDef) and any(
                isinstance(call, ast.Call) and _gives_a_name(call) for call in ast.walk(one)
            ):
                yield f"{file.relative_to(PLUGINS)}:{one.name}"


def test_every_place_that_gives_a_file_its_name_is_known() -> None:
    assert set(_places()) == HERE | set(ELSEWHERE)


class Disk:
    """What a program does to files, in order, by path."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.steps: list[tuple[str, ...]] = []
        fsync, chown, chmod = os.fsync, os.fchown, os.fchmod

        def by_handle(name: str, do: Callable[..., None]) -> Callable[..., None]:
            def done(handle: int, *more: int) -> None:
                do(handle, *more)
                self.steps.append((name, os.readlink(f"/proc/self/fd/{handle}")))

            return done

        def by_path(name: str, do: Callable[..., None]) -> Callable[..., None]:
            def done(*paths: Any, **more: Any) -> None:
                do(*paths, **more)
                self.steps.append((name, *map(os.fsdecode, paths)))

            return done

        patch.setattr(os, "fsync", by_handle("sync", fsync))
        patch.setattr(os, "fchown", by_handle("own", chown))
        patch.setattr(os, "fchmod", by_handle("mode", chmod))
        for name in ("replace", "rename"):
            patch.setattr(os, name, by_path("name", getattr(os, name)))
        patch.setattr(os, "unlink", by_path("remove", os.unlink))

    def has(self, *wanted: tuple[str, ...]) -> None:
        """These steps were taken in this order."""
        rest = iter(self.steps)
        for one in wanted:
            assert one in rest, (one, self.steps)

    def staged(self, path: Path) -> str:
        """What was given this name."""
        (found,) = [step[1] for step in self.steps if step[0] == "name" and step[2] == str(path)]
        return found


@pytest.fixture
def place(tmp_path: Path, name: str) -> Path:
    """A file that is there, alone in its folder: for the writer of this name."""
    path = tmp_path / (cdi_rdma.SPEC.lstrip("/") if "cdi" in name else "etc/some/x.conf")
    path.parent.mkdir(parents=True)
    path.write_text("# before\n" * 32)
    return path


@pytest.mark.parametrize("name", WRITERS)
def test_what_is_written_is_there_for_good(
    tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    disk = Disk(monkeypatch)

    WRITERS[name](place, str(tmp_path))

    staged = disk.staged(place)
    assert os.path.dirname(staged) == str(place.parent)
    content = [] if "link" in name else [("sync", staged)]
    disk.has(*content, ("name", staged, str(place)), ("sync", str(place.parent)))
    # Whose it is and who may read it is right before it has its name.
    named = disk.steps.index(("name", staged, str(place)))
    assert not [step for step in disk.steps[named:] if step[0] in ("own", "mode")]


@pytest.mark.parametrize("name", REMOVERS)
def test_what_is_removed_is_gone_for_good(
    tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    disk = Disk(monkeypatch)

    REMOVERS[name](place, str(tmp_path))

    disk.has(("remove", str(place)), ("sync", str(place.parent)))


def snapshot() -> Snapshot:
    kept = Persisted(FILE, TEXT.encode(), 0o644, *ME)
    return Snapshot(1, "a" * 64, "", Packages("apt", frozenset()), ("/etc/x",), {"/etc/x": kept})


def test_a_snapshot_is_there_for_good(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Disk(monkeypatch)
    home = tmp_path / store.HOME.lstrip("/")

    store.save(snapshot(), 5, str(tmp_path))

    staged = disk.staged(home / f"1-{'a' * 64}")
    disk.has(("sync", staged), ("name", staged, str(home / f"1-{'a' * 64}")), ("sync", str(home)))


def test_a_new_folder_is_there_for_good_with_what_is_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Disk(monkeypatch)

    _state.save("one", {"x": 1}, str(tmp_path))

    for folder in (tmp_path, tmp_path / "var", tmp_path / "var/lib", tmp_path / "var/lib/ibready"):
        assert ("sync", str(folder)) in disk.steps


@contextmanager
def full() -> Iterator[None]:
    """No file grows beyond a few bytes, as on a disk that has no more."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def below(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "proc" not in path.parts
    }


@pytest.mark.parametrize("name", [name for name in WRITERS if "link" not in name])
def test_a_full_disk_leaves_what_was_there_and_nothing_else(tmp_path: Path, place: Path, name: str) -> None:
    before = below(tmp_path)

    with full(), may_fail():
        WRITERS[name](place, str(tmp_path))

    assert below(tmp_path) == before


def test_a_full_disk_leaves_nothing_of_a_snapshot(tmp_path: Path) -> None:
    with full(), may_fail():
        store.save(snapshot(), 5, str(tmp_path))

    assert below(tmp_path) == {}


@pytest.mark.parametrize("step", ["fsync", "replace", "rename", "fchmod", "fchown", "lchown"])
@pytest.mark.parametrize("name", WRITERS)
def test_a_step_that_fails_leaves_no_file_that_was_begun(
    tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch, name: str, step: str
) -> None:
    def fails(*_args: object, **_more: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, step, fails)
    with may_fail():
        WRITERS[name](place, str(tmp_path))

    assert not list(place.parent.glob(".*"))


def test_slurm_conf_is_its_owners_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    conf = tmp_path / "slurm.conf"
    conf.write_text("ClusterName=c\n")
    conf.chmod(0o640)
    if os.geteuid() == 0:
        os.chown(conf, 4242, 4243)
    was = conf.stat()
    named: list[os.stat_result] = []
    replace = os.replace

    def look(staged: str, path: str) -> None:
        named.append(os.stat(staged))
        replace(staged, path)

    monkeypatch.setattr(os, "replace", look)
    _module(slurm_health_conf.main, path=str(conf), lines={"HealthCheckInterval": "60"})

    for one in (*named, conf.stat()):
        assert (one.st_uid, one.st_gid, one.st_mode) == (was.st_uid, was.st_gid, was.st_mode)
    assert len(named) == 1


def test_a_file_system_that_cannot_sync_a_folder_is_taken_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cannot(_handle: int) -> None:
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(os, "fsync", cannot)
    whole.sync(str(tmp_path))
