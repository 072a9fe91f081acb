# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the probe in real containers of this host, as root and as another user, and tell of it.

The text is evidence like a command's output (`container_probe`): who, a tab, a key, a tab, the
rest. Containers, and the image where it was made here, are gone when it ends.
"""

from __future__ import annotations

import os
import tempfile
import uuid
from typing import Iterator

from ansible_collections.ibready.cluster.plugins.module_utils._command import Output, Unavailable
from ansible_collections.ibready.cluster.plugins.module_utils._parse._text import last_word
from ansible_collections.ibready.cluster.plugins.module_utils._probe import (
    devices,
    engine,
    image,
)
from ansible_collections.ibready.cluster.plugins.module_utils._probe.engine import (
    Engine,
    Job,
)
from ansible_collections.ibready.cluster.plugins.module_utils._probe.script import SCRIPT
from ansible_collections.ibready.cluster.plugins.module_utils._probe.wish import (
    Wish,
    from_text,
)

# Seconds for one container, of which the script takes one or two.
_RUN = 90.0
_HERE = "host"
_MOST_LINES = 5000
_BUILT, _LOCAL, _PULLED = "built", "local", "pulled"


def ask(wish: str = "{}") -> Output:
    """Look once; ``wish``: as `Wish.to_text` writes it."""
    lines = list(_lines(from_text(wish)))
    lines.append(_told(_HERE, "end", str(len(lines))))
    return Output(0, "".join(f"{line}\n" for line in lines), "")


def _lines(wish: Wish) -> Iterator[str]:
    yield _told(_HERE, "format", "1")
    yield _told(_HERE, "wish", wish.kept().to_text())
    try:
        found = engine.find(wish.engine)
    except engine.NoEngine as exc:
        yield _told(_HERE, "no_engine", str(exc))
        return
    except Unavailable as exc:
        yield _told(_HERE, "unusable", exc.what, exc.reason)
        return
    yield _told(_HERE, "engine", found.name, found.version, found.program)
    made = ""
    try:
        if wish.image:
            found, name, origin = *_named(found, wish), _LOCAL
            if not found.has(name):
                origin = _PULLED
                _pull(found, name, wish.pull)
        else:
            name, origin = _make(found), _BUILT
            made = name
        yield _told(_HERE, "image", name, origin)
        yield from _both(found, wish, name)
    except Unavailable as exc:
        yield _told(_HERE, "no_image", wish.image or image.NAME, exc.reason)
    finally:
        if made:
            found.forget(made)


def _named(found: Engine, wish: Wish) -> tuple[Engine, str]:
    return engine.elsewhere(found, wish.image), wish.image


def _pull(found: Engine, name: str, allowed: bool) -> None:
    if not allowed:
        raise Unavailable(name, "not on this host, and nobody allowed it to be pulled")
    done = found.pull(name)
    if done.rc:
        raise Unavailable(name, f"not pulled: {last_word(done.stdout, done.stderr)}")


def _make(found: Engine) -> str:
    """Load the image of this host's own files under a name that no other run has."""
    with tempfile.TemporaryDirectory(prefix="ibready-") as folder:
        archive = os.path.join(folder, "image.tar")
        tag = uuid.uuid4().hex[:8]
        name = image.write(image.gather(), archive, tag, os.uname().machine)
        done = found.load(archive)
    if done.rc or not found.has(name):
        found.forget(name)
        raise Unavailable(name, f"not loaded: {last_word(done.stdout, done.stderr)}")
    return name


def _both(found: Engine, wish: Wish, name: str) -> Iterator[str]:
    for who, user in (("root", 0), ("user", wish.user)):
        job = Job(
            image=name,
            name=f"ibready-probe-{uuid.uuid4().hex[:12]}",
            user=user,
            network=wish.network,
            devices=devices.devices(wish),
            mounts=devices.mounts(),
            options=wish.options,
            gpus=devices.asks_engine_for_gpus(wish, found.name),
            words=(image.SHELL, "-c", SCRIPT),
        )
        yield from _once(found, job, who)


def _once(found: Engine, job: Job, who: str) -> Iterator[str]:
    try:
        done = found.start(job, _RUN)
    except Unavailable as exc:
        yield _told(_HERE, "run", who, str(job.user), "failed", exc.reason)
        return
    finally:
        found.remove(job.name)
    inside = _inside(done.stdout)
    if not inside:
        said = last_word(done.stderr, done.stdout) or f"ended with status {done.rc}"
        yield _told(_HERE, "run", who, str(job.user), _how(said), said)
        return
    yield _told(_HERE, "run", who, str(job.user), "ran", "")
    for line in inside:
        yield f"{who}\t{line}"


def _how(said: str) -> str:
    """An image without a shell is another thing than a container that cannot be started."""
    none = ("not found", "no such file")
    return (
        "no_shell" if image.SHELL in said and any(one in said.lower() for one in none) else "failed"
    )


def _inside(text: str) -> list[str]:
    """What the script printed; an image's own entrypoint may say something before it."""
    lines = [line.replace("\r", " ") for line in text.replace("\0", "").split("\n")]
    begun = next((at for at, line in enumerate(lines) if line == "begin\t1"), None)
    if begun is None:
        return []
    return [line for line in lines[begun:] if line][:_MOST_LINES]


def _told(*words: str) -> str:
    return "\t".join(" ".join(word.split()) for word in words)
