# SPDX-License-Identifier: GPL-3.0-or-later
"""Jinja for the page: every value is foreign unless it is Markup, and a missing one is an error."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from ansible_collections.ibready.cluster.plugins.plugin_utils._html.foreign import text
from ansible_collections.ibready.cluster.plugins.plugin_utils._html.speech import Speech

FOLDER = Path(__file__).parent


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
