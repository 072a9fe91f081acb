# SPDX-License-Identifier: GPL-3.0-or-later
"""Why nothing is known of a host that Ansible did not get to, and what somebody would try by hand."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any, NamedTuple

from ansible import constants, context
from ansible.errors import AnsibleError
from ansible.plugins.loader import connection_loader

from ...module_utils._evidence.redact import masked
from .._ground import silence

# What the finding of an unreachable host keeps as its evidence.
ADDRESS = "address"
# What Ansible puts before what a connection said.
AROUND = "Task failed: "
SSH = ("ssh", "smart", "ansible.builtin.ssh", "ansible.legacy.ssh")


class Absent(NamedTuple):
    """``address``: where Ansible looked for the host, "" where it did not or nobody knows."""

    why: str
    remedy: str
    address: str = ""


def absent(name: str, seen: Mapping[str, Any], reached: Mapping[str, Any]) -> Absent:
    """What the contact of a host told. ``seen``: its variables; ``reached``: the task's result, {} without one."""
    said = str(reached.get("msg") or "").strip().removeprefix(AROUND)
    low = said.lower()
    if reached.get("unreachable"):
        return _unreachable(name, seen, said)
    waited = silence.seconds(reached)
    if waited:
        return Absent(silence.why(waited, "its first question"), silence.NEXT)
    if "sudo" in low or "become" in low or "privilege" in low:
        return Absent(
            f"logged in, but could not become root: {said}",
            "give the login user password-less sudo, or run with --ask-become-pass",
        )
    if said:
        return Absent(f"the first module failed there: {said}", "run the module by hand with -vvv")
    return Absent("it took no part in this run", "run again without --limit or --start-at-task")


def _unreachable(name: str, seen: Mapping[str, Any], said: str) -> Absent:
    sources = seen.get("ansible_inventory_sources") or ("INVENTORY",)
    given = [word for source in sources for word in ("-i", str(source))]
    ping = f"`{shlex.join(['ansible', name, *given, '-m', 'ping', '-vvv'])}`"
    connection = connection_of(seen)
    if connection not in SSH:
        return Absent(f"unreachable by {connection}: {said}", f"{ping} tells where it stops")
    seen = {"inventory_hostname": name, **seen}
    address = ssh_option("host", seen)
    user, port, key = (ssh_option(option, seen) for option in ("remote_user", "port", "private_key_file"))
    words = ["ssh", "-v", *(["-p", port] if port else []), *(["-i", key] if key else [])]
    target = shlex.quote(f"{user}@{address}" if user else address)
    # They are words of a shell already, quoted as the site wants them.
    more = [ssh_option("ssh_common_args", seen), ssh_option("ssh_extra_args", seen)]
    by_hand = masked(" ".join([shlex.join(words), *filter(None, more), target]))
    return Absent(
        f"unreachable by ssh: {said}", f"try `{by_hand}`, as Ansible did; {ping} tells each step of its own", address
    )


def connection_of(seen: Mapping[str, Any]) -> str:
    """By which plugin a host is reached."""
    return str(seen.get("ansible_connection") or context.CLIARGS.get("connection") or "ssh")


def ssh_option(name: str, seen: Mapping[str, Any]) -> str:
    """An option of Ansible's ssh for a host: of its variables, the command line, the environment or ansible.cfg."""
    config: Any = constants.config
    loader: Any = connection_loader
    # What the options are is known once it is loaded, by the name that it was asked for.
    loader.get("ssh", class_only=True)
    # A play takes -u for its own remote_user.
    given = {"remote_user": context.CLIARGS.get("remote_user")}
    try:
        found = config.get_config_value(name, plugin_type="connection", plugin_name="ssh", keys=given, variables=seen)
    except AnsibleError:
        return ""
    return "" if found is None else str(found)
