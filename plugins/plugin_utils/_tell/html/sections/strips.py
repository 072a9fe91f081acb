# SPDX-License-Identifier: GPL-3.0-or-later
"""What is measured, as a strip for each kind: the hosts that stand apart by their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from ...picture import strips as picture, svg
from ...speech import environment
from ...speech.environment import Section
from ...speech.speech import Speech
from ..models import strips
from ..models.text import names


def section(run: Mapping[str, Any], t: Speech) -> Section | None:
    """None where nothing was measured of enough hosts."""
    drawn = []
    for number, strip in enumerate(strips.read(run)):
        label = svg.said(f"strips.{strip.name}")
        shown = picture.draw(strip.values, strip.apart, strip.unit, label, f"strip{number}")
        drawn.append((strip, Markup(shown), names(strip.apart)))
    if not drawn:
        return None
    odd = {host for strip, *_unused in drawn for host in strip.apart}
    html = environment.render("sections/strips.html.j2", t, strips=drawn)
    return Section("strips", t("strips.title"), html, t("strips.count", n=len(drawn), odd=len(odd)), bool(odd))
