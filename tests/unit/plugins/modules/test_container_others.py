# SPDX-License-Identifier: GPL-3.0-or-later
"""containerd and podman on a host of scripts, as test_container_engines has docker."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.modules import container_engines
from tests.unit.engine_world import Host

Run = Callable[..., dict[str, Any]]
CRI = "io.containerd.grpc.v1.cri"
# Prints what it was given, with its defaults, as the real one does.
_CONTAINERD = f"""\
case "$1" in
--version) echo "containerd github.com/containerd/containerd 1.7.24 1.7.24" ;;
--config)
  grep -qs '= refused' "$2" && {{ echo "containerd: failed to load TOML" >&2; exit 1; }}
  on=$(grep -qs 'enable_cdi = true' "$2" && [ ! -e imported-off ] && echo true || echo false)
  other=$([ -e fragile ] && echo "$on" || echo same)
  printf 'disabled_plugins = []\\nversion = 2\\n[grpc]\\n  address = "/run/c.sock"\\n'
  printf '[plugins."{CRI}"]\\n  enable_cdi = %s\\n  other = "%s"\\n' "$on" "$other" ;;
esac
"""
_CTR = """\
[ "$1 $2" = "--address /run/c.sock" ] || { echo "no socket" >&2; exit 1; }
shift 2
case "$*" in
version) echo Server ;;
"namespaces list --quiet") printf 'k8s.io\\nmoby\\n' ;;
"--namespace k8s.io tasks list")
  printf 'TASK    PID    STATUS\\n'; cat containers 2>/dev/null; true ;;
*) printf 'TASK    PID    STATUS\\n' ;;
esac
"""
_PODMAN = """\
case "$1" in
--version) echo "podman version 5.4.2" ;;
info)
  for file in ${CONTAINERS_CONF:-etc/containers/containers.conf.d/*.conf}; do
    grep -qs "$(cat refuses 2>/dev/null || echo nothing-here)" "$file" && {
      echo "Failed to obtain podman configuration: unrecognized" >&2; exit 1; }
  done
  echo "host:" ;;
esac
exit 0
"""


@pytest.fixture
def host(tmp_path: Path, run_module: Run, monkeypatch: pytest.MonkeyPatch) -> Host:
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    made = Host(tmp_path, run_module)
    made.program("containerd", _CONTAINERD)
    made.program("ctr", _CTR)
    made.program("podman", _PODMAN)
    made.write("state/containerd.service", "ActiveState=active\nMainPID=7\n")
    (tmp_path / "etc/containers/containers.conf.d").mkdir(parents=True)
    return made


@pytest.fixture
def keep(host: Host, run_module: Run) -> Run:
    def run(name: str, *, check: bool = False, **wish: Any) -> dict[str, Any]:
        given = {"names": [name], **wish, "root": str(host.root)}
        found = run_module(container_engines.main, check=check, **given)
        return {**found, **found.get("engines", {}).get(name, {})}

    return run


def toml(host: Host, text: str | None = None) -> Path:
    path = host.root / "etc/containerd/config.toml"
    if text is not None:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return path


SITE = f'version = 2 # ours\n[plugins."{CRI}".cni]\n  bin_dir = "/opt"\n'


@pytest.mark.parametrize("text", [None, SITE])
def test_containerd_is_configured_once(host: Host, keep: Run, text: str | None) -> None:
    place = toml(host, text)
    reported = keep("containerd", check=True)
    assert reported["changed"]
    assert place.exists() == (text is not None)
    first = keep("containerd")
    assert (first["changed"], first["restarted"], first["version"]) == (True, True, "1.7.24")
    assert place.read_text().startswith(text or "version = 2\n")
    assert "enable_cdi = true" in place.read_text()
    assert not keep("containerd")["changed"]
    assert keep("containerd", cdi=False, memlock="", nofile=0)["changed"]
    assert (place.read_text() if place.exists() else None) == text


def test_containerd_waits_for_pods(host: Host, keep: Run) -> None:
    toml(host, SITE)
    host.write("containers", "abc    1    RUNNING\ndef    0    STOPPED\n")
    reported = keep("containerd")
    assert (reported["running"], reported["restarted"]) == (["k8s.io/abc"], False)
    assert "container_runtime_restart_ok" in reported["waits"]


@pytest.mark.parametrize("status", ["PAUSED", "UNKNOWN", "CREATED"])
def test_what_has_not_ended_is_waited_for(host: Host, keep: Run, status: str) -> None:
    toml(host, SITE)
    host.write("containers", f"abc    1    {status}\n")
    assert keep("containerd")["running"] == ["k8s.io/abc"]


def test_a_file_that_containerd_reads_otherwise_is_left(host: Host, keep: Run) -> None:
    place = toml(host, SITE)
    host.write("fragile", "")
    failed = keep("containerd")
    assert f'would read plugins."{CRI}".other otherwise' in failed["msg"]
    assert place.read_text() == SITE


def test_a_file_that_containerd_refuses_is_left(host: Host, keep: Run) -> None:
    place = toml(host, "version = refused\n")
    failed = keep("containerd")
    assert "containerd does not take" in failed["msg"]
    assert "failed to load TOML" in failed["msg"]
    assert place.read_text() == "version = refused\n"


def test_an_import_that_turns_cdi_off_is_told(host: Host, keep: Run) -> None:
    place = toml(host, SITE)
    host.write("imported-off", "")
    reported = keep("containerd")
    assert "imports turns enable_cdi off again" in reported["left"]["cdi"]
    assert place.read_text() == SITE
    assert not keep("containerd")["changed"]


def test_podman_is_configured_once(host: Host, keep: Run) -> None:
    place = host.root / "etc/containers/containers.conf.d/90-ibready.conf"
    first = keep("podman", shm_size="8g")
    assert (first["changed"], first["restarted"]) == (True, False)
    assert 'shm_size = "8589934592"' in place.read_text()
    assert not keep("podman", shm_size="8g")["changed"]
    keep("podman", memlock="", nofile=0)
    assert not place.exists()


def test_what_podman_refuses_is_not_written(host: Host, keep: Run) -> None:
    host.write("refuses", "shm_size")
    failed = keep("podman", shm_size="1m")
    assert "podman does not take" in failed["msg"]
    assert "unrecognized" in failed["msg"]
    assert not list((host.root / "etc/containers/containers.conf.d").iterdir())
