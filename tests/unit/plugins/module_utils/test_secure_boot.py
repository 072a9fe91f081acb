# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._act.driver import secure_boot
from ansible_collections.ibready.cluster.plugins.module_utils._ground.command import Output


def says(text: str, rc: int = 0) -> secure_boot.Mokutil:
    return lambda *words: Output(rc, text, "")


def nothing(*_words: str) -> None:
    return None


@pytest.mark.parametrize(
    ("value", "mokutil", "expected"),
    [
        (b"\x06\0\0\0\x01", nothing, True),
        (b"\x06\0\0\0\x00", nothing, False),
        (None, says("SecureBoot enabled\n"), True),
        (None, says("SecureBoot disabled\n"), False),
        (None, says("EFI variables are not supported on this system\n", 255), None),
        (None, nothing, None),
        (b"\x06", nothing, None),
    ],
)
def test_the_firmwares_variable_tells_or_else_mokutil(
    tmp_path: Path, value: bytes | None, mokutil: secure_boot.Mokutil, expected: bool | None
) -> None:
    path = tmp_path / secure_boot.VARIABLE
    path.parent.mkdir(parents=True)
    if value is not None:
        path.write_bytes(value)
    assert secure_boot.state(str(tmp_path), mokutil)[0] is expected


def test_without_uefi_there_is_no_secure_boot(tmp_path: Path) -> None:
    assert secure_boot.state(str(tmp_path), nothing)[0] is False


@pytest.mark.parametrize(
    ("text", "rc", "expected"),
    [
        ("MOK.der is already enrolled\n", 1, True),
        ("MOK.der is not enrolled\n", 0, False),
        ("MOK.der is already in the enrollment request\n", 1, False),
        ("Failed to open MOK.der\n", 255, None),
    ],
)
def test_whether_a_key_is_enrolled_stands_in_the_words(text: str, rc: int, expected: bool | None) -> None:
    assert secure_boot.enrolled("MOK.der", says(text, rc))[0] is expected


def test_every_problem_has_its_next_step() -> None:
    problem = secure_boot.problem
    assert problem(False, "", "", "", None, "") == ""
    assert problem(True, "", "k", "c", True, "") == ""
    assert "mokutil --import" in problem(True, "", "", "", None, "")
    assert "MokManager" in problem(True, "", "k", "c", False, "c is not enrolled")
    for words in (problem(None, "x", "", "", None, ""), problem(True, "", "k", "c", None, "x")):
        assert "Next: install mokutil" in words
