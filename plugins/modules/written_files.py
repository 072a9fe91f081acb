#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: written_files
short_description: Keep several small files as they are given, in one visit
version_added: 0.1.0
description:
  - Writes files that differ from what is given, each whole or not at all.
  - Makes the directories of the files where there are none, with mode C(0755).
  - Tells when files were last written, for whoever has to make something of them again.
options:
  files:
    description: The files, in the order in which they are written.
    type: list
    elements: dict
    default: []
    suboptions:
      path: {type: path, required: true, description: Where it lies. A link in its place is replaced by the file.}
      content: {type: str, required: true, description: All that it holds.}
      mode: {type: str, default: "0644", description: "Its permissions, in octal."}
  absent:
    description: Files that are taken away where they are ours.
    type: list
    elements: dict
    default: []
    suboptions:
      path: {type: path, required: true, description: Where it lies. Of a link that leads to such a file the link goes.}
      ours: {type: str, required: true, description: A text that only a file of ours holds.}
  lines:
    description:
      - Lines of files that somebody else keeps. The last that begins so is made this line, or it is
        added at the end. A file that is not there is left out; a link stays, and what it leads to is written.
    type: list
    elements: dict
    default: []
    suboptions:
      path: {type: path, required: true, description: The file.}
      begins: {type: str, required: true, description: How the line begins.}
      line: {type: str, required: true, description: The line.}
  images:
    description:
      - Images that carry a copy of O(files) and of O(absent), each made again where it is older than any
        of the former, or where one of the latter was taken away. One that is not there is left out.
    type: list
    elements: dict
    default: []
    suboptions:
      path: {type: path, required: true, description: The image.}
      command: {type: list, elements: str, required: true, description: The words of the program that makes it.}
  look:
    description: Other files whose time is told in RV(written).
    type: list
    elements: path
    default: []
  owner:
    description: Who owns the files.
    type: str
    default: root
  group:
    description: Their group.
    type: str
    default: root
attributes:
  check_mode:
    description: Tells what would change, and changes nothing.
    support: full
  diff_mode:
    description: Shows each file before and after.
    support: full
author:
  - ibready contributors (@ibready)
extends_documentation_fragment: [ibready.cluster.inner]
"""

EXAMPLES = r"""
- name: Write two settings of systemd
  ibready.cluster.written_files:
    files:
      - path: /etc/systemd/system.conf.d/50-site.conf
        content: "[Manager]\nDefaultLimitMEMLOCK=infinity\n"
      - path: /etc/systemd/user.conf.d/50-site.conf
        content: "[Manager]\nDefaultLimitMEMLOCK=infinity\n"
"""

RETURN = r"""
files:
  description: The files that were written, or would be in check mode.
  type: list
  elements: str
  returned: success
  sample: [/etc/systemd/system.conf.d/50-site.conf]
images:
  description: The images that were made again, or would be in check mode.
  type: list
  elements: str
  returned: success
  sample: []
written:
  description:
    - When each file of O(files) and O(look) was last written, in seconds since 1970.
    - Null for one that is not there.
  type: dict
  returned: success
  sample: {"/etc/systemd/system.conf.d/50-site.conf": 1763000000.5}
