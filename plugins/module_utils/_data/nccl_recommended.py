# SPDX-License-Identifier: GPL-3.0-or-later
"""What providers' own instructions set on their hosts, and so raises no doubt there. Data only; confirmed.

A row is for hosts whose DMI vendor begins with ``vendor``; another release of the instructions is another text in it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Recommended:
    vendor: str
    settings: tuple[str, ...]
    source: str


RECOMMENDED = (
    Recommended(
        "Oracle",
        ("NCCL_CUMEM_ENABLE=0", "NCCL_ALGO=Ring"),
        "oracle-quickstart/oci-hpc, samples/gpu; oracle-quickstart/oci-hpc-oke, manifests/nccl-tests",
    ),
    Recommended(
        "Google",
        (
            *("NCCL_ALGO=Ring", "NCCL_ALGO=Ring,Tree", "NCCL_PROTO=Simple", "NCCL_P2P_PXN_LEVEL=0"),
            "NCCL_DYNAMIC_CHUNK_SIZE=524288",
        ),
        "GoogleCloudPlatform/container-engine-accelerators, gpudirect-tcpx; MaxText, configs/a3_plus",
    ),
    Recommended(
        "Amazon EC2", ("NCCL_PROTO=simple",), "aws/sagemaker-training-toolkit, 9a5ed9f: EFA delivers in any order"
    ),
)


def recommended(vendor: str) -> frozenset[str]:
    """NAME=VALUE of all that is recommended for hosts of this DMI vendor."""
    return frozenset(line for row in RECOMMENDED if vendor.startswith(row.vendor) for line in row.settings)
