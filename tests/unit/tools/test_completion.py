# SPDX-License-Identifier: GPL-3.0-or-later
"""What the shell completes is what the programs offer."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = "ansible_collections.ibready.cluster.plugins.module_utils._agent"
ASK = 'cd "$1"; . tools/completion.bash; COMP_WORDS=("${@:3}"); COMP_CWORD=$(($# - 3)); "$2" "$3" "${!#}"; '
SHOW = 'echo "${COMPREPLY[@]}"'


@pytest.fixture(scope="module")
def ibready(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("bin") / "ibready"
    start = f"import sys; sys.path[:0] = ['{ROOT / 'collections'}']; from {PROGRAM} import program"
    path.write_text(f"#!{sys.executable}\n{start}\nsys.exit(program.main(sys.argv[1:]))\n")
    path.chmod(0o755)
    return str(path)


def completed(function: str, *words: str) -> list[str]:
    done = subprocess.run(
        ["bash", "-c", ASK + SHOW, "ask", str(ROOT), function, *words], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["v"], ["verify"]),
        (["slurm"], ["slurm-health", "slurm-prolog"]),
        (["--v"], ["--version"]),
        (["why", "--"], ["--expect", "--help", "--json"]),
        (["why", "job"], []),
    ],
)
def test_a_command_and_its_options(ibready: str, words: list[str], expected: list[str]) -> None:
    assert completed("_ibready", ibready, *words) == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["de"], ["demo"]),
        (["test", "sy"], ["system-alone", "system-releases", "system-nodes", "system-more"]),
        (["test", "all", "im"], ["importer"]),
        (["lint", ""], ["all"]),
        (["break", "x"], []),
    ],
)
def test_a_step(words: list[str], expected: list[str]) -> None:
    assert completed("_ibready_run", "./run", *words) == expected
