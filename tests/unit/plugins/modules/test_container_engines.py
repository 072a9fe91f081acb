# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
import platform
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.unit.engine_world import Host

Run = Callable[..., dict[str, Any]]
UNLIMITED = {"Name": "memlock", "Hard": -1, "Soft": -1}


@pytest.fixture
def host(tmp_path: Path, run_module: Run, monkeypatch: pytest.MonkeyPatch) -> Host:
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    made = Host(tmp_path, run_module)
    made.docker()
    return made


def test_a_bare_host_is_configured_once(host: Host) -> None:
    first = host.keep(shm_size="8g")
    assert (first["changed"], first["restarted"], host.starts) == (True, True, 2)
    config = host.config()
    assert config["default-ulimits"]["memlock"] == UNLIMITED
    assert (config["default-shm-size"], config["features"]) == ("8g", {"cdi": True})
    assert "LimitMEMLOCK=infinity\nLimitNOFILE=1048576\n" in host.dropin.read_text()
    assert (host.root / "running-with").read_text() == host.daemon.read_text()
    again = host.keep(shm_size="8g")
    assert (again["changed"], again["files"], host.starts) == (False, [], 2)


def test_check_mode_tells_the_same_and_changes_nothing(host: Host) -> None:
    before = host.tree()
    reported = host.keep(check=True)
    assert (reported["changed"], reported["restarted"], host.tree(), host.starts) == (
        True,
        True,
        before,
        1,
    )
    assert reported["files"] == host.keep()["files"]


def test_the_sites_own_keys_stay_to_the_byte(host: Host) -> None:
    text = '{ "labels": ["\\u00fc"], "log-opts" : {"max-size": 1.50},\n\t"mtu":9000 }\n'
    host.site(text)
    host.keep()
    new = host.daemon.read_text()
    assert new.startswith(text[: text.index(" }\n")])
    assert host.config()["mtu"] == 9000


def test_a_value_of_the_site_that_gives_way_is_told_and_comes_back(host: Host) -> None:
    before = host.site('{"default-shm-size": "1g", "features": {"x": false}}')
    reported = host.keep(shm_size="8g", replace_ok=True)
    assert reported["overridden"] == [{"key": "default-shm-size", "before": "1g", "after": "8g"}]
    whose = f"{platform.node()}: docker: default-shm-size was '1g', the site's"
    assert any(text.startswith(whose) for text in reported["warnings"])
    assert host.config()["features"] == {"x": False, "cdi": True}
    taken = host.keep(memlock="", nofile=0, cdi=False)
    assert taken["changed"]
    assert host.config() == json.loads(before)
    assert not host.dropin.exists()
    assert not host.keep(memlock="", nofile=0, cdi=False)["changed"]
    assert not host.memory.exists()


def test_a_value_of_the_site_stays_without_consent_and_is_told(host: Host) -> None:
    theirs = {"Name": "memlock", "Hard": 65536, "Soft": 65536}
    host.site(json.dumps({"default-ulimits": {"memlock": theirs}}))
    reported = host.keep(shm_size="8g")
    assert host.config()["default-ulimits"]["memlock"] == theirs
    # All else comes.
    assert host.config()["default-ulimits"]["nofile"]["Hard"] == 1048576
    assert reported["overridden"] == []
    assert "ibready_replace_settings_ok=true" in reported["left"]["default-ulimits.memlock"]
    assert "65536" in reported["left"]["default-ulimits.memlock"]
    assert not host.keep(shm_size="8g")["changed"]
    # What ibready set itself follows its variables, and needs no consent.
    assert host.keep(shm_size="16g")["changed"]
    assert host.config()["default-shm-size"] == "16g"
    assert host.keep(shm_size="16g", replace_ok=True)["changed"]
    assert host.config()["default-ulimits"]["memlock"] == UNLIMITED


