# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._act.container import cdi_rdma
from ansible_collections.ibready.cluster.plugins.modules import container_cdi
from tests.unit.engine_world import Host

Run = Callable[..., dict[str, Any]]
SPEC = "etc/cdi/ibready-rdma.json"
DRIVER = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build\n"
YAML = "devices:\n- name: all\n  mounts: [/usr/lib/libcuda.so.{}]\n"


class World(Host):
    """A host with an engine, and RDMA devices that are links to the null device."""

    def __init__(self, root: Path, run_module: Run) -> None:
        super().__init__(root, run_module)
        self.program("podman", "")
        (root / "dev/infiniband").mkdir(parents=True)

    def device(self, name: str, hca: str = "") -> None:
        (self.root / "dev" / name).symlink_to("/dev/null")
        if hca:
            place = self.root / "sys/class/infiniband_verbs" / Path(name).name
            place.mkdir(parents=True)
            (place / "ibdev").write_text(f"{hca}\n")

    def describe(self, *, check: bool = False, **wish: Any) -> dict[str, Any]:
        return self._run(container_cdi.main, check=check, **wish, root=str(self.root))

    def spec(self) -> dict[str, list[str]]:
        spec = json.loads((self.root / SPEC).read_text())
        return {one["name"]: [node["path"] for node in one["containerEdits"]["deviceNodes"]] for one in spec["devices"]}

    def driver(self, text: str = DRIVER) -> None:
        (self.root / "proc/driver/nvidia").mkdir(parents=True, exist_ok=True)
        self.write("proc/driver/nvidia/version", text)

    def toolkit(self, *, units: bool, makes: str = "580.95.05") -> None:
        self.write("makes", YAML.format(makes))
        self.program("nvidia-ctk", 'echo "$@" >> calls; cat makes')
        if units:
            (self.root / "usr/lib/systemd/system").mkdir(parents=True)
            for unit in ("path", "service"):
                self.write(f"usr/lib/systemd/system/nvidia-cdi-refresh.{unit}", "")
                self.write(f"state/nvidia-cdi-refresh.{unit}.enabled", "disabled\n")
            (self.root / "var/run/cdi").mkdir(parents=True)
            body = (self.root / "bin/systemctl").read_text()
            asked = '[ "$*" = "restart nvidia-cdi-refresh.service" ]'
            body = f"{asked} && cp makes var/run/cdi/nvidia.yaml\n{body}"
            self.program("systemctl", body)


