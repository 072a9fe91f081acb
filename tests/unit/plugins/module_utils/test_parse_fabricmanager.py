# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import fabricmanager_log, fabricmanager_status
from ansible_collections.ibready.cluster.plugins.module_utils._parse.fabricmanager_log import FmError

STARTED = "[Nov 13 2025 07:13:22] [INFO] [tid 1570] "


@pytest.mark.parametrize(
    ("lines", "mode"),
    [
        (["FABRIC_MODE value set to: 0x1"], "1"),
        (["FABRIC_MODE value set to: 0x1", "FABRIC_MODE value set to: 0x0"], "0"),
        (["FABRIC_MODE_RESTART value set to: 0x1"], ""),
        (["Fabric Manager version 580.95.05 is running with the following configuration options"], ""),
    ],
)
def test_the_mode_that_was_given_last_counts(lines: list[str], mode: str) -> None:
    assert fabricmanager_log.parse("".join(f"{STARTED}{line}\n" for line in lines)).mode == mode


STATUS = """\
* nvidia-fabricmanager.service - NVIDIA fabric manager service
     Loaded: loaded (/usr/lib/systemd/system/nvidia-fabricmanager.service; enabled; preset: enabled)
     Active: active (running) since Thu 2025-11-13 07:13:21 UTC; 7 days ago
   Main PID: 31082 (nv-fabricmanage)
     CGroup: /system.slice/nvidia-fabricmanager.service
             |-31060 /opt/nvidia/nvlsm/sbin/nvlsm -F /usr/share/nvidia/nvlsm/nvlsm.conf
             `-31082 /usr/bin/nv-fabricmanager -c /usr/share/nvidia/nvswitch/fabricmanager.cfg

Nov 13 07:13:21 node systemd[1]: Started NVIDIA fabric manager service.
"""
SAID = "Nov 13 07:13:21 node nv-fabricmanager[1802]: "
MISMATCH = (
    SAID + "fabric manager NVIDIA GPU driver interface version 550.127.05 don't match with"
    " driver version 550.120. Please update with matching NVIDIA driver package.\n"
)
FAILED = STATUS.replace("active (running)", "failed (Result: exit-code)")


def status(text: str) -> dict[str, Any]:
    return fabricmanager_status.facts(fabricmanager_status.parse(text))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(STATUS, id="as printed in the C locale"),
        pytest.param(STATUS.replace("|-", "\u251c\u2500").replace("`-", "\u2514\u2500"), id="trees"),
        pytest.param(STATUS.replace("Thu 2025", "Do 2025"), id="a localized date"),
        pytest.param(STATUS.replace("\n", "\r\n"), id="CRLF"),
        pytest.param(STATUS.replace("     ", ""), id="indentation lost"),
        pytest.param(STATUS + MISMATCH, id="an old complaint of one that runs"),
    ],
)
def test_a_service_that_runs(text: str) -> None:
    found = status(text)
    assert (found["active"], found["state"], found["boot"]) == (True, "active (running)", "enabled")
    assert [one.split("/")[-1].split(" ")[0] for one in found["processes"]] == ["nvlsm.conf", "fabricmanager.cfg"]
    assert not {"reason", "fm", "driver", "pager_tail"} & set(found)


def test_the_tail_of_a_pager_is_seen() -> None:
    assert status(STATUS + "lines 1-22/22 (END)\n")["pager_tail"] is True


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            FAILED + MISMATCH,
            {"state": "failed (Result: exit-code)", "fm": "550.127.05", "driver": "550.120"},
            id="versions that do not match",
        ),
        pytest.param(
            MISMATCH.replace("don't", "doesn't"),
            {"reason": "version mismatch", "driver": "550.120"},
            id="the journal's line alone",
        ),
        pytest.param(
            FAILED + SAID + "request failed with error:WARNING Nothing to do [NV_WARN_NOTHING_TO_DO]\n",
            {"reason": "NV_WARN_NOTHING_TO_DO"},
            id="no NVSwitch to manage",
        ),
        pytest.param(
            STATUS.replace("active (running)", "inactive (dead)").replace("; enabled", "; disabled"),
            {"state": "inactive (dead)", "boot": "disabled"},
            id="stopped",
        ),
        pytest.param(
            STATUS.replace("active (running)", "activating (auto-restart)"),
            {"state": "activating (auto-restart)"},
            id="starting again and again",
        ),
        pytest.param("Unit nvidia-fabricmanager.service could not be found.\n", {"missing": True}, id="not installed"),
        pytest.param("systemd[1]: Failed with result 'exit-code'.", {}, id="a failure's last word"),
    ],
)
def test_a_service_that_does_not_run(text: str, expected: dict[str, Any]) -> None:
    found = status(text)
    assert found["active"] is False
    assert {key: found.get(key) for key in expected} == expected


