# SPDX-License-Identifier: GPL-3.0-or-later
"""One check in words, from the catalog: what docs/checks.md holds and `ibready explain` prints."""

from __future__ import annotations

from .._ground.catalog import CONSEQUENCES, Entry


def explain(entry: Entry) -> str:
    """A Markdown section that reads well on a terminal, too; ends with a line end."""
    text = [f"## {entry.id}", "", f"{entry.title}.", "", _severity(entry), "", entry.meaning]
    text += ["", "Likely causes:", "", *(f"- {cause}" for cause in entry.causes), ""]
    if entry.looks_at:
        text += [f"Looks at: {', '.join(_source(item) for item in entry.looks_at)}.", ""]
    text += [f"Remedy: {entry.remedy}.", ""]
    return "\n".join(text)


def _severity(entry: Entry) -> str:
    told = f"Severity: {entry.severity} ({entry.consequence}). Where it fails, {CONSEQUENCES[entry.consequence][1]}."
    return f"{told} Here: {entry.why}." if entry.why else told


def _source(item: str) -> str:
    return " or ".join(f"`{word}`" for word in item.split("|"))
