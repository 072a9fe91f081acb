# SPDX-License-Identifier: GPL-3.0-or-later
"""The server of the simulated vendor repositories, a process of its own that the agent watches.

``python3 -m sandbox.fabric.web PORT FOLDER`` serves.
"""

from __future__ import annotations

import functools
import socket
import subprocess
import sys
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

FOLDER = "/srv/vendor"


class Handler(SimpleHTTPRequestHandler):
    """Files of a folder over connections that stay open; nothing is logged."""

    protocol_version = "HTTP/1.1"
    timeout = 30

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


class Web:
    """Keeps the server running while it is wanted."""

    def __init__(self, port: int, folder: str = FOLDER) -> None:
        self._port = port
        self._argv = [sys.executable, "-m", "sandbox.fabric.web", str(port), folder]
        self._process: subprocess.Popen[bytes] | None = None
        self.wanted = True

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def answers(self) -> bool:
        """Whether somebody listens."""
        try:
            socket.create_connection(("127.0.0.1", self._port), timeout=1).close()
        except OSError:
            return False
        return True

    def tick(self) -> None:
        """Start the server where it should run and does not; end it where it should not."""
        if self.wanted and not self.running:
            self._process = subprocess.Popen(self._argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        elif not self.wanted and self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def stop(self) -> None:
        self.wanted = False
        self.tick()


def main(port: int, folder: str) -> None:
    """Serve for ever."""
    server = ThreadingHTTPServer(("", port), functools.partial(Handler, directory=folder))
    server.daemon_threads = True
    server.serve_forever()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