@pytest.fixture
def host(tmp_path: Path, run_module: Run, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    return World(tmp_path, run_module)


def test_devices_are_described_as_they_are(host: World) -> None:
    host.device("infiniband/uverbs10", "mlx5_10")
    host.device("infiniband/uverbs2", "mlx5_2")
    host.device("infiniband/rdma_cm")
    (host.root / "dev/infiniband/uverbs3").write_text("no device")
    reported = host.describe(check=True)
    assert (reported["changed"], (host.root / SPEC).exists()) == (True, False)
    first = host.describe()
    assert first["devices"] == [
        "ibready.io/rdma=all",
        "ibready.io/rdma=mlx5_2",
        "ibready.io/rdma=mlx5_10",
    ]
    cm = "/dev/infiniband/rdma_cm"
    assert host.spec() == {
        "all": ["/dev/infiniband/uverbs2", "/dev/infiniband/uverbs10", cm],
        "mlx5_2": ["/dev/infiniband/uverbs2", cm],
        "mlx5_10": ["/dev/infiniband/uverbs10", cm],
    }
    assert not host.describe()["changed"]


def test_a_device_that_comes_or_goes_is_noticed(host: World) -> None:
    host.device("infiniband/uverbs0", "mlx5_0")
    host.describe()
    host.device("gdrdrv")
    assert host.describe()["files"] == [f"/{SPEC}"]
    assert host.spec()["all"] == ["/dev/infiniband/uverbs0", "/dev/gdrdrv"]
    (host.root / "dev/infiniband/uverbs0").unlink()
    gone = host.describe()
    assert "no /dev/infiniband/uverbs*" in gone["left"]["rdma"]
    assert not (host.root / SPEC).exists()


def test_the_program_at_boot_does_the_same(host: World) -> None:
    host.device("infiniband/uverbs0", "mlx5_0")
    host.describe()
    before = (host.root / SPEC).read_bytes()
    host.device("infiniband/uverbs1", "mlx5_1")
    program = host.root / "usr/local/lib/ibready/cdi-rdma"
    subprocess.run([sys.executable, "-I", program, host.root], check=True)
    assert set(host.spec()) == {"all", "mlx5_0", "mlx5_1"}
    (host.root / "dev/infiniband/uverbs1").unlink()
    subprocess.run([sys.executable, "-I", program, host.root], check=True)
    assert (host.root / SPEC).read_bytes() == before


def test_who_is_called_while_it_looks_looks_again(host: World) -> None:
    """systemd hears no change while what a path unit started runs: that one must end before the look begins."""
    host.device("infiniband/uverbs0", "mlx5_0")
    host.describe()
    units = host.root / "etc/systemd/system"
    assert "Unit=ibready-cdi-rdma-again.service\n" in (units / "ibready-cdi-rdma.path").read_text()
    again = (units / "ibready-cdi-rdma-again.service").read_text()
    assert "ExecStart=/bin/systemctl --no-block restart ibready-cdi-rdma.service\n" in again
    assert "ibready-cdi-rdma-again.service\n" in (units / "ibready-cdi-rdma.service").read_text().split("After=")[1]


def test_a_watch_that_did_not_come_up_is_told_and_begun_again(host: World) -> None:
    host.device("infiniband/uverbs0", "mlx5_0")
    script = (host.root / "bin/systemctl").read_text()
    host.program("systemctl", '[ "$1" = restart ] && { echo "no inotify" >&2; exit 1; }; exit 0')
    failed = host.describe(gpus=False)
    assert "`systemctl restart ibready-cdi-rdma.path` failed: no inotify" in failed["msg"]
    (host.root / "bin/systemctl").write_text(script)
    reported = host.describe(check=True, gpus=False)
    assert (reported["changed"], reported["units"]) == (True, ["ibready-cdi-rdma.path (started)"])
    assert host.describe(gpus=False)["units"] == reported["units"]
    assert not host.describe(gpus=False)["changed"]


def test_all_of_it_goes(host: World) -> None:
    before = host.tree()
    host.device("infiniband/uverbs0", "mlx5_0")
    host.describe()
    link = host.root / "etc/systemd/system/multi-user.target.wants/ibready-cdi-rdma.path"
    assert link.resolve().exists()
    assert host.describe(rdma=False, gpus=False)["changed"]
    assert (host.tree(), link.is_symlink()) == (before, False)
    assert not (host.root / "usr/local/lib/ibready/cdi-rdma").exists()
    assert not host.describe(rdma=False, gpus=False)["changed"]


def test_without_an_engine_nobody_is_told(host: World) -> None:
    host.device("infiniband/uverbs0", "mlx5_0")
    host.describe()
    for program in ("podman",):
        (host.root / "bin" / program).unlink()
    reported = cdi_with_nobody(host)
    assert (reported["changed"], (host.root / SPEC).exists()) == (True, False)


def cdi_with_nobody(host: World) -> dict[str, Any]:
    """Describe on a PATH without this machine's own engines."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "ansible_collections.ibready.cluster.plugins.module_utils._act.container.cdi.data.CDI_READERS",
            ("no-such-engine",),
        )
        return host.describe()


def test_a_name_that_engines_do_not_take_is_left_out(host: World) -> None:
    host.device("infiniband/uverbs0", "odd name")
    assert set(cdi_rdma.devices(str(host.root))) == {"all"}


def test_gpus_are_described_by_the_tool_before_1_18(host: World) -> None:
    host.driver()
    host.toolkit(units=False)
    assert host.describe(check=True)["files"][0] == "/etc/cdi/nvidia.yaml"
    host.describe()
    assert (host.root / "etc/cdi/nvidia.yaml").read_text() == YAML.format("580.95.05")
    assert not host.describe()["changed"]
    host.driver(DRIVER.replace("580.95.05", "595.91.07"))
    host.write("makes", YAML.format("595.91.07"))
    assert host.describe()["files"] == ["/etc/cdi/nvidia.yaml"]
    assert not host.describe()["changed"]


def test_gpus_are_described_by_the_toolkits_units_since(host: World) -> None:
    host.driver()
    host.toolkit(units=True)
    reported = host.describe(check=True)
    assert reported["units"] == [
        "nvidia-cdi-refresh.path",
        "nvidia-cdi-refresh.service",
        "nvidia-cdi-refresh.service (started)",
    ]
    assert host.describe()["units"] == reported["units"]
    assert host.describe()["changed"] is False
    assert not (host.root / "etc/cdi/nvidia.yaml").exists()
    host.driver(DRIVER.replace("580.95.05", "595.91.07"))
    late = host.describe()
    assert late["units"] == ["nvidia-cdi-refresh.service (started)"]
    again = host.describe()
    assert (again["changed"], again["left"]) == (False, late["left"])
    assert "is not of driver 595.91.07 (580.95.05)" in late["left"]["gpus"]
    host.write("makes", YAML.format("600.1"))
    host.driver(DRIVER.replace("580.95.05", "600.1"))
    assert "gpus" not in host.describe()["left"]


def test_a_description_of_another_driver_is_told(host: World) -> None:
    host.driver()
    host.toolkit(units=False, makes="570.124.06")
    reported = host.describe()
    assert reported["left"]["gpus"] == (
        "`nvidia-ctk cdi generate` ran, and /etc/cdi/nvidia.yaml is not of driver 580.95.05 (570.124.06)"
    )
    again = host.describe()
    assert (again["changed"], again["left"]) == (False, reported["left"])


def several(told: dict[str, Any]) -> list[str]:
    return [text for text in told.get("warnings", []) if "the GPUs are described by" in text]


def test_another_file_of_the_site_beside_the_toolkits_is_told(host: World) -> None:
    host.driver()
    host.toolkit(units=True)
    (host.root / "etc/cdi").mkdir()
    host.write("etc/cdi/nvidia.yaml", "kind: nvidia.com/gpu\n" + YAML.format("570.124.06"))
    host.write("etc/cdi/other.yaml", "kind: management.nvidia.com/gpu\n" + YAML.format("1.2"))
    host.write("makes", "kind: nvidia.com/gpu\n" + YAML.format("580.95.05"))
    [reported] = several(host.describe())
    assert "/etc/cdi/nvidia.yaml (driver 570.124.06) and /var/run/cdi/nvidia.yaml (driver 580.95.05)" in reported
    (host.root / "etc/cdi/nvidia.yaml").unlink()
    assert not several(host.describe())


def test_no_second_file_is_written_beside_one_of_the_site(host: World) -> None:
    host.driver()
    host.toolkit(units=False)
    (host.root / "etc/cdi").mkdir()
    host.write("etc/cdi/gpus.json", '{"cdiVersion":"0.5.0","kind":"nvidia.com/gpu"}')
    reported = host.describe()
    assert "/etc/cdi/nvidia.yaml is not written beside /etc/cdi/gpus.json" in reported["left"]["gpus"]
    assert not (host.root / "etc/cdi/nvidia.yaml").exists()


def test_our_own_file_goes_when_the_units_come(host: World) -> None:
    host.driver()
    host.toolkit(units=False)
    host.describe()
    host.toolkit(units=True)
    assert "/etc/cdi/nvidia.yaml" in host.describe()["files"]
    assert not (host.root / "etc/cdi/nvidia.yaml").exists()


def test_a_tool_that_fails_is_told(host: World) -> None:
    host.driver()
    host.program("nvidia-ctk", "echo 'no devices found' >&2; exit 1")
    failed = host.describe()
    assert "status 1: no devices found" in failed["msg"]
    # The program and the units for RDMA devices were written before.
    assert "Nothing was changed" not in failed["msg"]
    assert "Nothing was changed" in host.describe()["msg"]


def test_without_toolkit_or_driver_it_is_told(host: World) -> None:
    assert "nvidia-ctk: not installed" in host.describe()["left"]["gpus"]
    host.toolkit(units=False)
    assert host.describe()["left"]["gpus"] == "NVIDIA's driver is not loaded"
    host.toolkit(units=True)
    assert host.describe()["left"]["gpus"] == "NVIDIA's driver is not loaded"


@pytest.mark.parametrize("units", [False, True])
def test_a_driver_whose_version_cannot_be_read_is_told(host: World, units: bool) -> None:
    host.toolkit(units=units)
    host.driver("NVRM version: of tomorrow\n")
    assert "/proc/driver/nvidia/version tells no version" in host.describe()["left"]["gpus"]


def test_devices_that_cannot_be_read_are_not_taken_for_none(host: World) -> None:
    host.device("infiniband/uverbs0", "mlx5_0")
    assert host.describe(rdma=True, gpus=False)["changed"]
    before = (host.root / SPEC).read_text()
    (host.root / "dev/infiniband").rename(host.root / "dev/elsewhere")
    (host.root / "dev/infiniband").symlink_to("infiniband")
    reported = host.describe(rdma=True, gpus=False)
    assert reported["failed"]
    assert "/dev/infiniband cannot be read: Too many levels of symbolic links" in reported["msg"]
    assert (host.root / SPEC).read_text() == before
