# SPDX-License-Identifier: GPL-3.0-or-later
"""A host with container engines whose programs are scripts that keep their state in files.

Docker does not come up with a file that says `breaks`. What it started with is in `running-with`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ansible_collections.ibready.cluster.plugins.modules import container_engines

Run = Callable[..., dict[str, Any]]

_SYSTEMCTL = """\
echo "$@" >> calls
case "$1" in
show)
  for last; do :; done
  cat "state/$last" 2>/dev/null || printf 'ActiveState=inactive\\nMainPID=0\\n'
  ;;
restart|reload)
  if grep -qs breaks etc/docker/daemon.json; then
    printf 'ActiveState=failed\\nMainPID=0\\n' > "state/$2"
    echo "Job for $2 failed" >&2
    exit 1
  fi
  echo x >> starts
  printf "ActiveState=active\\nMainPID=%s\\n" "$(wc -l < starts)" > "state/$2"
  cp etc/docker/daemon.json running-with 2>/dev/null || rm -f running-with
  ;;
is-active) grep -qs =active "state/$2" && echo active || echo inactive ;;
is-enabled) cat "state/$2.enabled" 2>/dev/null ;;
enable) echo enabled > "state/$3.enabled" ;;
esac
"""
_DOCKERD = """\
case "$1" in
--version) echo "Docker version $(cat version), build 1" ;;
--validate)
  grep -qs '"refused"' "$3" && { echo "unable to configure: refused" >&2; exit 1; }
  echo "configuration OK" ;;
esac
exit 0
"""
_DOCKER = """\
case "$1" in
ps) cat containers 2>/dev/null ;;
info)
  grep -q active state/docker.service || { echo "Cannot connect to the daemon" >&2; exit 1; }
  case "$3" in
  *LiveRestore*) cat live 2>/dev/null || echo false ;;
  *) cat version ;;
  esac ;;
esac
exit 0
"""
_JOURNALCTL = "echo 'level=fatal msg=\"no such bridge\"'; echo 'Failed to start docker.service'"


class Host:
    """`root` is its /. Only the engines that were added are there."""

    def __init__(self, root: Path, run_module: Run) -> None:
        self.root = root
        self._run = run_module
        for folder in ("bin", "state", "run/systemd/system", "etc/docker"):
            (root / folder).mkdir(parents=True)
        self.daemon = root / "etc/docker/daemon.json"
        self.dropin = root / "etc/systemd/system/docker.service.d/90-ibready.conf"
        self.memory = root / "var/lib/ibready/container_docker.json"
        self.program("systemctl", _SYSTEMCTL)
        self.program("journalctl", _JOURNALCTL)

    def program(self, name: str, body: str) -> None:
        path = self.root / "bin" / name
        path.write_text(f"#!/bin/sh\ncd {self.root}\n{body}\n")
        path.chmod(0o755)

    def docker(self, version: str = "26.1.5") -> None:
        """Install docker, and start it with what it has."""
        (self.root / "version").write_text(version + "\n")
        self.program("dockerd", _DOCKERD)
        self.program("docker", _DOCKER)
        self.up()

    def up(self) -> None:
        """Start it anew, as an operator would."""
        with (self.root / "starts").open("a") as stream:
            stream.write("x\n")
        number = self.starts
        state = f"ActiveState=active\nMainPID={number}\n"
        (self.root / "state/docker.service").write_text(state)

    def breaks_with(self, word: str) -> None:
        """Have docker not come up while this word is in its file."""
        script = (self.root / "bin/systemctl").read_text()
        (self.root / "bin/systemctl").write_text(script.replace("breaks", word))

    def write(self, name: str, text: str) -> None:
        (self.root / name).write_text(text)

    def site(self, text: str) -> bytes:
        """What the site has as daemon.json."""
        self.daemon.write_bytes(text.encode("utf-8", "surrogateescape"))
        return self.daemon.read_bytes()

    def keep(self, *, check: bool = False, **wish: Any) -> dict[str, Any]:
        """Run the module; what it says of docker is at the top."""
        given = {"names": ["docker"], "nvidia": "no", **wish, "root": str(self.root)}
        found = self._run(container_engines.main, check=check, **given)
        return {**found, **found.get("engines", {}).get("docker", {})}

    def config(self) -> Any:
        return json.loads(self.daemon.read_text())

    @property
    def starts(self) -> int:
        return len((self.root / "starts").read_text().split())

    def tree(self) -> dict[str, bytes]:
        """Every file below etc and var."""
        return {
            str(path.relative_to(self.root)): path.read_bytes()
            for top in ("etc", "var")
            for path in (self.root / top).rglob("*")
            if path.is_file()
        }
