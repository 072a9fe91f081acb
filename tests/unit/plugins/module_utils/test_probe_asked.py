# SPDX-License-Identifier: GPL-3.0-or-later
"""Asking an engine: what it is told, what is told of it, and what is left behind.

The engines are scripts that write down their words and run what a container would run, here.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ask.container import devices, engine, query
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import QUESTIONS, Live
from ansible_collections.ibready.cluster.plugins.module_utils._ground import command
from ansible_collections.ibready.cluster.plugins.module_utils._ground.command import Unavailable
from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import container_probe
from ansible_collections.ibready.cluster.plugins.module_utils._parse._container_desired import Desired, read
from ansible_collections.ibready.cluster.plugins.module_utils._parse._container_facts import ContainerProbe

# Says its version, knows every image, and runs the words after IMAGE (or NAME).
_DOCKER = """#!/bin/sh
echo "$*" | head -n 1 >> {log}
case $1 in
  --version) echo "Docker version 28.5.1, build x" ;;
  version) echo 28.5.1 ;;
  image|load|rm|rmi) ;;
  run) while [ "$1" != -c ]; do shift; done; exec /bin/sh -c "$2" ;;
esac
"""
_CTR = """#!/bin/sh
echo "$*" | head -n 1 >> {log}
shift 2
case $1 in
  version) printf 'Client:\\n  Version:  1\\n\\nServer:\\n  Version:  1.7.24\\n' ;;
  images) [ "$2" = list ] && echo "${{4#name==}}" ;;
  run) while [ "$1" != -c ]; do shift; done; exec /bin/sh -c "$2" ;;
