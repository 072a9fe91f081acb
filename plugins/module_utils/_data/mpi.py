# SPDX-License-Identifier: GPL-3.0-or-later
"""What is known of Open MPI and UCX: transports, files, and what distributions write into them."""

from __future__ import annotations

# Transports of UCX that go through an RDMA device, by the beginning of their names.
# Source: UCX documentation, "Transports and shared memory" (rc, dc, ud; verbs and mlx5).
# Confidence: confirmed.
RDMA_TRANSPORTS = ("rc_", "dc_", "ud_", "gga_")

# Of two lines that set the same, Open MPI takes the last.
# Source: openmpi-bin 5.0.7-1 of Debian 13, `ompi_info` told the line. Confidence: confirmed.
MCA_FILE = "openmpi-mca-params.conf"
# mpirun's own since Open MPI 5, where PRRTE starts the ranks.
# Source: openmpi-bin 5.0.7-1 of Debian 13, `prte_info`. Confidence: confirmed.
PRTE_FILE = "prte-mca-params.conf"
# Read before the environment; of two lines in front of the first [section] the last counts, and
# a section counts on machines that fit it.
# Source: libucx0 1.18.1 of Debian 13, `ucx_info -c` shows what it took. Confidence: confirmed.
UCX_FILE = "/etc/ucx/ucx.conf"
# Where no Open MPI tells its own.
CONF_DIR = "/etc/openmpi"

# Lines of a distribution that keep Open MPI from RDMA, by name. They are not the site's.
# Source: openmpi-common 5.0.7-1 of Debian 13, which names open-mpi/ompi issue 8367 as its reason:
# components that warn where there is no such hardware. Confidence: confirmed.
DISTRIBUTION_LINES = {
    "pml": ("^ucx",),
    "osc": ("^ucx", "^ucx,pt2pt"),
    "btl": ("^openib", "^uct,openib", "^uct,openib,ofi"),
}

# The release in which PRRTE took the place of ORTE, and its options new names.
# Source: Open MPI 5.0 release notes. Confidence: confirmed.
PRTE_SINCE = 5
