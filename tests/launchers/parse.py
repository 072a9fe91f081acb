# SPDX-License-Identifier: GPL-3.0-or-later
"""``parse.py NAME FOLDER ARGUMENT...``: what a launcher's own parser makes of its arguments.

A program of its own, for it stands in for whatever the launcher's files import that is not here.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import MagicMock


class _StandIn(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Comes last: answers for modules that nobody has."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec:
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> Any:
        made = MagicMock(name=spec.name)
        made.__path__, made.__version__ = [], "0"
        return made

    def exec_module(self, module: ModuleType) -> None:
        """There is nothing to run."""


def _real(folder: Path, path: str) -> Any:
    """The module of this file, under its own name."""
    name = path.removesuffix(".py").replace("/", ".")
    spec = importlib.util.spec_from_file_location(name, folder / path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _torch(folder: Path, argv: list[str]) -> dict[str, Any]:
    _real(folder, "torch/distributed/argparse_util.py")
    run = _real(folder, "torch/distributed/run.py")
    args = run.parse_args(argv)
    low, high = run.parse_min_max_nnodes(args.nnodes)
    return {**vars(args), "nodes": [low, high], "meet": run.get_rdzv_endpoint(args)}


def _accelerate(folder: Path, argv: list[str]) -> dict[str, Any]:
    _real(folder, "accelerate/commands/utils.py")
    launch = _real(folder, "accelerate/commands/launch.py")
    assert argv[0] == "launch"
    return vars(launch.launch_command_parser().parse_args(argv[1:]))


def _deepspeed(folder: Path, argv: list[str]) -> dict[str, Any]:
    _real(folder, "deepspeed/launcher/constants.py")
    runner = _real(folder, "deepspeed/launcher/runner.py")
    args = runner.parse_args(argv)
    return {**vars(args), "pool": dict(runner.fetch_hostfile(args.hostfile))}


def _horovod(folder: Path, argv: list[str]) -> dict[str, Any]:
    hosts = _real(folder, "horovod/runner/common/util/hosts.py")
    launch = _real(folder, "horovod/runner/launch.py")
    sys.argv = ["horovodrun", *argv]
    args = launch.parse_args()
    pool = [(one.hostname, one.slots) for one in hosts.parse_hosts(hosts.parse_host_files(args.hostfile))]
    return {**vars(args), "pool": pool}


_TOOLS: dict[str, Callable[[Path, list[str]], dict[str, Any]]] = {
    "torch": _torch,
    "accelerate": _accelerate,
    "deepspeed": _deepspeed,
    "horovod": _horovod,
}


if __name__ == "__main__":
    sys.meta_path.append(_StandIn())
    told = _TOOLS[sys.argv[1]](Path(sys.argv[2]), sys.argv[3:])
    print(json.dumps({key: value for key, value in told.items()}, default=repr))