"""

import os
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._ground import whole
from ..module_utils._ground.state import diff

_LINE = {"path": "path", "begins": "str", "line": "str"}


class Keeper:
    """Does to one file after the other what is asked, and notes what it was."""

    def __init__(self, module: AnsibleModule) -> None:
        self._module = module
        self.changed: list[str] = []
        self.diff: list[dict[str, str]] = []
        self.removed: dict[str, tuple[str, str]] = {}

    def write(self, path: str, content: str, mode: str) -> None:
        """Bring one file to its content, owner and mode; raises OSError."""
        module, before = self._module, _text(path)
        differs = before != content
        if differs and not module.check_mode:
            self._replace(path, content)
        if not (differs and module.check_mode):
            differs = module.set_owner_if_different(path, module.params["owner"], differs)
            differs = module.set_group_if_different(path, module.params["group"], differs)
            differs = module.set_mode_if_different(path, mode, differs)
        if differs:
            self.changed.append(path)
            self.diff.append(diff(path, before or "", content))

    def remove(self, path: str, ours: str) -> None:
        """Take away a file that holds this text; raises OSError."""
        link = os.readlink(path) if os.path.islink(path) else ""
        before = _text(os.path.realpath(path))
        if before is None or ours not in before:
            return
        if not self._module.check_mode:
            whole.remove(path)
        self.removed[path] = (link, before)
        self.changed.append(path)
        self.diff.append(diff(path, before, ""))

    def put_back(self) -> None:
        """Give back what was taken away: images still have it, and the next run has to see that."""
        for path, (link, before) in self.removed.items():
            if link:
                os.symlink(link, path)
            else:
                self._replace(path, before)

    def line(self, path: str, begins: str, line: str) -> None:
        """Have one line in a file that is there; raises OSError."""
        path = os.path.realpath(path)
        before = _text(path)
        if before is None:
            return
        lines = before.splitlines()
        mine = [number for number, entry in enumerate(lines) if entry.startswith(begins)]
        if mine:
            lines[mine[-1]] = line
        else:
            lines.append(line)
        self.write(path, "".join(f"{entry}\n" for entry in lines), "0644")

    def _replace(self, path: str, content: str) -> None:
        whole.make_folder(os.path.dirname(path))
        staged = whole.stage(path, content.encode("utf-8", "surrogateescape"), 0o600)
        try:
            self._module.atomic_move(staged, path)
        except OSError:
            raise
        except Exception as exc:
            # It says by a bare Exception that a file is immutable or the disk read-only.
            raise OSError(str(exc.__cause__ or exc)) from exc
        finally:
            whole.drop(staged)
        whole.sync(os.path.dirname(path))


def _text(path: str) -> str | None:
    """What a file holds; None where there is none, or a link in its place."""
    if os.path.islink(path) or not os.path.lexists(path):
        return None
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as stream:
        return stream.read()


def _written(path: str) -> float | None:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return None


def _stale(images: list[dict[str, Any]], files: list[dict[str, Any]], removed: bool) -> list[dict[str, Any]]:
    """Those that are there and older than a file, or than one that is still to be written; with a
    file taken away all that are there."""
    times = [None] if removed else [_written(file["path"]) for file in files]
    return [
        image
        for image in images
        if (made := _written(image["path"])) is not None and any(time is None or made < time for time in times)
    ]


def _make(module: AnsibleModule, images: list[dict[str, Any]], keeper: Keeper) -> list[str]:
    """Make images again, the names of those; ends the module where a program fails."""
    for image in images if not module.check_mode else ():
        status, out, err = module.run_command(image["command"])
        if status != 0:
            keeper.put_back()
            module.fail_json(
                msg=f"{' '.join(image['command'])} ended with status {status}: {(err or out).strip()[-300:]}. "
                f"{image['path']} stays as it was. Next: fix that (often /boot is full) and run this again"
            )
    return [image["path"] for image in images]


def main() -> None:
    file: dict[str, Any] = {
        "path": {"type": "path", "required": True},
        "content": {"type": "str", "required": True},
        "mode": {"type": "str", "default": "0644"},
    }
    module = AnsibleModule(
        argument_spec={
            "files": {"type": "list", "elements": "dict", "options": file, "default": []},
            "absent": {
                "type": "list",
                "elements": "dict",
                "default": [],
                "options": {
                    "path": {"type": "path", "required": True},
                    "ours": {"type": "str", "required": True},
                },
            },
            "lines": {
                "type": "list",
                "elements": "dict",
                "default": [],
                "options": {name: {"type": kind, "required": True} for name, kind in _LINE.items()},
            },
            "images": {
                "type": "list",
                "elements": "dict",
                "default": [],
                "options": {
                    "path": {"type": "path", "required": True},
                    "command": {"type": "list", "elements": "str", "required": True},
                },
            },
            "look": {"type": "list", "elements": "path", "default": []},
            "owner": {"type": "str", "default": "root"},
            "group": {"type": "str", "default": "root"},
        },
        supports_check_mode=True,
    )
    files, keeper = module.params["files"], Keeper(module)
    path = ""
    try:
        for entry in files:
            path = entry["path"]
            keeper.write(path, entry["content"], entry["mode"])
        for entry in module.params["lines"]:
            path = entry["path"]
            keeper.line(path, entry["begins"], entry["line"])
        for entry in module.params["absent"]:
            path = entry["path"]
            keeper.remove(path, entry["ours"])
    except OSError as exc:
        done = ", ".join(keeper.changed) or "nothing"
        module.fail_json(
            msg=f"{path} cannot be kept as it is given: {exc.strerror or exc}. Changed before: "
            f"{done}. Next: fix that and run this again"
        )
    reported = [*(file["path"] for file in files), *module.params["look"]]
    stale = _stale(module.params["images"], files, bool(keeper.removed))
    images = _make(module, stale, keeper)
    module.exit_json(
        changed=bool(keeper.changed or images),
        files=keeper.changed,
        images=images,
        written={path: _written(path) for path in reported},
        diff=keeper.diff,
    )


if __name__ == "__main__":
    main()
