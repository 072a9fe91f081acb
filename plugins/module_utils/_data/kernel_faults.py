# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages of the kernel's log that tell of a fault of the kernel, the machine or its disks (kernel_faults.yml)."""

from __future__ import annotations

from .._ground.check import Cause
from .._ground.table import load
from ._rows import kernel_faults as rows
from .kernel_log import Known

# It harms while it happens: a message that is older than PASSING_S and was not repeated is history.
PASSING = "passing"
# The same, and jobs fail as long as it goes on: one of the last minutes (STOPPING_S) is an error. source: inferred.
STOPPING = "stopping"
STOPPING_S = 15 * 60
# A day: after that nothing of it is seen by a job that starts now. source: inferred.
PASSING_S = 24 * 3600


KERNEL: tuple[Known, ...] = load(Known, rows.KERNEL, means=Cause)
OVER: tuple[tuple[str, str], ...] = rows.OVER
# Records that follow are of the boot before, whose end they tell; source: drivers/acpi/apei/bert.c.
BEFORE_BOOT = "BERT: Error records from previous boot"
RECORD = "[Hardware Error]"
