# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground import check as _model
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import Check


def check(result: str, severity: str = "error") -> Check:
    return Check("ib.port.rate", "mlx5_0/1", result, severity)


@pytest.mark.parametrize(
    ("checks", "verdict"),
    [
        pytest.param([], "unknown", id="nothing looked at is unknown"),
        pytest.param([check("skip")], "ready", id="nothing of this applies to the host"),
        pytest.param([check("pass")], "ready", id="a pass is ready"),
        pytest.param([check("pass"), check("skip")], "ready", id="a skip does not hurt"),
        pytest.param([check("pass"), check("unknown")], "unknown", id="unknown never passes"),
        pytest.param([check("unknown"), check("fail")], "not_ready", id="a failure wins"),
        pytest.param([check("pass"), check("fail", "warning")], "degraded", id="a failed warning degrades"),
        pytest.param([check("pass"), check("unknown", "warning")], "degraded", id="an unknown warning too"),
        pytest.param([check("unknown"), check("fail", "warning")], "unknown", id="warnings do not decide"),
    ],
)
def test_verdict(checks: list[Check], verdict: str) -> None:
    assert _model.verdict(checks) == verdict


def test_only_where_nothing_applies_the_word_is_skipped() -> None:
    words = [_model.verdict_word(checks) for checks in ([check("skip")], [check("skip"), check("pass")], [])]
    assert words == ["skipped", "ready", "unknown"]


def test_errors_come_before_warnings_and_failures_before_unknowns() -> None:
    checks = [check("unknown", "warning"), check("unknown"), check("pass"), check("fail")]
    found = [(one.result, one.severity) for one in _model.trouble(checks)]
    assert found == [("fail", "error"), ("unknown", "error"), ("unknown", "warning")]


@pytest.mark.parametrize(
    "bent",
    [
        {"result": "Fail"},
        {"severity": "critical"},
        {"evidence": {"rate": 100}},
        {"observed": ["x"]},
        {"evidence": None},
    ],
)
def test_a_result_that_is_not_ours_is_refused(bent: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"ib\.port\.rate"):
        _model.from_dict({**check("fail").to_dict(), **bent})


def test_a_check_id_that_is_not_in_the_catalog_is_refused() -> None:
    with pytest.raises(KeyError):
        _model.passed("ib.port.colour", "mlx5_0/1", "blue")


def test_a_cause_brings_its_own_remedy_and_a_plain_one_has_the_catalogs() -> None:
    def remedy(cause: str, **given: str) -> str:
        return _model.failed("ib.port.state", "mlx5_0/1", "Down", "Active", "capability", cause=cause, **given).remedy

    known = _model.entry("ib.port.state").remedy
    assert remedy(_model.Cause("the port sleeps", "wake it")) == "wake it"
    assert remedy(_model.Cause("the port sleeps", "wake it"), remedy="first this") == "first this"
    assert remedy(_model.Cause("the port sleeps", "")) == remedy("the port sleeps") == remedy("") == known


def test_a_cause_is_plain_text_in_a_check_and_survives_a_copy() -> None:
    cause = _model.Cause("the port sleeps", "wake it")
    assert type(_model.failed("ib.port.state", "mlx5_0/1", "Down", "Active", "x", cause=cause).cause) is str
    for copied in (copy.deepcopy(cause), pickle.loads(pickle.dumps(cause))):
        assert (copied, copied.remedy) == (cause, "wake it")


def test_a_grave_finding_of_a_warning_keeps_the_host_from_being_ready() -> None:
    found = _model.failed("host.bmc.sensors", "GPU3 Temp", "93 degrees C (ucr)", "no fault", "capability")
    assert _model.verdict([found]) == _model.DEGRADED
    assert _model.verdict([_model.grave(found)]) == _model.NOT_READY
