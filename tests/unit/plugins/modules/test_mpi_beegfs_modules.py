# SPDX-License-Identifier: GPL-3.0-or-later
"""mpi_conf with stand-ins for ompi_info and ucx_info that read the files; beegfs_conf on files."""

from __future__ import annotations

import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.host import NcclHost, NcclPort
from ansible_collections.ibready.cluster.plugins.modules import beegfs_conf, mpi_conf

Run = Callable[..., dict[str, Any]]
OMPI = """#!/bin/sh
if [ "$2" = --path ]; then echo path:sysconfdir:{home}; exit; fi
last=$(sed -n 's/^ *pml *= *//p' {home}/openmpi-mca-params.conf 2>/dev/null | tail -n 1)
echo 'mca:pml:ob1:version:"component:5.0.7"'
echo 'mca:pml:ucx:version:"component:5.0.7"'
echo "mca:pml:base:param:pml:value:${{FORCED-$last}}"
echo 'mca:pml:base:param:pml:source:file'
echo 'mca:pml:ucx:param:pml_ucx_tls:value:rc_verbs'
"""
UCX = """#!/bin/sh
if [ "$1" = -c ]; then grep '^UCX_' {home}/ucx.conf; exit; fi
printf '# Library version: 1.18.1\\n#      Transport: {transport}\\n#         Device: mlx5_0:1\\n'
printf '#       error handling: none\\n#\\n'
"""
DEBIAN = "pml = ^ucx\nosc = ^ucx,pt2pt"


class Host:
    def __init__(self, home: Path, run: Run) -> None:
        self.home, self._run = home, run
        self.mca = home / "openmpi-mca-params.conf"
        self.mca.write_text(DEBIAN)

    def tools(self, transport: str = "rc_mlx5") -> None:
        for name, text in (("ompi_info", OMPI), ("ucx_info", UCX)):
            path = self.home / "bin" / name
            path.write_text(text.format(home=self.home, transport=transport))
            path.chmod(0o755)

    def apply(self, **args: Any) -> dict[str, Any]:
        host = NcclHost(ports=Reading((NcclPort("mlx5_0", 1, layer="InfiniBand", state="Active"),)))
        given = {"host": host.to_dict(), "ucx_conf": str(self.home / "ucx.conf")}
        return self._run(mpi_conf.main, **{**given, **args})


@pytest.fixture
def host(tmp_path: Path, run_module: Run, monkeypatch: pytest.MonkeyPatch) -> Host:
    (tmp_path / "bin").mkdir()
    monkeypatch.setattr(
        "ansible_collections.ibready.cluster.plugins.module_utils._ground.command._search_path",
        lambda: f"{tmp_path}/bin:/usr/bin:/bin",
    )
    monkeypatch.setattr(
        "ansible_collections.ibready.cluster.plugins.module_utils._act.mpi.ask.find_program",
        lambda name: _found(tmp_path / "bin" / name),
    )
    return Host(tmp_path, run_module)


def _found(path: Path) -> str:
    from ansible_collections.ibready.cluster.plugins.module_utils._ground.command import Unavailable

    if not path.exists():
        raise Unavailable(path.name, "not installed (no such program in PATH)")
    return str(path)


def test_open_mpi_takes_ucx_and_the_rails_afterwards(host: Host) -> None:
    host.tools()
    result = host.apply()
    assert (result["changed"], result["release"]) == (True, "5.0.7")
    assert result["settings"][str(host.mca)] == {"pml": "ucx", "osc": "ucx"}
    assert "UCX_NET_DEVICES=mlx5_0:1\n" in (host.home / "ucx.conf").read_text()
    assert host.mca.read_text().startswith(DEBIAN + "\n")
    assert not host.apply()["changed"]
    assert host.apply(state="absent")["changed"]
    assert host.mca.read_text() == DEBIAN + "\n"
    assert not (host.home / "ucx.conf").exists()


def test_check_mode_tells_and_changes_nothing(host: Host) -> None:
    host.tools()
    result = host.apply(check=True)
    assert (result["changed"], host.mca.read_text()) == (True, DEBIAN)


