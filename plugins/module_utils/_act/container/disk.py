# SPDX-License-Identifier: GPL-3.0-or-later
"""The engines' files: read, planned by each engine's own rules, tried out beside their place, and put there whole."""

from __future__ import annotations

import contextlib
import glob
import os
import shutil
import tempfile
from dataclasses import dataclass, field
from typing import Any, Iterator

from ..._data import container_engines as data
from ..._ground import paths, state
from ..._ground.command import Missing, Unavailable
from ..._parse.proc_limits import UNLIMITED
from . import ask, containerd, docker, jsonedit, podman, tomltext
from .model import Change, Desired, EngineError, EngineFileError, Plan

_HEADER = "# Written by ibready.cluster.container_engines. The next run undoes changes made by hand.\n"
_MODE = 0o644
# Whatever is larger is no engine's configuration.
_LARGEST = 1024 * 1024
_PODMAN_READS = (
    "/usr/share/containers/containers.conf",
    "/etc/containers/containers.conf",
    "/etc/containers/containers.conf.d/*.conf",
)
_ADDRESS = ("grpc", "address")


def limits_path(unit: str) -> str:
    return f"/etc/systemd/system/{unit}.d/90-ibready.conf"


def limits_asked(wish: Desired) -> dict[str, int]:
    """What the service is to have at least."""
    found = {}
    if wish.memlock is not None:
        found["memlock"] = UNLIMITED if wish.memlock < 0 else wish.memlock
    if wish.nofile is not None:
        found["nofile"] = wish.nofile
    return found


def plan_limits(unit: str, before: str | None, wish: Desired) -> Plan:
    """The drop-in as it is to be, none where nothing is wished."""
    lines = []
    if wish.memlock is not None:
        lines.append(f"LimitMEMLOCK={'infinity' if wish.memlock < 0 else wish.memlock}")
    if wish.nofile is not None:
        lines.append(f"LimitNOFILE={wish.nofile}")
    after = "\n".join([f"{_HEADER}[Service]", *lines]) + "\n" if lines else None
    made = Plan(limits_path(unit), before, after)
    if made.changed:
        made.changes.append(Change(f"limits of {unit}", before, after))
    return made


def read(root: str, path: str) -> str | None:
    """A file's text with its bytes kept (surrogateescape), None where there is none."""
    place = state.below(root, path)
    try:
        data = paths.read_regular(place, path, limit=_LARGEST)
    except Missing:
        return None
    except Unavailable as exc:
        raise EngineFileError(str(exc), f"see what {path} is") from exc
    return data.decode("utf-8", "surrogateescape")


def other_texts(root: str, mine: str, *patterns: str) -> dict[str, str]:
    """The texts of other files, by path; `patterns` in the order in which they are read."""
    found = {}
    for pattern in patterns:
        for place in sorted(glob.glob(state.below(root, pattern))):
            path = "/" + os.path.relpath(place, root)
            text = read(root, path) if path != mine else None
            if text is not None:
                found[path] = text
    return found


@contextlib.contextmanager
def tried(root: str, path: str, text: str) -> Iterator[str]:
    """The path of a file with this text, beside the real one where that has a folder."""
    place = state.below(root, path)
    folder = os.path.dirname(os.path.realpath(place))
    made = "" if os.path.isdir(folder) else tempfile.mkdtemp(prefix="ibready-")
    try:
        # No name that an `imports` or a folder of drop-ins would take up.
        fd, staged = tempfile.mkstemp(prefix=f".{os.path.basename(path)}.", dir=made or folder)
        try:
            with open(fd, "w", encoding="utf-8", errors="surrogateescape", newline="") as stream:
                stream.write(text)
            yield staged
        finally:
            os.unlink(staged)
    except OSError as exc:
        raise EngineError(f"{path} cannot be tried out: {exc.strerror}", "see that its folder can be written") from exc
    finally:
        if made:
            shutil.rmtree(made, ignore_errors=True)


