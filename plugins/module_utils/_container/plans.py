# SPDX-License-Identifier: GPL-3.0-or-later
"""What is to become of an engine's files: read them, and have each engine's own rules plan."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils import _state
from ansible_collections.ibready.cluster.plugins.module_utils._container import (
    ask,
    containerd,
    disk,
    docker,
    limits,
    podman,
    tomltext,
)
from ansible_collections.ibready.cluster.plugins.module_utils._container.model import (
    EngineError,
    Plan,
    Wish,
)
from ansible_collections.ibready.cluster.plugins.module_utils._data import container_engines as data

_PODMAN_READS = (
    "/usr/share/containers/containers.conf",
    "/etc/containers/containers.conf",
    "/etc/containers/containers.conf.d/*.conf",
)
_ADDRESS = ("grpc", "address")


@dataclass
class Made:
    """All files of one engine; ``address``: where containerd listens ("": as ctr expects)."""

    plans: list[Plan] = field(default_factory=list)
    address: str = ""


def make(engine: data.Engine, wish: Wish, version: str, root: str, memory: dict[str, Any]) -> Made:
    """Raises EngineError for a file that cannot be changed, which is then as it was."""
    made = Made()
    path = engine.config
    before = disk.read(root, path)
    record: dict[str, Any] = memory.get("records", {}).get(path, {})
    try:
        if engine.name == data.DOCKER:
            made.plans.append(docker.plan(path, before, wish, version, record))
        elif engine.name == data.CONTAINERD:
            _containerd(made, before, wish, version, root, record)
        else:
            others = disk.others(root, path, *_PODMAN_READS)
            made.plans.append(podman.plan(path, before, others, wish))
    except ValueError as exc:  # JsonError, TomlError
        raise EngineError(
            f"{path} is left as it is: {exc}", f"mend it, or remove it ({engine.name}'s defaults)"
        ) from exc
    if engine.unit:
        dropin = limits.path(engine.unit)
        made.plans.append(limits.plan(engine.unit, disk.read(root, dropin), wish))
    return made


def _containerd(
    made: Made, before: str | None, wish: Wish, version: str, root: str, record: dict[str, Any]
) -> None:
    """The engine says what its files mean, before and after: nothing else may differ."""
    path = data.TABLE[data.CONTAINERD].config
    place = _state.below(root, path)
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
        raise EngineError(
            f"{path} is left as it is: with the line for CDI {exc.cause}", following
        ) from exc
    wrong = sorted(
        tomltext.dotted(key)
        for key, _value in containerd.others(dump).items() ^ containerd.others(after).items()
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
    with disk.tried(root, path, text) as staged:
        return ask.dump(staged)
