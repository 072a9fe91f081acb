# SPDX-License-Identifier: GPL-3.0-or-later
"""The fabric container's only program: keeps ibsim and opensm running, shows the ports to the
nodes as sysfs files, serves the simulated vendor repositories, and takes orders over a socket.

``python3 -m sandbox.fabric.agent run`` serves; ``... ask`` sends the JSON order on standard
input to the running one and prints its JSON answer.
"""

from __future__ import annotations

import json
import re
import shutil
import signal
import socket
import socketserver
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sandbox.fabric import dump, sysfs
from sandbox.fabric.console import ConsoleError, Ibsim
from sandbox.fabric.web import Web

CONFIG = Path("/etc/ibready-fabric.json")
NETFILE = Path("/etc/ibready-fabric.net")
OPENSM_CONF = Path("/etc/ibready-opensm.conf")
SOCKET = "/run/ibready-fabric.sock"
WORK = Path("/run/ibready-fabric")
# One directory a node, each a volume that the node sees read-only.
TREES = Path("/srv/nodes")

_POLL_SECONDS = 0.3
_SWEEP_PAUSE = 0.7
_CLIENT = re.compile(r'^Client (?P<id>\d+): .* connected at "(?P<host>[^"]+)"', re.MULTILINE)

Json = dict[str, Any]


class OrderError(Exception):
    """An order that cannot be carried out."""