def test_a_file_that_we_made_goes_with_its_last_key(host: Host) -> None:
    host.keep()
    host.keep(memlock="", nofile=0, cdi=False)
    assert not host.daemon.exists()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param('{"a": 1,}', "line 1 column 9", id="a comma too many"),
        pytest.param('{\n "a": 1,\n "a": 2}', "line 3 column 2: the key 'a' is there twice", id="twice"),
        pytest.param("// mine\n{}", "line 1 column 1: a comment", id="a comment"),
        pytest.param("\ufeff{}", "a byte order mark", id="a byte order mark"),
        pytest.param("", "the file is empty", id="empty"),
        pytest.param(" \n", "line 2 column 1: the file is empty", id="only blanks"),
        pytest.param("[]", "a list, not an object", id="a list"),
        pytest.param('{"default-ulimits": []}', "default-ulimits is a list", id="odd type"),
        pytest.param('{"features": null}', "features is a null", id="null"),
        pytest.param('{"a": "\udcff"}', "no UTF-8", id="no UTF-8"),
    ],
)
def test_a_file_that_is_not_valid_is_refused_and_left(host: Host, text: str, told: str) -> None:
    before = host.site(text)
    failed = host.keep()
    assert failed["failed"]
    assert told in failed["msg"]
    assert "/etc/docker/daemon.json is left as it is" in failed["msg"]
    assert (host.daemon.read_bytes(), host.starts, host.dropin.exists()) == (before, 1, False)
    assert not host.memory.exists()


def test_what_the_engine_does_not_take_is_refused_and_left(host: Host) -> None:
    host.site('{"refused": 1}')
    before = host.tree()
    failed = host.keep()
    assert "unable to configure: refused" in failed["msg"]
    assert "As the file is now, it does not take it either" in failed["msg"]
    assert (host.tree(), host.starts) == (before, 1)


def test_an_engine_that_does_not_come_up_gets_its_file_back(host: Host) -> None:
    host.site('{"labels": []}')
    host.keep()
    good, starts = host.tree(), host.starts
    host.breaks_with("8g")
    failed = host.keep(shm_size="8g")
    assert 'it did not come up with what was changed: level=fatal msg="no such bridge"' in failed["msg"]
    assert "What was there before is back (/etc/docker/daemon.json), and it runs again" in failed["msg"]
    now = {path: data for path, data in host.tree().items() if "~" not in path}
    assert now == {path: data for path, data in good.items() if "~" not in path}
    assert host.starts == starts + 1
    assert (host.root / "running-with").read_text() == host.daemon.read_text()


def test_an_engine_that_ran_with_nothing_gets_nothing_back(host: Host) -> None:
    host.breaks_with("cdi")
    assert "it runs again" in host.keep()["msg"]
    assert not host.daemon.exists()
    assert not host.dropin.exists()
    assert not host.memory.exists()


def test_containers_are_left_in_peace_and_a_later_run_restarts(host: Host) -> None:
    host.write("containers", "train\neval\n")
    reported = host.keep()
    assert (reported["changed"], reported["restarted"], host.starts) == (True, False, 1)
    assert reported["running"] == ["train", "eval"]
    assert "container_runtime_restart_ok" in reported["waits"]
    assert "train, eval" in reported["waits"]
    again = host.keep()
    assert (again["changed"], again["restarted"], bool(again["waits"])) == (False, False, True)
    host.write("containers", "")
    late = host.keep()
    assert (late["changed"], late["restarted"], late["waits"]) == (True, True, "")
    assert not host.keep()["changed"]


def test_a_late_restart_that_fails_puts_back_what_was_before_all(host: Host) -> None:
    before = host.site('{"labels": []}')
    host.write("containers", "train\n")
    host.keep()
    host.write("containers", "")
    host.breaks_with("cdi")
    assert host.keep()["failed"]
    assert host.daemon.read_bytes() == before
    assert not host.dropin.exists()


def test_a_dropin_that_systemd_has_not_read_is_read_before_a_later_restart(host: Host) -> None:
    script = (host.root / "bin/systemctl").read_text()
    (host.root / "bin/systemctl").write_text(
        script.replace("case", '[ "$1" = daemon-reload ] && [ -e no-bus ] && exit 1\ncase', 1)
    )
    host.write("no-bus", "")
    assert "`systemctl daemon-reload` failed" in host.keep()["msg"]
    (host.root / "no-bus").unlink()
    host.write("calls", "")
    assert host.keep()["restarted"]
    calls = (host.root / "calls").read_text().split("\n")
    assert calls.index("daemon-reload") < calls.index("restart docker.service")


def test_somebody_elses_restart_is_as_good(host: Host) -> None:
    host.write("containers", "train\n")
    host.keep()
    host.up()
    assert not host.keep()["changed"]
    assert not host.keep()["waits"]