esac
exit 0
"""
_CTR_VERSION = _CTR.replace("shift 2\n", '[ "$1" = version ] || shift 2\n')


class Box:
    """Programs in a folder of their own, and what they were told."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "log"

    def has(self, name: str, text: str) -> None:
        path = self.folder / name
        path.write_text(text.format(log=self.log) if "{log}" in text else text)
        path.chmod(0o755)

    @property
    def told(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Box:
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(devices, "devices", lambda wish: wish.devices or ("/dev/null",))
    monkeypatch.setattr(devices, "mounts", lambda: ("/etc/hostname",))
    return Box(tmp_path)


def ask(**said: object) -> ContainerProbe:
    return container_probe.parse(query.ask(read(said).to_text()).stdout)


def test_a_container_runs_as_root_and_as_another_and_nothing_stays(box: Box) -> None:
    box.has("docker", _DOCKER)
    probe = ask()
    assert probe.engine is not None
    assert (probe.engine.name, probe.engine.version) == ("docker", "28.5.1")
    assert probe.origin == "built"
    assert [(one.who, one.user, one.how) for one in probe.runs] == [
        ("root", 0, "ran"),
        ("user", 65534, "ran"),
    ]
    inside = probe.runs[0].inside
    assert inside is not None
    assert inside.uid == os.geteuid()
    assert inside.limits.nofile_hard > 0
    assert "lo" in inside.interfaces
    runs = [line for line in box.told if line.startswith("run ")]
    assert "--user=0:0" in runs[0]
    assert "--user=65534:65534" in runs[1]
    for word in (
        "--network=host",
        "--ipc=host",
        "--cap-add=IPC_LOCK",
        "--device=/dev/null",
        "--volume=/etc/hostname:/etc/hostname:ro",
        "--pull=never",
        "--rm",
    ):
        assert word in runs[0]
    assert not any("ulimit" in one for one in runs)
    names = [word for line in runs for word in line.split() if word.startswith("--name=")]
    assert [f"rm --force {one[len('--name=') :]}" for one in names] == [
        line for line in box.told if line.startswith("rm ")
    ]
    assert box.told[-1] == f"rmi --force {probe.image}"


def test_the_loaders_libcuda_and_an_images_cuda_are_told(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    box.has("docker", _DOCKER)
    compat, other = box.folder / "compat", box.folder / "other"
    for folder, driver in ((compat, "580.65.06"), (other, "535.183.06")):
        folder.mkdir()
        (folder / f"libcuda.so.{driver}").touch()
        (folder / "libcuda.so.1").symlink_to(f"libcuda.so.{driver}")
    (other / "libcudart.so.13.0.96").touch()
    requires = "cuda>=13.0 brand=tesla,driver>=535,driver<536"
    monkeypatch.setenv("LD_LIBRARY_PATH", f"{box.folder}/none::{compat}:{other}:{compat}")
    monkeypatch.setenv("CUDA_VERSION", "13.0.1")
    monkeypatch.setenv("NVIDIA_REQUIRE_CUDA", requires)
    monkeypatch.setenv("NVIDIA_DISABLE_REQUIRE", "true")
    inside = ask().runs[0].inside
    assert inside is not None
    assert inside.libcuda is not None
    assert list(inside.libcuda.items())[:2] == [
        (f"{compat}/libcuda.so.1", f"{compat}/libcuda.so.580.65.06"),
        (f"{other}/libcuda.so.1", f"{other}/libcuda.so.535.183.06"),
    ]
    assert f"{other}/libcudart.so.13.0.96" in inside.cudart
    names = ("CUDA_VERSION", "NVIDIA_REQUIRE_CUDA", "NVIDIA_DISABLE_REQUIRE")
    assert [inside.environment[name] for name in names] == ["13.0.1", requires, "true"]


def test_an_image_without_readlink_does_not_tell_where_libcuda_leads(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    box.has("docker", _DOCKER)
    box.has("readlink", "#!/bin/sh\nexit 1\n")
    (box.folder / "libcuda.so.1").touch()
    monkeypatch.setenv("LD_LIBRARY_PATH", str(box.folder))
    inside = ask().runs[0].inside
    assert inside is not None
    assert inside.libcuda is not None
    assert inside.libcuda[f"{box.folder}/libcuda.so.1"] == "untold"


@pytest.mark.parametrize(
    ("text", "told"),
    [(None, ()), ("", ("",)), ('{"cuda":\n\n  {}}', ("", '{"cuda":', "{}}"))],
    ids=["none", "empty", "some"],
)
def test_a_version_file_is_told_of_also_where_it_is_empty(
    box: Box, monkeypatch: pytest.MonkeyPatch, text: str | None, told: tuple[str, ...]
) -> None:
    box.has("docker", _DOCKER)
    path = box.folder / "version.json"
    if text is not None:
        path.write_text(text)
    monkeypatch.setattr(query, "_SCRIPT", query._SCRIPT.replace("/usr/local/cuda/version.json", str(path)))
    inside = ask().runs[0].inside
    assert inside is not None
    assert inside.cuda_json == told


def test_the_virtual_environment_that_jobs_call_is_looked_at(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    box.has("docker", _DOCKER)
    home = box.folder / "app dir/.venv"
    wheel = home / "lib/python3.12/site-packages/nvidia_cuda_runtime-13.0.96.dist-info"
    for folder in (home / "bin", wheel):
        folder.mkdir(parents=True)
    (home / "bin/python3").symlink_to(sys.executable)
    monkeypatch.setenv("PATH", f"{home}/bin:{os.environ['PATH']}")
    inside = ask().runs[0].inside
    assert inside is not None
    assert str(wheel) in inside.cudart


def test_what_docker_says_below_a_failure_is_left_out(box: Box) -> None:
    said = "nvidia-container-cli: requirement error: unsatisfied condition: cuda>=13.0, please update your driver"
    for pointer in ("See 'docker run --help'.", "Run 'docker run --help' for more information"):
        run = f'run) printf "docker: Error response from daemon\\n{said}\\n\\n{pointer}\\n" >&2; exit 125 ;;'
        box.has("docker", _DOCKER.replace('run) while [ "$1" != -c ]; do shift; done; exec /bin/sh -c "$2" ;;', run))
        assert [(one.how, one.said) for one in ask().runs] == 2 * [("failed", said)]


def test_the_sites_word_is_kept(box: Box) -> None:
    box.has("docker", _DOCKER)
    probe = ask(
        image="example.com/train:1",
        network="rdma",
        devices=["ibready.io/rdma=all"],
        options=["--env=A=b"],
        user=7,
    )
    assert (probe.image, probe.origin) == ("example.com/train:1", "local")
    runs = [line for line in box.told if line.startswith("run ")]
    for word in ("--network=rdma", "--device=ibready.io/rdma=all", "--env=A=b"):
        assert word in runs[1]
    assert "--user=7:7" in runs[1]
    assert not any(line.startswith(("load", "rmi", "pull")) for line in box.told)


def test_ctr_is_told_in_its_own_words(box: Box) -> None:
    box.has("ctr", _CTR_VERSION)
    probe = ask(engine="containerd")
    assert probe.engine is not None
    assert (probe.engine.name, probe.engine.version) == ("containerd", "1.7.24")
    assert [one.how for one in probe.runs] == ["ran", "ran"]
    run = next(line for line in box.told if " run " in line)
    assert run.startswith("--namespace ibready run --rm --user=0:0 --cap-add=CAP_IPC_LOCK")
    assert "--net-host --mount type=bind,src=/dev/shm,dst=/dev/shm" in run
    assert any(" images import " in line for line in box.told)
    assert any(" tasks kill --signal SIGKILL ibready-probe-" in line for line in box.told)
    assert box.told[-1] == f"--namespace ibready images remove {probe.image}"


def test_an_image_of_containerd_is_found_where_kubernetes_has_it(box: Box) -> None:
    only = 'images) [ "$space" = k8s.io ] && [ "$2" = list ] && echo "${{4#name==}}" ;;'
    old = 'images) [ "$2" = list ] && echo "${{4#name==}}" ;;'
    text = _CTR_VERSION.replace("shift 2\n", "{{ space=$2; shift 2; }}\n").replace(old, only)
    box.has("ctr", text)
    probe = ask(engine="containerd", image="example.com/train:1")
    assert [one.how for one in probe.runs] == ["ran", "ran"]
    assert any(line.startswith("--namespace k8s.io run ") for line in box.told)


@pytest.mark.parametrize(
    ("allowed", "says"),
    [(False, "nobody allowed it to be pulled"), (True, "not pulled: denied by the registry")],
)
def test_an_image_that_is_not_there_is_fetched_only_where_that_is_allowed(box: Box, allowed: bool, says: str) -> None:
    text = _DOCKER.replace("image|", "image) exit 1 ;;\n  pull) echo denied by the registry >&2; exit 1 ;;\n  ")
    box.has("docker", text)
    probe = ask(image="example.com/train:1", pull=allowed)
    assert says in probe.no_image
    assert probe.runs == ()
    assert any(line.startswith("pull") for line in box.told) is allowed


def test_a_service_that_is_down_is_no_missing_engine(box: Box) -> None:
    box.has("docker", "#!/bin/sh\necho 'Cannot connect to the Docker daemon' >&2\nexit 1\n")
    probe = ask()
    assert probe.engine is not None
    assert probe.engine.name == "docker"
    assert probe.unusable == "Cannot connect to the Docker daemon"


def test_dockerd_without_its_program_is_told(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {"dockerd": "/usr/sbin/dockerd", "ctr": "/usr/bin/ctr"}
    monkeypatch.setattr(engine, "_path", lambda name: found.get(name, ""))
    assert "docker-cli" in ask().unusable


def test_containerd_without_any_program_to_ask_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {"containerd": "/usr/bin/containerd"}
    monkeypatch.setattr(engine, "_path", lambda name: found.get(name, ""))
    probe = ask()
    assert probe.engine is not None
    assert (probe.engine.name, probe.unusable) == (
        "containerd",
        "containerd is here without the program ctr (containerd.io)",
    )


def test_an_engine_that_may_not_be_run_is_no_missing_one(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    box.has("podman", _DOCKER)
    (box.folder / "podman").chmod(0o644)
    monkeypatch.setenv("PATH", str(box.folder))
    monkeypatch.setattr(command, "_MORE_PATH", ())
    probe = ask(engine="podman")
    assert probe.engine is not None
    assert probe.engine.name == "podman"
    assert "permission denied" in probe.unusable


def test_what_was_asked_for_is_told_without_the_options_text(box: Box) -> None:
    box.has("docker", _DOCKER)
    probe = ask(user=7, options=["--env=TOKEN=secret"])
    assert (probe.wish.user, len(probe.wish.options)) == (7, 1)
    assert "secret" not in probe.wish.to_text()


def test_podman_in_dockers_clothes_is_podman(box: Box) -> None:
    box.has("docker", _DOCKER.replace("Docker version 28.5.1, build x", "podman version 5.4.2"))
    box.has("podman", _DOCKER)
    probe = ask()
    assert probe.engine is not None
    assert (probe.engine.name, probe.engine.program) == ("podman", f"{box.folder}/podman")


def test_without_any_engine_that_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_path", lambda _name: "")
    assert "no docker or podman or nerdctl or ctr in PATH" in ask().no_engine
    assert ask(engine="podman").no_engine == "podman: not installed (no podman in PATH)"


@pytest.mark.parametrize(
    ("said", "how"),
    [
        ('exec: "/bin/sh": stat /bin/sh: no such file or directory', "no_shell"),
        ('exec: "/bin/sh": executable file not found in $PATH', "no_shell"),
        ('adding custom device "/dev/x": no such file or directory', "failed"),
    ],
)
def test_a_container_that_does_not_start_says_why(box: Box, said: str, how: str) -> None:
    run = f"run) echo '{said}' >&2; exit 127 ;;\n  ran) "
    box.has("docker", _DOCKER.replace("run) ", run))
    probe = ask()
    assert [(one.how, one.said) for one in probe.runs] == [(how, said)] * 2
    assert len([line for line in box.told if line.startswith("rm ")]) == 2
    assert box.told[-1].startswith("rmi ")


def test_a_container_that_never_ends_is_removed(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query, "_RUN", 0.2)
    box.has("docker", _DOCKER.replace("run) ", "run) sleep 9 ;;\n  ran) "))
    probe = ask()
    assert {one.how for one in probe.runs} == {"failed"}
    assert "within 0.2 s" in probe.runs[0].said
    assert len([line for line in box.told if line.startswith("rm ")]) == 2


def test_what_an_entrypoint_says_first_is_left_out(box: Box) -> None:
    box.has("docker", _DOCKER.replace("exec /bin/sh", "echo == PyTorch ==; exec /bin/sh"))
    assert [one.how for one in ask().runs] == ["ran", "ran"]


def test_half_of_an_answer_is_none(box: Box) -> None:
    box.has("docker", _DOCKER.replace('exec /bin/sh -c "$2"', '/bin/sh -c "$2" | head -n 20'))
    with pytest.raises(ValueError, match="cut off"):
        ask()


def test_only_the_host_itself_is_asked(tmp_path: Path) -> None:
    assert "container_probe" in QUESTIONS
    with pytest.raises(Unavailable, match="only the host itself"):
        Live(tmp_path).run("container_probe", Desired().to_text())


def test_kinds_of_cdi_are_read_as_yaml_and_as_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.yaml").write_text("cdiVersion: 0.5.0\nkind: nvidia.com/gpu\n")
    (tmp_path / "b.json").write_text('{\n  "kind": "ibready.io/rdma",\n  "devices": []\n}\n')
    (tmp_path / "c.txt").write_text("kind: x.y/z\n")
    monkeypatch.setattr(devices, "_CDI", (str(tmp_path), str(tmp_path / "none")))
    (tmp_path / "d.json").write_text('{"cdiVersion":"0.5.0","kind":"x.y/short","devices":[]}')
    assert devices.kinds() == {"nvidia.com/gpu", "ibready.io/rdma", "x.y/short"}
    assert devices.devices(Desired())[-1] == "nvidia.com/gpu=all"
    assert devices.devices(Desired(devices=("/dev/a",))) == ("/dev/a",)


def test_a_cdi_file_that_is_too_long_is_not_read_by_half(tmp_path: Path) -> None:
    folder = tmp_path / "etc/cdi"
    folder.mkdir(parents=True)
    kind = "kind: nvidia.com/gpu\n"
    for name, length in (("whole", devices._MOST), ("long", devices._MOST + 1)):
        (folder / f"{name}.yaml").write_text(kind.ljust(length))
    assert set(devices.files(str(tmp_path))) == {"/etc/cdi/whole.yaml"}


def test_an_image_that_prints_without_end_is_cut_off_by_name(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    box.has("docker", _DOCKER)
    monkeypatch.setattr(query, "_MOST_LINES", 3)
    with pytest.raises(ParseError, match="what root saw is cut off"):
        ask()
