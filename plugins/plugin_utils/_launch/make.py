# SPDX-License-Identifier: GPL-3.0-or-later
"""All scripts that were asked for, from what the playbook registered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.ibready.cluster.plugins.plugin_utils._launch import (
    cluster,
    node,
    options,
    render,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._launch.cluster import Cluster
from ansible_collections.ibready.cluster.plugins.plugin_utils._launch.kinds import KINDS
from ansible_collections.ibready.cluster.plugins.plugin_utils._launch.words import LaunchError

ALL = "all"


@dataclass(frozen=True)
class Made:
    """``scripts``: kind to the name of its script. ``files``: name to text, of all kinds.
    ``refused``: kind to the reason."""

    cluster: Cluster
    scripts: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)


def make(
    hostvars: Mapping[str, Any], names: Sequence[str], kind: str, given: Mapping[str, Any]
) -> Made:
    """Render; LaunchError where nothing can be, or where the one kind that was asked for cannot."""
    said = options.read(given)
    nodes, absent = node.gather(hostvars, list(names))
    whole = cluster.make(nodes, absent, said)
    asked = list(KINDS) if kind == ALL else [kind]
    refused = {name: why for name in asked if (why := render.refusal(KINDS[name], whole, said))}
    if refused and kind != ALL:
        raise LaunchError(f"{kind}: {refused[kind]}")
    files: dict[str, str] = {}
    for name in asked:
        if name not in refused:
            files.update(render.render(KINDS[name], whole, said))
    scripts = {name: KINDS[name].file for name in asked if name not in refused}
    return Made(whole, scripts, files, refused)