def test_a_journal_alone_tells_by_the_last_words_of_systemd() -> None:
    started = "Nov 13 07:13:21 node systemd[1]: Started NVIDIA fabric manager service.\n"
    stopping = started.replace("Started", "Stopping")
    failed = "Nov 13 07:13:25 node systemd[1]: x.service: Failed with result 'exit-code'.\n"
    assert status(started) == {"active": True}
    assert status(MISMATCH + failed + started) == {"active": True}
    assert status(started + stopping) == {"active": False}
    assert status(started + MISMATCH + failed)["reason"] == "version mismatch"


def test_the_daemons_last_unhappy_words_are_kept() -> None:
    words = "detected number of NVSwitches don't match with any supported system topology"
    text = f"{FAILED}{SAID}{words}\n{SAID}Starting up\n"
    assert fabricmanager_status.parse(text).said == words


def test_the_version_alone_tells_no_state() -> None:
    assert status("Fabric Manager version is : 610.57.04\n") == {"version": "610.57.04"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("", "empty output", id="empty"),
        pytest.param("permission denied", "neither a state", id="foreign text"),
        pytest.param(
            "System has not been booted with systemd as init system (PID 1). Can't operate.",
            "neither a state",
            id="a container",
        ),
    ],
)
def test_a_status_that_tells_nothing_is_refused(text: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        fabricmanager_status.parse(text)


START = (
    "Fabric Manager Log initializing at: 12/19/2024 22:08:53.808\n"
    "[Dec 19 2024 22:08:53] [INFO] [tid 1570] Fabric Manager version 535.161.08 is running with"
    " the following configuration options\n"
)
SXID = (
    "[Dec 19 2024 19:17:49] [ERROR] [tid 1374] detected NVSwitch non-fatal error 12028 on fid 0 on"
    " NVSwitch pci bus id 00000000:83:00.0 physical id 0 port 34\n"
)


def test_errors_are_read_with_their_switch_and_port() -> None:
    log = fabricmanager_log.parse(START + SXID + "Message payload details: more\n\n")
    assert (log.version, log.records, log.earlier) == ("535.161.08", 2, ())
    (error,) = log.errors
    assert (error.sxid, error.fatal, error.pci, error.port) == ("12028", False, "00000000:83:00.0", 34)
    assert fabricmanager_log.facts(log) == {
        "lines": 5,
        "error_lines": 1,
        "sxid": ["12028"],
        "nvswitch_pci": ["00000000:83:00.0"],
        "version": "535.161.08",
    }


def test_what_was_before_the_last_start_is_kept_apart() -> None:
    fatal = SXID.replace("non-fatal", "fatal").replace("12028", "20034")
    log = fabricmanager_log.parse(fatal + START + SXID)
    assert [one.sxid for one in log.earlier] == ["20034"]
    assert log.earlier[0].fatal
    assert [one.sxid for one in log.errors] == ["12028"]


def test_an_error_of_another_kind_has_no_number() -> None:
    text = "[Sep 08 2025 23:21:50] [ERROR] detected number of NVSwitches don't match, aborting\n"
    words = "detected number of NVSwitches don't match, aborting"
    assert fabricmanager_log.parse(text).errors == (FmError("Sep 08 2025 23:21:50", words),)


@pytest.mark.parametrize("text", ["", "\n\n", "not a log\n"])
def test_a_text_without_a_record_is_refused(text: str) -> None:
    with pytest.raises(ParseError):
        fabricmanager_log.parse(text)
