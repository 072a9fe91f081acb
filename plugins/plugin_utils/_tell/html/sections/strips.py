# SPDX-License-Identifier: GPL-3.0-or-later
"""What is measured, as a strip for each kind: the hosts that stand apart by their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from markupsafe import Markup

from .....module_utils._ground.check import FAIL
from ...picture import strips as picture, svg
from ...speech import environment
from ...speech.environment import Section
from ...speech.speech import Speech
from ..models import fleet, strips
from ..models.text import Names, names


class Drawn(NamedTuple):
    """``picture``: "" where all are alike."""

    strip: strips.Strip
    picture: Markup
    apart: Names
    lacking: Names


def section(run: Mapping[str, Any], t: Speech) -> Section | None:
    """None where nothing was measured of enough hosts."""
    drawn = [_drawn(strip, number) for number, strip in enumerate(strips.read(run))]
    if not drawn:
        return None
    odd = [one for one in drawn if one.apart.shown]
    rest = [one for one in drawn if not one.apart.shown]
    html = environment.render("sections/strips.html.j2", t, odd=odd, rest=rest)
    hosts = {host for one in odd for host in one.strip.apart}
    # Of whom a check tells, is told above.
    new = hosts - {host.name for host in fleet.hosts(run) if any(check.get("result") == FAIL for check in host.checks)}
    return Section("strips", t("strips.title"), html, t("strips.count", n=len(drawn), odd=len(hosts)), bool(new))


def _drawn(strip: strips.Strip, number: int) -> Drawn:
    shown = Markup()
    if not strip.alike:
        label = svg.said(f"strips.{strip.name}")
        shown = Markup(picture.draw(strip.values, strip.apart, strip.says, label, f"strip{number}"))
    return Drawn(strip, shown, names(strip.apart), names(strip.lacking))
