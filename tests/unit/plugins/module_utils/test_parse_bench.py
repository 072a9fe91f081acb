# SPDX-License-Identifier: GPL-3.0-or-later
"""What perftest, nccl-tests and our own all-reduce print. Made up in the programs' formats, but for
what is said to be recorded."""

from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._between.bench import nccl
from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import mpi_bench, nccl_tests, perftest
from tests.unit.parsers import SAMPLES

LINE = "-" * 87
BLOCK = "time   algbw   busbw"
NEW = f"size  count  type redop root {BLOCK} #wrong {BLOCK} #wrong"
BW = " #bytes     #iterations    BW peak[{0}]    BW average[{0}]   MsgRate[Mpps]"
LAT = (
    " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    "
    "t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] "
)
# Recorded: perftest 4.5+0.17 of Debian 12 on a machine without an RDMA device, any program.
NO_DEVICE = """ Did not detect devices\x20
 If device exists, check if driver is up
 Unable to find the Infiniband/RoCE device
"""
# Recorded: perftest 25.01.0 of Debian 13, of a port where nobody waits.
NOBODY = """Couldn't connect to 198.18.96.12:18777
Unable to open file descriptor for socket connection
 Unable to init the socket connection
"""
# Recorded: perftest 25.01.0 of Debian 13 between two virtual machines over soft-RoCE (rdma_rxe of
# Linux 6.12, emulated processors: the numbers say nothing of hardware).
RXE_BW = """ WARNING: BW peak won't be measured in this run.
---------------------------------------------------------------------------------------
                    RDMA_Write BW Test
 Dual-port       : OFF\t\tDevice         : rxe0
 Number of qps   : 4\t\tTransport type : IB
 Connection type : RC\t\tUsing SRQ      : OFF
 PCIe relax order: ON\t\tLock-free      : OFF
 ibv_wr* API     : OFF\t\tUsing DDP      : OFF
 TX depth        : 128
 CQ Moderation   : 1
 Mtu             : 1024[B]
 Link type       : Ethernet
 GID index       : 1
 Max inline data : 0[B]
 rdma_cm QPs\t : OFF
 Data ex. method : Ethernet
---------------------------------------------------------------------------------------
 local address: LID 0000 QPN 0x0011 PSN 0x28fc RKey 0x00021e VAddr 0x007f166dc5a000
 GID: 00:00:00:00:00:00:00:00:00:00:255:255:198:18:96:11
 remote address: LID 0000 QPN 0x0011 PSN 0x793119 RKey 0x000245 VAddr 0x007f87228ec000
 GID: 00:00:00:00:00:00:00:00:00:00:255:255:198:18:96:12
---------------------------------------------------------------------------------------
 #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
 1048576    37               0.00               0.10   \t\t     0.000012
---------------------------------------------------------------------------------------
"""
RXE_LAT = (
    " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    "
    "t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] \n"
    " 2       1000          219.24         119031.92      4619.80  \t       5756.73     "
    "\t3736.49\t\t24871.68 \t\t119031.92\n"
)
SAMPLE = (SAMPLES / "perftest.txt").read_text()
NCCL = (SAMPLES / "nccl_tests.txt").read_text()


@pytest.mark.parametrize(
    ("unit", "printed", "gbps"), [("Gb/sec", 396.12, 396.12), ("MB/sec", 11000.0, 92.27), ("MiB/sec", 11000.0, 92.27)]
)
def test_bandwidth_is_told_in_one_unit(unit: str, printed: float, gbps: float) -> None:
    row = f" 65536      5000             {printed + 1:<7.2f}            {printed:<7.2f}\t\t   0.1"
    (one,) = perftest.parse("\n".join((LINE, BW.format(unit), row, LINE))).bandwidth
    assert (one.size, one.iterations) == (65536, 5000)
    assert one.gbps == pytest.approx(gbps, rel=1e-3)


def test_words_between_the_table_and_a_size_for_each_row_are_read() -> None:
    found = perftest.parse(SAMPLE.replace(" 1048576 ", " 65536      9   1.0  390.00   0.1\n 1048576 "))
    assert [one.size for one in found.bandwidth] == [65536, 1048576]
    assert dict(found.about)["Device"] == "mlx5_0"
    assert dict(found.about)["Link type"] == "IB"
    assert found.latency == ()


def test_what_two_virtual_machines_said_is_read() -> None:
    (one,) = perftest.parse(RXE_BW).bandwidth
    assert (one.size, one.iterations, one.gbps) == (1048576, 37, 0.1)
    assert dict(perftest.parse(RXE_BW).about)["Link type"] == "Ethernet"
    (late,) = perftest.parse(RXE_LAT).latency
    assert (late.typical, late.p99) == (4619.8, 24871.68)


def test_latency_is_the_median() -> None:
    row = " 2       1000          1.76      6.12     1.79     1.80     \t0.06    1.88    6.12"
    (one,) = perftest.parse("\n".join((LINE, LAT, row, LINE))).latency
    assert (one.typical, one.average, one.p99) == (1.79, 1.80, 1.88)


