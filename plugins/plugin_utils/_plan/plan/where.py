# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a site keeps its lock, and what of it a host's variables say."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..._ground import files
from ..matrix import load
from ..matrix.model import Matrix, MatrixError
from ..resolve.answer import nothing
from ..resolve.archive import names
from ..resolve.policy import DISTRIBUTION, PREFIX
from .lock import NAME, Lock, LockError, read

LOCK_FILE = "stack_lock_file"
# While a host is rolled back it is judged by the lock that it goes to.
ROLLBACK_LOCK = "ibready_rollback_lock"


def lock_file(variables: Mapping[str, Any]) -> Path:
    """The lock of the inventory that a host comes from: beside it, or where the site says.

    Raises LockError where there is no inventory to lie beside.
    """
    given = variables.get(LOCK_FILE)
    if given:
        return Path(str(given)).expanduser()
    home = files.home(variables)
    if home is None:
        raise LockError(
            f"no inventory has this host, so that no lock lies beside it; next: name the file in {LOCK_FILE}"
        )
    return home / NAME


def matrix_folders(variables: Mapping[str, Any]) -> tuple[Path, ...]:
    """The site's own matrix files (``stack_matrix``)."""
    return tuple(Path(str(entry)).expanduser() for entry in variables.get("stack_matrix") or ())


def archive(template: Callable[[Any], Any], variables: Mapping[str, Any]) -> list[str]:
    """The packages by which a host's own archive tells its drivers, where the driver is to come from there.

    ``template``: makes a value of what a variable holds.
    """
    if template(variables.get(f"{PREFIX}driver_flavour")) != DISTRIBUTION:
        return []
    try:
        return names(_matrix(matrix_folders({"stack_matrix": template(variables.get("stack_matrix"))})))
    except MatrixError:
        return []  # The plan says what is wrong with it.


def said_of(host: str, variables: Mapping[str, Any]) -> dict[str, Any]:
    """What a judging module is told of the lock (``expect.lock``); {} where there is none.

    Raises LockError or MatrixError.
    """
    given = variables.get(ROLLBACK_LOCK)
    if not given and not variables.get(LOCK_FILE) and files.home(variables) is None:
        return {}
    lock = _read(Path(str(given)) if given else lock_file(variables))
    if lock is None:
        return {}
    matrix = _matrix(matrix_folders(variables))
    said: dict[str, Any] = {"matrix": lock.matrix, "current": matrix.digest, "class": "", "stack": {}}
    found = lock.of_host(host)
    if found is not None:
        said["class"], said["stack"] = found[0], found[1].to_dict()["stack"]
        if not said["stack"]:
            said["nothing"] = nothing(found[1].gpus, found[1].hcas)
            said["of"] = {"gpus": list(found[1].gpus), "hcas": list(found[1].hcas)}
        rdma = said["stack"].get("rdma") or {}
        release = matrix.get("rdma.releases", f"{rdma.get('flavour')}-{rdma.get('version')}")
        # The train of HCA firmware that comes with it: xx.47 is 28.47 of a ConnectX-7.
        said["firmware"] = str(release.get("firmware", "")) if release is not None else ""
    return said


def _read(path: Path) -> Lock | None:
    """One parse for all hosts of a run, as long as the file stays the same."""
    try:
        state = path.stat()
    except OSError:
        return read(path)
    return _unchanged(path, state.st_mtime_ns, state.st_size)


@functools.lru_cache(maxsize=4)
def _unchanged(path: Path, _changed: int, _size: int) -> Lock | None:
    return read(path)


@functools.lru_cache(maxsize=4)
def _matrix(folders: tuple[Path, ...]) -> Matrix:
    return load.load(folders)
