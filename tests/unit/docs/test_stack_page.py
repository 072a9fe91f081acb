# SPDX-License-Identifier: GPL-3.0-or-later
"""The release that docs/stack.md adds to the matrix is planned, and without a field it is refused as the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.matrix import load
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.matrix.model import MatrixError
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.plan.make import make
from tests.unit.plugins.plugin_utils.plan.nodes import NOW, SITES, host

PAGE = (Path(__file__).resolve().parents[3] / "docs/stack.md").read_text()
FILE, EXAMPLE = re.findall(r"```yaml\n# (/etc/ibready/matrix/\S+)\n(.*?)```", PAGE, re.DOTALL)[0]
(WISHES,) = re.findall(r"\n((?:    stack_\w+: .*\n)+)\nThen `plan", PAGE)


def test_the_example_is_planned(tmp_path: Path) -> None:
    wishes = yaml.safe_load(WISHES)
    (tmp_path / Path(FILE).name).write_text(EXAMPLE)
    assert wishes.pop("stack_matrix") == [str(Path(FILE).parent)]
    made = make([host("a", wish=wishes)], load.load([tmp_path]), None, relock=False, sites=SITES, now=NOW)
    (planned,) = made.lock.classes.values()
    assert planned.stack["rdma"] == {"flavour": "doca", "version": "3.5.1", "nic_driver": "26.07-1.0.3.0"}
    without = make([host("a", wish=wishes)], load.own(), None, relock=False, sites=SITES, now=NOW).rows[0].planned
    assert without is not None
    assert any("RELEASE_KNOWN" in line and "3.5.0" in line for line in without.because)


def test_without_a_field_it_is_refused_as_the_page_says(tmp_path: Path) -> None:
    entries = yaml.safe_load(EXAMPLE)
    del entries["releases"]["doca-3.5.1"]["systems"]
    path = tmp_path / Path(FILE).name
    path.write_text(yaml.safe_dump(entries))
    with pytest.raises(MatrixError) as caught:
        load.load([tmp_path])
    assert f"\n    {str(caught.value).replace(str(path), FILE)}\n" in PAGE
