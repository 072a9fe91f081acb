# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.ibready.cluster.plugins.module_utils._nccl.manage import BEGIN, HEADER
from ansible_collections.ibready.cluster.plugins.modules import nccl_conf

Run = Callable[..., dict[str, Any]]
HCA = {"name": "NCCL_IB_HCA", "value": "=mlx5_0,mlx5_1", "reason": "The compute rails."}
DEBUG = {"name": "NCCL_DEBUG", "value": "WARN"}
FOREIGN = b"# by hand\r\nNCCL_ALGO=Ring\n# caf\xe9"


class Host:
    """A file below a temporary directory."""

    def __init__(self, home: Path, run_module: Run) -> None:
        self.path = home / "nccl.conf"
        self._run = run_module

    def apply(self, *settings: dict[str, str], **args: Any) -> dict[str, Any]:
        if args.get("state") != "absent":
            args["settings"] = list(settings)
        return self._run(nccl_conf.main, **{"path": str(self.path), **args})

    @property
    def names(self) -> list[str]:
        return sorted(one.name for one in self.path.parent.iterdir())


@pytest.fixture
def host(tmp_path: Path, run_module: Run) -> Host:
    return Host(tmp_path, run_module)


def test_settings_are_written_with_their_reasons(host: Host) -> None:
    result = host.apply(HCA, DEBUG)
    assert result["changed"]
    assert result["settings"] == {"NCCL_IB_HCA": "=mlx5_0,mlx5_1", "NCCL_DEBUG": "WARN"}
    text = host.path.read_text()
    assert "\n# The compute rails.\nNCCL_IB_HCA==mlx5_0,mlx5_1\n\nNCCL_DEBUG=WARN\n" in text
    assert text.startswith(BEGIN)
    assert host.path.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("exclusive", [False, True])
def test_the_second_run_changes_nothing(host: Host, exclusive: bool) -> None:
    host.path.write_bytes(FOREIGN)
    host.apply(HCA, exclusive=exclusive)
    before = host.path.stat().st_ino
    result = host.apply(HCA, exclusive=exclusive)
    assert (result["changed"], result["diff"][0]["before"] == result["diff"][0]["after"]) == (
        False,
        True,
    )
    assert host.path.stat().st_ino == before


def test_check_mode_tells_and_changes_nothing(host: Host) -> None:
    result = host.apply(HCA, check=True)
    assert result["changed"]
    assert "NCCL_IB_HCA==mlx5_0,mlx5_1\n" in result["diff"][0]["after"]
    assert host.names == []
    host.apply(DEBUG)
    text = host.path.read_text()
    assert host.apply(HCA, check=True)["changed"]
    assert not host.apply(DEBUG, check=True)["changed"]
    assert host.apply(state="absent", check=True)["changed"]
    assert host.path.read_text() == text


def test_lines_of_others_are_kept_and_come_back(host: Host) -> None:
    host.path.write_bytes(FOREIGN)
    host.apply(HCA)
    assert host.path.read_bytes().endswith(FOREIGN)
    assert host.apply(state="absent")["changed"]
    assert host.path.read_bytes() == FOREIGN
    assert not host.apply(state="absent")["changed"]


def test_a_line_of_others_that_sets_ours_is_replaced_and_told(host: Host) -> None:
    host.path.write_text("NCCL_DEBUG=TRACE\nNCCL_ALGO=Ring\n")
    result = host.apply(DEBUG, backup=True)
    assert result["replaced"] == ["NCCL_DEBUG=TRACE"]
    assert Path(result["backup_file"]).read_text() == "NCCL_DEBUG=TRACE\nNCCL_ALGO=Ring\n"
    assert host.path.read_text().endswith("\nNCCL_ALGO=Ring\n")


def test_wrong_lines_of_others_stay_and_are_told(host: Host) -> None:
    host.path.write_text('export NCCL_ALGO=Ring\nNCCL_IB_TIMEOUT="22"\n')
    result = host.apply(DEBUG, version="2.23.4")
    assert [(one["line"], one["kind"]) for one in result["problems"]] == [
        (4, "export"),
        (5, "quotes"),
    ]
    assert "NCCL reads 0 (no timeout at all)" in str(result["warnings"])
    assert host.path.read_text().endswith('export NCCL_ALGO=Ring\nNCCL_IB_TIMEOUT="22"\n')
    assert not host.apply(DEBUG, version="2.23.4")["changed"]


def test_without_settings_nothing_of_ours_is_left(host: Host) -> None:
    host.apply(HCA)
    assert host.apply()["changed"]
    assert host.names == []
    assert not host.apply()["changed"]


def test_a_file_of_our_own_goes(host: Host) -> None:
    host.path.write_bytes(FOREIGN)
    result = host.apply(HCA, exclusive=True, backup=True)
    assert Path(result["backup_file"]).read_bytes() == FOREIGN
    assert host.path.read_text().startswith(f"# {HEADER}\n")
    # Nothing of others is in it any more.
    assert "backup_file" not in host.apply(DEBUG, exclusive=True, backup=True)
    host.apply(state="absent", exclusive=True)
    assert not host.path.exists()
    assert not host.apply(state="absent", exclusive=True)["changed"]


def test_an_empty_file_of_others_stays(host: Host) -> None:
    host.path.write_text("")
    assert not host.apply(state="absent")["changed"]
    assert host.path.exists()
    assert host.apply(state="absent", exclusive=True)["changed"]
    assert not host.path.exists()