@pytest.mark.parametrize("allowed", ["consent", "live-restore"])
def test_what_allows_a_restart_beside_containers(host: Host, allowed: str) -> None:
    host.write("containers", "train\n")
    if allowed == "live-restore":
        host.write("live", "true\n")
    assert host.keep(restart_ok=allowed == "consent")["restarted"]


def test_a_reload_is_enough_for_a_runtime(host: Host) -> None:
    host.keep()
    host.write("containers", "train\n")
    reported = host.keep(nvidia="yes")
    assert (reported["reloaded"], reported["restarted"], reported["waits"]) == (True, False, "")
    assert host.config()["runtimes"] == {"nvidia": {"path": "nvidia-container-runtime"}}


def test_a_runtime_that_the_toolkit_wrote_stays(host: Host) -> None:
    path = "/usr/bin/nvidia-container-runtime"
    host.site(json.dumps({"runtimes": {"nvidia": {"path": path, "args": []}}}))
    host.keep(nvidia="yes")
    assert host.config()["runtimes"]["nvidia"] == {"path": path, "args": []}


def test_a_service_that_nobody_wants_is_not_started(host: Host) -> None:
    host.write("state/docker.service", "ActiveState=inactive\nMainPID=0\n")
    reported = host.keep()
    assert (reported["changed"], reported["restarted"], host.starts) == (True, False, 1)
    assert not host.keep()["changed"]


def test_an_old_docker_has_no_cdi(host: Host) -> None:
    host.docker("24.0.7")
    reported = host.keep()
    assert reported["left"]["cdi"] == "docker 24.0.7 has no CDI, which came with 25.0"
    assert "features" not in host.config()


def test_a_docker_that_cannot_try_a_file_out_is_told(host: Host) -> None:
    host.docker("20.10.24")
    assert any("cannot try out" in text for text in host.keep()["warnings"])


def test_who_cannot_look_changes_nothing(host: Host) -> None:
    (host.root / "bin/docker").unlink()
    before = host.tree()
    failed = host.keep()
    assert "docker: not installed" in failed["msg"]
    assert "Nothing was changed" in failed["msg"]
    assert host.tree() == before


def test_limits_that_the_host_does_not_grant_are_told(host: Host) -> None:
    for pid in ("1", "2"):
        (host.root / "proc" / pid).mkdir(parents=True)
        host.write(
            f"proc/{pid}/limits",
            "Max open files            4096                 4096                 files\n"
            "Max locked memory         8388608              8388608              bytes\n",
        )
    left = host.keep()["left"]
    assert "runs with 8388608, less than its unit asks for" in left["memlock"]
    assert set(host.keep()["left"]) == {"memlock", "nofile"}


def test_limits_that_nobody_can_see_are_told(host: Host) -> None:
    reported = "whether docker.service has its limits: /proc/2/limits"
    assert any(reported in text for text in host.keep()["warnings"])


def test_an_engine_that_is_not_there_is_passed_by(host: Host) -> None:
    (host.root / "bin/dockerd").unlink()
    reported = host.keep()
    assert (reported["changed"], reported["engines"]) == (False, {})


def test_the_mode_of_the_sites_file_stays_and_a_link_leads_on(host: Host) -> None:
    real = host.root / "etc/site.json"
    real.write_text('{"mtu": 1500}')
    real.chmod(0o600)
    host.daemon.symlink_to(real)
    host.keep()
    assert host.daemon.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o600
    assert json.loads(real.read_text())["features"] == {"cdi": True}


def test_a_bad_memlock_is_refused(host: Host) -> None:
    assert "neither unlimited nor a number of KiB" in host.keep(memlock="lots")["msg"]


def test_a_bad_nofile_is_refused(host: Host) -> None:
    assert "nofile -1 is no number of files" in host.keep(nofile=-1)["msg"]
    assert host.starts == 1


@pytest.mark.parametrize("size", ["lots", "8 g", "0", "-1g", "8gg"])
def test_a_bad_size_is_refused(host: Host, size: str) -> None:
    assert "is no number with k, m or g" in host.keep(shm_size=size)["msg"]


def test_a_disk_that_is_full_leaves_everything(host: Host) -> None:
    host.site("{}")
    shutil.rmtree(host.root / "etc/systemd", ignore_errors=True)
    host.write("etc/systemd", "not a folder")
    before = host.tree()
    assert host.keep()["failed"]
    after = {path: data for path, data in host.tree().items() if not path.endswith("~")}
    assert after == before
