# SPDX-License-Identifier: GPL-3.0-or-later
"""nvidia-smi dmon: whatever columns were asked for."""

from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import nvsmi_dmon
from ansible_collections.ibready.cluster.plugins.module_utils._parse._times import Busy

# mozilla/DeepSpeech#178: -s pucvmet of four GPUs, 2016.
OLD = """\
# gpu   pwr  temp    sm   mem   enc   dec  mclk  pclk pviol tviol    fb  bar1 sbecc dbecc   pci rxpci txpci
# Idx     W     C     %     %     %     %   MHz   MHz     %  bool    MB    MB  errs  errs  errs  MB/s  MB/s
    0   111    83    25     7     0     0  4513  1683     0     0 11651     2     -     -     0    41     8
    1   111    84    18     5     0     0  4513  1733     0     0 11653     2     -     -     0    22    14
"""
# Public notes of 2024: -s mutc -o TD, driver 535.
NEW = """\
#Date       Time        gpu     fb   bar1   ccpm     sm    mem    enc    dec    jpg    ofa  rxpci  txpci   mclk   pclk
#YYYYMMDD   HH:MM:SS    Idx     MB     MB     MB      %      %      %      %      %      %   MB/s   MB/s    MHz    MHz
 20240104   13:54:35      0    239      3      0      6      1      0      0      0      0      5     10   6250   1695

 20240104   13:54:36      0     74     10      0      -      0      0      0      0      0    217    677   6250   1695
"""


def test_old_and_new_columns() -> None:
    told = nvsmi_dmon.parse(OLD)
    assert nvsmi_dmon.times(told, "n1").busy == (Busy("n1", 0, 25, 1683), Busy("n1", 1, 18, 1733))
    assert (told.looks[1].watts, told.looks[1].clock_mhz, told.looks[1].pcie_out_mb_s) == (111, 1733, 14)
    told = nvsmi_dmon.parse(NEW)
    assert [(look.when, look.sm, look.watts) for look in told.looks] == [
        ("20240104 13:54:35", 6, None),
        ("20240104 13:54:36", None, None),
    ]
    assert nvsmi_dmon.times(told).busy == (Busy("", 0, 6, 1695),)


def test_csv_and_heads_that_come_again() -> None:
    text = "#gpu, sm, mem\n#Idx, %, %\n0, 50, 3\n1, 60, 4\n#gpu, sm, mem\n0, 70, 5\n0, 70\n0, 8"
    told = nvsmi_dmon.parse(text)
    assert ([(look.gpu, look.sm) for look in told.looks], told.unread) == ([(0, 50), (1, 60), (0, 70)], 1)


@pytest.mark.parametrize(
    "text",
    [
        *("", "# gpu   sm\n", "0 1 2\n", "Not supported on the device(s)\nFailed to process command line\n"),
        "# gpu        pid  type    sm   mem   enc   dec   command\n# Idx   #   C/G   %   %   %   %   name\n 0 1 C 5 1",
        OLD[: OLD.index("    1 ") - 20],
    ],
)
def test_texts_of_others_and_cut_ones(text: str) -> None:
    with pytest.raises(ParseError):
        nvsmi_dmon.parse(text)