def test_latency_of_a_duration_is_the_mean() -> None:
    text = "\n".join((LINE, " #bytes        #iterations       t_avg[usec]    tps average", " 2  1000  2.50  99"))
    (one,) = perftest.parse(text).latency
    assert (one.typical, one.average, one.p99) == (2.5, 2.5, None)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (NO_DEVICE, "Unable to find the Infiniband/RoCE device"),
        (NOBODY, "Couldn't connect to 198.18.96.12:18777"),
        ("", "empty output"),
        (SAMPLE[: SAMPLE.index(" #bytes")] + "Failed to complete run_iter_bw function", "Failed to"),
        (SAMPLE[: SAMPLE.index(" 1048576")], "no result below this line"),
        (SAMPLE + SAMPLE, "2 tables"),
        (SAMPLE.replace("396.12", ""), "values for 5 columns"),
        (SAMPLE.replace("Gb/sec", "furlongs"), "no unit of ours"),
    ],
    ids=["no device", "nobody there", "nothing", "failed", "cut", "two runs", "a value is gone", "another unit"],
)
def test_a_run_without_numbers_says_why(text: str, said: str) -> None:
    with pytest.raises(ParseError, match=said):
        perftest.parse(text)


def test_the_best_of_all_sizes_and_both_ways_counts() -> None:
    found = nccl_tests.parse(NCCL)
    assert (found.peak, found.average, found.wrong) == (177.82, 149.668, 0)
    assert [(one.rank, one.host) for one in found.ranks] == [(0, "node1"), (1, "node1")]
    assert found.rows[0].out_of_place is not None
    assert found.rows[0].out_of_place.time_us == 70.12


def older(head: str, row: str) -> str:
    """A table of one row; blanks are as many as there are."""
    return f"#\n#       {head}\n{row}\n# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 2.53\n"


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        pytest.param(
            older(
                f"size count type redop {BLOCK} error {BLOCK} error",
                "33554432 8388608 float sum 19902 1.69 2.53 2e-07 19898 1.69 2.5 2e-07",
            ),
            0,
            id="before 2.11",
        ),
        pytest.param(
            older(
                f"size count type {BLOCK} error {BLOCK} error",
                "33554432 8388608 float 19902 1.69 2.53 N/A 19898 1.69 2.5 N/A",
            ),
            None,
            id="without an operation, unchecked",
        ),
        pytest.param(
            older(
                f"{NEW} timestamp", "33554432 8388608 float sum -1 19902 1.69 2.53 0 19898 1.69 2.5 0 2026-11-22 1:00"
            ),
            0,
            id="with a time of day",
        ),
        pytest.param(
            older(NEW, "33554432 8388608 float sum -1                          19902 1.69 2.53 0"),
            0,
            id="in-place alone",
        ),
        pytest.param(
            older(NEW, "33554432 8388608 float sum -1 19902 1.69 2.53 7 19898 1.69 2.5 5"), 12, id="wrong values"
        ),
    ],
)
def test_columns_of_every_release_are_read(text: str, wrong: float | None) -> None:
    found = nccl_tests.parse(text)
    assert (found.peak, found.wrong) == (2.53, wrong)


def test_values_out_of_bounds_are_wrong_whatever_the_column_says() -> None:
    found = nccl_tests.parse(NCCL.replace("values : 0 OK", "values : 3 FAILED"))
    assert found.wrong == 3


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (NCCL[: NCCL.index("#       size")], "no table"),
        ("", "no table"),
        (f"{NCCL[:400]}\nnode1: Test NCCL failure common.cu:958 'unhandled system error'\n", "unhandled system error"),
        (NCCL.replace("177.25      0", "garbage   0"), "not 'time algbw"),
        (NCCL.replace("time", "timf"), "no column is named time"),
    ],
    ids=["no table", "nothing", "failed", "garbled", "another column"],
)
def test_a_run_that_failed_has_no_numbers(text: str, said: str) -> None:
    with pytest.raises(ParseError, match=said):
        nccl_tests.parse(text)


def test_rows_without_their_end_are_facts_and_no_measurement() -> None:
    text = NCCL[: NCCL.index("# Out of")]
    found = nccl_tests.parse(text)
    assert (found.average, found.peak, nccl_tests.facts(found)["cut"]) == (None, 177.82, True)
    assert "cut short" in nccl.told(text)["untested"]


def test_our_all_reduce_is_counted_as_nccl_tests_does() -> None:
    small, large = mpi_bench.parse((SAMPLES / "mpi_bench.txt").read_text())
    assert (small.bytes, small.median, small.mad, small.right) == (8, 41.318, 2.104, True)
    # Of two processes each sends and receives every byte once.
    assert large.busbw == pytest.approx(1048576 / 812.5e-6 / 1e9)


def test_a_wrong_sum_and_no_line_are_told_apart() -> None:
    (one,) = mpi_bench.parse(
        "ibready-allreduce bytes=8 ranks=4 iterations=10 median_us=4.0 mad_us=2.1 min_us=3.0 wrong"
    )
    assert not one.right
    with pytest.raises(ParseError):
        mpi_bench.parse("ibready-smoke rank=0 size=2 host=node1 right")


@pytest.mark.parametrize("said", ["nan", "inf"])
def test_what_is_no_number_is_no_bandwidth(said: str) -> None:
    rows = (" 8 2 float sum -1 {0} {0} {0} 0 {0} {0} {0} 0", " 16 4 float sum -1 9 1 2 0 9 1 3 0")
    text = "\n".join((f"# {NEW}", *rows, "# Avg bus bandwidth : 2"))
    assert nccl_tests.parse(text.format(said)).peak == 3.0
    with pytest.raises(ParseError, match="no bus bandwidth"):
        nccl_tests.parse(text.replace("9 1 2", "9 1 nan").replace("9 1 3", "9 1 inf").format(said))
