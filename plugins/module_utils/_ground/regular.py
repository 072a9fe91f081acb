# SPDX-License-Identifier: GPL-3.0-or-later
"""Open a file to read it where others may write: it is looked at first, and a file or nothing.

No device and no FIFO is ever opened, for opening one may already do something. Root follows no link
that somebody else may have made. Needs the standard library only, and no other file of ours:
programs of ours are run by their source.
"""

from __future__ import annotations

import errno
import os
import stat

# A controller may be no Linux; nothing but files of its own user is read there.
_PATH = getattr(os, "O_PATH", 0)
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
_LOOK = _PATH | os.O_CLOEXEC
_LINKS = 40
# A link from one place of these to another is the kernel's.
_KERNELS = ("/proc/", "/sys/")
_NEXT = "next: have root own it, and nobody else write there"


class NotRegular(OSError):
    """What is there is a folder, a device, a FIFO or the like."""


def open_regular(path: str, *, alone: bool = False) -> int:
    """A descriptor by which the file at a path can be read; OSError, and NotRegular.

    Root follows links of root's where nobody else can have put them. ``alone``: for root, the file
    and every folder up to / must be root's alone; a sticky folder (/tmp) is everybody's. Other
    users have their own rights only, and follow any link.
    """
    looked = _look(path, alone=alone)
    try:
        if not stat.S_ISREG(os.fstat(looked).st_mode):
            raise NotRegular("not a regular file")
        return _opened(looked) if _PATH else os.dup(looked)
    finally:
        os.close(looked)


def where(fd: int) -> str:
    """The path of what is open, with every link followed; "" where the kernel does not tell."""
    try:
        return os.readlink(f"/proc/self/fd/{fd}")
    except OSError:
        return ""


def _opened(looked: int) -> int:
    try:
        return os.open(f"/proc/self/fd/{looked}", _READ)
    except FileNotFoundError:
        if os.path.isdir("/proc/self/fd"):
            raise
        raise OSError("not opened: /proc is not mounted, by which it is looked at first") from None


def _look(path: str, *, alone: bool) -> int:
    """A descriptor of what is at the path, which opens nothing (O_PATH)."""
    if os.geteuid() != 0 or not _PATH:
        return os.open(path, _LOOK if _PATH else _READ)
    if not alone:
        fd = os.open(path, _LOOK | os.O_NOFOLLOW)
        there = where(fd)
        kernels = any(path.startswith(kernel) and there.startswith(kernel) for kernel in _KERNELS)
        if (kernels or there == path) and not stat.S_ISLNK(os.fstat(fd).st_mode):
            return fd
        os.close(fd)
    return _walk(path, alone=alone)


def _walk(path: str, *, alone: bool) -> int:
    """The same name by name, with an eye on who may write there."""
    todo = path.split("/")[::-1]
    links, theirs = 0, ""
    fd = os.open("/" if path[:1] == "/" else ".", _LOOK)
    try:
        while True:
            theirs = theirs or _theirs(fd, sticky=not alone)
            if theirs and alone:
                raise OSError(f"{where(fd)} is not root's alone: {theirs}; {_NEXT}")
            while todo and todo[-1] in ("", "."):
                todo.pop()
            if not todo:
                return fd
            above, fd = fd, os.open(todo.pop(), _LOOK | os.O_NOFOLLOW, dir_fd=fd)
            try:
                if stat.S_ISLNK(os.fstat(fd).st_mode):
                    links += 1
                    if theirs or (_others(above) and os.fstat(fd).st_uid != 0):
                        raise OSError(f"the link {where(fd)} is not followed: others than root may change it")
                    if links > _LINKS:
                        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
                    target = os.readlink("", dir_fd=fd)
                    todo += target.split("/")[::-1]
                    link, fd = fd, os.open("/" if target[:1] == "/" else ".", _LOOK, dir_fd=above)
                    os.close(link)
            finally:
                os.close(above)
    except BaseException:
        os.close(fd)
        raise


def _theirs(fd: int, *, sticky: bool) -> str:
    """Why what is open is not root's alone, "" where it is.

    ``sticky``: whether a folder will do in which everybody writes and changes only their own.
    """
    reported = os.fstat(fd)
    if reported.st_uid != 0:
        return f"it belongs to user {reported.st_uid}"
    if _others(fd) and not (sticky and reported.st_mode & stat.S_ISVTX):
        return f"others may write to it (mode {stat.S_IMODE(reported.st_mode):04o})"
    return ""


def _others(fd: int) -> bool:
    """Whether its group or everybody may write to it."""
    return bool(os.fstat(fd).st_mode & 0o022)
