# SPDX-License-Identifier: GPL-3.0-or-later
"""Read YAML that may be damaged: nothing in it ends the program that reads."""

from __future__ import annotations

from typing import Any

import yaml

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# Far more than any file has that ibready reads.
_DEPTH = 64


def load(text: str) -> Any:
    """As yaml.safe_load; YAMLError for depth, at which libyaml would end Python; ValueError."""
    _shallow(text)
    return yaml.load(text, Loader=_Loader)


def compose(text: str) -> yaml.Node | None:
    """The nodes of the one document with their lines; YAMLError for depth and aliases; ValueError."""
    _shallow(text, aliases=False)
    return yaml.compose(text, Loader=_Loader)


def _shallow(text: str, *, aliases: bool = True) -> None:
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.AliasEvent) and not aliases:
            raise yaml.YAMLError("an alias (*name)")
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEPTH:
            raise yaml.YAMLError("nested too deep")
