# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._act.mpi import derive
from ansible_collections.ibready.cluster.plugins.module_utils._act.mpi.derive import Line
from ansible_collections.ibready.cluster.plugins.module_utils._data.mpi import DISTRIBUTION_LINES
from ansible_collections.ibready.cluster.plugins.module_utils._ground.keyvalue import ConfError
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.derive_rails import Rails
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.host import NcclPort
from ansible_collections.ibready.cluster.plugins.module_utils._parse.ompi_info import OmpiInfo
from ansible_collections.ibready.cluster.plugins.module_utils._parse.ucx_info import Transport, UcxInfo

# Debian's openmpi-common 5.0.7-1, as it is installed: without a line end at its end.
DEBIAN = Path(__file__).with_name("mpi").joinpath("openmpi-mca-params.conf").read_text()
PML = Line("pml", "ucx", "UCX reaches RDMA devices here.")


def test_the_distributions_line_no_longer_counts_and_is_kept() -> None:
    assert not DEBIAN.endswith("\n")
    merged = derive.merge(DEBIAN, [PML], DISTRIBUTION_LINES)
    assert merged.kept == ()
    assert merged.text.startswith(DEBIAN + "\n")
    lines = [line for line in merged.text.splitlines() if "=" in line and line[0] not in "# "]
    assert lines[-2:] == ["osc = ^ucx,pt2pt", "pml=ucx"]
    assert derive.merge(merged.text, [PML], DISTRIBUTION_LINES) == merged
    assert derive.merge(merged.text, [], DISTRIBUTION_LINES).text == DEBIAN + "\n"


def test_a_line_of_the_site_stands_and_ours_is_left_out() -> None:
    merged = derive.merge("pml = ob1\n", [PML, Line("osc", "ucx")], DISTRIBUTION_LINES)
    assert merged.kept == ("pml",)
    assert merged.text.splitlines()[-2:] == ["osc=ucx", derive.END]
    forced = derive.merge("pml = ob1\n", [Line("pml", "ucx", forced=True)], DISTRIBUTION_LINES)
    assert forced.kept == ()
    assert forced.text.index("pml = ob1") < forced.text.index("pml=ucx")


def test_the_block_stands_before_the_first_section() -> None:
    site = "UCX_TLS=all\n[Any]\nCPU vendor=AMD\nUCX_NET_DEVICES=x\n"
    merged = derive.merge(site, [Line("UCX_NET_DEVICES", "mlx5_0:1")])
    assert merged.kept == ()
    assert merged.text.index("UCX_NET_DEVICES=mlx5_0:1") < merged.text.index("[Any]")
    assert derive.merge(merged.text, [Line("UCX_NET_DEVICES", "mlx5_0:1")]) == merged


@pytest.mark.parametrize("line", [Line("pml", "a\nb"), Line("pml", ""), Line("pml", " a"), Line("a b", "c")])
def test_what_fits_on_no_line_is_refused(line: Line) -> None:
    with pytest.raises(ConfError):
        derive.merge("", [line])


def test_a_block_without_its_end_is_refused() -> None:
    with pytest.raises(ConfError, match="line 2 begins"):
        derive.merge(f"a=b\n{derive.BEGIN}\npml=ucx\n", [PML])
    # What stands before it may be ours: taken for the site's, it would never go.
    with pytest.raises(ConfError, match="line 2 ends"):
        derive.merge(f"pml=ucx\n{derive.END}\n", [])


def ompi(release: str = "5.0.7", *components: str) -> OmpiInfo:
    return OmpiInfo(components or ("ob1", "ucx"), release, "^ucx", "file")


UCX = UcxInfo("1.18.1", (Transport("tcp", "eth0"), Transport("rc_mlx5", "mlx5_0:1")))
RAILS = Rails((NcclPort("mlx5_0", 1), NcclPort("mlx5_1", 1)), by="all alike")
NONE = derive.Site({}, {})


def lines(found: tuple[Line, ...]) -> dict[str, str]:
    return {line.name: line.value for line in found}


def test_rails_and_network_of_a_host_with_rdma() -> None:
    found = derive.derive(ompi(), UCX, RAILS, "bond0", NONE)
    assert lines(found.mca) == {"pml": "ucx", "osc": "ucx", "btl_tcp_if_include": "bond0"}
    assert lines(found.prte) == {"prte_if_include": "bond0"}
    # A rail that UCX does not reach today is a rail all the same.
    assert lines(found.ucx) == {"UCX_NET_DEVICES": "mlx5_0:1,mlx5_1:1"}
    assert found.untold == ()


def test_before_open_mpi_5_openib_goes_and_mpirun_reads_the_same_file() -> None:
    found = derive.derive(ompi("4.1.4"), UCX, RAILS, "bond0", NONE)
    assert lines(found.mca) == {
        **{"pml": "ucx", "osc": "ucx", "btl": "^openib"},
        **{"btl_tcp_if_include": "bond0", "oob_tcp_if_include": "bond0"},
    }
    assert found.prte == ()


@pytest.mark.parametrize(
    ("release", "ucx", "why"),
    [
        (ompi(), UcxInfo("1.18.1", (Transport("tcp", "eth0"),)), "reaches no RDMA device"),
        (ompi(), None, "cannot be asked"),
        (ompi("5.0.7", "ob1"), UCX, "built without UCX"),
    ],
)
def test_ucx_is_never_forced_where_no_rank_could_start(release: OmpiInfo, ucx: UcxInfo | None, why: str) -> None:
    found = derive.derive(release, ucx, RAILS, "", NONE)
    assert "pml" not in lines(found.mca)
    assert any(why in one for one in found.untold)


def test_rails_that_nobody_can_tell_are_not_guessed() -> None:
    found = derive.derive(ompi(), UCX, Rails(why="mlx5_2 may be storage"), "", NONE)
    assert found.ucx == ()
    assert any("mlx5_2 may be storage" in one for one in found.untold)


def test_the_sites_word_takes_the_place_of_ours() -> None:
    site = derive.Site({"pml": "ob1"}, {"UCX_TLS": "rc,self"})
    found = derive.derive(ompi(), UCX, RAILS, "", site)
    assert lines(found.mca) == {"osc": "ucx", "pml": "ob1"}
    assert lines(found.ucx) == {"UCX_NET_DEVICES": "mlx5_0:1,mlx5_1:1", "UCX_TLS": "rc,self"}
    assert [line.name for line in (*found.mca, *found.ucx) if line.forced] == ["pml", "UCX_TLS"]
