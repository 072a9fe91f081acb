# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the variable table of each role's README.md from its meta/argument_specs.yml.

The table stands between two marks in the README. With ``--check`` nothing is written: the exit
status is 1 when a table is not the one that would be written.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
BEGIN = "<!-- BEGIN_ARGUMENT_SPECS -->"
END = "<!-- END_ARGUMENT_SPECS -->"

_MARKUP = re.compile(r"\b[OVCB]\(([^()]*)\)")


class ReadmeError(Exception):
    """A README or specification that no table can be made of."""


def prose(text: str | list[str]) -> str:
    """Turn Ansible's markup, as in ``V(inbox)``, into Markdown on one line of a table."""
    joined = text if isinstance(text, str) else " ".join(text)
    plain = " ".join(_MARKUP.sub(r"`\1`", joined).split())
    return plain.replace("|", "\\|")


def kind(option: dict[str, Any]) -> str:
    """An option's type, with its choices: ``str (inbox, doca)``, ``list of str``."""
    name: str = option["type"]
    if "elements" in option:
        name += f" of {option['elements']}"
    if "choices" in option:
        name += f" ({', '.join(map(str, option['choices']))})"
    return name


def value(option: dict[str, Any]) -> str:
    """An option's default as YAML on one line; ``required`` or nothing where it has none."""
    if option.get("required"):
        return "required"
    if "default" not in option:
        return ""
    default = option["default"]
    if isinstance(default, dict) and len(default) > 2:
        return "[defaults/main.yml](defaults/main.yml)"
    text = yaml.safe_dump(default, default_flow_style=True, width=10**6).removesuffix("\n...\n")
    return f"`{text.strip()}`"


def table(spec: dict[str, Any]) -> str:
    """The Markdown table for the role's ``main`` entry."""
    rows = ["| Variable | Type | Default | What |", "|---|---|---|---|"]
    for name, option in spec["argument_specs"]["main"]["options"].items():
        rows.append(f"| `{name}` | {kind(option)} | {value(option)} | {prose(option['description'])} |")
    return "\n".join(rows)


def with_table(readme: str, rows: str) -> str:
    """`readme` with the text between its marks replaced by `rows`; ReadmeError without marks."""
    before, begin, rest = readme.partition(BEGIN)
    _old, end, after = rest.partition(END)
    if not (begin and end):
        raise ReadmeError(f"it has no {BEGIN} … {END}")
    return f"{before}{begin}\n{rows}\n{end}{after}"


def render(role: Path) -> str:
    """The README that the role should have."""
    try:
        spec = yaml.safe_load((role / "meta/argument_specs.yml").read_text(encoding="utf-8"))
        return with_table((role / "README.md").read_text(encoding="utf-8"), table(spec))
    except (OSError, KeyError, TypeError, yaml.YAMLError, ReadmeError) as exc:
        raise ReadmeError(f"{role.name}: no table for README.md: {exc}") from exc


def main(argv: list[str] | None = None, root: Path = ROOT) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="write nothing, say what is stale")
    check: bool = parser.parse_args(argv).check

    stale = 0
    for spec in sorted(root.glob("roles/*/meta/argument_specs.yml")):
        role = spec.parents[1]
        readme = role / "README.md"
        try:
            text = render(role)
        except ReadmeError as exc:
            print(exc, file=sys.stderr)
            return 2
        if text == readme.read_text(encoding="utf-8"):
            continue
        stale += 1
        if check:
            print(f"roles/{role.name}/README.md is stale: run ./run docs")
        else:
            readme.write_text(text, encoding="utf-8")
            print(f"roles/{role.name}/README.md written")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
