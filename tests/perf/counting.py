# SPDX-License-Identifier: GPL-3.0-or-later
"""An ssh that counts: how often Ansible starts it, and the bytes that it is called with and given to send."""

from __future__ import annotations

from pathlib import Path

_SSH = """\
#!/bin/bash
exec 9>>{trips}
echo "$$" >&9
printf %s "${{*: -1}}" | wc -c > {sent}.$$
if [ -t 0 ]; then exec ssh "$@"; fi
tee >(wc -c >> {sent}.$$) | ssh "$@"
exit "${{PIPESTATUS[1]}}"
"""


class Ssh:
    """Below a folder; ``program`` is what Ansible takes for ssh (``ANSIBLE_SSH_EXECUTABLE``)."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._trips = folder / "trips"
        self.program = folder / "ssh"
        self.program.write_text(_SSH.format(trips=self._trips, sent=folder / "sent"))
        self.program.chmod(0o755)

    def begin(self) -> None:
        """Count from nothing."""
        self._trips.write_text("")
        for file in self._folder.glob("sent.*"):
            file.unlink()

    @property
    def trips(self) -> int:
        return len(self._trips.read_text().splitlines())

    @property
    def sent(self) -> int:
        """Bytes."""
        return sum(int(line) for file in self._folder.glob("sent.*") for line in file.read_text().split())
