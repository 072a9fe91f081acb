# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._areas.stack.mpi_limits import (
    devices_without_rdma,
    leaves_out,
    tls_without_rdma,
)


@pytest.mark.parametrize(
    ("value", "without"),
    [
        ("all", False),
        ("tcp", True),
        ("tcp,sm,self", True),
        ("sm,self,cuda", True),
        ("rc,sm,self", False),
        ("rc_v,tcp", False),
        ("ud_verbs", False),
        ("dc_x,self", False),
        ("ib,sm", False),
        ("tcp,ud:aux", False),
        ("\\rc,tcp", False),
        ("^tcp", False),
        ("^ib", True),
        ("^rc,ud", True),
        ("^rc", False),
        ("^rc,ud,dc", True),
    ],
)
def test_transports(value: str, without: bool) -> None:
    assert tls_without_rdma(value) == without


@pytest.mark.parametrize(
    ("value", "devices", "without"),
    [
        ("all", ["rxe0"], False),
        ("eth0", ["rxe0"], True),
        ("eth0,rxe0:1", ["rxe0"], False),
        ("rxe0:1", [], False),
        ("mlx5_0:1", ["rxe0"], True),
        ("eth0", [], True),
        ("^rxe0:1", ["rxe0"], True),
        ("^rxe0:1", ["rxe0", "rxe1"], False),
        ("^eth0", ["rxe0"], False),
    ],
)
def test_devices(value: str, devices: list[str], without: bool) -> None:
    assert devices_without_rdma(value, devices) == without


@pytest.mark.parametrize(
    ("value", "out"),
    [
        ("", False),
        ("ucx", False),
        ("ob1", True),
        ("^ucx", True),
        ("^cm", False),
        ("ob1,ucx", False),
    ],
)
def test_components(value: str, out: bool) -> None:
    assert leaves_out(value, "ucx") == out


@given(st.text(max_size=60))
def test_any_value_is_judged(value: str) -> None:
    assert isinstance(tls_without_rdma(value), bool)
    assert isinstance(devices_without_rdma(value, ["rxe0"]), bool)
    assert isinstance(leaves_out(value, "ucx"), bool)