@pytest.mark.parametrize(
    ("setting", "makes"),
    [
        (("NCCL_IB_TIMEOUT", '"22"'), "NCCL reads 0 (no timeout at all)"),
        (("NCCL_IB_GID_INDEX", "0,3,5,7"), "NCCL reads 0 (the first entry of the GID table"),
        # What YAML makes of `value: true`.
        (("NCCL_SHM_DISABLE", True), "NCCL reads 0 (shared memory stays on)"),
        (("NCCL_SOCKET_IFNAME", "^ib"), "lo comes first"),
        (("NCCL_SOCKET_IFNAME", "=eth0,=eth1"), "no interface is called so as '=eth1'"),
        (("NCCL_NCHANNELS", "4"), "no release reads it"),
        (("NCCL_IB_GID_INDX", "3"), "write NCCL_IB_GID_INDEX"),
        (("NCCL_RAS_ENABLE", "0"), "it is new in 2.24.3: 2.23.4 ignores it"),
        (("NCCL_CONF_FILE", "/x"), "before it reads any file"),
        (("export NCCL_DEBUG", "INFO"), "nothing reads"),
        (("NCCL_DEBUG", "INFO\nNCCL_ALGO=Ring"), "begin a line of its own"),
        (("NCCL_ALGO", "a" * 2000), "NCCL cuts a value after 1023"),
        (("NCCL_IB_HCA", "mlx5"), "NCCL would take the first"),
    ],
)
def test_a_wrong_setting_is_refused_with_what_nccl_would_make_of_it(
    host: Host, setting: tuple[str, Any], makes: str
) -> None:
    host.path.write_text("# by hand\n")
    wrong = {"name": setting[0], "value": setting[1]}
    result = host.apply(HCA, wrong, version="2.23.4", exclusive=True)
    assert result["failed"]
    assert makes in result["msg"]
    assert "Next: " in result["msg"]
    assert (host.path.read_text(), host.names) == ("# by hand\n", ["nccl.conf"])


def test_a_doubtful_setting_is_written_and_told(host: Host) -> None:
    result = host.apply(DEBUG, {"name": "NCCL_IB_HCA", "value": "mlx5_1"})
    (doubt,) = result["problems"]
    assert (doubt["kind"], doubt["severity"]) == ("beginning", "warning")
    assert host.path.read_text().split("\n")[doubt["line"] - 1] == "NCCL_IB_HCA=mlx5_1"
    assert "as mlx5_10 would be" in str(result["warnings"])


def test_the_librarys_names_decide_where_they_are_given(host: Host) -> None:
    names = {"known_names": ["NCCL_DEBUG", "NCCL_NEXT_YEARS"], "version": "2.40.1"}
    assert host.apply({"name": "NCCL_NEXT_YEARS", "value": "1"}, **names)["changed"]
    assert "does not hold the name" in host.apply(HCA, **names)["msg"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({"version": "2.23"}, "no release of NCCL such as 2.23.4"),
        ({"path": "nccl.conf"}, "not absolute"),
        ({"path": "/dev/null"}, "not a regular file"),
    ],
)
def test_bad_options_are_refused(host: Host, args: dict[str, Any], message: str) -> None:
    assert message in host.apply(DEBUG, **args)["msg"]
    assert host.names == []


def test_a_link_is_refused(host: Host) -> None:
    target = host.path.parent / "other"
    target.write_text("secret\n")
    host.path.symlink_to(target)
    assert "is a symbolic link to" in host.apply(DEBUG)["msg"]
    assert target.read_text() == "secret\n"


def test_what_is_no_nccl_conf_is_refused(host: Host) -> None:
    host.path.write_bytes(b"x" * 300_000)
    assert "it is no nccl.conf" in host.apply(DEBUG, exclusive=True)["msg"]
    host.path.write_text(f"{BEGIN}\nNCCL_ALGO=Ring\n")
    assert "no line ends it" in host.apply(DEBUG)["msg"]
    assert host.path.read_text() == f"{BEGIN}\nNCCL_ALGO=Ring\n"


def test_a_write_that_fails_leaves_the_file_as_it_was(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(src: str, dst: str) -> None:
        raise OSError(28, "No space left on device")

    host.path.write_text("# by hand\n")
    monkeypatch.setattr(os, "replace", refuse)
    result = host.apply(DEBUG)
    assert "No space left on device" in result["msg"]
    assert (host.path.read_text(), host.names) == ("# by hand\n", ["nccl.conf"])


def test_drift_of_the_mode_is_a_change(host: Host) -> None:
    host.apply(DEBUG)
    host.path.chmod(0o600)
    assert host.apply(DEBUG, check=True)["changed"]
    assert host.path.stat().st_mode & 0o777 == 0o600
    assert host.apply(DEBUG)["changed"]
    assert host.path.stat().st_mode & 0o777 == 0o644


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_the_file_belongs_to_root(host: Host) -> None:
    host.apply(DEBUG)
    os.chown(host.path, 1234, 1234)
    assert host.apply(DEBUG, check=True)["changed"]
    assert host.apply(DEBUG)["changed"]
    assert (host.path.stat().st_uid, host.path.stat().st_gid) == (0, 0)


def test_the_examples_run(host: Host) -> None:
    for task in yaml.safe_load(nccl_conf.EXAMPLES):
        args = task["ibready.cluster.nccl_conf"]
        result = host.apply(*args.pop("settings", ()), **args)
        assert not result.get("failed"), result["msg"]
    assert host.names == []
