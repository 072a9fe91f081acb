# SPDX-License-Identifier: GPL-3.0-or-later
"""Real docker, containerd and podman, one on each node: configured, refused, put back."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

import pytest

from tests.system import launch_scripts
from tests.system.conftest import Box, said

pytestmark = pytest.mark.thorough

PLAY = "tests/system/containers.yml"
DAEMON = "/etc/docker/daemon.json"
# What a site may have there; no two members are written alike.
SITE = r"""{ "labels": ["caf\u00e9=1","x=\"y\""],
<tab>"log-opts" : { "max-size": "10m" , "max-file": "3" }, "max-concurrent-downloads":12,
  "default-ulimits": {"core": {"Name":"core","Hard":0,"Soft":0}}, "debug": false}
""".replace("<tab>", "\t")
# A shell, and nothing else.
IMAGE = "tar -C / -ch bin/sh lib/x86_64-linux-gnu/libc.so.6 lib64/ld-linux-x86-64.so.2"
SEEN = "'echo /dev/infiniband/*; ulimit -l; while read a b c; do echo $b $c; done < /proc/mounts'"
# An image for the launch scripts: its torchrun tells its arguments and starts one process.
LAUNCHED = """
made=$(mktemp -d); cd $made; mkdir -p bin usr/bin
for name in sh bash env dirname uname; do
  cp -L $(command -v $name) bin; ldd $(command -v $name) | grep -o '/lib[^ ]*' >> needed