def put(root: str, path: str, text: str | None) -> None:
    """Write a file whole, with the mode and owner that it had; None removes it."""
    place = os.path.realpath(state.below(root, path))
    try:
        had = os.stat(place) if os.path.exists(place) else None
        if had is None:
            state.write(place, text or "", _MODE)
        else:
            owner = (had.st_uid, had.st_gid)
            state.write(place, text or "", had.st_mode & 0o7777, owner)
    except OSError as exc:
        raise EngineError(
            f"{path} cannot be written: {exc.strerror}",
            "see that its folder can be written and has space",
        ) from exc


@dataclass
class Made:
    """All files of one engine; ``address``: where containerd listens ("": as ctr expects)."""

    plans: list[Plan] = field(default_factory=list)
    address: str = ""


def make(engine: data.Engine, wish: Desired, version: str, root: str, memory: dict[str, Any]) -> Made:
    """Raises EngineError for a file that cannot be changed, which is then as it was."""
    made = Made()
    path = engine.config
    before = read(root, path)
    record: dict[str, Any] = memory.get("records", {}).get(path, {})
    try:
        if engine.name == data.DOCKER:
            made.plans.append(docker.plan(path, before, wish, version, record))
        elif engine.name == data.CONTAINERD:
            _containerd(made, before, wish, version, root, record)
        else:
            others = other_texts(root, path, *_PODMAN_READS)
            made.plans.append(podman.plan(path, before, others, wish))
    except ValueError as exc:  # JsonError, TomlError
        raise _unreadable(engine, exc) from exc
    if engine.unit:
        dropin = limits_path(engine.unit)
        made.plans.append(plan_limits(engine.unit, read(root, dropin), wish))
    return made


def legible(engine: data.Engine, root: str) -> None:
    """EngineFileError where an engine that is still to come would meet a file that cannot be changed."""
    text = read(root, engine.config)
    try:
        if text is not None:
            (jsonedit.parse if engine.name == data.DOCKER else tomltext.parse)(text)
    except ValueError as exc:
        raise _unreadable(engine, exc) from exc


def _unreadable(engine: data.Engine, exc: ValueError) -> EngineFileError:
    return EngineFileError(
        f"{engine.config} is left as it is: {exc}", f"fix it, or remove it ({engine.name}'s defaults)"
    )


def _containerd(made: Made, before: str | None, wish: Desired, version: str, root: str, record: dict[str, Any]) -> None:
    """The engine says what its files mean, before and after: nothing else may differ."""
    path = data.TABLE[data.CONTAINERD].config
    place = state.below(root, path)
    dump = ask.dump(place) if before is not None else _dump_of(root, path, "")
    raw = dump.raw(_ADDRESS)
    if raw:
        made.address = (tomltext.texts(f"[{raw}]") or [""])[0]
    plan = containerd.plan(path, before, dump, wish, version, record)
    made.plans.append(plan)
    if not plan.changed:
        return
    following = f"set {containerd.KEY} = true in it by hand, or container_runtime_cdi to false"
    try:
        after = _dump_of(root, path, plan.after or "")
    except EngineError as exc:
        raise EngineError(f"{path} is left as it is: with the line for CDI {exc.cause}", following) from exc
    wrong = sorted(
        tomltext.dotted(key) for key, _value in containerd.others(dump).items() ^ containerd.others(after).items()
    )
    if wrong:
        raise EngineError(
            f"{path} is left as it is: with the line for CDI containerd would read "
            f"{', '.join(dict.fromkeys(wrong))} otherwise",
            following,
        )
    if wish.cdi and containerd.effective(after) != "true":
        plan.after, plan.changes, plan.overridden, plan.record = plan.before, [], [], record
        plan.left["cdi"] = f"a file that {path} imports turns {containerd.KEY} off again"


def _dump_of(root: str, path: str, text: str) -> tomltext.Toml:
    with tried(root, path, text) as staged:
        return ask.dump(staged)
