# SPDX-License-Identifier: GPL-3.0-or-later
"""The run object as one self-contained page: readable without script, and nothing foreign runs.

The policy in its head allows the one style and the one script by their digests and nothing else, so
that whatever should slip through the escaping can neither run nor load.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from ....module_utils._ground.check import FAIL, UNKNOWN
from ..speech import environment
from ..speech.environment import Section
from ..speech.speech import Speech
from . import causes, data, model
from .sections import fabric, pings, rails, strips, told

# In this order on the page, after causes, actions and grid.
SECTIONS: Sequence[Callable[[Mapping[str, Any], Speech], Section | None]] = (
    told.since,
    told.went,
    rails.section,
    told.nvlink,
    strips.section,
    pings.section,
    told.rdma,
    told.tcp,
    fabric.section,
    told.counters,
    told.stack,
    told.plan,
    told.changes,
    told.benchmarks,
    told.waivers,
)
CSS = ("base", "summary", "causes", "grid", "host", "sections", "print")
JS = (
    *("dom", "memory", "theme", "data", "words", "filter", "columns", "grid", "keys", "controls"),
    *("finding", "went", "host", "dialog", "causes", "csv", "age", "print", "main"),
)
# What the first screen names, and what is folded below it; the grid has all.
MOST = {"causes": 8, "all": 100, "places": 20, "cables": 3, "commands": 8, "groups": 12, "lately": 4}
# Checks that are there without script too: all where they are not more, else the findings of some.
STATIC = 2000


def render(run: Mapping[str, Any]) -> str:
    """The whole page."""
    t = Speech()
    page = model.read(run)
    sections = [found for found in (section(run, t) for section in SECTIONS) if found is not None]
    style, script = _joined("css", CSS), _script()
    found = environment.render(
        "page.html.j2",
        t,
        page=page,
        causes=causes.causes(run),
        most=MOST,
        **_static(page),
        sections=sections,
        policy=policy(style, script),
        style=Markup(style),
        data=Markup(data.script(page, sections)),
        script=Markup(script),
    )
    return str(found)


def _static(page: model.Page) -> dict[str, Any]:
    """``whole``: whether all checks are shown; ``told``: hosts and what of them is wrong, ``named`` by name."""
    whole = sum(len(host.checks) for host in page.hosts) <= STATIC
    reported, room = [], STATIC
    for host in page.hosts:
        bad = [check for check in host.checks if check["result"] in (FAIL, UNKNOWN)]
        if (bad or whole) and room > 0:
            reported.append((host, bad[:room]))
        room -= len(bad)
    return {"whole": whole, "told": reported, "named": {host.name for host, _bad in reported}, "untold": max(0, -room)}


def policy(style: str, script: str) -> str:
    """The Content-Security-Policy that lets these two through."""
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; "
        "trusted-types 'none'"
    )


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _script() -> str:
    failed = 'document.getElementById("unpacked").hidden = false; delete document.documentElement.dataset.waits;'
    return f'"use strict";\n(async () => {{\n{_joined("js", JS)}}})().catch((fault) => {{ {failed} throw fault; }});\n'


def _joined(kind: str, names: Sequence[str]) -> str:
    """Files of a folder, one after the other."""
    files = (environment.FOLDER / kind / f"{name}.{kind}" for name in names)
    return "\n".join(file.read_text(encoding="utf-8") for file in files)
