#!/usr/bin/python
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
    required: true
    suboptions:
      path: {type: path, required: true, description: Where it lies. A link in its place is replaced by the file.}
      content: {type: str, required: true, description: All that it holds.}
      mode: {type: str, default: "0644", description: "Its permissions, in octal."}
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


class Keeper:
    """Does to one file after the other what is asked, and notes what it was."""

    def __init__(self, module: AnsibleModule) -> None:
        self._module = module
        self.changed: list[str] = []
        self.diff: list[dict[str, str]] = []

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


def main() -> None:
    file: dict[str, Any] = {
        "path": {"type": "path", "required": True},
        "content": {"type": "str", "required": True},
        "mode": {"type": "str", "default": "0644"},
    }
    module = AnsibleModule(
        argument_spec={
            "files": {"type": "list", "elements": "dict", "options": file, "required": True},
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
    except OSError as exc:
        done = ", ".join(keeper.changed) or "nothing"
        module.fail_json(
            msg=f"{path} cannot be kept as it is given: {exc.strerror or exc}. Changed before: "
            f"{done}. Next: mend that and run this again"
        )
    reported = [*(file["path"] for file in files), *module.params["look"]]
    module.exit_json(
        changed=bool(keeper.changed),
        files=keeper.changed,
        written={path: _written(path) for path in reported},
        diff=keeper.diff,
    )


if __name__ == "__main__":
    main()
