# SPDX-License-Identifier: GPL-3.0-or-later
"""A failed system test says which task failed, however long the output around it is."""

from __future__ import annotations

from tests.system.excerpt import excerpt


def test_the_task_that_failed_is_kept_of_a_long_output() -> None:
    well = [f"E         TASK [{number}] ****\nE         ok: [node1]\nE         " for number in range(500)]
    wrong = "E         TASK [Install] ****\nE         fatal: [node2]: FAILED! => no space left\nE         "
    text = "\n".join(["def test():", *well[:250], wrong, *well[250:], "E       PLAY RECAP", "E  node2 : failed=1"])
    told = excerpt(text)
    assert "TASK [Install]" in told
    assert "no space left" in told
    assert told.startswith("def test():")
    assert told.endswith("failed=1")
    assert len(told.splitlines()) < 100
    assert "TASK [200]" not in told


def test_a_short_text_stays_as_it_is() -> None:
    assert excerpt("a\nb") == "a\nb"


def test_the_check_that_failed_is_kept_of_many_that_are_told_as_json() -> None:
    def check(name: str, result: str) -> list[str]:
        return ["E  {", f'E  "cause": "{name} hangs",', f'E  "id": "{name}",', f'E  "result": "{result}",', "E  },"]

    well = [line for number in range(300) for line in check(f"c{number}", "pass")]
    told = excerpt("\n".join([*well[:600], *check("ib.tool.ibstat", "unknown"), *well[600:]]))
    assert "ib.tool.ibstat hangs" in told
    assert len(told.splitlines()) < 120
