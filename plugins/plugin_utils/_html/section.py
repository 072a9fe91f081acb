# SPDX-License-Identifier: GPL-3.0-or-later
"""What a section of the page is. Each is a file of sections/, with ``section(run, t)``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup


@dataclass(frozen=True)
class Section:
    """``id``: the element is ``#section-ID``. ``title``: of t(), for heading and navigation.

    ``html``: below the heading, readable without script; headings in it begin with h3. ``data``:
    what a script of its own reads (``data.sections[ID]``), as JSON can hold it.
    """

    id: str
    title: Markup
    html: Markup
    data: Mapping[str, Any] | None = None
