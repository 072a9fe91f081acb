# SPDX-License-Identifier: GPL-3.0-or-later
"""Part of the program of _copies_child: what sets NCCL's variables or the linker's path.

Needs the standard library and _host_files only: it is run by its source. Tells single lines, never
a whole file: environments hold secrets of other programs.
"""

from __future__ import annotations

import os
import re
import shlex

from ansible_collections.ibready.cluster.plugins.module_utils._nccl._host_files import Homes, Host

LIBRARY_PATH = "LD_LIBRARY_PATH"
CONF_FILE = "NCCL_CONF_FILE"
HOMES = "on another machine: what users set there is not seen"
_SHELL = (
    *("/etc/environment", "/etc/environment.d/*.conf", "/etc/profile", "/etc/profile.d/*"),
    *("/etc/bash.bashrc", "/etc/bashrc", "/etc/csh.cshrc", "/etc/csh.login", "/etc/zshenv"),
    "/etc/security/pam_env.conf",
)
_UNITS = (
    *(
        f"{folder}/{name}"
        for folder in ("/etc/systemd/system", "/run/systemd/system", "/usr/lib/systemd/system")
        for name in ("*.service", "*.service.d/*.conf")
    ),
    *("/etc/systemd/system.conf", "/etc/systemd/system.conf.d/*.conf"),
)
_LINKER = ("/etc/ld.so.conf", "/etc/ld.so.conf.d/*.conf")
_NAME = re.compile(rf"NCCL_[A-Z0-9_]{{1,100}}|{LIBRARY_PATH}")
# Anywhere in a line of shell NAME=VALUE, of csh NAME VALUE, of pam_env NAME DEFAULT=VALUE.
_SETS = re.compile(rf"(?<![A-Za-z0-9_$])({_NAME.pattern})(?:=|[ \t]+(?:DEFAULT=)?)(.{{0,1000}})")


def settings(host: Host, homes: Homes) -> list[tuple[str, str]]:
    """Say what sets what; returns the folders that the linker is led to, each with who does."""
    folders = _linker(host)
    for pattern in _SHELL:
        for path in host.matching(pattern):
            folders += _shell(host, path)
    for pattern in _UNITS:
        for path in host.matching(pattern):
            folders += _unit(host, path)
    for home, user in homes.items():
        _conf_file(host, f"{home.rstrip('/')}/.nccl.conf", user)
    return folders


def _linker(host: Host) -> list[tuple[str, str]]:
    found = []
    for pattern in _LINKER:
        for path in host.matching(pattern):
            for line in host.text(path).splitlines():
                folder = line.split("#", 1)[0].strip()
                if folder.startswith("/"):
                    found.append((folder, path))
    return found


def _shell(host: Host, path: str) -> list[tuple[str, str]]:
    found = []
    for number, line in enumerate(host.text(path).splitlines(), 1):
        if not line.lstrip().startswith("#"):
            for match in _SETS.finditer(line):
                found += _set(host, path, number, match[1], match[2].strip().strip("\"'"))
    return found


def _unit(host: Host, path: str) -> list[tuple[str, str]]:
    """Environment= and DefaultEnvironment= of a unit, and the files that it reads."""
    found = []
    for number, line in enumerate(host.text(path).splitlines(), 1):
        key, _equals, value = line.strip().partition("=")
        key, value = key.rstrip(), value.strip()
        if key in ("Environment", "DefaultEnvironment"):
            for word in _words(value):
                name, _equals, setting = word.partition("=")
                if _NAME.fullmatch(name):
                    found += _set(host, path, number, name, setting)
        elif key == "EnvironmentFile":
            for one in host.matching(value.lstrip("-")) if value.lstrip("-")[:1] == "/" else []:
                found += _shell(host, one)
    return found


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _set(host: Host, path: str, number: int, name: str, value: str) -> list[tuple[str, str]]:
    host.say("set", name, value, path, str(number))
    if name == CONF_FILE:
        _conf_file(host, value, path)
    if name == LIBRARY_PATH:
        return [(one, path) for one in value.split(":") if one.startswith("/")]
    return []


def _conf_file(host: Host, path: str, who: str) -> None:
    """A file that NCCL reads ahead of /etc/nccl.conf for this user, or where this file is read."""
    if not path.startswith("/"):
        return
    if not host.local(path):
        if host.mounted(path):
            host.unseen(os.path.dirname(os.path.dirname(path)), HOMES)
        return
    try:
        os.stat(host.at(path))
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as exc:
        host.unseen(path, exc)
        return
    host.say("conf", path, who)