class Fabric:
    """ibsim, opensm and what the nodes are shown of them."""

    def __init__(self, config: Json) -> None:
        self._config = config
        self._lock = threading.RLock()
        self._overrides: dict[str, dict[str, str]] = {}
        self._sm: subprocess.Popen[bytes] | None = None
        self._sm_wanted = True
        self._swept = 0.0
        self._restarts = 0
        self._nodes: dict[str, dump.Node] = {}
        self._web = Web(config["web_port"])
        self._ibsim = Ibsim(["ibsim", "-s", "-r", str(NETFILE)])

    # -- processes

    def tick(self) -> None:
        """Bring everything to what is wanted, and show it to the nodes."""
        with self._lock:
            self._web.tick()
            try:
                text = self._ibsim.ask("Dump")
            except ConsoleError as exc:
                print(f"{exc}: starting it again", file=sys.stderr, flush=True)
                self._stop_sm()
                self._ibsim.restart()
                self._restarts += 1
                text = self._ibsim.ask("Dump")
            self._nodes = dump.parse(text)
            if self._sm is not None and self._sm.poll() is not None:
                self._stop_sm()
            if self._sm_wanted and self._sm is None:
                self._start_sm()
            self._show()
            if any(port.state == "Init" for port in self._host_ports().values()):
                self.sweep(pause=_SWEEP_PAUSE)

    def _environment(self) -> dict[str, str]:
        """Return the environment in which a program's umad is the simulated one of the SM's HCA.

        The server is named by its network address even here: ibsim dies when a slot serves
        first a loopback client and then another.
        """
        return {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "LC_ALL": "C",
            "LD_PRELOAD": self._config["umad2sim"],
            "IBSIM_SERVER_NAME": self._config["server"],
            "SIM_HOST": self._config["sm_host"],
            "OSM_TMP_DIR": str(WORK),
            "OSM_CACHE_DIR": str(WORK),
        }

    def _start_sm(self) -> None:
        # A killed opensm leaves its place in ibsim taken, and a second SM is refused there.
        for client in _CLIENT.finditer(self._ibsim.ask("Attached")):
            if client["host"] == self._config["sm_host"]:
                self._ibsim.ask(f"X {client['id']}")
        self._sm = subprocess.Popen(
            ["opensm", "-F", str(OPENSM_CONF)],
            cwd=str(WORK),
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._swept = time.monotonic()

    def _stop_sm(self) -> None:
        if self._sm is None:
            return
        self._sm.terminate()
        try:
            self._sm.wait(3)
        except subprocess.TimeoutExpired:
            self._sm.kill()
            self._sm.wait()
        shutil.rmtree(str(WORK / f"sys-{self._sm.pid}"), ignore_errors=True)
        self._sm = None

    def stop(self) -> None:
        """End the children."""
        with self._lock:
            self._sm_wanted = False
            self._stop_sm()
            self._web.stop()

    # -- what the nodes see

    def _host_ports(self) -> dict[str, dump.Port]:
        return {host: self._nodes[host].port(1) for host in self._config["hosts"] if host in self._nodes}

    def _show(self) -> None:
        for host, owner in self._config["hosts"].items():
            tree = sysfs.files(
                self._nodes[host],
                names={"node": owner["node"], "hca": owner["hca"]},
                hardware=self._config["hardware"],
                override=self._overrides.get(host, {}),
            )
            volume = TREES / owner["node"]
            scratch = volume / "scratch"
            scratch.mkdir(exist_ok=True)
            home = volume / "infiniband" / owner["hca"]
            sysfs.write(home, tree, scratch)
            sysfs.link(home / "device", owner["device"])

    # -- orders

    def order(self, request: Json) -> Json:
        """Carry out one order and return its answer."""
        orders: dict[str, Callable[[Json], Json]] = {
            "status": self._order_status,
            "console": self._order_console,
            "sweep": self._order_sweep,
            "sm": self._order_sm,
            "width": self._order_width,
            "hca": self._order_hca,
            "web": self._order_web,
        }
        name = request.get("do")
        if name not in orders:
            raise OrderError(f"unknown order {name!r}")
        with self._lock:
            answer = orders[name](request)
            self.tick()
            return answer

    def _order_status(self, request: Json) -> Json:
        self.tick()
        ports: Json = {}
        for host, port in self._host_ports().items():
            owner = self._config["hosts"][host]
            ports[f"{owner['node']}/{owner['hca']}"] = {
                "state": port.state,
                "physical": port.physical,
                "gbps": port.width * port.lane_gbps,
                "lid": port.lid,
            }
        return {
            "ports": ports,
            "sm": self._sm_state() if request.get("ask_sm") else None,
            "clients": len(_CLIENT.findall(self._ibsim.ask("Attached"))),
            "overrides": self._overrides,
            "ibsim_restarts": self._restarts,
            "web": self._web.answers,
        }

    def _order_console(self, request: Json) -> Json:
        return {"output": self._ibsim.ask(request["line"])}

    def _order_sweep(self, request: Json) -> Json:
        self.sweep(pause=0.0)
        return {}

    def _order_sm(self, request: Json) -> Json:
        self._sm_wanted = bool(request["run"])
        if not self._sm_wanted:
            self._stop_sm()
        return {}

    def _order_web(self, request: Json) -> Json:
        self._web.wanted = bool(request["run"])
        return {}

    def _order_width(self, request: Json) -> Json:
        """Limit the lanes of a switch port, and so of the link, with the real ibportstate."""
        self.tick()
        switch = self._nodes[request["switch"]].port(0)
        code = {1: "1", 4: "3"}[request["lanes"]]
        output = self._tool(["ibportstate", str(switch.lid), str(request["port"]), "width", code])
        return {"output": output}

    def _order_hca(self, request: Json) -> Json:
        """Show other contents of some files of one HCA; null shows a file's true one again."""
        host = request["host"]
        if host not in self._config["hosts"]:
            raise OrderError(f"unknown HCA {host!r}")
        files = {**self._overrides.get(host, {}), **request["files"]}
        self._overrides[host] = {path: text for path, text in files.items() if text is not None}
        if not self._overrides[host]:
            del self._overrides[host]
        return {}

    def sweep(self, pause: float) -> None:
        """Tell opensm to look at the fabric again, unless it was told less than `pause` ago."""
        if self._sm is not None and time.monotonic() - self._swept >= pause:
            self._sm.send_signal(signal.SIGHUP)
            self._swept = time.monotonic()

    def _sm_state(self) -> str:
        try:
            return self._tool(["sminfo", "-t", "500"]).strip()
        except OrderError:
            return ""

    def _tool(self, argv: list[str]) -> str:
        try:
            done = subprocess.run(
                argv,
                cwd=str(WORK),
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=10,
            )
        except subprocess.TimeoutExpired:
            raise OrderError(f"{' '.join(argv)}: no end after 10 s") from None
        text = done.stdout.decode(errors="replace")
        if done.returncode != 0:
            raise OrderError(f"{' '.join(argv)}: {text.strip() or done.returncode}")
        return text


def serve() -> None:
    """Run until told to stop."""
    WORK.mkdir(parents=True, exist_ok=True)
    config = json.loads(CONFIG.read_text())
    for owner in config["hosts"].values():
        (TREES / owner["node"] / "infiniband").mkdir(exist_ok=True)
    fabric = Fabric(config)
    ending = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ending.set())

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            try:
                answer = {"ok": True, **fabric.order(json.loads(self.rfile.readline()))}
            except (OrderError, ConsoleError, dump.DumpError, KeyError, ValueError) as exc:
                answer = {"ok": False, "error": f"{type(exc).__name__}: {exc}"}
            self.wfile.write(json.dumps(answer).encode() + b"\n")

    Path(SOCKET).unlink(missing_ok=True)
    server = socketserver.ThreadingUnixStreamServer(SOCKET, Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    said = ""
    while not ending.wait(_POLL_SECONDS):
        try:
            fabric.tick()
        except (ConsoleError, dump.DumpError) as exc:
            if said != str(exc):
                said = str(exc)
                print(f"ibsim: {said}", file=sys.stderr, flush=True)
    fabric.stop()


def ask() -> int:
    """Pass one order on to the running agent."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        line.connect(SOCKET)
        line.sendall(sys.stdin.readline().encode().strip() + b"\n")
        sys.stdout.write(line.makefile().readline())
    return 0


if __name__ == "__main__":
    if sys.argv[1:] == ["ask"]:
        sys.exit(ask())
    serve()
