# SPDX-License-Identifier: GPL-3.0-or-later
"""The image of a controller has what a controller here has."""

from __future__ import annotations

from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
DEFINITION = ROOT / "execution-environment/execution-environment.yml"


def test_it_has_the_ansible_that_is_tested() -> None:
    defined = yaml.safe_load(DEFINITION.read_text())
    pinned = (ROOT / "requirements.txt").read_text().splitlines()

    assert defined["version"] == 3
    assert defined["dependencies"]["ansible_core"]["package_pip"] in pinned


def test_it_takes_the_collection_under_the_name_that_it_is_built_under() -> None:
    defined = yaml.safe_load(DEFINITION.read_text())
    galaxy = yaml.safe_load((ROOT / "galaxy.yml").read_text())

    (files,) = defined["additional_build_files"]

    built = f"{galaxy['namespace']}-{galaxy['name']}-{galaxy['version']}.tar.gz"
    assert (DEFINITION.parent / files["src"]).parent.resolve() == ROOT / "dist"
    assert Path(built).match(Path(files["src"]).name)