done
xargs -a needed cp -L --parents -t .
ln -s ../../bin/env usr/bin/env
cat > bin/torchrun <<'END'
#!/bin/sh
echo "torchrun $*"
while case "$1" in --*) ;; *) false ;; esac; do shift; done
RANK=0 WORLD_SIZE=1 LOCAL_RANK=0 exec "$@"
END
chmod 755 bin/torchrun
tar -c .
"""
INSIDE = "echo /dev/infiniband/*; ulimit -l; ulimit -s; read line < /etc/nccl.conf; echo $line"
DEVICES = "/dev/infiniband/rdma_cm /dev/infiniband/uverbs0 /dev/infiniband/uverbs1"


@dataclass(frozen=True)
class Engines:
    """The nodes with their engines; `first` is what the run that made them so said."""

    box: Box
    first: str

    def docker(self, **options: object) -> str:
        """Run the module on node1; what it said."""
        words = " ".join(f"{name}={value}" for name, value in options.items())
        argv = ("node1", "-m", "container_engines", "-a", f"names=docker {words}")
        return said(self.box.adhoc(*argv).stdout)

    def config(self) -> str:
        return self.box.root("node1", f"cat {DAEMON}")

    def pid(self) -> str:
        return self.box.root("node1", "systemctl show --property=MainPID docker").strip()


@pytest.fixture(scope="module")
def engines(stocked: Box) -> Engines:
    """Three converged nodes: node1 has docker, node2 containerd, node3 podman."""
    stocked.root("node1", f"mkdir -p /etc/docker; cat > {DAEMON} <<'END'\n{SITE}END\n")
    done = stocked.playbook(PLAY)
    assert done.returncode == 0, done.stdout
    return Engines(stocked, done.stdout)


def test_a_second_run_changes_nothing(engines: Engines) -> None:
    assert re.findall(r"changed=([1-9])", engines.first) == ["3", "3", "3"]
    again = engines.box.playbook(PLAY)
    assert again.returncode == 0, again.stdout
    assert re.findall(r"changed=(\d+)", again.stdout) == ["0", "0", "0"], again.stdout


def test_the_sites_daemon_json_is_still_there(engines: Engines) -> None:
    text = engines.config()
    was, now = json.loads(SITE), json.loads(text)
    assert now["default-ulimits"].pop("memlock") == {"Name": "memlock", "Hard": -1, "Soft": -1}
    assert now["default-ulimits"].pop("nofile")["Hard"] == 1048576
    assert (now.pop("default-shm-size"), now.pop("features")) == ("8g", {"cdi": True})
    assert (now, list(now)) == (was, list(was))
    for line in SITE.split("\n")[:2]:
        assert line in text


@pytest.mark.parametrize(("node", "engine"), [("node1", "docker"), ("node3", "podman")], ids=["docker", "podman"])
def test_a_container_gets_devices_memory_and_limits(engines: Engines, node: str, engine: str) -> None:
    run = f"{engine} run --rm --network=none --device=ibready.io/rdma=all tiny /bin/sh -c {SEEN}"
    reported = engines.box.root(node, f"{IMAGE} | {engine} import - tiny >&2; {run}")
    mark = json.loads(engines.box.root(node, "cat /etc/ibready-sandbox.json"))
    assert DEVICES in reported
    # "Unlimited" is all that this machine lets a container lock: the sandbox's runc says so.
    assert f"\n{mark['memlock_ceiling'] // 1024}\n" in reported
    assert re.search(r"/dev/shm tmpfs \S*size=8388608k", reported), reported


@pytest.mark.parametrize(("node", "engine"), [("node1", "docker"), ("node3", "podman")], ids=["docker", "podman"])
def test_a_launch_script_starts_its_container(engines: Engines, node: str, engine: str) -> None:
    box = engines.box
    script = launch_scripts.put(box, engine, (node,), INSIDE)
    box.root(node, f"({LAUNCHED}) | {engine} import - {launch_scripts.IMAGE}")
    reported = box.root(
        node,
        f"echo NCCL_DEBUG=WARN > /etc/nccl.conf; {script}; rm /etc/nccl.conf",
    )
    mark = json.loads(box.root(node, "cat /etc/ibready-sandbox.json"))
    address = box.rig.address(node)
    assert "torchrun --nnodes=1 --nproc-per-node=1 --node-rank=0 " in reported
    assert f" --local-addr={address} --no-python /ibready-launch/rank.sh /bin/sh -ec " in reported
    inside = f"rank 0 of 1 on {node} at {address}:29500\n{DEVICES}\n"
    # "Unlimited" is all that this machine lets a container lock; the stack is what the script says.
    limits = f"{mark['memlock_ceiling'] // 1024}\n{64 * 1024}\n"
    assert reported.endswith(f"{inside}{limits}NCCL_DEBUG=WARN\n"), reported


def test_containerd_reads_cdi_and_has_its_limits(engines: Engines) -> None:
    reported = engines.box.root(
        "node2",
        "containerd config dump | grep enable_cdi; grep bin_dir /etc/containerd/config.toml; "
        "systemctl show --property=LimitMEMLOCK,LimitNOFILE containerd; ctr version",
    )
    assert "enable_cdi = true" in reported
    # Debian's own setting, which a drop-in of ours would have lost.
    assert 'bin_dir = "/usr/lib/cni"' in reported
    assert "LimitMEMLOCK=infinity\n" in reported
    assert "LimitNOFILE=1048576\n" in reported


def test_the_description_follows_the_devices(engines: Engines) -> None:
    reported = engines.box.root(
        "node3",
        "spec=/etc/cdi/ibready-rdma.json; rm /dev/infiniband/uverbs1; "
        "for at in $(seq 100); do grep -q uverbs1 $spec || break; sleep 0.1; done; cat $spec; "
        "mknod -m 666 /dev/infiniband/uverbs1 c 1 3; "
        "for at in $(seq 100); do grep -q uverbs1 $spec && break; sleep 0.1; done; "
        "grep -q ibsim1 $spec",
    )
    assert [one["name"] for one in json.loads(reported)["devices"]] == ["all", "ibsim0"]


def test_an_invalid_file_is_refused_and_left(engines: Engines) -> None:
    good, pid = engines.config(), engines.pid()
    bad = good.replace('"debug": false', '"debug": false,, // mine')
    engines.box.root("node1", f"cat > {DAEMON} <<'END'\n{bad}END\n")
    refused = engines.docker()
    assert "FAILED" in refused
    assert re.search(r"daemon\.json is left as it is: line \d+ column \d+: ',' instead of", refused)
    assert (engines.config(), engines.pid()) == (bad, pid)
    engines.box.root("node1", f"cat > {DAEMON} <<'END'\n{good}END\n")


def test_what_dockerd_does_not_know_is_refused_by_dockerd(engines: Engines) -> None:
    good = engines.config()
    engines.box.root("node1", f'sed -i \'s/"debug"/"debugs"/\' {DAEMON}')
    bad = engines.config()
    refused = engines.docker(shm_size="9g")
    assert "directives don't match any configuration option: debugs" in refused
    assert "As the file is now, it does not take it either" in refused
    assert engines.config() == bad
    engines.box.root("node1", f"cat > {DAEMON} <<'END'\n{good}END\n")


def test_docker_that_does_not_come_up_gets_its_file_back(engines: Engines) -> None:
    engines.docker(memlock="''", nofile=0, cdi="false")
    assert json.loads(engines.config()) == json.loads(SITE)
    # dockerd starts with no key that is also an option of its service, and --validate does not see.
    option = "DOCKER_OPTS=--default-shm-size=1g"
    engines.box.root("node1", f"echo {option} >> /etc/default/docker; systemctl restart docker")
    before = engines.config()
    broken = engines.docker(shm_size="8g")
    assert "specified both as a flag and in the configuration file: default-shm-size" in broken
    assert "What was there before is back" in broken
    assert "and it runs again" in broken
    assert engines.config() == before
    reported = engines.box.root("node1", "docker info --format {{.ServerVersion}}; ls /etc/systemd/system")
    assert "docker.service.d" not in reported or "90-ibready" not in reported
    engines.box.root("node1", "sed -i '/^DOCKER_OPTS/d' /etc/default/docker; systemctl restart docker")


def test_a_running_container_is_left_in_peace(engines: Engines) -> None:
    engines.box.root("node1", "docker run -di --init --name train --network=none tiny /bin/sh -c 'read x'")
    pid = engines.pid()
    waits = engines.docker(shm_size="8g")
    assert "is not restarted while containers run (train) without container_runtime_restart_ok" in waits
    assert engines.pid() == pid
    assert '"changed": false' in engines.docker(shm_size="8g")
    assert '"restarted": true' in engines.docker(shm_size="8g", restart_ok="true")
    assert engines.pid() != pid
    engines.box.root("node1", "docker rm -f train")
    # As the story found it.
    assert '"changed": false' in engines.docker(shm_size="8g")
