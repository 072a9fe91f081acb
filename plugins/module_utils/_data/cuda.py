# SPDX-License-Identifier: GPL-3.0-or-later
"""Which CUDA runs on which NVIDIA driver: of its own, by minor version and by forward compatibility. Data only.

Releases are (major, minor). Nodes have no matrix/; a test holds this against matrix/cuda.yml and matrix/drivers.yml.
"""

from __future__ import annotations

# The newest CUDA that a driver branch brings. Sources: CUDA toolkit release notes, "CUDA Toolkit and Corresponding
# Driver Versions" (450 to 580); NVIDIA, CUDA compatibility guide of 2026-09, columns of the table of forward
# compatibility (535, 570 to 615); redist index 620.70.06. Confirmed; 550, 565: medium.
BROUGHT = {
    **{450: (11, 0), 455: (11, 1), 460: (11, 2), 465: (11, 3), 470: (11, 4), 495: (11, 5), 510: (11, 6)},
    **{515: (11, 7), 520: (11, 8), 525: (12, 0), 530: (12, 1), 535: (12, 2), 545: (12, 3), 550: (12, 4)},
    **{555: (12, 5), 560: (12, 6), 565: (12, 7), 570: (12, 8), 575: (12, 9), 580: (13, 0), 590: (13, 1)},
    **{595: (13, 2), 610: (13, 3), 615: (13, 4), 620: (13, 5)},
}
# The driver from which on every release of a major runs. Source: CUDA compatibility guide, minor version
# compatibility. Confirmed.
LEAST = {11: "450.80.02", 12: "525.60.13", 13: "580.65.06"}
# By the host's driver branch, the packages cuda-compat-M-N that NVIDIA's table says C of. An older package is X of
# that branch, its own N/A, and a branch that is no column is "not a supported target". Source: CUDA compatibility
# guide, forward compatibility, edition of driver 615 (2026-09). Confirmed.
_TO_13_4 = ((13, 4),)
_TO_13_3 = ((13, 3), *_TO_13_4)
_TO_13_2 = ((13, 2), *_TO_13_3)
_TO_13_1 = ((13, 1), *_TO_13_2)
_TO_12_9 = ((12, 9), (13, 0), *_TO_13_1)
FORWARD = {
    535: ((12, 3), (12, 4), (12, 5), (12, 6), (12, 8), *_TO_12_9),
    570: _TO_12_9,
    580: _TO_13_1,
    590: _TO_13_2,
    595: _TO_13_3,
    610: _TO_13_4,
    615: (),
}
# Forward compatibility is for GPUs of data centres and "select NGC Server Ready SKUs of RTX cards"; on others CUDA
# ends with error 804. Beginnings of nvidia-smi's names, without "NVIDIA ". Source: as above; which of the RTX cards
# are meant nobody says there. Confirmed.
NEVER_FORWARD = ("GeForce ", "TITAN ")
SELECT_FORWARD = ("RTX ", "Quadro ", "GB10", "T400", "T600", "T1000")
# nvidia-smi's "Product Brand" by the beginning of the name, as far as outputs of the field show it: NVIDIA of
# H100, H200, A10; Tesla of A100-SXM4 and Tesla cards under drivers before 470; GeForce; Titan. Confirmed for
# those, medium for others of their line. In a constraint they are in lower case (nvidia-container-toolkit,
# internal/requirements/image.go).
BRANDS = (
    ("NVIDIA GeForce", "geforce"),
    ("GeForce", "geforce"),
    ("NVIDIA TITAN", "titan"),
    ("TITAN", "titan"),
    ("Tesla", "tesla"),
    ("A100-", "tesla"),
    *((f"NVIDIA {letter}", "nvidia") for letter in ("A1", "A2", "A3", "A4", "A8", "B2", "B3")),
    *((f"NVIDIA {letter}", "nvidia") for letter in ("H1", "H2", "H8", "L2", "L4")),
    *((f"NVIDIA {chip}", "nvidia") for chip in ("GB2", "GB3", "GH2")),
)
# By architecture, the first NCCL and the first CUDA of its build that have code for it; older ones end with "no kernel
# image is available". Of matrix/supports.yml, which has the sources. Medium.
FIRST_NCCL = {"Hopper": ((2, 15), (11, 8)), "Blackwell": ((2, 25, 1), (12, 8))}
# The brands above that GPUs of data centers have, and no others of that table.
DATA_CENTER = ("nvidia", "tesla")
