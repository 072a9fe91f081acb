# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/failure-records.md: published records of failures, and the check that finds each class of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
RECORDS = ROOT / "tests/gauntlet/records.yml"


def load() -> list[dict[str, Any]]:
    """The records, each with its classes."""
    told: list[dict[str, Any]] = yaml.safe_load(RECORDS.read_text())
    return told


def render(note: str) -> str:
    """The page: a table a record, with how many of its failures are found."""
    text = ["# Published records of failures", "", note]
    text += ["Source: `tests/gauntlet/records.yml`: what failed on other people's machines, and which check finds it."]
    text += ["A class with a check has a fault in the gauntlet, or a test of its own where it takes several hosts."]
    for record in load():
        classes = record["classes"]
        found = [each for each in classes if "by" in each]
        text += ["", f"## {record['record']}", ""]
        text += [f"{record['title']}. Source: {record['source']} ({record['confidence']}).", ""]
        text += [f"Found: {_share(found, classes)}.", ""]
        text += ["| class | count | found by |", "|---|---:|---|"]
        text += [f"| {each['class']} | {each.get('count', '')} | {_by(each)} |" for each in classes]
    return "\n".join(text) + "\n"


def _share(found: list[dict[str, Any]], classes: list[dict[str, Any]]) -> str:
    said = f"{len(found)} of {len(classes)} classes"
    total = sum(each.get("count", 0) for each in classes)
    return f"{said}, {sum(each.get('count', 0) for each in found)} of {total} failures" if total else said


def _by(each: dict[str, Any]) -> str:
    return ", ".join(f"`{check}`" for check in each["by"]) if "by" in each else f"none: {each['none']}"
