# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.filter import filters
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.plugin_utils._site import expected as _expected

SOFT = {"rdma_soft_roce": [{"name": "rxe0", "netdev": "eth0"}]}
ROCE = {
    "roce_manage": True,
    "roce_mode": "v2",
    "roce_trust": "dscp",
    "roce_pfc": [3],
    "roce_tos": 106,
    "roce_mtu": 9000,
    "roce_ecn": True,
}


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        pytest.param({}, {}, id="nothing is asked for"),
        pytest.param(SOFT, {"soft_roce": {"rxe0": "eth0"}}, id="soft RoCE"),
        pytest.param({"rdma_soft_roce": []}, {}, id="no soft RoCE"),
        pytest.param(
            {"rdma_firmware": [{"psid": "MT_1", "version": "28.43.2026", "image": "x", "sha256": "y"}, 7]},
            {"firmware_images": {"MT_1": "28.43.2026"}},
            id="firmware",
        ),
        pytest.param({"nvidia_driver_imex": "job"}, {"imex": "job"}, id="a scheduler looks after IMEX"),
        pytest.param(
            ROCE,
            {"roce_mode": "v2", "roce_trust": "dscp", "roce_pfc": [3], "roce_tos": 106, "roce_mtu": 9000},
            id="what role roce sets",
        ),
        pytest.param({**ROCE, "roce_manage": False}, {}, id="the role is not entered"),
        pytest.param({"roce_manage": "yes", "roce_mode": "keep"}, {}, id="kept as it is"),
        pytest.param(
            {**ROCE, **SOFT, "roce_where_possible": True},
            {"soft_roce": {"rxe0": "eth0"}, "roce_mode": "v2", "roce_tos": 106, "roce_mtu": 9000},
            id="what soft RoCE does not have is not expected of it",
        ),
        pytest.param(
            {"roce_manage": True, "roce_tos": 106, "ibready_expect": {"roce_tos": 104}},
            {"roce_tos": 104},
            id="the inventory goes first",
        ),
        pytest.param(
            {"roce_manage": True, "roce_tos": 0, "ibready_expect": {"hcas": 8}}, {"roce_tos": 0, "hcas": 8}, id="both"
        ),
    ],
)
def test_what_roles_set_is_expected(variables: dict[str, Any], expected: dict[str, Any]) -> None:
    assert _expected.of(variables) == expected
    assert filters.FilterModule().filters()["expected"](variables) == expected
    from_inventory(expected)


def test_what_is_no_dictionary_is_left_for_its_reader_to_refuse() -> None:
    assert _expected.of({**SOFT, "ibready_expect": "hcas: 8"}) == "hcas: 8"


def test_templates_are_filled_in() -> None:
    variables = {"roce_tos": "{{ site_tos }}", "roce_manage": True, "other": 1}
    assert _expected.told(variables, lambda value: 106 if value == "{{ site_tos }}" else value) == {
        "roce_tos": 106,
        "roce_manage": True,
    }