def test_what_open_mpi_does_not_take_fails_the_run(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    host.tools()
    monkeypatch.setenv("FORCED", "^ucx")
    result = host.apply()
    assert result["failed"]
    assert "pml=ucx is written, and Open MPI takes '^ucx'" in result["msg"]
    # The file is as it should be by now, and Open MPI still goes by something else.
    assert "pml=ucx is written, and Open MPI takes '^ucx'" in host.apply()["msg"]


def test_true_and_false_are_written_as_ucx_shows_them(host: Host) -> None:
    host.tools()
    result = host.apply(ucx={"UCX_MEMTYPE_CACHE": False}, mca={"mpi_show_handle_leaks": True})
    assert result["settings"][str(host.home / "ucx.conf")]["UCX_MEMTYPE_CACHE"] == "n"
    assert result["settings"][str(host.mca)]["mpi_show_handle_leaks"] == "1"


def test_without_rdma_ucx_is_not_forced_and_it_is_told(host: Host) -> None:
    host.tools("tcp")
    result = host.apply()
    assert result["settings"] == {}
    assert any(
        one.startswith(f"{platform.node()}: pml=ucx is not written, for UCX reaches no RDMA device")
        for one in result["warnings"]
    )


def test_a_site_s_own_choice_stays(host: Host) -> None:
    host.tools()
    host.mca.write_text("pml = ob1\n")
    result = host.apply()
    assert result["kept"] == ["pml"]
    assert "pml" not in result["settings"][str(host.mca)]


def test_without_open_mpi_nothing_is_written(host: Host) -> None:
    result = host.apply()
    assert (result["changed"], result["installed"]) == (False, False)
    assert host.mca.read_text() == DEBIAN


def test_a_home_without_open_mpi_is_named(host: Host) -> None:
    assert "mpi_home" in host.apply(home="/opt/hpcx")["msg"]


CLIENT = "sysMgmtdHost = head\nconnUseRDMA                   = false\nconnInterfacesFile =\n"


def client(home: Path) -> Path:
    path = home / "beegfs-client.conf"
    path.write_text(CLIENT)
    path.chmod(0o600)
    return path


def test_the_client_s_values_change_in_place_and_a_copy_is_kept(tmp_path: Path, run_module: Run) -> None:
    path = client(tmp_path)
    (tmp_path / "beegfs-client-autobuild.conf").write_text("# notes\nbuildArgs=-j8\n")
    args: dict[str, Any] = {
        "directory": str(tmp_path),
        "interfaces": ["ib0"],
        "settings": {"connRDMABufNum": 70},
    }
    result = run_module(beegfs_conf.main, **args, ofed_include="/usr/src/ofa_kernel/default/include")
    assert result["changed"]
    assert path.read_text() == (
        "sysMgmtdHost = head\nconnUseRDMA                   = true\n"
        f"connInterfacesFile = {tmp_path}/ibready-interfaces.conf\nconnRDMABufNum = 70\n"
    )
    assert path.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "ibready-interfaces.conf").read_text() == "ib0\n"
    build = (tmp_path / "beegfs-client-autobuild.conf").read_text()
    assert build == ("# notes\nbuildArgs=-j8 OFED_INCLUDE_PATH=/usr/src/ofa_kernel/default/include\n")
    assert "rebuild" in result["msg"]
    assert any("~" in one.name for one in tmp_path.iterdir())
    again = run_module(beegfs_conf.main, **args)
    assert not again["changed"]


def test_check_mode_leaves_the_client_alone(tmp_path: Path, run_module: Run) -> None:
    path = client(tmp_path)
    result = run_module(beegfs_conf.main, directory=str(tmp_path), check=True)
    assert (result["changed"], path.read_text()) == (True, CLIENT)


def test_a_host_without_a_client_is_left_alone(tmp_path: Path, run_module: Run) -> None:
    result = run_module(beegfs_conf.main, directory=str(tmp_path))
    assert (result["changed"], result["installed"]) == (False, False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("args", [{"interfaces": ["ib0 eth0 and more"]}, {"settings": {"connUseRDMA": "a\nb"}}])
def test_what_fits_on_no_line_is_refused(tmp_path: Path, run_module: Run, args: dict[str, Any]) -> None:
    path = client(tmp_path)
    result = run_module(beegfs_conf.main, directory=str(tmp_path), **args)
    assert result["failed"]
    assert "Next: " in result["msg"]
    assert path.read_text() == CLIENT
