# SPDX-License-Identifier: GPL-3.0-or-later
"""fi_info, as people posted it."""

from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import fi_info
from ansible_collections.ibready.cluster.plugins.module_utils._parse.fi_info import Endpoint
from tests.unit.parsers import SAMPLES

# The sample is of the guide to the AWS Deep Learning AMI; this one of a guide to EFA on EKS, where it was longer.
DIRECT = """provider: efa
    fabric: efa-direct
    domain: rdmap47s0-rdm
    version: 201.0
    type: FI_EP_RDM
    protocol: FI_PROTO_EFA
provider: efa
    fabric: efa
    domain: rdmap47s0-dgrm
    version: 201.0
    type: FI_EP_DGRAM
    protocol: FI_PROTO_EFA
"""
# From ofiwg/libfabric#6126.
TCP = """provider: tcp;ofi_rxm
    fabric: 172.31.32.0/20
    domain: eth0
    version: 110.10
    type: FI_EP_RDM
    protocol: FI_PROTO_RXM
provider: tcp;ofi_rxm
    fabric: ::1/128
    domain: lo
    version: 110.10
    type: FI_EP_RDM
    protocol: FI_PROTO_RXM
"""
# The end of a published `fi_info -v`, shortened; its first lines are made up in libfabric's form.
LONG = """---
fi_info:
    caps: [ FI_MSG, FI_RMA ]
    addr_format: FI_SOCKADDR_IB
    fi_ep_attr:
        type: FI_EP_DGRAM
        protocol: FI_PROTO_IB_UD
        protocol_version: 1
    fi_domain_attr:
        domain: 0x0
        name: mlx5_0-dgram
        threading: FI_THREAD_SAFE
    fi_fabric_attr:
        name: IB-0xfe80000000000000
        prov_name: verbs;ofi_rxd
        prov_version: 116.0
        api_version: 1.16
    nic:
        fi_device_attr:
            name: mlx5_0
            firmware: 20.33.1048
"""


def test_every_endpoint() -> None:
    told = fi_info.parse((SAMPLES / "fi_info.txt").read_text())
    assert told.providers == {"efa": "2.0", "efa;ofi_rxd": "1.0"}
    assert [entry.protocol for entry in told.endpoints] == ["FI_PROTO_EFA", "FI_PROTO_EFA", "FI_PROTO_RXD"]
    told = fi_info.parse(DIRECT)
    assert told.endpoints[0] == Endpoint("efa", "efa-direct", "rdmap47s0-rdm", "201.0", "FI_EP_RDM", "FI_PROTO_EFA")
    assert (told.unread, told.cut, fi_info.wrong(told)) == (0, False, ())
    assert [(entry.fabric, entry.domain) for entry in fi_info.parse(TCP).endpoints] == [
        ("172.31.32.0/20", "eth0"),
        ("::1/128", "lo"),
    ]


def test_in_full() -> None:
    (entry,) = fi_info.parse(LONG).endpoints
    assert entry == Endpoint(
        "verbs;ofi_rxd", "IB-0xfe80000000000000", "mlx5_0-dgram", "116.0", "FI_EP_DGRAM", "FI_PROTO_IB_UD"
    )


def test_the_list_of_providers() -> None:
    told = fi_info.parse("efa:\n    version: 119.0\ntcp;ofi_rxm:\n    version: 119.0\nshm:\n    version: 119.0\n")
    assert told.listed == (("efa", "119.0"), ("tcp;ofi_rxm", "119.0"), ("shm", "119.0"))
    assert fi_info.facts(told)["providers"] == {"efa": "119.0", "tcp;ofi_rxm": "119.0", "shm": "119.0"}


@pytest.mark.parametrize("said", ["fi_getinfo: -61", "fi_getinfo: -61 (No data available)"])
def test_no_provider(said: str) -> None:
    told = fi_info.parse(f"$ fi_info -p efa\n{said}\n")
    assert fi_info.facts(told)["failed"] == said
    assert fi_info.wrong(told) == ("libfabric finds no provider of what it was asked for (fi_getinfo: -61)",)
    assert fi_info.wrong(fi_info.parse("fi_getinfo: -38")) == ("libfabric gave up (fi_getinfo: -38)",)


def test_a_text_that_is_cut_or_has_other_lines() -> None:
    told = fi_info.parse("$ fi_info -p efa\n" + DIRECT[: DIRECT.index("    type: FI_EP_DGRAM")] + "    ty")
    assert (len(told.endpoints), told.unread, told.cut) == (2, 2, True)
    assert told.endpoints[1].type == ""
    told = fi_info.parse(DIRECT.rstrip()[:-1])
    assert (told.endpoints[1].protocol, told.cut) == ("", True)
    # Who copies no line end has cut nothing.
    assert not fi_info.parse(DIRECT.rstrip()).cut
    beginless = fi_info.parse(DIRECT[DIRECT.index("    fabric") :])
    assert [entry.provider for entry in beginless.endpoints] == ["", "efa"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "provider: efa\n",
        "python:\n    version: 3.8\n",
        "driver: mlx5_core\nversion: 5.15\nfirmware-version: 28.39\n",
        "spec:\n  provider: aws\n  version: 1.29\n",
        "    Transport: self\n    Device: memory\n",
    ],
)
def test_another_tools_text(text: str) -> None:
    with pytest.raises(ParseError):
        fi_info.parse(text)
