# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._agent.slurm_conf import BEGIN, END, merged
from ansible_collections.ibready.cluster.plugins.module_utils._ground.keyvalue import ConfError

LINES = {"HealthCheckProgram": "/usr/local/lib/ibready/slurm-health", "HealthCheckInterval": "60"}
SITE = "ClusterName=c\n# HealthCheckProgram=/old\nNodeName=n[1-2] CPUs=2\n"


def test_the_lines_come_and_go_and_the_rest_stays() -> None:
    with_ours = merged(SITE, LINES)
    assert with_ours.startswith(SITE)
    assert f"{BEGIN}\nHealthCheckProgram={LINES['HealthCheckProgram']}\n" in with_ours
    assert merged(with_ours, LINES) == with_ours
    changed = merged(with_ours + "Later=1\n", {**LINES, "HealthCheckInterval": "5"})
    assert "HealthCheckInterval=5\n" in changed
    assert "=60" not in changed
    assert merged(changed, {}) == SITE + "Later=1\n"


@pytest.mark.parametrize("line", ["HealthCheckProgram=/nhc", "  healthcheckinterval = 9"])
def test_a_line_of_the_site_is_never_overruled(line: str) -> None:
    with pytest.raises(ConfError, match="it has a line of its own"):
        merged(f"{SITE}{line}\n", LINES)


@pytest.mark.parametrize("text", [f"{BEGIN}\n", f"{END}\n{BEGIN}\n", f"{BEGIN}\n{END}\n" * 2])
def test_marks_that_were_damaged_are_not_guessed_at(text: str) -> None:
    with pytest.raises(ConfError, match="marks"):
        merged(text, LINES)


@pytest.mark.parametrize("bad", [{"A B": "x"}, {"A": "x y"}, {"A": ""}, {"A": "x\nB=y"}])
def test_only_plain_lines_are_written(bad: dict[str, str]) -> None:
    with pytest.raises(ConfError, match="is no line"):
        merged(SITE, bad)


@given(st.text(st.sampled_from("ab=#\n \r"), max_size=60))
def test_taking_them_out_again_leaves_the_file(text: str) -> None:
    back = merged(merged(text, LINES), {})
    assert back == text or back == text + "\n"
