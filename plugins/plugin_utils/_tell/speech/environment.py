# SPDX-License-Identifier: GPL-3.0-or-later
"""Jinja for the page: every value is foreign unless it is Markup, and a missing one is an error. Its sections."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from .speech import Speech, text

FOLDER = Path(__file__).parents[1] / "html"


def render(name: str, t: Speech, **values: Any) -> Markup:
    """A template of this folder, ``sections/pings.html.j2``."""
    return Markup(_environment().get_template(name).render(t=t, **values))


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    made.filters["number"] = lambda value: f"{value:,}"
    made.filters["host"] = host
    made.filters["unquoted"] = unquote
    return made


def host(name: object, check: object = "") -> str:
    """Where the page of a host is: ``#host=NAME``, at a check of it."""
    at = f"&check={quote(text(check), safe='')}" if check else ""
    return f"#host={quote(text(name), safe='')}{at}"


def _finalize(value: Any) -> Any:
    return text(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@dataclass(frozen=True)
class Section:
    """``id``: the element is ``#section-ID``. ``title``: of t(), for heading and navigation.

    ``html``: below the heading, readable without script; headings in it begin with h3. ``odd``:
    whether something in it is not as it should be; it is open then. ``says``: the line that stands
    for it while it is closed. ``data``: what a script of its own reads (``data.sections[ID]``), as
    JSON can hold it.
    """

    id: str
    title: Markup
    html: Markup
    says: Markup = field(default_factory=Markup)
    odd: bool = True
    data: Mapping[str, Any] | None = None
