#!/usr/bin/python
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: sysctl_dropin
short_description: Keep kernel settings in one drop-in, and in the running kernel
version_added: 0.1.0
description:
  - Writes one file for C(sysctl.d) from a dictionary of settings, each with the reason for it.
  - Sets the running values too, by writing below C(/proc/sys). A running value that has drifted
    counts as a change.
  - Keys and values are checked first; bad input is refused before anything changes.
  - When the kernel refuses a value, those already written are put back and the file stays as it was.
options:
  settings:
    description:
      - Kernel settings, C(name) to value. A value is a number or one line of text.
      - Names are as in C(sysctl.d), with dots or slashes.
      - The order is kept, in the file and when the running values are written.
      - Required when O(state=present).
    type: dict
  reasons:
    description:
      - Why a setting is made, C(name) to text. It becomes a comment above the setting.
      - A reason without a setting is left out.
    type: dict
    default: {}
  path:
    description:
      - The drop-in. Its directory is made where there is none.
      - Its name must end in C(.conf), because nothing else is read at boot.
    type: path
    default: /etc/sysctl.d/90-ibready.conf
  state:
    description:
      - With V(present) the file and the running values are as O(settings) says.
      - With V(absent) the file is removed. The running values, here and of a setting that is taken
        out, stay as they are until the next boot, but see O(remember).
    type: str
    choices: [present, absent]
    default: present
  backup:
    description: Keep a copy of a previous file that this module did not write.
    type: bool
    default: false
  read_only_ok:
    description:
      - Go on when a setting has another value but cannot be set on this host, as happens in
        containers. Such keys are in RV(read_only).
      - Otherwise the module fails.
    type: bool
    default: false
  remember:
    description:
      - A file in which the running values are kept that were there before this module set others.
      - With it, a setting that is taken out of O(settings), and all of them with O(state=absent),
        get back the value that they had, unless somebody else has changed it since.
    type: path
  proc_sys:
    description: Where the kernel shows its settings. Tests point it elsewhere.
    type: path
    default: /proc/sys
extends_documentation_fragment: [ibready.cluster.change, ibready.cluster.inner]
attributes:
  diff_mode:
    description: Shows the file, and the running values that change.
    support: full
notes:
  - A file that sorts after O(path) can set the same key to something else at boot. This module
    does not look there.
"""

EXAMPLES = r"""
- name: Answer ARP only on the interface that has the address
  ibready.cluster.sysctl_dropin:
    settings:
      net.ipv4.conf.all.arp_ignore: 1
      net.ipv4.conf.all.arp_announce: 2
      net.ipv4.tcp_rmem: 4096 87380 16777216
    reasons:
      net.ipv4.conf.all.arp_ignore: Several rails in one subnet answer for each other otherwise.

- name: Take the drop-in away again
  ibready.cluster.sysctl_dropin:
    state: absent
"""

RETURN = r"""
path: {type: str, returned: success, description: The drop-in.}
file_changed: {type: bool, returned: success, description: "Whether the file changed, or would change in check mode."}
running:
  description: The running values that changed, or would change in check mode, by key.
  type: dict
  returned: success
  sample: {"vm.zone_reclaim_mode": {"before": "1", "after": "0"}}
absent:
  description:
    - The keys that this kernel does not have. They are in the file, behind a C(-), so that they are
      no error at boot.
  type: list
  elements: str
  returned: success
read_only:
  description:
    - The keys that have another value and cannot be set on this host. They are in the file as the
      RV(absent) ones are.
  type: list
  elements: str
  returned: success
backup_file:
  description: The copy of the previous file.
  type: str
  returned: when O(backup=true) and a file of someone else was replaced or removed
