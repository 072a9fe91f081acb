# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

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
