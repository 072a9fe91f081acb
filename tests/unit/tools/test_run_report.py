# SPDX-License-Identifier: GPL-3.0-or-later
"""`./run demo` ends by naming a report that is there and that it wrote."""

from __future__ import annotations

import os
import re
import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
RUN = (ROOT / "run").read_text(encoding="utf-8")


def function(name: str) -> str:
    match = re.search(rf"^{name}\(\) \{{\n.*?^\}}\n", RUN, re.MULTILINE | re.DOTALL)
    assert match
    return match[0]


# The demo itself, with all that costs time left out: what ansible-playbook does is given.
STUBS = """set -euo pipefail
VENV="$PWD"; STEP=starting
need_root() { :; }; prepare() { :; }; sandbox() { :; }; step() { :; }; say() { :; }
"""


def demo(folder: Path, playbook: str) -> tuple[int, list[str]]:
    """The status of the demo and its lines, where ansible-playbook does this."""
    parts = [STUBS, f"ansible-playbook() {{ {playbook}; }}", function("name_report")]
    script = "\n".join([*parts, function("demo"), "SECONDS=1000; demo"])
    done = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


WRITES = "mkdir -p reports; echo x > reports/ibready-report.html"


@pytest.mark.parametrize("status", [0, 2])
def test_its_last_words_are_a_report_that_is_there(tmp_path: Path, status: int) -> None:
    found, lines = demo(tmp_path, f"{WRITES}; return {status}")
    assert found == status
    words, _, path = lines[-1].partition(": ")
    assert words == "The report, to be opened in a browser"
    assert Path(path) == tmp_path / "reports/ibready-report.html"
    assert Path(path).read_text() == "x\n"
    assert ("Now try:" in lines) is (status == 0)


def test_the_report_of_an_earlier_run_is_not_named_as_its_own(tmp_path: Path) -> None:
    report = tmp_path / "reports/ibready-report.html"
    report.parent.mkdir()
    report.write_text("old")
    os.utime(report, times=(time.time() - 3600,) * 2)
    status, lines = demo(tmp_path, "return 4")
    assert status == 4
    assert lines[-1] == f"This run wrote no report to {report}"


def test_the_folder_is_where_the_playbooks_put_it() -> None:
    book = (ROOT / "playbooks/verify.yml").read_text(encoding="utf-8")
    assert "lookup('ansible.builtin.env', 'PWD') + '/reports'" in book
    for name in (ROOT / "inventories/sandbox").rglob("*.yml"):
        assert "ibready_report_dir" not in name.read_text(encoding="utf-8")