msg: {type: str, returned: when O(state=absent), description: What does not follow from the other values.}
"""

import errno
import os
from dataclasses import asdict, dataclass, field
from typing import Any, Container

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._ground import compiled

compiled.use()

from ..module_utils._act.tuning.sysctl import (
    Setting,
    SysctlError,
    is_ours,
    proc_path,
    read_settings,
    render,
    same_value,
)
from ..module_utils._ground import whole
from ..module_utils._ground.state import StateError, diff, load_file, save_file

_MODE = 0o644


class Kernel:
    """The running values below `root`; every failure is a SysctlError that names the key."""

    def __init__(self, root: str) -> None:
        self._root = root

    def read(self, key: str) -> str | None:
        """The running value, or None when this kernel has no such key."""
        try:
            with open(os.path.join(self._root, proc_path(key)), encoding="utf-8") as stream:
                return " ".join(stream.read().split())
        except (FileNotFoundError, NotADirectoryError):
            return None
        except IsADirectoryError:
            raise SysctlError(f"{key}: this is a group of settings, not one setting") from None
        except (OSError, UnicodeDecodeError) as exc:
            raise SysctlError(f"{key}: the running value cannot be read: {exc}") from exc

    def settable(self, key: str) -> bool:
        return os.access(os.path.join(self._root, proc_path(key)), os.W_OK)

    def write(self, key: str, value: str, before: str) -> None:
        """Set the running value, and see that the kernel kept it."""
        try:
            # Without O_CREAT, and in one write: the kernel takes each write as a whole value.
            fd = os.open(os.path.join(self._root, proc_path(key)), os.O_WRONLY | os.O_TRUNC)
            try:
                os.write(fd, (value + "\n").encode())
            finally:
                os.close(fd)
        except OSError as exc:
            raise SysctlError(
                f"cannot set {key} to {value!r} in the running kernel: {exc.strerror}"
                f" ({errno.errorcode.get(exc.errno or 0, exc.errno)}). Next: {_advice(exc.errno)}"
                f" (it was {before!r})"
            ) from exc
        kept = self.read(key)
        if kept is None or not same_value(kept, value):
            raise SysctlError(
                f"cannot set {key} to {value!r} in the running kernel: it shows {kept!r}"
                " afterwards. Next: write the value the way the kernel shows it"
                f" (it was {before!r})"
            )


def _advice(number: int | None) -> str:
    if number == errno.EROFS:
        return "set it on the machine that runs this container, or leave the key out for this host"
    if number in (errno.EACCES, errno.EPERM):
        return "run as root, or leave the key out for this host if a container may not set it"
    return "give a value that this kernel accepts"


def _write_running(kernel: Kernel, running: dict[str, dict[str, str]]) -> None:
    """Write all values of `running` or none: the ones before a refused one are put back."""
    done: list[str] = []
    for key, value in running.items():
        try:
            done.append(key)
            kernel.write(key, value["after"], value["before"])
        except SysctlError as exc:
            raise SysctlError(f"{exc}. {_put_back(kernel, running, done)}") from exc


def _put_back(kernel: Kernel, running: dict[str, dict[str, str]], done: list[str]) -> str:
    stuck = []
    for key in reversed(done):
        before = running[key]["before"]
        try:
            if not same_value(kernel.read(key) or "", before):
                kernel.write(key, before, before)
        except SysctlError:
            stuck.append(f"{key} (was {before!r})")
    if stuck:
        return f"The file is as it was, but not put back: {', '.join(stuck)}"
    return "The file and the running values are as they were"


def _read_file(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read()
    except FileNotFoundError:
        return None
    except OSError as exc:
        raise SysctlError(f"cannot read {path}: {exc.strerror}") from exc


def _stage(path: str, text: str) -> str:
    """Write `text` beside `path`: a full or read-only disk shows before the kernel changes."""
    home = os.path.dirname(path)
    try:
        whole.make_folder(home)
        return whole.stage(path, text.encode(), _MODE)
    except OSError as exc:
        raise SysctlError(
            f"cannot write {path}: {exc.strerror}. Next: see that the directory {home} can be written and has space"
        ) from exc


def _backup(module: AnsibleModule, path: str, text: str | None) -> dict[str, str]:
    if not module.params["backup"] or module.check_mode or text is None or is_ours(text):
        return {}
    return {"backup_file": module.backup_local(path)}


@dataclass
class Survey:
    """How the running kernel differs from the settings."""

    running: dict[str, dict[str, str]] = field(default_factory=dict)  # before and after, by key
    absent: list[str] = field(default_factory=list)
    read_only: list[str] = field(default_factory=list)


def _survey(kernel: Kernel, settings: tuple[Setting, ...], read_only_ok: bool) -> Survey:
    found = Survey()
    for setting in settings:
        before = kernel.read(setting.key)
        if before is None:
            found.absent.append(setting.key)
        elif same_value(before, setting.value):
            continue
        elif read_only_ok and not kernel.settable(setting.key):
            found.read_only.append(setting.key)
        else:
            found.running[setting.key] = {"before": before, "after": setting.value}
    return found


def _given_back(kernel: Kernel, known: dict[str, Any], kept: Container[str]) -> dict[str, dict[str, str]]:
    """The running values that go back to what they were: set by us, and wanted no longer."""
    back: dict[str, dict[str, str]] = {}
    for key, (before, ours) in known.items():
        now = None if key in kept else kernel.read(key)
        if now is not None and same_value(now, ours) and not same_value(now, before):
            back[key] = {"before": now, "after": before}
    return back


def _remembered(
    known: dict[str, Any], running: dict[str, dict[str, str]], settings: tuple[Setting, ...]
) -> dict[str, Any]:
    """What to remember of each setting: the value before the first of ours, and ours."""
    before = {key: value["before"] for key, value in running.items()}
    before.update({key: pair[0] for key, pair in known.items()})
    return {setting.key: [before[setting.key], setting.value] for setting in settings if setting.key in before}


def _listing(running: dict[str, dict[str, str]], which: str) -> str:
    return "".join(f"{key} = {value[which]}\n" for key, value in running.items())


def _present(module: AnsibleModule) -> dict[str, Any]:
    path: str = module.params["path"]
    settings = read_settings(module.params["settings"], module.params["reasons"])
    kernel = Kernel(module.params["proc_sys"])
    remember: str | None = module.params["remember"]
    known = load_file(remember) if remember else {}
    found = _survey(kernel, settings, module.params["read_only_ok"])
    running = found.running
    after_us = _remembered(known, running, settings)
    running.update(_given_back(kernel, known, {setting.key for setting in settings}))
    before, after = _read_file(path), render(settings, found.absent + found.read_only)

    result: dict[str, Any] = {"path": path, **asdict(found)}
    result["diff"] = [diff(path, before or "", after)]
    if running:
        result["diff"].append(diff("running kernel", _listing(running, "before"), _listing(running, "after")))
    result["file_changed"] = before != after
    if not module.check_mode:
        staged = _stage(path, after) if before != after else None
        try:
            if remember and {**known, **after_us} != known:
                # First, and with what goes back: after a power cut nobody else knows.
                save_file(remember, {**known, **after_us})
            _write_running(kernel, running)
            if staged is not None:
                result.update(_backup(module, path, before))
                _commit(module, kernel, staged, running)
            if remember and after_us != known:
                save_file(remember, after_us)
        finally:
            if staged is not None:
                whole.drop(staged)
    if before is not None or not module.check_mode:
        result["file_changed"] = module.set_mode_if_different(path, _MODE, result["file_changed"])
    result["changed"] = bool(result["file_changed"] or running)
    return result


def _commit(module: AnsibleModule, kernel: Kernel, staged: str, running: dict[str, dict[str, str]]) -> None:
    path: str = module.params["path"]
    try:
        module.atomic_move(staged, path, keep_dest_attrs=False)
        whole.sync(os.path.dirname(path))
    except Exception as exc:
        # atomic_move says by a bare Exception that a file is immutable or the disk went read-only.
        fate = _put_back(kernel, running, list(running))
        raise SysctlError(f"cannot replace {path}: {exc}. {fate}") from exc
    module.set_mode_if_different(path, _MODE, False)


def _absent(module: AnsibleModule) -> dict[str, Any]:
    path: str = module.params["path"]
    remember: str | None = module.params["remember"]
    before = _read_file(path)
    known = load_file(remember) if remember else {}
    kernel = Kernel(module.params["proc_sys"])
    running = _given_back(kernel, known, ())
    stay = "Other running values" if remember else "The running values"
    result: dict[str, Any] = {
        "changed": before is not None or bool(running),
        "path": path,
        "file_changed": before is not None,
        "running": running,
        "absent": [],
        "read_only": [],
        "msg": f"{stay} stay as they are until the next boot.",
        "diff": [diff(path, before or "", "")],
    }
    if module.check_mode:
        return result
    if before is not None:
        result.update(_backup(module, path, before))
        try:
            whole.remove(path)
        except OSError as exc:
            raise SysctlError(f"cannot remove {path}: {exc.strerror}") from exc
    _write_running(kernel, running)
    if remember:
        save_file(remember, {})
    return result


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "settings": {"type": "dict"},
            "reasons": {"type": "dict", "default": {}},
            "path": {"type": "path", "default": "/etc/sysctl.d/90-ibready.conf"},
            "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
            "backup": {"type": "bool", "default": False},
            "read_only_ok": {"type": "bool", "default": False},
            "remember": {"type": "path"},
            "proc_sys": {"type": "path", "default": "/proc/sys"},
        },
        required_if=[("state", "present", ("settings",))],
        supports_check_mode=True,
    )
    path = module.params["path"]
    if not (os.path.isabs(path) and path.endswith(".conf")):
        module.fail_json(msg=f"path {path!r} is not an absolute path that ends in .conf: it is not read at boot")
    try:
        result = _present(module) if module.params["state"] == "present" else _absent(module)
    except (SysctlError, StateError) as exc:
        module.fail_json(msg=f"Kernel settings: {exc}")
    module.exit_json(**result)


if __name__ == "__main__":
    main()
