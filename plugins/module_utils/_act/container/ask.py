# SPDX-License-Identifier: GPL-3.0-or-later
"""Ask the engines: which version, does it take this file, what runs in it, does it answer."""

from __future__ import annotations

import os
import re
from typing import Mapping

from ..._data import container_engines as data
from ..._ground.command import Output, Unavailable, find_program, run_program
from ..._parse.version_text import numbers
from . import tomltext
from .model import EngineError, EngineFileError

_LIMIT_S = 60.0
_VERSION = re.compile(r"\b(\d+\.\d+(?:\.\d+)?)")
_LAST = 400


def there(engine: data.Engine) -> bool:
    """Whether the engine is installed; EngineError where it may not be run."""
    try:
        find_program(engine.program)
    except Unavailable as exc:
        if "not installed" not in exc.reason:
            raise EngineError(str(exc), "look at it on the host") from exc
        return False
    return True


def version(engine: data.Engine) -> str:
    """As 26.1.5; EngineError where it cannot be told."""
    done = _run(*engine.version_argv)
    match = _VERSION.search(done.stdout)
    if done.rc != 0 or match is None:
        raise EngineError(
            f"`{' '.join(engine.version_argv)}` tells no version: {said(done)}",
            f"see that {engine.program} works on the host",
        )
    return match.group(1)


def refused(engine: data.Engine, path: str, version_text: str) -> str | None:
    """Why the engine does not take a file, "" where it does; None where it cannot be asked."""
    if engine.name == data.DOCKER:
        if numbers(version_text) < numbers(data.DOCKER_VALIDATE):
            return None
        done = _run("dockerd", "--validate", "--config-file", path)
    elif engine.name == data.CONTAINERD:
        done = _run("containerd", "--config", path, "config", "dump")
    else:
        done = _run("podman", "info", env={"CONTAINERS_CONF": path})
    return said(done) if done.rc != 0 else ""


def dump(path: str) -> tomltext.Toml:
    """What containerd makes of config.toml and all that it imports; EngineError where it cannot."""
    done = _run("containerd", "--config", path, "config", "dump")
    if done.rc != 0:
        raise EngineFileError(
            f"containerd does not take {path}: {said(done)}",
            "fix it: containerd would not start with it either",
        )
    try:
        return tomltext.parse(done.stdout)
    except tomltext.TomlError as exc:
        raise EngineError(f"`containerd config dump` cannot be read: {exc}", "tell us containerd's version") from exc


def running(engine: data.Engine, address: str = "") -> list[str]:
    """The names of what runs; EngineError where nobody could look."""
    if engine.name == data.DOCKER:
        return _words(_asked("docker", "ps", "--format", "{{.Names}}"))
    if engine.name == data.PODMAN:
        return []  # No service, nothing to restart.
    ctr = ("ctr", *(("--address", address) if address else ()))
    found = []
    for space in _words(_asked(*ctr, "namespaces", "list", "--quiet")):
        tasks = _asked(*ctr, "--namespace", space, "tasks", "list")
        rows = [line.split() for line in tasks.splitlines()[1:]]
        # A task may also be paused, or its shim not have answered.
        found += [f"{space}/{row[0]}" for row in rows if row and row[-1] != "STOPPED"]
    return found


def outlive(engine: data.Engine) -> bool:
    """Whether what runs survives a restart of the service."""
    if engine.name != data.DOCKER:
        return False
    return _asked("docker", "info", "--format", "{{.LiveRestoreEnabled}}").strip() == "true"


def answers(engine: data.Engine, address: str = "") -> str:
    """Why the engine does not answer, "" where it does."""
    if engine.name == data.DOCKER:
        argv: tuple[str, ...] = ("docker", "info", "--format", "{{.ServerVersion}}")
    elif engine.name == data.PODMAN:
        argv = ("podman", "info")
    else:
        argv = ("ctr", *(("--address", address) if address else ()), "version")
    done = _run(*argv)
    if done.rc != 0 or not done.stdout.strip():
        return f"`{' '.join(argv)}` ended with status {done.rc}: {said(done)}"
    return ""


def said(done: Output) -> str:
    """The last words of a program."""
    words = " ".join((done.stderr.strip() or done.stdout.strip()).split())
    return words[-_LAST:] or "no word"


def _asked(*argv: str) -> str:
    done = _run(*argv)
    if done.rc != 0:
        raise EngineError(
            f"nobody can tell what runs: `{' '.join(argv)}` ended with status {done.rc}: {said(done)}",
            "see that the engine works on the host",
        )
    return done.stdout


def _run(*argv: str, env: Mapping[str, str] | None = None) -> Output:
    try:
        path = find_program(argv[0])
        if env is None:
            return run_program(argv[0], [path, *argv[1:]], _LIMIT_S)
        whole = {**os.environ, "LC_ALL": "C", **env}
        return run_program(argv[0], [path, *argv[1:]], _LIMIT_S, env=whole)
    except Unavailable as exc:
        raise EngineError(str(exc), f"see that {argv[0]} works on the host") from exc


def _words(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]
