# SPDX-License-Identifier: GPL-3.0-or-later
"""All scripts that were asked for, from what the playbook registered."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import jinja2

from ....module_utils._ground.version import VERSION
from ..._site.launchers import KINDS, Kind
from . import gradients
from .cluster import Cluster, make as joined
from .node import Node, gather
from .options import Options, read
from .words import LaunchError, enroot_image

ALL = "all"
TEMPLATES = Path(__file__).parent / "templates"
_NO_IMAGE = "it needs a container image, and none is named; next: set launch_image"
_DIGEST = "enroot takes an image by its tag, not by a digest; next: name a tag in launch_image"

# accelerate starts several processes only with --multi_gpu, which takes no single one.
_SINGLE = "accelerate starts one process a host where there are no GPUs; next: use torchrun"
_ALONE = "accelerate's launcher is for two processes and more; next: use torchrun"


@dataclass(frozen=True)
class Made:
    """``scripts``: kind to the name of its script. ``files``: name to text, of all kinds.
    ``refused``: kind to the reason."""

    cluster: Cluster
    scripts: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)


def make(hostvars: Mapping[str, Any], names: Sequence[str], kind: str, given: Mapping[str, Any]) -> Made:
    """Render; LaunchError where nothing can be, or where the one kind that was asked for cannot."""
    said = read(given)
    nodes, absent = gather(hostvars, list(names))
    whole = joined(nodes, absent, said)
    asked = list(KINDS) if kind == ALL else [kind]
    refused = {name: why for name in asked if (why := refusal(KINDS[name], whole, said))}
    if refused and kind != ALL:
        raise LaunchError(f"{kind}: {refused[kind]}")
    files: dict[str, str] = {}
    for name in asked:
        if name not in refused:
            files.update(render(KINDS[name], whole, said))
    scripts = {name: KINDS[name].file for name in asked if name not in refused}
    return Made(whole, scripts, files, refused)


@dataclass(frozen=True)
class Setting:
    """What the processes of some hosts get. ``names``: of the hosts, as `uname -n` says."""

    names: tuple[str, ...]
    hosts: tuple[str, ...]
    interface: str
    nccl: tuple[tuple[str, str], ...]
    numa: tuple[int, ...]
    rails: tuple[tuple[str, int], ...]


def refusal(kind: Kind, cluster: Cluster, options: Options) -> str:
    """Why a script of this kind cannot be rendered; "" where it can."""
    if kind.image and not options.image:
        return _NO_IMAGE
    if kind.name == "sbatch" and "@" in options.image:
        return _DIGEST
    if kind.name == "accelerate" and not cluster.gpus:
        return _SINGLE
    if kind.name == "accelerate" and cluster.total == 1:
        return _ALONE
    return ""


def render(kind: Kind, cluster: Cluster, options: Options) -> dict[str, str]:
    """The files of one kind, the script first; ask `refusal` before."""
    words = replace(options, program=options.program or kind.program)
    shared: dict[str, Any] = {
        "cluster": cluster,
        "options": words,
        "settings": settings(cluster),
        "enroot_image": enroot_image(options.image),
    }
    files = {}
    for name in kind.parts:
        # What several kinds need beside them is the same for all of these.
        own = KINDS.get(name.removesuffix(".sh"))
        said = gradients.of(own.name, words) if own else gradients.Gradients()
        files[name] = _ENVIRONMENT.get_template(f"{name}.j2").render(
            **shared,
            kind=own or kind,
            gradients=said,
            command=(*words.command(), *said.program),
            header=_header(cluster, said.notes),
        )
    return files


def settings(cluster: Cluster) -> tuple[Setting, ...]:
    """What the processes get, hosts with the same together."""
    found: dict[Any, list[Node]] = {}
    for node in cluster.nodes:
        numa = node.gpus if cluster.bound and node.gpus else ()
        found.setdefault((node.interface, node.nccl, numa, node.rails), []).append(node)
    return tuple(
        Setting(tuple(entry.hostname for entry in some), tuple(entry.name for entry in some), *key)
        for key, some in found.items()
    )


def _header(cluster: Cluster, more: Sequence[str]) -> list[str]:
    """What it was rendered from, a comment line each."""
    gpus = f"{cluster.gpus} GPUs each" if cluster.gpus else "no GPU counted on"
    lines = [
        f"from the facts of {len(cluster.nodes)} hosts, {gpus}: "
        + ", ".join(f"{node.name} ({node.address})" for node in cluster.nodes),
        f"They meet at {cluster.endpoint}: {cluster.head.name}'s address as the others reach it.",
    ]
    if cluster.simulated:
        lines.insert(0, f"SIMULATED: {cluster.simulated}")
    lines += [f"Left out: {name}, {why}" for name, why in cluster.absent.items()]
    lines += [f"NOTE: {note}" for note in (*cluster.notes, *more)]
    if not cluster.rdma:
        lines.append("NOTE: not every host has an RDMA device, so that jobs would use TCP")
    return lines


def _environment() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=False,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters.update(sh=_word, words=_words, comment=_comment)
    made.globals["version"] = VERSION
    return made


def _word(value: object) -> str:
    return shlex.quote(str(value))


def _words(values: Any) -> str:
    return shlex.join(str(value) for value in values)


def _comment(text: object) -> str:
    """As part of a comment: one line of printable ASCII, whole."""
    shown = str(text)
    return " ".join("".join(entry if " " <= entry <= "~" else "?" for entry in shown).split())


_ENVIRONMENT = _environment()
