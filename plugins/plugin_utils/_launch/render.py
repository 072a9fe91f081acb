# SPDX-License-Identifier: GPL-3.0-or-later
"""From a cluster to the texts of launch scripts; pure."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jinja2

from ansible_collections.ibready.cluster.plugins.module_utils._version import VERSION
from ansible_collections.ibready.cluster.plugins.plugin_utils._launch.cluster import Cluster
from ansible_collections.ibready.cluster.plugins.plugin_utils._launch.kinds import (
    KINDS,
    Kind,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._launch.node import Node
from ansible_collections.ibready.cluster.plugins.plugin_utils._launch.options import Options
from ansible_collections.ibready.cluster.plugins.plugin_utils._launch.words import enroot_image

TEMPLATES = Path(__file__).parent / "templates"
_NO_IMAGE = "it needs a container image, and none is named; next: set launch_image"
_DIGEST = "enroot takes an image by its tag, not by a digest; next: name a tag in launch_image"

# accelerate starts several processes only with --multi_gpu, which takes no single one.
_SINGLE = "accelerate starts one process a host where there are no GPUs; next: use torchrun"
_ALONE = "accelerate's launcher is for two processes and more; next: use torchrun"


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
        "command": words.command(),
        "header": _header(cluster),
        "settings": settings(cluster),
        "enroot_image": enroot_image(options.image),
    }
    return {
        name: _ENVIRONMENT.get_template(f"{name}.j2").render(
            **shared, kind=KINDS.get(name.removesuffix(".sh"), kind)
        )
        for name in kind.parts
    }


def settings(cluster: Cluster) -> tuple[Setting, ...]:
    """What the processes get, hosts with the same together."""
    found: dict[Any, list[Node]] = {}
    for one in cluster.nodes:
        numa = one.gpus if cluster.bound and one.gpus else ()
        found.setdefault((one.interface, one.nccl, numa, one.rails), []).append(one)
    return tuple(
        Setting(tuple(one.hostname for one in some), tuple(one.name for one in some), *key)
        for key, some in found.items()
    )


def _header(cluster: Cluster) -> list[str]:
    """What it was rendered from, a comment line each."""
    gpus = f"{cluster.gpus} GPUs each" if cluster.gpus else "no GPU counted on"
    lines = [
        f"from the facts of {len(cluster.nodes)} hosts, {gpus}: "
        + ", ".join(f"{one.name} ({one.address})" for one in cluster.nodes),
        f"They meet at {cluster.endpoint}: {cluster.head.name}'s address as the others reach it.",
    ]
    if cluster.simulated:
        lines.insert(0, f"SIMULATED: {cluster.simulated}")
    lines += [f"Left out: {name}, {why}" for name, why in cluster.absent.items()]
    lines += [f"NOTE: {note}" for note in cluster.notes]
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
    return shlex.join(str(one) for one in values)


def _comment(text: object) -> str:
    """As part of a comment: one line of printable ASCII, whole."""
    shown = str(text)
    return " ".join("".join(one if " " <= one <= "~" else "?" for one in shown).split())


_ENVIRONMENT = _environment()
