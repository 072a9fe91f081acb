# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import datetime
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._expect import waivers
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import (
    failed,
    passed,
    sentence,
    trouble,
    unknown,
    verdict,
)
from ansible_collections.ibready.cluster.plugins.module_utils._verify.catalog import CATALOG

TODAY = datetime.date(2026, 11, 20)
RATE = failed("ib.port.rate", "mlx5_3/1", "100 Gb/s", "400 Gb/s", "inventory")
GOOD = passed("ib.port.state", "mlx5_3/1", "Active")


def waiver(**bent: Any) -> dict[str, Any]:
    return {
        "check": "ib.port.rate",
        "host": "n1",
        "subject": "mlx5_3/1",
        "until": "2026-12-31",
        "reason": "RMA 1234",
        **bent,
    }


def applied(*checks: Any, host: str = "n1", today: datetime.date = TODAY, **bent: Any) -> list[Any]:
    return waivers.apply(checks, waivers.parse([waiver(**bent)], CATALOG), host, today)


def test_a_waived_failure_is_shown_and_does_not_count() -> None:
    checks = applied(RATE, GOOD)
    assert checks[0].result == "fail"
    assert checks[0].waived == "until 2026-12-31: RMA 1234"
    assert checks[1] == GOOD
    assert verdict(checks) == "ready"
    assert trouble(checks) == []


def test_it_holds_to_the_end_of_its_last_day_and_no_longer() -> None:
    assert verdict(applied(RATE, today=datetime.date(2026, 12, 31))) == "ready"
    late = applied(RATE, GOOD, today=datetime.date(2027, 1, 1))
    assert verdict(late) == "not_ready"
    assert late[0].waived == ""
    assert late[0].evidence["waiver"] == "expired 2026-12-31: RMA 1234"


@pytest.mark.parametrize(
    "bent",
    [{"host": "n2"}, {"subject": "mlx5_4/1"}, {"check": "ib.port.state"}],
)
def test_it_is_for_what_it_names_alone(bent: dict[str, Any]) -> None:
    assert verdict(applied(RATE, **bent)) == "not_ready"


def test_without_a_subject_it_is_for_all_of_them() -> None:
    assert applied(RATE, subject=None)[0].waived


def test_what_could_not_be_looked_at_is_never_waived() -> None:
    checks = applied(unknown("ib.port.rate", "mlx5_3/1", "timeout"))
    assert checks[0].waived == ""
    assert verdict(checks) == "unknown"


def test_the_later_of_two_counts() -> None:
    both = waivers.parse([waiver(until="2026-01-01"), waiver(until="2027-01-01", reason="new")])
    assert waivers.apply([RATE], both, "n1", TODAY)[0].waived == "until 2027-01-01: new"


def test_a_day_of_yaml_is_a_day() -> None:
    assert applied(RATE, until=datetime.date(2026, 12, 31))[0].waived
    assert applied(RATE, until=datetime.datetime(2026, 12, 31, 12))[0].waived


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ({}, "must be a list"),
        (["x"], "waiver 1 must be a dictionary"),
        ([waiver(chek="x")], "chek is not known"),
        ([waiver(reason=None)], "reason is missing"),
        ([waiver(reason="  ")], "reason is missing"),
        ([waiver(until="soon")], "until must be a day"),
        ([waiver(check="ib.port.sped")], "there is no check 'ib.port.sped'"),
        ([waiver(), waiver(host=None)], "waiver 2: host is missing"),
    ],
)
def test_a_bad_waiver_is_refused(raw: Any, said: str) -> None:
    with pytest.raises(waivers.WaiverError, match=said):
        waivers.parse(raw, CATALOG)


def test_a_sentence_still_tells_what_is_wrong() -> None:
    assert "100 Gb/s" in sentence(applied(RATE)[0])
